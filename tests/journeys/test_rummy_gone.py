"""Rummy when time runs out, when lines are lost, and when several leave at once (F3, S3, X)."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Final

import pytest
from kafeneio.clock.v1 import events_pb2 as clock_events
from kafeneio.rules.v1 import actions_pb2, events_pb2
from kafeneio_client.errors import Refused

from tests.journeys.evening import PATIENCE, Evening, evening
from tests.journeys.rummy import (
    CONNECTION_LOST,
    HEAVY,
    LEFT,
    LIGHT,
    OUT,
    TIMEOUTS_EXCEEDED,
    UNHURRIED,
    VARIANTS,
    Deals,
    Patient,
    check_pot,
    check_witnesses,
    dealt,
    draws,
    following,
    goes_out,
    leave,
    passes,
    seated,
    view_of,
)

MOVE: Final = timedelta(seconds=0.5)
HASTY: Final = UNHURRIED | {
    "clock_move_seconds": MOVE.total_seconds(),
    "clock_grace_seconds": 0.1,
}
CAUSES: Final[Mapping[int, int]] = {
    TIMEOUTS_EXCEEDED: clock_events.CHARGE_CAUSE_MOVE,
    CONNECTION_LOST: clock_events.CHARGE_CAUSE_AWAY,
}


@pytest.fixture
async def house(database_url: str, tmp_path: Path) -> AsyncIterator[Evening]:
    """A house that takes a fee, in which nobody is hurried."""
    async with evening(database_url, tmp_path, **UNHURRIED) as opened:
        yield opened


@pytest.fixture
async def hasty(database_url: str, tmp_path: Path) -> AsyncIterator[Evening]:
    """The same with half a second for a move."""
    async with evening(database_url, tmp_path, **HASTY) as opened:
        yield opened


# ---------------------------------------------------------------- one after the other


@dataclass
class Deserted:
    """A game from which everybody goes but one; `gone` says why, the seat on turn first."""

    players: int
    gone: tuple[actions_pb2.ForfeitReason.ValueType, ...]
    game_id: str = ""
    order: list[int] = field(default_factory=list)

    async def begin(self, house: Evening, variant: str) -> None:
        """In mid-hand those go who are to go, and nobody plays on."""
        self.game_id = await seated(house, variant, self.players)
        seats = await house.seats(self.game_id)
        turn = (await house.play(self.game_id, 3, program=Patient(self.players))).turn.seat
        self.order = [(turn + n) % self.players for n in range(self.players)]
        for seat, reason in zip(self.order, self.gone, strict=False):
            if reason == CONNECTION_LOST:
                async with house.client(seats[seat]).clock.attending(self.game_id):
                    pass  # he was there, and is not any more
        for seat, reason in zip(self.order, self.gone, strict=False):
            if reason == LEFT:
                await leave(house, self.game_id, seat)

    async def check(self, house: Evening) -> None:
        """Each went for his own reason when his turn had come, and the last one has it all."""
        await check_pot(house, self.game_id, self.order[-1])
        gone = list(zip(self.order, self.gone, strict=False))
        gone.sort(key=lambda each: each[1] != LEFT)  # they went first
        await check_witnesses(house, self.game_id, gone)
        events = [event async for event in house.service.games.events(self.game_id)]
        clock = [event async for event in house.service.clock.events(self.game_id)]
        for seat, reason in gone:
            if reason != LEFT:
                own = [each for each in clock if is_charge(each, seat)]
                told = [each.timeout_incurred for each in own]
                assert [charge.charged for charge in told] == [1, 2, 3, 4, 5]
                assert told[-1].cause == CAUSES[reason]
                assert told[-1].turn == last_turn(events, seat)
                check_time(events, own)
        check_passing_on(events, self.players)


def is_charge(event: clock_events.ClockEvent, seat: int) -> bool:
    """Whether that seat was charged."""
    return event.HasField(CHARGED) and event.timeout_incurred.seat == seat


def check_time(
    events: Sequence[events_pb2.GameEvent], charges: Sequence[clock_events.ClockEvent]
) -> None:
    """X2, X4: a seat's time runs on its own turn only, and a period is half a second."""
    began = {
        event.turn_started.turn: event.occurred_at.ToDatetime()
        for event in events
        if event.HasField("turn_started")
    }
    charged = Counter[int]()
    for event in charges:
        turn = event.timeout_incurred.turn
        charged[turn] += 1
        assert event.occurred_at.ToDatetime() - began[turn] >= charged[turn] * MOVE


