"""Positions of rummy for the tests: from text, at random, and with the unseen cards dealt anew."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from random import Random
from typing import Any, TypeAlias, TypeVar

import pytest
from kafeneio_games import koumkan, rummy_hand, thanasis
from kafeneio_games.cards import Card, read_cards
from kafeneio_games.deadwood import after_discards
from kafeneio_games.game import CHANCE, Entry, Game, Illegal, Seat
from kafeneio_games.koumkan import Koumkan
from kafeneio_games.melds import Kind, Meld, sorted_hand
from kafeneio_games.play import Play
from kafeneio_games.rummy import Discard, GoOut
from kafeneio_games.rummy_hand import PACK, Laid, Stage
from kafeneio_games.rummy_view import RummyView
from kafeneio_games.thanasis import Thanasis

from tests.games import simple_rummy

SEATS = tuple(Seat(number) for number in range(4))
Rummy: TypeAlias = Game[Any, Any, RummyView]
"""A `Koumkan` or a `Thanasis`: their states are their own."""

SWITCHES = [
    Koumkan(),
    Koumkan(ace_high_low=True),
    Koumkan(two_naturals=True),
    Koumkan(allow_same_discard=True),
    Koumkan(joker_must_be_used=True),
    Koumkan(joker_must_be_used=True, ace_high_low=True, two_naturals=True),
]


def cards(text: str) -> tuple[Card, ...]:
    """ "4C 5C *"."""
    return read_cards(text.replace(" ", ""))


def meld(text: str) -> Meld:
    """ "run 4C 5C *"."""
    kind, _, held = text.partition(" ")
    return Meld(Kind(kind), cards(held))


def rest_of_pack(used: Iterable[Card]) -> tuple[Card, ...]:
    """What is not used yet."""
    left = Counter(PACK) - Counter(used)
    assert left.total() + len(list(used)) == len(PACK)
    return tuple(left.elements())


def koumkan_state(
    hands: str,
    melds: Sequence[str] = (),
    pile: str = "KS",
    *,
    drawn: bool = True,
    taken: str = "",
    stock: int = 60,
) -> koumkan.State:
    """Hands "4C5C|7H", seat 0 on turn; melds "0 run 2C*4C"; `taken` is in the hand already.

    The stock has at most so many cards; those that are nowhere are out of play.
    """
    held = [sorted_hand(cards(hand)) for hand in hands.split("|")]
    table = tuple(Laid(Seat(int(text[0])), meld(text[2:])) for text in melds)
    used = [card for hand in held for card in hand]
    used += [card for laid in table for card in laid.meld.cards] + list(cards(pile))
    rest = rest_of_pack(used)
    stage = Stage.PLAY if drawn else Stage.DRAW
    live = SEATS[: len(held)]
    return koumkan.State(
        dealer=live[-1],
        live=live,
        stage=stage,
        mover=SEATS[0],
        hands=tuple(held),
        stock=rest[:stock],
        discards=cards(pile),
        turned=(),
        gone=rest[stock:],
        reshuffles=0,
        out=None,
        result=None,
        table=table,
        taken=Card(taken) if taken else None,
    )


def thanasis_state(hands: str, turned: str, *, stock: int = 60) -> thanasis.State:
    """Seat 0 has drawn."""
    held = [sorted_hand(cards(hand)) for hand in hands.split("|")]
    used = [card for hand in held for card in hand] + list(cards(turned))
    rest = rest_of_pack(used)
    return thanasis.State(
        dealer=SEATS[len(held) - 1],
        live=SEATS[: len(held)],
        stage=Stage.PLAY,
        mover=SEATS[0],
        hands=tuple(held),
        stock=rest[:stock],
        discards=(),
        turned=cards(turned),
        gone=rest[stock:],
        reshuffles=0,
        out=None,
        result=None,
    )


def all_cards(state: rummy_hand.State) -> list[Card]:
    """Wherever they are."""
    found = [*state.stock, *state.discards, *state.turned, *state.gone]
    for hand in state.hands:
        found += hand
    if isinstance(state, koumkan.State):
        found += [card for laid in state.table for card in laid.meld.cards]
    return found


def spelt(game: Rummy, state: Any, seat: Seat = SEATS[0]) -> set[str]:
    """The legal actions as their notation."""
    return {game.write(action) for action in game.legal(state, seat)}


def refused(game: Rummy, state: Any, text: str, seat: Seat = SEATS[0]) -> str:
    """The rule that refuses."""
    with pytest.raises(Illegal) as caught:
        game.apply(state, seat, game.read(text))
    assert str(caught.value)
    return caught.value.rule


def played(game: Rummy, state: Any, line: str) -> Any:
    """After the mover's actions, "draw, discard 9S"."""
    for text in line.split(", "):
        state = game.apply(state, state.mover, game.read(text))
    return state


