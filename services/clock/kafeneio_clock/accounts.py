"""What storage keeps of turns that are over, read when somebody asks what a seat was charged for.
Ordinary turns leave nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from uuid import UUID

from kafeneio.clock.v1 import events_pb2
from kafeneio_runtime.outbox import events_after
from kafeneio_runtime.store import Store

from kafeneio_clock import codec, wire
from kafeneio_clock.explain import Past
from kafeneio_clock.turns import Micros
from kafeneio_clock.values import State

PAGE: Final = 500

_TURNS: Final = """
    SELECT ended, facts::text FROM turns WHERE game_id = $1 AND seat = $2 ORDER BY turn
"""
_CLOCK: Final = """
    SELECT state::text, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now
    FROM clocks WHERE game_id = $1
"""


@dataclass(frozen=True, slots=True)
class Account:
    """Everything that the time of one seat consists of, as it was `now`."""

    seat: int
    state: State
    now: Micros
    turns: tuple[Past, ...]
    events: tuple[events_pb2.ClockEvent, ...]
    """What was announced about the game."""


async def account(store: Store, subject: str, game_id: UUID, seat: int) -> Account:
    """The account of a seat of a game that has a clock, all of one moment. `subject` is where the
    events go on the bus."""
    async with store.snapshot() as connection:
        row = await connection.fetchrow(_CLOCK, game_id)
        assert row is not None, "a clock does not go away"
        past = await connection.fetch(_TURNS, game_id, seat)
        events: list[events_pb2.ClockEvent] = []
        while True:
            page = await events_after(connection, subject, game_id, len(events), PAGE)
            events += map(wire.stored_event, page)
            if len(page) < PAGE:
                break
    state = codec.read(row["state"])
    turns = [Past(codec.read_turn(each["facts"]), wire.micros(each["ended"])) for each in past]
    if state.turn is not None and state.turn.seat == seat:
        turns.append(Past(state.turn, None))
    return Account(seat, state, row["now"], tuple(turns), tuple(events))
