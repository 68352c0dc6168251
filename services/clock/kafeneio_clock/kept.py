"""The newest states that this replica has seen, so that they need not be read again.

A state belongs to a version of its clock for ever, so one that is kept is never wrong: at most it
is an older one than that in the database, and then it is not used.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, TypeAlias
from uuid import UUID

from kafeneio_clock.values import State

MOST: Final = 120_000
"""A little more than one replica is made for; each takes about a kilobyte."""

Known: TypeAlias = Mapping[UUID, tuple[int, State]]


class States:
    """Versions and states of the games that were used last."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._kept: dict[UUID, tuple[int, State]] = {}

    def known(self, game_ids: Iterable[UUID]) -> Known:
        """What is kept of these games, with its version."""
        kept = self._kept
        return {game_id: kept[game_id] for game_id in game_ids if game_id in kept}

    def keep(self, game_id: UUID, version: int, state: State) -> None:
        """A state that was committed under that version; of a game that is over none is kept."""
        before = self._kept.pop(game_id, None)
        if before is not None and before[0] > version:
            version, state = before
        if not state.closed:
            self._kept[game_id] = (version, state)
        if len(self._kept) > self._most:
            del self._kept[next(iter(self._kept))]  # who was not used for longest
