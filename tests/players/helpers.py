"""Positions to decide in, and what becomes of a decision."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from random import Random
from typing import Any

from kafeneio_games import fevga, plakoto, portes
from kafeneio_games.fevga import Fevga
from kafeneio_games.game import CHANCE, AnyGame, Seat
from kafeneio_games.gulbara import Gulbara
from kafeneio_games.plakoto import Plakoto
from kafeneio_games.portes import Portes
from kafeneio_games.registry import build
from kafeneio_games.tavli import Action, Boards, Roll, Stage, dice_of
from kafeneio_players.reference import any_legal

from tests.games.boards import SEATS, board
from tests.games.positions import RandomDraw

GAMES: dict[str, AnyGame] = {
    "portes": Portes(),
    "plakoto": Plakoto(),
    "fevga": Fevga(),
    "gulbara": Gulbara(),
}


def house_rules() -> Iterator[AnyGame]:
    """Every game with every combination of its house rules."""
    yield Portes()
    yes_no = (False, True)
    for waits, mother, outside, highest in itertools.product(
        ("waits", "continues"), ("wins", "none"), yes_no, yes_no
    ):
        yield Plakoto(waits, mother, outside, highest)  # type: ignore[arg-type]
    starts = ("only_if_opponent_behind", "always", "both_quadrants", "four_points", "any_six")
    for start, front, when, leave in itertools.product(
        starts, yes_no, ("end_of_turn", "every_move"), ("prefer", "off")
    ):
        yield Fevga(start, front, when, leave)  # type: ignore[arg-type]
    for stuck, escalate_from in itertools.product(("skip_number", "stop"), (1, 4)):
        yield Gulbara(stuck, escalate_from)  # type: ignore[arg-type]


def betomall(name: str) -> AnyGame:
    """A game as the registry makes it for Betomall's rules."""
    made = build(name, 1, {"rule_set": "betomall"}, 1)
    following = made.opened("opening 63").next()
    assert following is not None
    return following.game


def prompts(game: AnyGame, seed: int) -> Iterator[Any]:
    """Every prompt of endless games between random players."""
    random = Random(seed)
    while True:
        state = game.start(random.choice(SEATS), SEATS)
        while state.stage is not Stage.OVER:
            if state.stage is Stage.ROLL:
                state = game.apply(state, CHANCE, game.chance(state, RandomDraw(random)))
                continue
            if game.prompted(state) is not None:
                yield state
            (action,) = any_legal(game, state, state.mover, random)
            state = game.apply(state, state.mover, action)


def after(game: AnyGame, state: Any, actions: tuple[Action, ...]) -> Any:
    """The state when the mover has played all of them; the engine refuses what is illegal."""
    mover = state.mover
    for action in actions:
        state = game.apply(state, mover, action)
    return state


def exchanged(state: Any) -> Any:
    """The same position with the seats exchanged: all that is kept by seat, and the mover."""
    pairs = {
        name: getattr(state, name)[::-1]
        for name in ("boards", "pinned", "throws")
        if hasattr(state, name)
    }
    kept = {name: getattr(state, name) for name in type(state).__slots__}
    return type(state)(**{**kept, **pairs, "mover": Seat(1 - state.mover)})


def _boards(mine: str, theirs: str) -> Boards:
    return board(mine), board(theirs)


def portes_at(mine: str, theirs: str, roll: tuple[int, int]) -> portes.State:
    """Seat 0 has thrown and moved nothing yet."""
    dice = dice_of(Roll(*roll))
    return portes.State(_boards(mine, theirs), SEATS[0], dice, roll, Stage.MOVE, None)


def plakoto_at(
    mine: str, theirs: str, roll: tuple[int, int], pinned: plakoto.Pinned = ((), ())
) -> plakoto.State:
    """Seat 0 has thrown and moved nothing yet."""
    dice = dice_of(Roll(*roll))
    return plakoto.State(_boards(mine, theirs), SEATS[0], dice, roll, Stage.MOVE, None, pinned)


def fevga_at(mine: str, theirs: str, roll: tuple[int, int]) -> fevga.State:
    """Seat 0 has thrown and moved nothing yet."""
    dice = dice_of(Roll(*roll))
    return fevga.State(_boards(mine, theirs), SEATS[0], dice, roll, Stage.MOVE, None)
