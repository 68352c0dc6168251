"""What a match comes from, and what is told of it: a port with one implementation for each kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, TypeAlias

from kafeneio_matchmaking.matching import Finish, Match, SourceKind
from kafeneio_matchmaking.storage import Work


class Source(Protocol):
    """Each call is made once, in the transaction that moves the match, which is locked. Whoever is
    to blame for that there is no game has `end` set in his seat."""

    async def over(self, work: Work, match: Match) -> None:
        """The saga is over. MATCHED: the game waits for its seats until `join_by`. UNDONE: nothing
        is left of it; that may follow on MATCHED, where `rules` has lost the game."""

    async def started(self, work: Work, match: Match) -> None:
        """All seats have joined."""

    async def finished(self, work: Work, match: Match, finish: Finish) -> None:
        """The game is over; if `finish.started` is false not everybody has joined in time, or an
        operator has ended it before."""


Sources: TypeAlias = Mapping[SourceKind, Source]