CHARGED: Final = "timeout_incurred"


def last_turn(events: list[events_pb2.GameEvent], seat: int) -> int:
    """The number of a seat's last turn."""
    turns = [event.turn_started for event in events if event.HasField("turn_started")]
    return max(turn.turn for turn in turns if turn.seat == seat)


def check_passing_on(events: list[events_pb2.GameEvent], players: int) -> None:
    """F3: in the row that takes the seat on turn out the next one is on turn; no other changes."""
    live, turn = list(range(players)), -1
    for place, event in enumerate(events):
        if event.HasField("turn_started"):
            turn = event.turn_started.seat
        if not event.HasField("seat_forfeit_recorded"):
            continue
        seat = event.seat_forfeit_recorded.seat
        live.remove(seat)
        row = [each for each in events if each.version == event.version]
        kinds = [each.WhichOneof("event") for each in row]
        ended = ["turn_ended"] if seat == turn or len(live) == 1 else []
        if len(live) == 1:
            assert kinds == [*ended, "seat_forfeit_recorded", "game_finished"]
        elif ended:
            assert kinds == ["turn_ended", "seat_forfeit_recorded", "turn_started"]
            assert events[place + 1].turn_started.seat == following(seat, live)
        else:
            assert kinds == ["seat_forfeit_recorded"]
    assert len(live) == 1


async def test_time_runs_out_and_lines_are_lost(hasty: Evening) -> None:
    games = [
        Deserted(2, (TIMEOUTS_EXCEEDED,)),
        Deserted(2, (CONNECTION_LOST,)),
        Deserted(3, (TIMEOUTS_EXCEEDED, CONNECTION_LOST)),
        Deserted(3, (CONNECTION_LOST, TIMEOUTS_EXCEEDED)),
        Deserted(3, (LEFT, CONNECTION_LOST)),
        Deserted(4, (TIMEOUTS_EXCEEDED, LEFT, CONNECTION_LOST)),
        Deserted(4, (CONNECTION_LOST, CONNECTION_LOST, CONNECTION_LOST)),
    ]
    for number, game in enumerate(games):
        await game.begin(hasty, VARIANTS[number % 3])
    for game in games:  # no stake is left on any table then
        await hasty.service.settlement.settled(game.game_id, PATIENCE)
    for game in games:
        await game.check(hasty)


async def test_x5_whose_turn_comes_while_he_is_away_may_come_back(
    database_url: str, tmp_path: Path
) -> None:
    slower = HASTY | {"clock_move_seconds": 1.0}
    async with evening(database_url, tmp_path, **slower) as house:
        await check_coming_back(house)


async def check_coming_back(house: Evening) -> None:
    """Away when his turn comes, charged twice, and back: he plays on, and wins."""
    game_id = await seated(house, "koumkan", 3)
    seats = await house.seats(game_id)
    first = (await house.position(game_id)).turn.seat
    away, last = (first + 1) % 3, (first + 2) % 3
    async with house.client(seats[away]).clock.attending(game_id):
        pass
    await house.announced(game_id, "connection_lost")
    await leave(house, game_id, first)
    await house.announced(game_id, CHARGED, 2)
    async with house.client(seats[away]).clock.attending(game_id):
        await house.announced(game_id, "connection_restored")
        await passes(house, game_id)
        await leave(house, game_id, last)
    await check_pot(house, game_id, away)
    await check_witnesses(house, game_id, [(first, LEFT), (last, LEFT)])
    charges = [each.timeout_incurred for each in house.of_game(game_id, CHARGED)]
    assert [charge.cause for charge in charges[:2]] == [clock_events.CHARGE_CAUSE_AWAY] * 2
    assert {charge.turn for charge in charges[:2]} == {2}


