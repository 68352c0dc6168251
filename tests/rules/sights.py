"""What may be known in games of cards, from the whole truth and the rule book: the sight of a
viewer, by family of games."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from kafeneio_games import pilotta_calls, rummy_hand
from kafeneio_games.cards import JOKER, SHORT_PACK, Card
from kafeneio_games.play import Play

SPECTATOR: Final = -1
"""The viewer who has no seat."""
Hands: TypeAlias = tuple[tuple[Card, ...], ...]


@dataclass(frozen=True)
class Sight:
    """How to find in a position what is public, and who holds what.

    `deck` are its different cards; `seen(plays, number, viewer)` those of hand `number` that a
    viewer has seen by the last of these positions; `public` what everybody knows of a position, as
    far as hands could change it; `tried` what a seat tries to do, and `play` how a card is played.
    """

    deck: tuple[Card, ...]
    hands: Callable[[Play], Hands]
    seen: Callable[[list[Play], int, int], set[Card]]
    public: Callable[[Play], tuple[object, ...]]
    tried: tuple[str, ...]
    play: str = ""


def _in_his_seat(plays: list[Play], viewer: int) -> bool:
    """Whether a viewer has a seat, and has not left it."""
    return viewer != SPECTATOR and not plays[-1].forfeited(plays[0].seats[viewer])


def _outline(play: Play) -> tuple[object, ...]:
    """Who is asked, the score, the end."""
    return (play.prompted, play.turn, play.round, play.score, play.outcome)


# --- games of tricks, as far as they are pilotta ----------------------------------------------


def trick_hands(play: Play) -> Hands:
    """The cards that each seat holds now: the whole truth."""
    state = play.state
    found: Hands = state.hands if state.play is None else state.play.hands
    return found


def laid_open(play: Play) -> tuple[tuple[int, tuple[Card, ...]], ...]:
    """The declarations that everybody sees: of each player of the side that counts its own the best
    one (P33), once the first trick is over (P44)."""
    tricks = play.state.play
    if tricks is None or tricks.first_trick:
        return ()
    best = pilotta_calls.best_side(tricks.announced, tricks.trump)
    return tuple((e.seat, e.found[0].cards) for e in tricks.announced if e.seat % 2 == best)


def _seen_in_tricks(plays: list[Play], number: int, viewer: int) -> set[Card]:
    """The cards of hand `number` that a viewer has seen: his own as long as the seat is his, those
    played, and the declarations that are laid open."""
    known: set[Card] = set()
    own = [play for play in plays if play.round == number]
    for play in own:
        if _in_his_seat(plays, viewer):
            known.update(trick_hands(play)[viewer])
        if play.state.play is not None:
            known.update(play.state.play.played, play.state.play.trick)
        known.update(card for _, cards in laid_open(play) for card in cards)
    after = [play for play in plays if play.round == number + 1]
    if after and after[0].last is not None and after[0].last.state.play is not None:
        known.update(SHORT_PACK)  # it was played out
    return known


def _public_in_tricks(play: Play) -> tuple[object, ...]:
    """Beside the outline: the worth of what was declared (P32), what is laid open, belote (P45)."""
    tricks = play.state.play
    if tricks is None:
        return _outline(play)
    calls = tuple((each.seat, each.found[0].points) for each in tricks.announced)
    return (*_outline(play), calls, laid_open(play), tricks.belote)


TRICKS: Final = Sight(
    SHORT_PACK,
    trick_hands,
    _seen_in_tricks,
    _public_in_tricks,
    ("pass", "declare", "recontra", "contra 1", "take", "exchange", "choose H", "80C"),
)


# --- rummy ------------------------------------------------------------------------------------


def _rummy_hands(play: Play) -> Hands:
    """The cards of each seat, then the stock."""
    found: Hands = (*play.state.hands, play.state.stock)
    return found


def _seen_in_rummy(plays: list[Play], number: int, viewer: int) -> set[Card]:
    """Cards of which he has seen one: his own, what was discarded, turned, or laid on the table.

    Of two that are the same nobody can say which he has seen, so neither is dealt otherwise.
    """
    known: set[Card] = {JOKER}
    for play in plays:
        if play.round == number:
            state = play.state
            known.update(state.discards, state.turned)
            known.update(card for laid in state.table for card in laid.meld.cards)
            if _in_his_seat(plays, viewer):
                known.update(state.hands[viewer])
    return known


def _public_in_rummy(play: Play) -> tuple[object, ...]:
    """Beside the outline: what lies on the table, and how many cards are where."""
    state = play.state
    table = (state.stage, state.discards, state.table, state.live, state.taken, state.owed)
    return (*_outline(play), *table, *map(len, _rummy_hands(play)))


RUMMY: Final = Sight(
    tuple(dict.fromkeys(rummy_hand.PACK)),
    _rummy_hands,
    _seen_in_rummy,
    _public_in_rummy,
    (
        *("draw", "take", "meld group 7S7H7D", "meld run 7S8S9S", "lay 7C 1", "swap 7C 1"),
        *("out 7C", "discard 7C", "discard *", "put-back ?", "reshuffle 7S"),
    ),
    "discard ",
)
