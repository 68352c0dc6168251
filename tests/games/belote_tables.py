"""Tables of belote for tests: hands as text, stacked deals, and random play.

N, E, S, W are seats 0 to 3; unless said otherwise N deals, so that E speaks first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import TypeAlias, TypeVar

import pytest
from kafeneio_games.belote import Belote
from kafeneio_games.belote_no_trump import BeloteNoTrump
from kafeneio_games.belote_play import State
from kafeneio_games.cards import SHORT_PACK, Card, Deal, read_cards
from kafeneio_games.coinche import Coinche
from kafeneio_games.game import CHANCE, Illegal, Seat
from kafeneio_games.registry import build
from kafeneio_games.trick_actions import PASS, Action

T = TypeVar("T")
AnyBelote: TypeAlias = Belote | BeloteNoTrump | Coinche

NAMES = "NESW"
N, E, S, W = SEATS = (Seat(0), Seat(1), Seat(2), Seat(3))
GAMES = ("belote", "belote-no-trump", "coinche")


class Shuffler:
    """A `Draw` from an ordinary generator."""

    def __init__(self, random: Random) -> None:
        self.random = random

    def below(self, n: int) -> int:
        return self.random.randrange(n)

    def shuffled(self, cards: Sequence[T]) -> tuple[T, ...]:
        return tuple(self.random.sample(cards, len(cards)))


def game_of(variant: str, rule_set: str = "maison", **options: str) -> AnyBelote:
    """The game that a table with those options plays."""
    match = build(variant, 1, {"rule_set": rule_set, **options}, None)
    game = match.game  # type: ignore[attr-defined]
    assert isinstance(game, Belote | BeloteNoTrump | Coinche)
    return game


def cards(text: str) -> tuple[Card, ...]:
    """ "7H JS" as cards."""
    return read_cards(text.replace(" ", ""))


def filled(hands: dict[str, str]) -> tuple[tuple[Card, ...], ...]:
    """Four hands of eight by seat: those given, the others from what is left, in pack order."""
    given = {name: cards(text) for name, text in hands.items()}
    left = [card for card in SHORT_PACK if not any(card in hand for hand in given.values())]
    found = []
    for name in NAMES:
        missing = 8 - len(given.get(name, ()))
        found.append((*given.get(name, ()), *left[:missing]))
        left = left[missing:]
    return tuple(found)


def stacked(
    game: AnyBelote,
    hands: Sequence[Sequence[Card]],
    taker: Seat = E,
    turned: Card | None = None,
    dealer: Seat = N,
) -> State:
    """The state after a deal that will give those four hands of eight.

    In belote `taker` must then take, `turned` being one of his cards; without trumps everybody
    gets his last three cards after the take.
    """
    state = game.start(dealer, SEATS)
    if isinstance(game, Coinche):
        return game.apply(state, CHANCE, Deal(tuple(map(tuple, hands))))
    first = []
    rest: list[Card] = []
    for place in range(1, 5):
        seat = SEATS[(dealer + place) % 4]
        held = [card for card in hands[seat] if card != turned]
        first.append((seat, tuple(held[:5])))
        rest += held[5:]
    by_seat = tuple(hand for _, hand in sorted(first))
    lying = () if turned is None else (turned,)
    assert (turned in hands[taker]) == isinstance(game, Belote)
    return game.apply(state, CHANCE, Deal(by_seat, lying, tuple(rest)))


def line(game: AnyBelote, state: State, text: str) -> State:
    """The state after "E 80H, S pass, W AS, ...": a seat and what it does; "AS" alone is the
    prompted seat's."""
    for item in text.split(","):
        name, _, word = item.strip().rpartition(" ")
        if name in ("contra", "choose"):
            name, word = "", f"{name} {word}"
        elif name.endswith((" contra", " choose")):
            name, word = name[:1], f"{name[2:]} {word}"
        seat = game.prompted(state) if not name else SEATS[NAMES.index(name)]
        assert seat is not None
        state = game.apply(state, seat, game.read(word))
    return state


def refused(game: AnyBelote, state: State, seat: Seat, word: str | Action) -> str:
    """The rule that refuses; the state is checked to be what it was."""
    before = hash(state)
    with pytest.raises(Illegal) as caught:
        game.apply(state, seat, game.read(word) if isinstance(word, str) else word)
    assert hash(state) == before
    assert str(caught.value)
    return caught.value.rule


def spelt(game: AnyBelote, state: State, seat: Seat) -> list[str]:
    """The legal actions of a seat as their notation, in order."""
    return [game.write(action) for action in game.legal(state, seat)]


def contract_for(game: AnyBelote, state: State, trump: str, taker: Seat = E) -> State:
    """The auction gone through in the shortest way, to that seat's contract in that suit."""
    while game.prompted(state) != taker:
        state = line(game, state, "pass")
    if isinstance(game, Coinche):
        state = line(game, state, f"80{trump}, pass, pass, pass")
    elif isinstance(game, BeloteNoTrump) or state.turned[0][1] == trump:
        state = line(game, state, "take")
    else:
        state = line(game, state, "pass, pass, pass, pass")
        state = line(game, state, f"choose {trump}")
    return state


def at_random(game: AnyBelote, random: Random, dealer: Seat = N) -> Iterator[State]:
    """The states of one deal played at random, from before the deal to its end."""
    state = game.start(dealer, SEATS)
    yield state
    state = game.apply(state, CHANCE, game.chance(state, Shuffler(random)))
    yield state
    while (seat := game.prompted(state)) is not None:
        if random.random() < 0.1:  # whoever may speak out of turn
            seat = random.choice(game.to_act(state))
        state = game.apply(state, seat, some_action(game, state, seat, random))
        yield state


def some_action(game: AnyBelote, state: State, seat: Seat, random: Random) -> Action:
    """Any card; in an auction often a pass, and of the bids mostly a low one."""
    actions = list(game.legal(state, seat))
    if state.play is None and PASS in actions:
        chosen = random.random()
        if chosen < 0.55:
            return PASS
        if chosen < 0.9:
            return random.choice(actions[:8])
    return random.choice(actions)


def last(states: Iterator[State]) -> State:
    """The end of such a deal."""
    *_, end = states
    return end


def finish(game: AnyBelote, state: State) -> State:
    """The end of the deal, every action the first that is legal."""
    while (seat := game.prompted(state)) is not None:
        state = game.apply(state, seat, next(game.legal(state, seat)))
    return state