async def test_who_is_eliminated_is_never_waited_for(database_url: str, tmp_path: Path) -> None:
    async with dealt(database_url, tmp_path, Deals([(OUT, HEAVY, LIGHT)]), HASTY) as house:
        game_id = await seated(house, "koumkan", 3)
        seats = await house.seats(game_id)
        position = await goes_out(house, game_id)
        assert position.score[1] == 98
        assert position.turn.seat == 2
        async with house.client(seats[1]).clock.attending(game_id):
            pass
        await house.announced(game_id, "connection_lost")
        await house.announced(game_id, "clock_closed")  # seat 2 does not play
        assert 1 not in {each.timeout_incurred.seat for each in house.of_game(game_id, CHARGED)}
        await check_pot(house, game_id, 0)
        await check_witnesses(house, game_id, [(2, TIMEOUTS_EXCEEDED)])


# ---------------------------------------------------------------- at once


async def try_to_leave(house: Evening, game_id: str, player: str) -> str:
    """Why he may not leave; "" where he has left."""
    try:
        await house.client(player).clock.leave(game_id)
    except Refused as refusal:
        return refusal.reason
    return ""


@pytest.mark.parametrize("players", [2, 3, 4])
async def test_all_leave_at_once_and_one_of_them_wins(house: Evening, players: int) -> None:
    for variant in VARIANTS:
        game_id = await seated(house, variant, players)
        seats = await house.seats(game_id)
        async with asyncio.timeout(PATIENCE):
            tried = await asyncio.gather(
                *(try_to_leave(house, game_id, player) for player in seats)
            )
        assert sorted(tried) == [""] * (players - 1) + ["GAME_OVER"]
        winner = tried.index("GAME_OVER")
        position = await house.position(game_id)
        assert list(position.outcome.decided.winners) == [winner]
        await check_pot(house, game_id, winner)
        gone = [(each.seat, LEFT) for each in position.forfeits]
        assert sorted(seat for seat, _ in gone) == [
            seat for seat in range(players) if seat != winner
        ]
        await check_witnesses(house, game_id, gone)


async def test_all_leave_at_once_and_one_has_lost_before(database_url: str, tmp_path: Path) -> None:
    async with dealt(database_url, tmp_path, Deals([(OUT, HEAVY, LIGHT)])) as house:
        for variant in VARIANTS:
            game_id = await seated(house, variant, 3)
            seats = await house.seats(game_id)
            await goes_out(house, game_id)
            tried = await asyncio.gather(
                *(try_to_leave(house, game_id, player) for player in seats)
            )
            assert tried[1] in ("SEAT_ELIMINATED", "GAME_OVER")
            assert {tried[0], tried[2]} == {"", "GAME_OVER"}
            winner = tried.index("GAME_OVER", 0 if tried[0] else 2)
            await check_pot(house, game_id, winner)
            await check_witnesses(house, game_id, [(2 - winner, LEFT)])


async def test_the_next_one_leaves_while_a_turn_is_ended(house: Evening) -> None:
    """Whichever comes first: the turn is never the leaver's, and never lost."""
    for number in range(6):
        game_id = await seated(house, VARIANTS[number % 3], 3)
        seats = await house.seats(game_id)
        first = (await house.position(game_id)).turn.seat
        second, third = (first + 1) % 3, (first + 2) % 3
        drawn = await draws(house, game_id)
        version = (await house.position(game_id)).version
        mover = house.client(seats[first]).games
        tried = await asyncio.gather(
            mover.act(game_id, version, [f"discard {drawn}"]),
            house.client(seats[second]).clock.leave(game_id),
            return_exceptions=True,
        )
        if isinstance(tried[0], Refused):
            assert tried[0].reason == "STALE_VERSION"
            await mover.act(game_id, version + 1, [f"discard {drawn}"])
        assert tried[1] is None
        position = await house.position(game_id)
        assert position.turn.seat == third
        assert list((await view_of(house, game_id)).live) == sorted((first, third))
        await leave(house, game_id, first)
        await check_pot(house, game_id, third)
        await check_witnesses(house, game_id, [(second, LEFT), (first, LEFT)])
