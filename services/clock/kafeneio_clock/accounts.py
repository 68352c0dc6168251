"""What is kept of turns that are over, and read again when somebody asks what a seat was charged
for. Ordinary turns leave nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from kafeneio.clock.v1 import events_pb2
from kafeneio_runtime.outbox import events_after
from kafeneio_runtime.store import Connection, Store

from kafeneio_clock import codec, wire
from kafeneio_clock.explain import Past
from kafeneio_clock.turns import Micros
from kafeneio_clock.values import Kept, State

PAGE: Final = 500

_KEEP: Final = """
    INSERT INTO turns (game_id, turn, seat, ended, facts)
    SELECT game_id, turn, seat, ended, facts::jsonb
    FROM unnest($1::uuid[], $2::bigint[], $3::int[], $4::timestamptz[], $5::text[])
         AS kept(game_id, turn, seat, ended, facts)
"""
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


async def keep(connection: Connection, kept: Sequence[tuple[UUID, Kept]]) -> None:
    """Keep turns that are over, in the transaction of their end."""
    await connection.execute(
        _KEEP,
        [game_id for game_id, _ in kept],
        [each.turn.number for _, each in kept],
        [each.turn.seat for _, each in kept],
        [wire.moment(each.ended) for _, each in kept],
        [codec.write_turn(each.turn) for _, each in kept],
    )


async def account(store: Store, subject: str, game_id: UUID, seat: int) -> Account:
    """The account of a seat of a game that has a clock, all of one moment. `subject` is where the
    events go on the bus."""
    async with (
        store.acquire() as connection,
        connection.transaction(isolation="repeatable_read", readonly=True),
    ):
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
