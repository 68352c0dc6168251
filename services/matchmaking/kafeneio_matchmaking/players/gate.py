"""Who may sit down: the port that every way to a seat asks first."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from kafeneio.common.v1 import errors_pb2
from kafeneio_runtime.errors import Refusal, failed
from kafeneio_runtime.store import Connection

from kafeneio_matchmaking.domain import Terms
from kafeneio_matchmaking.players import standing
from kafeneio_matchmaking.players.domain import day_of, reached
from kafeneio_matchmaking.players.standing import Bar


class Gate(Protocol):
    """Asked before a player enters the queue, a table or a tournament, in the transaction of
    that."""

    async def admit(
        self, connection: Connection, players: Sequence[str], terms: Terms, *, beside: bool = False
    ) -> None:
        """Nothing where all of them may play on these terms; `beside` the places that they have.
        Raises Refusal where one may not: PLAYER_SUSPENDED, SELF_EXCLUDED, LIMIT_REACHED."""


class OpenGate:
    """Lets everybody in."""

    async def admit(
        self, connection: Connection, players: Sequence[str], terms: Terms, *, beside: bool = False
    ) -> None:
        """Nothing."""


class HouseGate:
    """Lets in who is neither suspended nor has excluded himself, and whose limits leave room. Until
    the end of the transaction that stays so: a suspension that comes meanwhile waits, and then
    finds what was entered."""

    async def admit(
        self, connection: Connection, players: Sequence[str], terms: Terms, *, beside: bool = False
    ) -> None:
        """Nothing, or raises as Gate does; the stake of the terms is what each of them pays."""
        await standing.hold_still(connection, players)
        for bar in await standing.bars(connection, players):
            raise barred(bar)
        limits = await standing.limits_of(connection, players)
        if not limits:
            return
        await standing.in_turn(connection, [*limits])
        now: datetime = await connection.fetchval("SELECT clock_timestamp()")
        for player_id, held in limits.items():
            usage = await standing.usage_of(connection, player_id, now)
            if beside:
                usage = usage.with_stakes(await standing.waits_for(connection, player_id))
            kind = reached(held, usage, terms.currency, terms.stake, now)
            if kind is not None:
                _, ends = day_of(now)
                raise failed(
                    errors_pb2.ERROR_REASON_LIMIT_REACHED,
                    f"a limit that {player_id} has set himself is reached",
                    player_id=player_id,
                    limit=kind.value,
                    until=ends.isoformat(),
                )


def barred(bar: Bar) -> Refusal:
    """Why a player may enter nothing."""
    metadata = {"player_id": bar.player_id}
    if bar.until is not None:
        metadata["until"] = bar.until.isoformat()
    if bar.suspended:
        reason, text = errors_pb2.ERROR_REASON_PLAYER_SUSPENDED, "is suspended"
    else:
        reason, text = errors_pb2.ERROR_REASON_SELF_EXCLUDED, "has excluded himself"
    return failed(reason, f"{bar.player_id} {text}", **metadata)
