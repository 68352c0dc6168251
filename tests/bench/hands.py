"""Whole random hands of the games of tricks per second, from the deal to the result.

Through `legal` and `apply`, each action chosen at random; in CPU time, so that other work on the
machine does not count.
"""

from __future__ import annotations

import random
import time
from typing import Final

from kafeneio_games import registry
from kafeneio_games.chance import ProvableDraw
from kafeneio_games.game import CHANCE, AnyGame, Seat

HANDS: Final = 1_000
GOALS: Final = {
    "pilotta": 1500,
    "belote": 2000,
    "belote-no-trump": 2000,
    "coinche": 2000,
}


def played(game: AnyGame, dealer: Seat, draw: ProvableDraw, chance: random.Random) -> int:
    """One hand; how many actions it took."""
    state = game.start(dealer, tuple(sorted(seat for side in game.sides for seat in side)))
    actions = 0
    while game.result(state) is None:
        seats = game.to_act(state)
        if seats == (CHANCE,):
            state = game.apply(state, CHANCE, game.chance(state, draw))
        else:
            seat = chance.choice(seats)
            state = game.apply(state, seat, chance.choice(list(game.legal(state, seat))))
        actions += 1
    return actions


async def hands() -> None:
    """Print the rates."""
    for variant in registry.variants():
        if variant.payout not in ("S1", "S2"):
            continue
        match = variant.build({}, None).opened("dealer 0")
        following = match.next()
        assert following is not None, "its dealer is known"
        draw, chance = ProvableDraw(bytes(32), bytes(32)), random.Random(7)
        begin = time.process_time()
        actions = sum(
            played(following.game, Seat(hand % variant.seats), draw, chance)
            for hand in range(HANDS)
        )
        seconds = time.process_time() - begin
        goal = f" (goal: {GOALS[variant.id]:,})" if variant.id in GOALS else ""
        rate = f"{HANDS / seconds:8,.0f} hands/s, {actions / seconds:9,.0f} actions/s{goal}"
        print(f"{variant.id:<20} {rate}")
