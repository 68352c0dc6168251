"""Tables with computers, over gRPC: nobody waits for them, and nobody charges them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Final

import pytest
from kafeneio.clock.v1 import clock_pb2 as pb
from kafeneio.clock.v1 import events_pb2
from kafeneio.rules.v1 import actions_pb2

from tests.clock.house import House, Stream, kinds, message, rest, shown
from tests.harness import SEATS, SERVICE, new_id
from tests.rules.refusal import refusal

FOUR: Final = ("eleni", "nikos", "maria", "petros")
LEFT: Final = actions_pb2.FORFEIT_REASON_LEFT
QUICKLY: Final = {"clock_move_seconds": 0.2, "clock_grace_seconds": 0.05}


async def first_legal(house: House, game_id: str) -> None:
    """The seat on turn plays the first of its legal actions: a player, or a computer."""
    game = await house.rules.get(game_id)  # the clock hears of a computer a moment later
    position, seat = game.position, game.position.turn.seat
    who, as_seat = FOUR[seat], None
    if game.seats[seat].computer:
        who, as_seat = SERVICE, seat
    legal = await house.rules.legal(game_id, who, as_seat=as_seat)
    await house.rules.act(game_id, position.version, who, legal.actions[:1], as_seat=as_seat)


async def everybody(house: House, game_id: str) -> list[Stream]:
    """All four attend."""
    return [(await house.clock.attended(game_id, who))[0] for who in FOUR]


# --- from the start --------------------------------------------------------------------------


async def test_a_computer_in_a_seat_from_the_start(database_url: str, keys: Path) -> None:
    async with House.serve(database_url, keys, **QUICKLY, clock_silent_seconds=3) as house:
        game = await house.rules.start(computers=(1,))
        stream, attached = await house.clock.attended(game.game_id, SEATS[0])
        clock = await shown(stream, lambda c: c.turn.turn == 1)
        computer = clock.seats[1]
        assert (computer.presence, computer.computer) == (pb.PRESENCE_COMPUTER, True)
        assert not computer.HasField("present_until")
        assert not computer.HasField("window")
        while (position := (await house.rules.get(game.game_id)).position).turn.seat == 0:
            await house.rules.play_turn(game.game_id, position)
        clock = await house.clock.until(game.game_id, lambda c: c.turn.turn == position.turn.turn)
        # The computer lets ten periods go by, in which its opponent is there.
        assert not clock.turn.HasField("deadline")
        end = clock.at.ToNanoseconds() + 2_500_000_000
        while clock.at.ToNanoseconds() < end:
            await house.clock.heartbeat(game.game_id, SEATS[0], attached.epoch)
            clock = await house.clock.get(game.game_id)
        assert kinds(await house.clock.events(game.game_id)) == []
        row = await house.database.fetchrow("SELECT deadline, due_at FROM clocks")
        assert row is not None
        assert row["deadline"] is None
        assert row["due_at"] is not None, "to ask whether it has moved"
        await house.clock.leave(game.game_id, SEATS[0])
        events = await house.clock.announced(game.game_id, "clock_closed")
        forfeit = events_pb2.SeatForfeited(seat=0, reason=LEFT)
        assert list(events[-1].clock_closed.forfeits) == [forfeit], "the computer's is none"


async def test_nobody_is_the_computer(house: House) -> None:
    """Not even who has its name."""
    game = await house.rules.start(computers=(1,))
    await house.clock.until(game.game_id, lambda c: c.turn.turn == 1)
    for call in (
        house.clock.attend(game.game_id, SEATS[1]).read(),
        house.clock.heartbeat(game.game_id, SEATS[1], 1),
        house.clock.leave(game.game_id, SEATS[1]),
    ):
        refused = await refusal(call)
        assert refused.what == ("PERMISSION_DENIED", "NOT_YOUR_SEAT")


async def test_a_game_against_a_computer_to_its_end(house: House) -> None:
    game = await house.rules.start(computers=(0,))
    stream, _ = await house.clock.attended(game.game_id, SEATS[1])
    await house.rules.resign(game.game_id, SEATS[1])
    assert (await rest(stream))[-1].clock.closed
    (closed,) = await house.clock.events(game.game_id)
    assert not closed.clock_closed.forfeits


# --- since a forfeit (F1) --------------------------------------------------------------------


async def test_four_are_expected_and_attend(database_url: str, keys: Path) -> None:
    async with House.serve(database_url, keys, clock_silent_seconds=2) as house:
        game = await house.rules.start(variant="pilotta", players=FOUR)
        clock = await house.clock.until(game.game_id, lambda c: len(c.seats) == 4)
        assert {seat.presence for seat in clock.seats} == {pb.PRESENCE_EXPECTED}
        for who in FOUR[:3]:
            await house.clock.attended(game.game_id, who)
        (lost,) = await house.clock.announced(game.game_id, "connection_lost")
        assert lost.connection_lost.seat == 3


async def test_a_player_leaves_and_a_computer_plays_on(house: House) -> None:
    game = await house.rules.start(variant="pilotta", players=FOUR)
    streams = await everybody(house, game.game_id)
    seat = game.position.turn.seat
    request_id = new_id()
    await house.clock.leave(game.game_id, FOUR[seat], request_id)
    clock = await shown(streams[seat - 1], lambda c: c.seats[seat].computer)
    assert clock.seats[seat].presence == pb.PRESENCE_FORFEITED
    assert clock.seats[seat].forfeit == LEFT
    assert (clock.turn.turn, clock.turn.seat) == (1, seat), "its turn goes on"
    assert not clock.turn.HasField("deadline")
    assert not clock.closed
    assert (await rest(streams[seat]))[-1].clock.seats[seat].forfeit == LEFT, "his stream has ended"
    for call in (
        message(house.clock.attend(game.game_id, FOUR[seat])),
        house.clock.heartbeat(game.game_id, FOUR[seat], 1),
        house.clock.leave(game.game_id, FOUR[seat]),
    ):
        refused = await refusal(call)
        assert refused.what == ("FAILED_PRECONDITION", "SEAT_FORFEITED")
    await house.clock.leave(game.game_id, FOUR[seat], request_id)  # the same call again
    for _ in range(8):  # the computer among them
        await first_legal(house, game.game_id)
    clock = await house.clock.until(game.game_id, lambda c: c.turn.turn == 9)
    assert kinds(await house.clock.events(game.game_id)) == ["seat_forfeited"]


async def test_one_after_the_other_until_the_game_is_void(database_url: str, keys: Path) -> None:
    """One is idle, one away, two leave: the computers wait for nobody meanwhile."""
    async with House.serve(database_url, keys, **QUICKLY) as house:
        game = await house.rules.start(variant="pilotta", players=FOUR)
        streams = await everybody(house, game.game_id)
        order = [(game.position.turn.seat + number) % 4 for number in range(4)]
        idle, away, *leavers = order
        await house.clock.announced(game.game_id, "seat_forfeited", 1)
        streams[away].cancel()
        await first_legal(house, game.game_id)
        await house.clock.announced(game.game_id, "seat_forfeited", 2)
        clock = await house.clock.get(game.game_id)
        assert clock.turn.seat == away
        assert not clock.turn.HasField("deadline")
        await house.clock.leave(game.game_id, FOUR[leavers[0]])
        assert not (await house.clock.get(game.game_id)).closed
        await house.clock.leave(game.game_id, FOUR[leavers[1]])
        events = await house.clock.announced(game.game_id, "clock_closed")
        forfeits = [(each.seat, each.reason) for each in events[-1].clock_closed.forfeits]
        assert forfeits == [
            (idle, actions_pb2.FORFEIT_REASON_TIMEOUTS_EXCEEDED),
            (away, actions_pb2.FORFEIT_REASON_CONNECTION_LOST),
            *((seat, LEFT) for seat in leavers),
        ]
        outcome = (await house.rules.get(game.game_id)).position.outcome
        assert outcome.void_reason == actions_pb2.VOID_REASON_ALL_FORFEITED
        finished = (await house.rules.events(game.game_id))[-1].game_finished
        assert [(each.seat, each.reason) for each in finished.forfeits] == forfeits
        assert all(each.computer for each in finished.forfeits)
        charges = [e.timeout_incurred.seat for e in events if e.HasField("timeout_incurred")]
        assert charges == [idle] * 5 + [away] * 5


async def test_all_leave_at_once(house: House) -> None:
    game = await house.rules.start(variant="pilotta", players=FOUR)
    await everybody(house, game.game_id)
    await asyncio.gather(*(house.clock.leave(game.game_id, who) for who in FOUR))
    events = await house.clock.announced(game.game_id, "clock_closed")
    assert kinds(events) == ["seat_forfeited"] * 4 + ["clock_closed"]
    finished = (await house.rules.events(game.game_id))[-1].game_finished
    told = [each.seat_forfeited.seat for each in events[:-1]]
    assert [each.seat for each in events[-1].clock_closed.forfeits] == told
    assert sorted(told) == sorted(each.seat for each in finished.forfeits) == [0, 1, 2, 3]


@pytest.mark.parametrize("people", [1, 2])
async def test_the_last_people_leave_computers_alone(house: House, people: int) -> None:
    computers = range(people, 4)
    game = await house.rules.start(variant="pilotta", players=FOUR, computers=computers)
    for who in FOUR[:people]:
        await house.clock.leave(game.game_id, who)
    events = await house.clock.announced(game.game_id, "clock_closed")
    assert [each.seat for each in events[-1].clock_closed.forfeits] == list(range(people))
