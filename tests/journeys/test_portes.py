"""Portes from the queue to the ledger: every way in which a staked game can end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing

import pytest
from kafeneio.rules.v1 import actions_pb2
from kafeneio_client.clock import Attendance
from kafeneio_client.money import Money
from prometheus_client import REGISTRY

from tests.journeys.evening import PATIENCE, PLAYERS, STAKE, Evening, refused

WON, LOST = STAKE.minor_units, -STAKE.minor_units


async def seated(house: Evening, game_id: str) -> tuple[list[str], str, str]:
    """Who sits where, the one who is prompted, and the other one."""
    seats = await house.seats(game_id)
    on_turn = seats[(await house.position(game_id)).turn.seat]
    (other,) = set(seats) - {on_turn}
    return seats, on_turn, other


def winner_takes(winner: str) -> dict[str, int]:
    """The nets of a game with two players and no fee."""
    return {player: WON if player == winner else LOST for player in PLAYERS}


def counting() -> Callable[..., float]:
    """How much a metric has grown since this was called."""

    def value(name: str, labels: dict[str, str]) -> float:
        return REGISTRY.get_sample_value(name, labels) or 0.0

    before = {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in REGISTRY.collect()
        for sample in family.samples
    }
    return lambda name, **labels: (
        value(name, labels) - before.get((name, tuple(sorted(labels.items()))), 0.0)
    )


async def until_over(attendance: Attendance) -> None:
    """Returns when the clock of the game is closed."""
    async with asyncio.timeout(PATIENCE):
        async for clock in attendance:
            if clock.closed:
                return


@pytest.mark.parametrize("target", [1, 3], ids=["single", "match-to-3"])
async def test_played_to_the_end(slow: Evening, target: int) -> None:
    game_id = await slow.matched(target)
    await slow.join(game_id)
    seats = await slow.seats(game_id)
    async with (
        slow.client(seats[0]).clock.attending(game_id),
        slow.client(seats[1]).clock.attending(game_id),
    ):
        position = await slow.play(game_id)
    decided = position.outcome.decided
    assert max(decided.score) >= target
    assert await slow.paid(game_id) == winner_takes(seats[decided.winners[0]])
    (closed,) = await slow.announced(game_id, "clock_closed")
    assert not closed.clock_closed.forfeits
    assert not slow.of_game(game_id, "timeout_incurred")
    assert await slow.service.games.verify(game_id) == ()


async def test_one_game_of_a_match_is_resigned_and_the_match_goes_on(slow: Evening) -> None:
    game_id = await slow.matched(target=3)
    await slow.join(game_id)
    await slow.play(game_id, turns=4)
    seats, on_turn, other = await seated(slow, game_id)
    # Not on turn, nothing borne off: two points, and the opponent opens the next game (V2.8, VA9).
    answer = await slow.client(other).games.resign(game_id, 1)
    position = (answer.house if answer.HasField("house") else answer.played).position
    assert position.round == 2
    assert position.score[seats.index(on_turn)] == 2
    position = await slow.play(game_id)
    winner = seats[position.outcome.decided.winners[0]]
    # Resigning is no forfeit: the fee would be taken, the stakes are paid as ever.
    assert await slow.paid(game_id) == winner_takes(winner)


async def test_five_timeouts_lose_the_game(hasty: Evening) -> None:
    gained = counting()
    game_id = await hasty.matched()
    await hasty.join(game_id)
    _, idle, other = await seated(hasty, game_id)
    async with (
        hasty.client(idle).clock.attending(game_id) as one,
        hasty.client(other).clock.attending(game_id),
    ):
        await until_over(one)
    charges = await hasty.announced(game_id, "timeout_incurred", 5)
    assert [event.timeout_incurred.charged for event in charges] == [1, 2, 3, 4, 5]
    (forfeit,) = await hasty.announced(game_id, "seat_forfeited")
    assert forfeit.seat_forfeited.reason == actions_pb2.FORFEIT_REASON_TIMEOUTS_EXCEEDED
    assert gained("kafeneio_timeouts_total") == 5
    assert gained("kafeneio_forfeits_total", reason="TIMEOUTS_EXCEEDED") == 1
    assert gained("kafeneio_clock_lateness_seconds_count") >= 5
    assert gained("kafeneio_queue_wait_seconds_count", variant="portes") == 2
    assert gained("kafeneio_settlement_mismatch_total") == 0
    assert await hasty.paid(game_id) == winner_takes(other)


async def test_a_connection_lost_and_not_back(hasty: Evening) -> None:
    game_id = await hasty.matched()
    await hasty.join(game_id)
    _, gone, other = await seated(hasty, game_id)
    async with hasty.client(other).clock.attending(game_id) as watching:
        async with hasty.client(gone).clock.attending(game_id):
            pass  # attended, and closed the stream
        await until_over(watching)
    (forfeit,) = await hasty.announced(game_id, "seat_forfeited")
    assert forfeit.seat_forfeited.reason == actions_pb2.FORFEIT_REASON_CONNECTION_LOST
    assert await hasty.paid(game_id) == winner_takes(other)


async def test_back_in_time_with_charges(hasty: Evening) -> None:
    game_id = await hasty.matched()
    await hasty.join(game_id)
    seats, away, other = await seated(hasty, game_id)
    async with hasty.client(other).clock.attending(game_id):
        async with hasty.client(away).clock.attending(game_id):
            pass
        charged = len(await hasty.announced(game_id, "timeout_incurred", 2))
        async with hasty.client(away).clock.attending(game_id):
            await hasty.announced(game_id, "connection_restored")
            position = await hasty.play(game_id)
    assert charged >= 2
    assert not hasty.of_game(game_id, "seat_forfeited")
    winner = seats[position.outcome.decided.winners[0]]
    assert await hasty.paid(game_id) == winner_takes(winner)


async def test_a_client_that_falls_silent_without_closing(hasty: Evening) -> None:
    game_id = await hasty.matched()
    await hasty.join(game_id)
    _, silent, other = await seated(hasty, game_id)
    # Attend is held open, but no heartbeat comes.
    async with (
        hasty.client(other).clock.attending(game_id) as watching,
        aclosing(hasty.client(silent).clock.attend(game_id)) as stream,
    ):
        await anext(stream)
        lost = await hasty.announced(game_id, "connection_lost")
        await until_over(watching)
    assert lost[0].connection_lost.seat == (await hasty.seats(game_id)).index(silent)
    assert await hasty.paid(game_id) == winner_takes(other)


async def test_two_devices_of_one_player(slow: Evening) -> None:
    game_id = await slow.matched()
    await slow.join(game_id)
    seats, player, other = await seated(slow, game_id)
    async with (
        slow.client(other).clock.attending(game_id),
        slow.client(player).clock.attending(game_id) as phone,
        slow.client(player).clock.attending(game_id) as tablet,
    ):
        async with asyncio.timeout(PATIENCE):
            async for _ in phone:
                pass  # ends when the newer device has taken over
        assert phone.taken_over
        assert not tablet.taken_over
        position = await slow.play(game_id)
    assert not slow.of_game(game_id, "connection_lost")
    assert not slow.of_game(game_id, "timeout_incurred")
    winner = seats[position.outcome.decided.winners[0]]
    assert await slow.paid(game_id) == winner_takes(winner)


async def test_leaving_in_the_middle(slow: Evening) -> None:
    game_id = await slow.matched(target=3)
    await slow.join(game_id)
    await slow.play(game_id, turns=5)
    _, on_turn, leaver = await seated(slow, game_id)
    await slow.client(leaver).clock.leave(game_id)
    position = await slow.position(game_id)
    assert position.outcome.decided.ending == "forfeit"
    assert await slow.paid(game_id) == winner_takes(on_turn)
    # Once for all: it can't be left twice.
    await refused("GAME_OVER", slow.client(on_turn).clock.leave(game_id))


async def test_leaving_on_the_last_move_is_refused_and_announced_by_nobody(slow: Evening) -> None:
    game_id = await slow.matched()
    await slow.join(game_id)
    seats = await slow.seats(game_id)
    position = await slow.play(game_id)
    winner = seats[position.outcome.decided.winners[0]]
    (loser,) = set(seats) - {winner}
    await refused("GAME_OVER", slow.client(loser).clock.leave(game_id))
    assert await slow.paid(game_id) == winner_takes(winner)
    assert not slow.of_game(game_id, "seat_forfeited")


async def test_a_game_without_a_stake_moves_no_money(slow: Evening) -> None:
    game_id = await slow.matched(stake=Money("EUR", 0))
    await slow.join(game_id)
    await slow.play(game_id)
    assert await slow.paid(game_id) == dict.fromkeys(PLAYERS, 0)
