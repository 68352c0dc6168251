"""Tables: who sits where, who is ready, and what becomes of it. Pure, as the other cores are.

The table below is all that may ever happen to a table. Every function takes a table and returns it
as it is after, or raises what it is refused for.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import count
from types import MappingProxyType
from typing import Final
from uuid import UUID

from kafeneio_matchmaking.domain import COMPUTER, End, ForbiddenMoveError, Terms

CODE_LETTERS: Final = "ACDEFHJKLMNPQRTUVWXY3479"
"""None of them is taken for another one, read or spoken."""

CODE_LENGTH: Final = 10
"""45 bits: even with a thousand private tables open somebody who tries fifty codes a second hits
one in 40 years."""


def new_code() -> str:
    """An invitation that nobody guesses."""
    return "".join(secrets.choice(CODE_LETTERS) for _ in range(CODE_LENGTH))


class TableStatus(StrEnum):
    """Where a table stands."""

    OPEN = "open"
    STARTING = "starting"
    MATCHED = "matched"
    PLAYING = "playing"
    CLOSED = "closed"


class TableMove(StrEnum):
    """What may happen to a table."""

    CHANGE = "change"
    START = "start"
    MATCH = "match"
    REOPEN = "reopen"
    PLAY = "play"
    CLOSE = "close"


TABLE_MOVES: Final = MappingProxyType(
    {
        # Somebody sits down, leaves, changes his seat, is ready or not.
        (TableStatus.OPEN, TableMove.CHANGE): TableStatus.OPEN,
        (TableStatus.OPEN, TableMove.START): TableStatus.STARTING,
        # The last one leaves; or it has not started in time.
        (TableStatus.OPEN, TableMove.CLOSE): TableStatus.CLOSED,
        (TableStatus.STARTING, TableMove.MATCH): TableStatus.MATCHED,
        # There is no game, and whoever is to blame is out; perhaps that leaves nobody.
        (TableStatus.STARTING, TableMove.REOPEN): TableStatus.OPEN,
        (TableStatus.STARTING, TableMove.CLOSE): TableStatus.CLOSED,
        # The same where not everybody joins in time (F6).
        (TableStatus.MATCHED, TableMove.REOPEN): TableStatus.OPEN,
        (TableStatus.MATCHED, TableMove.CLOSE): TableStatus.CLOSED,
        (TableStatus.MATCHED, TableMove.PLAY): TableStatus.PLAYING,
        (TableStatus.PLAYING, TableMove.CLOSE): TableStatus.CLOSED,
    }
)

KEEPING: Final = (TableStatus.OPEN, TableStatus.STARTING, TableStatus.MATCHED)
"""So long a player can't wait or sit anywhere else."""


class TableEnd(StrEnum):
    """Why a table is closed."""

    DESERTED = "deserted"
    EXPIRED = "expired"
    TERMS_REFUSED = "terms_refused"
    PLAYED = "played"


class NotOpenError(ValueError):
    """The game is being set up, is on, or was."""


class NotSeatedError(ValueError):
    """The player does not sit there."""


class NoSuchSeatError(ValueError):
    """The table has no seat of this number."""


class SeatTakenError(ValueError):
    """Somebody else has the seat."""


class FullError(ValueError):
    """No seat is free."""


class StaleSeatingError(ValueError):
    """Others sit there than the player has seen."""


@dataclass(frozen=True, slots=True)
class Chair:
    """A seat, free where nobody has it. `since` is the seating in which he sat down at the table,
    so that it tells who has been there longest."""

    player_id: str = ""
    ready: bool = False
    since: int = 0


FREE: Final = Chair()


@dataclass(frozen=True, slots=True)
class PutOut:
    """Who had to leave the table, because he was the reason that a game did not begin."""

    player_id: str
    end: End


@dataclass(frozen=True, slots=True)
class NewTable:
    """A table that is asked for, see Table; its host sits in `seat`."""

    table_id: UUID
    host: str
    seat: int
    terms: Terms
    private: bool
    least_rating: int | None
    most_rating: int | None
    computers_fill: bool
    time_to_live: timedelta


