"""The computer player of tavli against a random legal player, and in Portes against one that only
counts pips."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from random import Random
from typing import Any, Final, TypeAlias

from kafeneio_games.fevga import Fevga
from kafeneio_games.game import CHANCE, AnyGame, Seat
from kafeneio_games.gulbara import Gulbara
from kafeneio_games.plakoto import Plakoto
from kafeneio_games.portes import Portes
from kafeneio_games.tavli import Action, Roll, Stage
from kafeneio_players import choose
from kafeneio_players.reference import any_legal, fewest_pips

from tests.strength.measure import Contest, Pair

SEED: Final = 20_240_601
COUNT: Final = 400
GAMES: Final[dict[str, AnyGame]] = {
    "portes": Portes(),
    "plakoto": Plakoto(),
    "fevga": Fevga(),
    "gulbara": Gulbara(),
}
SEATS: Final = (Seat(0), Seat(1))
Reference: TypeAlias = Callable[[Any, Any, Seat, Random], tuple[Action, ...]]
Chooser: TypeAlias = Callable[[AnyGame, Any, Seat], tuple[Action, ...]]


OPPONENTS: Final[dict[str, Reference]] = {"random": any_legal, "pips": fewest_pips}


def contests() -> tuple[Contest, ...]:
    """What the players of tavli have to show."""
    demands = [(name, "random", 0.8) for name in GAMES] + [("portes", "pips", 0.3)]
    return tuple(
        Contest(f"{name} against {opponent}", functools.partial(pair, name, opponent), demanded)
        for name, opponent, demanded in sorted(demands, key=lambda d: list(GAMES).index(d[0]))
    )


def pair(name: str, opponent: str, number: int) -> Pair:
    """Two rounds with the same dice, the seats exchanged; seat 0 opens in even pairs."""
    points: list[float] = []
    seconds: list[float] = []
    for seat in SEATS:
        seed = f"{SEED} {name} {opponent} {number}"
        other = _chooser(OPPONENTS[opponent], Random(seed))
        points.append(round_of(GAMES[name], seat, other, seed, Seat(number % 2), seconds))
    return Pair(tuple(points), tuple(seconds))


def _chooser(reference: Reference, chance: Random) -> Chooser:
    return lambda game, view, seat: reference(game, view, seat, chance)


def round_of(
    game: AnyGame, seat: Seat, other: Chooser, seed: str, first: Seat, seconds: list[float]
) -> float:
    """The points of the player in one round from `seat`; `seconds` gets what each
    decision took of one core.

    The dice are those of the seed whatever is played: the throws of each number are the same.
    """
    dice = Random(seed + " dice")
    state = game.start(first, SEATS)
    while state.stage is not Stage.OVER:
        if state.stage is Stage.ROLL:
            state = game.apply(state, CHANCE, Roll(dice.randint(1, 6), dice.randint(1, 6)))
            continue
        mover = state.mover
        if mover != seat:
            actions = other(game, game.view(state, mover), mover)
        elif game.prompted(state) is None:
            actions = tuple(game.legal(state, mover))  # the forced pass, which is no decision
        else:
            begin = time.process_time()
            actions = choose(game, game.view(state, seat), seat)
            seconds.append(time.process_time() - begin)
        for action in actions:
            state = game.apply(state, mover, action)
    result = game.result(state)
    assert result is not None
    return float(result.points[seat] - result.points[1 - seat])
