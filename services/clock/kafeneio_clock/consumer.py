"""What the clock hears of `rules`, in the order in which it happened, each event once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Final
from uuid import UUID

from kafeneio.common.v1 import errors_pb2
from kafeneio.rules.v1 import events_pb2
from kafeneio_runtime import bus
from kafeneio_runtime.errors import failed
from kafeneio_runtime.events import read
from kafeneio_runtime.failpoints import failpoint

from kafeneio_clock import domain, wire
from kafeneio_clock.keeper import Keeper
from kafeneio_clock.peer import Rules
from kafeneio_clock.rows import Row, Write
from kafeneio_clock.storage import Clocks, ConflictError
from kafeneio_clock.turns import Micros, Options
from kafeneio_clock.values import (
    Announcement,
    Event,
    Finished,
    ForfeitRecorded,
    Presence,
    State,
    TurnEnded,
    TurnStarted,
)

SUBJECT: Final = "rules.events"
NAME: Final = "clock"
ATTEMPTS: Final = 5

Heard = events_pb2.GameEvent


class Consumer:
    """Takes events in; `acted` is told whose turn has ended, for that is a sign of life."""

    def __init__(
        self,
        clocks: Clocks,
        keeper: Keeper,
        rules: Rules,
        options: Options,
        acted: Callable[[UUID, int], None],
    ) -> None:
        self._clocks = clocks
        self._keeper = keeper
        self._rules = rules
        self._options = options
        self._acted = acted

    async def handle(self, events: Sequence[bus.Event]) -> None:
        """A batch from the bus: it may have come before, out of order, or with gaps."""
        await self._take([read(event, Heard) for event in events])

    async def catch_up(self, game_id: UUID) -> None:
        """Ask `rules` for what the bus has not brought yet.

        Raises UnreachableError; GAME_UNKNOWN, GAME_CANCELLED or GAME_NOT_STARTED for a game of
        which nothing has been announced.
        """
        heard = await self._clocks.heard([game_id])
        events = await self._rules.events(game_id, heard.get(game_id, 0))
        if events:
            await self._take(events)
        elif game_id not in heard:
            if (await self._rules.turn(game_id)).cancelled:
                raise failed(errors_pb2.ERROR_REASON_GAME_CANCELLED, "the game was cancelled")
            raise failed(errors_pb2.ERROR_REASON_GAME_NOT_STARTED, "not every seat has joined yet")

    async def _take(self, events: Sequence[Heard]) -> None:
        games: dict[UUID, dict[int, Heard]] = defaultdict(dict)
        for event in events:
            games[UUID(event.game_id)][event.sequence] = event
        for attempt in range(ATTEMPTS):
            await self._fill_gaps(games)
            try:
                done = await self._write(games)
            except ConflictError:
                if attempt == ATTEMPTS - 1:
                    raise
                continue
            for game_id, seat in done:
                self._acted(game_id, seat)
            return

    async def _fill_gaps(self, games: Mapping[UUID, dict[int, Heard]]) -> None:
        heard = await self._clocks.heard(games)
        for game_id, events in games.items():
            first, last = heard.get(game_id, 0) + 1, max(events)
            if any(sequence not in events for sequence in range(first, last)):
                for event in await self._rules.events(game_id, first - 1):
                    events[event.sequence] = event

    async def _write(self, games: Mapping[UUID, dict[int, Heard]]) -> list[tuple[UUID, int]]:
        """Writes what is new; the players who have acted."""
        async with self._clocks.transaction() as work:
            rows = await work.lock(games)
            fresh: list[Heard] = []
            writes: list[Write] = []
            acted: list[tuple[UUID, int]] = []
            for game_id, events in games.items():
                write, taken = self._decided(game_id, rows.get(game_id), events)
                fresh += taken
                if write is not None:
                    writes.append(write)
                    acted += [(game_id, seat) for seat in _acted(write.state, taken)]
            ids = [UUID(event.event_id) for event in fresh]
            # Their numbers have told already that they are new; the inbox must agree.
            if len(await bus.first_time(work.connection, NAME, ids)) != len(ids):
                raise ConflictError("an event was handled meanwhile")
            await self._keeper.write(work, writes)
            failpoint("clock.heard.before_commit")
        failpoint("clock.heard.committed")
        self._keeper.done(writes)
        return acted

    def _decided(
        self, game_id: UUID, row: Row | None, events: Mapping[int, Heard]
    ) -> tuple[Write | None, list[Heard]]:
        """A clock after the events that follow the last one that it has heard."""
        heard = 0 if row is None else row.heard
        state = None if row is None else row.state
        told: list[Announcement] = []
        taken: list[Heard] = []
        while heard + 1 in events:
            event = events[heard + 1]
            heard += 1
            taken.append(event)
            now = wire.from_timestamp(event.occurred_at) if row is None else row.now
            state, more = self._after(state, event, now)
            told += more
        if heard < max(events):
            raise ConflictError(f"events of {game_id} are missing after {heard}")
        if state is None or not taken:
            return None, taken
        return Write(game_id, row, state, heard, tuple(told)), taken

    def _after(
        self, state: State | None, event: Heard, now: Micros
    ) -> tuple[State, list[Announcement]]:
        at = wire.from_timestamp(event.occurred_at)
        if state is None:
            if event.HasField("game_started"):
                started = event.game_started
                computers = started.computer_seats
                return domain.begin(started.player_ids, self._options, at, computers), []
            return domain.never_started(self._options)
        happened = _event(event, at)
        return (state, []) if happened is None else domain.advance(state, happened, max(now, at))


def _acted(state: State, events: Sequence[Heard]) -> list[int]:
    """Whose turns have ended, where a player has the seat: a computer's move is nobody's life."""
    seats = [event.turn_ended.seat for event in events if event.HasField("turn_ended")]
    return [seat for seat in seats if state.seats[seat].presence is not Presence.OUT]


def _event(event: Heard, at: Micros) -> Event | None:
    """What an event of `rules` is to the clock."""
    match event.WhichOneof("event"):
        case "turn_started":
            return TurnStarted(event.turn_started.turn, event.turn_started.seat, at)
        case "turn_ended":
            return TurnEnded(event.turn_ended.turn, at)
        case "seat_forfeit_recorded":
            recorded = event.seat_forfeit_recorded
            reason = wire.read_reason(recorded.reason)
            return ForfeitRecorded(recorded.seat, reason, recorded.computer)
        case "game_finished":
            return Finished()
    return None