@dataclass(frozen=True, slots=True)
class Table:
    """A table as it stands.

    `seating` grows whenever others sit there: who is ready has agreed to that. `code` is the
    invitation to a private table, empty for a public one. `match_id` is the match that has it while
    it is not open, `change` its place among all changes of tables, None until it has one.
    """

    table_id: UUID
    creator: str
    host: str
    terms: Terms
    code: str
    least_rating: int | None
    most_rating: int | None
    computers_fill: bool
    status: TableStatus
    version: int
    seating: int
    chairs: tuple[Chair, ...]
    created_at: datetime
    expires_at: datetime
    match_id: UUID | None = None
    game_id: UUID | None = None
    end: TableEnd | None = None
    put_out: tuple[PutOut, ...] = ()
    change: int | None = None

    @property
    def players(self) -> tuple[str, ...]:
        """Who sits there, computers left out."""
        named = (chair.player_id for chair in self.chairs)
        return tuple(name for name in named if name and not name.startswith(COMPUTER))

    def seat_of(self, player: str) -> int | None:
        """Where a player sits."""
        found = (seat for seat, chair in enumerate(self.chairs) if chair.player_id == player)
        return next(found, None)

    def shows_to(self, player: str) -> bool:
        """Whether a player may see it."""
        named = (each.player_id for each in self.put_out)
        return not self.code or self.seat_of(player) is not None or player in named

    def is_of(self, new: NewTable) -> bool:
        """Whether the same was asked for. Where its host sits may have changed since."""
        return (
            self.creator,
            self.terms,
            bool(self.code),
            self.least_rating,
            self.most_rating,
            self.computers_fill,
        ) == (
            new.host,
            new.terms,
            new.private,
            new.least_rating,
            new.most_rating,
            new.computers_fill,
        )

    def admits(self, rating: int) -> bool:
        """Whether somebody with this rating may join."""
        least = rating if self.least_rating is None else self.least_rating
        most = rating if self.most_rating is None else self.most_rating
        return least <= rating <= most


def opened(new: NewTable, code: str, now: datetime) -> Table:
    """A new table. Raises NoSuchSeatError."""
    chairs = [FREE] * new.terms.seats
    if new.seat >= len(chairs):
        raise NoSuchSeatError(f"the table has {len(chairs)} seats")
    chairs[new.seat] = Chair(new.host, since=1)
    return Table(
        table_id=new.table_id,
        creator=new.host,
        host=new.host,
        terms=new.terms,
        code=code if new.private else "",
        least_rating=new.least_rating,
        most_rating=new.most_rating,
        computers_fill=new.computers_fill,
        status=TableStatus.OPEN,
        version=1,
        seating=1,
        chairs=tuple(chairs),
        created_at=now,
        expires_at=now + new.time_to_live,
    )


# --- what players do ---------------------------------------------------------------------------


def joined(table: Table, player: str, seat: int | None) -> Table:
    """After a player has sat down, at the first free seat where he asks for none; as it was where
    he sits there already. Raises NotOpenError, NoSuchSeatError, SeatTakenError, FullError."""
    own = table.seat_of(player)
    if own is not None and seat in (None, own):
        return table
    _check_open(table)
    if seat is None:
        seat = next((number for number, each in enumerate(table.chairs) if each == FREE), None)
        if seat is None:
            raise FullError("every seat is taken")
    if seat >= len(table.chairs):
        raise NoSuchSeatError(f"the table has {len(table.chairs)} seats")
    if table.chairs[seat] != FREE:
        raise SeatTakenError("somebody sits there")
    since = table.seating + 1 if own is None else table.chairs[own].since
    chairs = list(table.chairs)
    if own is not None:
        chairs[own] = FREE
    chairs[seat] = Chair(player, since=since)
    return _moved(_seated(table, chairs), TableMove.CHANGE)


