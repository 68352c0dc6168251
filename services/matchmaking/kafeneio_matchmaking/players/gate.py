"""Who may sit down: the port that every way to a seat asks first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from kafeneio_runtime.store import Connection

from kafeneio_matchmaking.domain import Terms


class Gate(Protocol):
    """Asked before a player enters the queue, a table or a tournament, in the transaction of that."""

    async def admit(self, connection: Connection, players: Sequence[str], terms: Terms) -> None:
        """Nothing where all of them may play on these terms. Raises Refusal where one may not:
        PLAYER_SUSPENDED, SELF_EXCLUDED, LIMIT_REACHED."""


class OpenGate:
    """Lets everybody in."""

    async def admit(self, connection: Connection, players: Sequence[str], terms: Terms) -> None:
        """Nothing."""