def dealt(game: Rummy, random: Random, live: tuple[Seat, ...] | None = None) -> Any:
    """A hand after the deal, at random; the dealer is the last seat."""
    live = live or SEATS[: len(game.sides)]
    state = game.start(live[-1], live)
    while state.stage in rummy_hand.CHANCES:
        state = game.apply(state, CHANCE, game.chance(state, Dice(random)))
    return state


T = TypeVar("T")


class Dice:
    """A `Draw` from a `Random`."""

    def __init__(self, random: Random) -> None:
        self.random = random

    def below(self, n: int) -> int:
        """0 to n - 1."""
        return self.random.randrange(n)

    def shuffled(self, cards: Sequence[T]) -> tuple[T, ...]:
        """In another order."""
        return tuple(self.random.sample(cards, len(cards)))


def stepped(game: Rummy, state: Any, random: Random) -> Any:
    """One action by whose turn it is, purposeful more often than not."""
    (seat,) = game.to_act(state)
    if seat == CHANCE:
        return game.apply(state, seat, game.chance(state, Dice(random)))
    return game.apply(state, seat, choose(game, state, random))


def choose(game: Rummy, state: Any, random: Random) -> Any:
    """Out if possible, else mostly the discard that leaves least."""
    actions = list(game.legal(state, state.mover))
    if isinstance(actions[0], GoOut):
        return actions[0]
    skill = 0.5 if isinstance(game, Thanasis) and game.wild_twos else 0.9  # so many jokers help
    if isinstance(actions[-1], Discard) and isinstance(game, Thanasis) and random.random() < skill:
        left = after_discards(state.hands[state.mover], game.meld_rules(state), thanasis.ACE)
        least = min(left.values())
        actions = [a for a in actions if isinstance(a, Discard) and left[a.card] == least]
    return random.choice(actions)


def purposeful_act(play: Play, random: Random) -> tuple[Entry, ...]:
    """One whole turn, chosen so that a game comes to an end."""
    seat, game, turn = play.prompted, play.game, play.turn
    assert seat is not None
    assert game is not None
    entries: list[Entry] = []
    while play.prompted == seat and play.turn == turn:
        action = choose(game, play.state, random)
        entries.append(Entry(seat, game.write(action)))
        play = play.apply(entries[-1])
    return tuple(entries)


def redealt(state: Any, seat: Seat | None, random: Random) -> Any:
    """The same to the eyes of `seat`: all cards that it does not see change places.

    Those are the other hands, the stock, the discards but the top one, and what is out of play.
    """
    unseen = [*state.stock, *state.discards[:-1], *state.gone]
    for place, hand in enumerate(state.hands):
        unseen += () if place == seat else hand
    random.shuffle(unseen)

    def take(number: int) -> tuple[Card, ...]:
        found = tuple(unseen[:number])
        del unseen[:number]
        return found

    hands = tuple(
        hand if place == seat else sorted_hand(take(len(hand)))
        for place, hand in enumerate(state.hands)
    )
    return replace(
        state,
        hands=hands,
        stock=take(len(state.stock)),
        discards=(*take(len(state.discards[:-1])), *state.discards[-1:]),
        gone=take(len(state.gone)),
    )


def plain_rules(game: Koumkan) -> simple_rummy.Rules:
    """For the second generator."""
    return simple_rummy.Rules(
        ace_high=game.ace_high_low,
        least=2 if game.two_naturals else 1,
        same_discard=game.allow_same_discard,
        must_use=game.joker_must_be_used,
    )


def plain(state: koumkan.State) -> simple_rummy.Position:
    """For the second generator."""
    return simple_rummy.Position(
        hands=tuple(tuple(sorted(hand)) for hand in state.hands),
        table=tuple((laid.owner, laid.meld.kind.value, laid.meld.cards) for laid in state.table),
        stock=state.stock,
        pile=state.discards,
        mover=state.mover,
        drawn=state.stage is Stage.PLAY,
        taken=state.taken or "",
        owed=state.owed,
    )