def left(table: Table, player: str) -> Table:
    """After a player has left; closed where he was the last one. Raises NotSeatedError,
    NotOpenError."""
    own = _own_seat(table, player)
    _check_open(table)
    chairs = list(table.chairs)
    chairs[own] = FREE
    after = _seated(table, chairs)
    return _moved(after, TableMove.CHANGE) if after.host else closed(after, TableEnd.DESERTED)


def readied(table: Table, player: str, ready: bool, seating: int) -> Table:
    """After a player has said whether he is ready to play with those whom he has seen; as it was
    where he had said so. Raises NotSeatedError, NotOpenError, StaleSeatingError."""
    own = _own_seat(table, player)
    _check_open(table)
    if seating != table.seating:
        raise StaleSeatingError("others sit there by now")
    if table.chairs[own].ready == ready:
        return table
    chairs = list(table.chairs)
    chairs[own] = replace(chairs[own], ready=ready)
    return _moved(replace(table, chairs=tuple(chairs)), TableMove.CHANGE)


def is_complete(table: Table) -> bool:
    """Whether the game begins: all who sit there are ready, and no seat is free, or computers fill
    those."""
    taken = [chair for chair in table.chairs if chair != FREE]
    everywhere = len(taken) == len(table.chairs) or table.computers_fill
    return everywhere and all(chair.ready for chair in taken)


# --- what the house does -----------------------------------------------------------------------


def started(table: Table, match_id: UUID) -> Table:
    """Its game is being set up; computers have the free seats."""
    number = count(1)
    chairs = tuple(
        Chair(f"{COMPUTER}{next(number)}", ready=True) if chair == FREE else chair
        for chair in table.chairs
    )
    return _moved(replace(table, chairs=chairs, match_id=match_id), TableMove.START)


def matched(table: Table, game_id: UUID) -> Table:
    """The game waits for its seats."""
    return _moved(replace(table, game_id=game_id), TableMove.MATCH)


def begun(table: Table) -> Table:
    """Everybody has joined the game."""
    return _moved(table, TableMove.PLAY)


def reopened(table: Table, ends: Mapping[str, End]) -> Table:
    """There is no game: who is to blame is out, as are the computers, and the others sit there as
    before, not ready. Closed where nobody is left."""
    chairs = [
        FREE if chair.player_id in ends or chair.player_id.startswith(COMPUTER) else chair
        for chair in table.chairs
    ]
    out = (*table.put_out, *(PutOut(player, end) for player, end in ends.items()))
    after = _seated(replace(table, put_out=out, match_id=None, game_id=None), chairs)
    if after.host:
        return _moved(after, TableMove.REOPEN)
    refused = set(ends.values()) == {End.TERMS_REFUSED}
    return closed(after, TableEnd.TERMS_REFUSED if refused else TableEnd.DESERTED)


def closed(table: Table, end: TableEnd) -> Table:
    """Nothing more comes."""
    return _moved(replace(table, end=end), TableMove.CLOSE)


# ---------------------------------------------------------------------------------------------


def _own_seat(table: Table, player: str) -> int:
    own = table.seat_of(player)
    if own is None:
        raise NotSeatedError("you don't sit at this table")
    return own


def _check_open(table: Table) -> None:
    if table.status is not TableStatus.OPEN:
        raise NotOpenError("the table's game has been set up")


def _moved(table: Table, move: TableMove) -> Table:
    status = TABLE_MOVES.get((table.status, move))
    if status is None:
        raise ForbiddenMoveError(f"a table that is {table.status} can't {move}")
    return replace(table, status=status, version=table.version + 1, change=None)


def _seated(table: Table, chairs: Sequence[Chair]) -> Table:
    """With others in its seats, of whom nobody is ready; the host is whom it has for longest, if
    its own has left."""
    waiting = tuple(replace(chair, ready=False) for chair in chairs)
    taken = [chair for chair in waiting if chair != FREE]
    host = table.host
    if host not in [chair.player_id for chair in taken]:
        host = min(taken, key=lambda chair: chair.since).player_id if taken else ""
    return replace(table, chairs=waiting, seating=table.seating + 1, host=host)
