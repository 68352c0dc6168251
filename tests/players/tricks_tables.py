"""Games of tricks with all their house rules, and positions of random play."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Any

from kafeneio_games.cards import SHORT_PACK, Card
from kafeneio_games.game import CHANCE, AnyGame, Seat
from kafeneio_games.registry import build, variant
from kafeneio_games.trick_actions import PASS
from kafeneio_games.trick_view import Stage
from kafeneio_games.tricks import sorted_hand

from tests.games.positions import RandomDraw

NAMES = (
    *("pilotta", "pilotta-classic", "pilotta-classic-2"),
    *("belote", "belote-no-trump", "coinche"),
)


def table(name: str, random: Random) -> tuple[AnyGame, dict[str, str]]:
    """That game as the house makes it with options drawn at random, and the options."""
    chosen = {one.name: random.choice(one.values) for one in variant(name).options}
    return with_options(name, chosen), chosen


def with_options(name: str, chosen: dict[str, str]) -> AnyGame:
    """That game with these options, the others as usual."""
    match = build(name, 1, chosen, None)
    following = match.opened("dealer 0").next()
    assert following is not None
    return following.game


def seats_of(game: AnyGame) -> tuple[Seat, ...]:
    """All seats, in order of play."""
    return tuple(sorted(seat for side in game.sides for seat in side))


def dealt(game: AnyGame, random: Random) -> Any:
    """A fresh deal, of any dealer."""
    seats = seats_of(game)
    state = game.start(random.choice(seats), seats)
    return game.apply(state, CHANCE, game.chance(state, RandomDraw(random)))


def prompts(game: AnyGame, random: Random) -> Iterator[tuple[Any, Seat]]:
    """Every prompt of one hand between players who do anything that is legal; before the play
    they pass every other time, so that it is reached."""
    state = dealt(game, random)
    while (seat := game.prompted(state)) is not None:
        yield state, seat
        may = list(game.legal(state, seat))
        passing = PASS in may and random.random() < 0.5
        state = game.apply(state, seat, PASS if passing else random.choice(may))


def hands_of(state: Any) -> tuple[tuple[Card, ...], ...]:
    """What every seat holds."""
    hands: tuple[tuple[Card, ...], ...] = state.hands if state.play is None else state.play.hands
    return hands


def with_hands(state: Any, hands: tuple[tuple[Card, ...], ...], rest: tuple[Card, ...]) -> Any:
    """The same state with other cards in the hands, and in the rest of the pack."""
    if state.play is None:
        return replace(state, hands=hands, rest=rest)
    return replace(state, play=replace(state.play, hands=hands))


def dealt_anew(state: Any, seat: Seat, random: Random) -> Any:
    """The same state, the cards that `seat` does not see dealt anew, those included that nobody
    holds."""
    hands = hands_of(state)
    seen = set(hands[seat])
    if state.play is None:
        turned = state.turned or ()
        seen |= {Card(turned)} if isinstance(turned, str) else set(turned)
    else:
        seen |= {*state.play.played, *state.play.trick}
    hidden = [card for card in SHORT_PACK if card not in seen]
    random.shuffle(hidden)
    fresh = []
    for other, hand in enumerate(hands):
        own = hand if other == seat else sorted_hand(hidden[: len(hand)])
        if other != seat:
            del hidden[: len(hand)]
        fresh.append(own)
    return with_hands(state, tuple(fresh), tuple(hidden))


def playing(state: Any) -> bool:
    """Whether cards are being played."""
    return bool(state.stage is Stage.PLAYING)
