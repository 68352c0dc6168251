"""Whole turns of a position and throw per second, beside bgsage (C++) on the same ones."""

from __future__ import annotations

import random
import time

import bgsage
from kafeneio_games import portes
from kafeneio_games.game import CHANCE, Seat
from kafeneio_games.tavli import ROLLS

POSITIONS = 20_000


def positions(count: int, seed: int) -> list[portes.State]:
    """Positions after a throw, as they come up in random games."""
    chance = random.Random(seed)
    game = portes.Portes()
    found: list[portes.State] = []
    while len(found) < count:
        state = game.start(Seat(chance.randrange(2)), (Seat(0), Seat(1)))
        while state.result is None and len(found) < count:
            if state.stage is portes.Stage.ROLL:
                state = game.apply(state, CHANCE, chance.choice(ROLLS))
                found.append(state)
            actions = list(game.legal(state, state.mover))
            state = game.apply(state, state.mover, chance.choice(actions))
    return found


def board26(state: portes.State) -> list[int]:
    """The position as bgsage numbers it: [0] the other's bar, 1-24 mine, [25] my bar."""
    mine, theirs = state.boards[state.mover], state.boards[1 - state.mover]
    board = [int(mine[p]) - int(theirs[25 - p]) for p in range(26)]
    board[0], board[25] = theirs[25], mine[25]
    return board


async def turns() -> None:
    """Print both rates."""
    found = [s for s in positions(POSITIONS, seed=7) if len(s.dice) >= 2]
    begin = time.perf_counter()
    ends = sum(len(portes.turns(state)) for state in found)
    ours = time.perf_counter() - begin
    boards = [(board26(state), *state.rolled) for state in found]
    begin = time.perf_counter()
    found_there = sum(len(bgsage.possible_moves(board, a, b)) for board, a, b in boards)
    theirs = time.perf_counter() - begin
    count = len(found)
    print(f"portes, CPython    {count / ours:10,.0f} positions/s, {ends / ours:,.0f} turns/s")
    print(f"bgsage, C++        {count / theirs:10,.0f} positions/s, {found_there / theirs:,.0f}")
    print(f"ratio              {theirs / ours:10.2f}")
