"""Every variant that the house offers, from the queue to the ledger."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pytest
from kafeneio.rules.v1 import game_pb2
from kafeneio_client.programs import GreedyProgram
from kafeneio_games import registry

from tests.journeys.evening import Evening
from tests.journeys.guests import FOUR, STAKE, Guests

QUICK: Final = ("portes", "pilotta", "koumkan")
"""One of each family; the others are drills."""
ALL: Final = [
    pytest.param(variant.id, marks=[pytest.mark.drill] if variant.id not in QUICK else [])
    for variant in registry.variants()
]
SHORT: Final = {"S1": 0, "S2": 0, "S3": 51, "S4": 0}
"""The target by payout rule; 0 is the usual one."""


def pots(seats: list[str], winners: list[int]) -> dict[str, int]:
    """The nets without a fee: the losers' stakes in equal parts to the winners."""
    lost = STAKE.minor_units * (len(seats) - len(winners))
    return {
        player: lost // len(winners) if seat in winners else -STAKE.minor_units
        for seat, player in enumerate(seats)
    }


@pytest.mark.parametrize("variant", ALL)
async def test_it_is_played_for_a_stake_and_its_record_is_good(slow: Evening, variant: str) -> None:
    await check_played(slow, variant)


async def check_played(house: Guests, variant: str, names: Sequence[str] = FOUR) -> None:
    """A whole game of a variant, from the queue to the ledger, by people who play their first."""
    played = registry.variant(variant)
    players = names[: played.seats]
    target = SHORT[played.payout]
    game_id = await house.matched(target=target, variant=variant, players=players)
    await house.join(game_id)
    program = GreedyProgram(1) if played.payout == "S3" else None
    position = await house.play(game_id, program=program)
    assert position.status == game_pb2.GAME_STATUS_FINISHED
    decided = position.outcome.decided
    assert list(decided.winners) == winners_by(played, list(decided.score))
    seats = await house.seats(game_id)
    assert await house.paid(game_id) == pots(seats, list(decided.winners))
    assert await house.service.games.verify(game_id) == ()


def winners_by(variant: registry.Variant, score: list[int]) -> list[int]:
    """The side with the most points; in rummy the one with the fewest, who is left."""
    best = min(score) if variant.payout == "S3" else max(score)
    return [int(seat) for seat in variant.sides[score.index(best)]]


@pytest.mark.drill
@pytest.mark.parametrize("variant", ["koumkan", "thanasis"])
async def test_rummy_for_three(slow: Evening, variant: str) -> None:
    options = {"players": "3"}
    game_id = await slow.matched(51, variant=variant, players=FOUR[:3], options=options)
    await slow.join(game_id)
    position = await slow.play(game_id, program=GreedyProgram(2))
    (winner,) = position.outcome.decided.winners
    seats = await slow.seats(game_id)
    assert await slow.paid(game_id) == pots(seats, [winner])
