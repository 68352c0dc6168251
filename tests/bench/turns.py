"""Whole turns of a position and throw per second, of each game; bgsage (C++) on the same Portes."""

from __future__ import annotations

import random
import time
from typing import Any, Final, Protocol

import bgsage
from kafeneio_games import fevga, gulbara, plakoto, portes
from kafeneio_games.game import CHANCE, Game, Seat
from kafeneio_games.tavli import ROLLS, Stage

POSITIONS: Final = 20_000
State = portes.State | plakoto.State | fevga.State | gulbara.State


class Tavli(Game[Any, Any, Any], Protocol):
    """A game that finds all its turns. Its state is its own; here only what all have is used."""

    def turns(self, state: Any) -> tuple[object, ...]:
        """All whole turns of a position after a throw."""


GAMES: Final[dict[str, Tavli]] = {
    "portes": portes.Portes(),
    "plakoto": plakoto.Plakoto(),
    "fevga": fevga.Fevga(),
    "gulbara": gulbara.Gulbara(),
}


def positions(name: str, count: int, seed: int) -> list[State]:
    """Positions after a throw, as they come up in random games."""
    chance, game = random.Random(seed), GAMES[name]
    found: list[State] = []
    while len(found) < count:
        state: State = game.start(Seat(chance.randrange(2)), (Seat(0), Seat(1)))
        while state.result is None and len(found) < count:
            if state.stage is Stage.ROLL:
                state = game.apply(state, CHANCE, chance.choice(ROLLS))
                if len(state.dice) >= 2 and state.stage is Stage.MOVE:
                    found.append(state)
            else:
                actions = list(game.legal(state, state.mover))
                state = game.apply(state, state.mover, chance.choice(actions))
    return found


def board26(state: State) -> list[int]:
    """The position as bgsage numbers it: [0] the other's bar, 1-24 mine, [25] my bar."""
    mine, theirs = state.boards[state.mover], state.boards[1 - state.mover]
    board = [int(mine[p]) - int(theirs[25 - p]) for p in range(26)]
    board[0], board[25] = theirs[25], mine[25]
    return board


async def turns() -> None:
    """Print the rates."""
    for name, game in GAMES.items():
        found = positions(name, POSITIONS, seed=7)
        begin = time.perf_counter()
        ends = sum(len(game.turns(state)) for state in found)
        seconds = time.perf_counter() - begin
        rate = len(found) / seconds
        print(f"{name:<8} CPython   {rate:10,.0f} positions/s, {ends / seconds:9,.0f} turns/s")
        if name == "portes":
            boards = [(board26(state), *state.rolled) for state in found]
            begin = time.perf_counter()
            ends = sum(len(bgsage.possible_moves(board, a, b)) for board, a, b in boards)
            there = time.perf_counter() - begin
            print(
                f"bgsage   C++       {len(found) / there:10,.0f} positions/s,"
                f" {ends / there:9,.0f} turns/s (ratio {there / seconds:.2f})"
            )
