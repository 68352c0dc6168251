"""How a match is carried through from those who are to play to a game that is paid, or taken back.

Pure, as domain.py is. The table below is all that may ever happen to a match; the store moves
nothing that is not in it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Final
from uuid import UUID, uuid5

from kafeneio_matchmaking.domain import COMPUTER, End, ForbiddenMoveError, Terms


class SourceKind(StrEnum):
    """What a match comes from, and who is told what becomes of it."""

    QUEUE = "queue"
    TABLE = "table"
    TOURNAMENT = "tournament"


class MatchStatus(StrEnum):
    """How far a match has come."""

    PAIRED = "paired"
    """The game has its id; nothing has been asked for."""
    HELD = "held"
    """The stakes are held."""
    CREATED = "created"
    """`rules` has the game."""
    CANCELLING = "cancelling"
    """The game must never start."""
    MATCHED = "matched"
    """Its source has it, too; the game waits for its seats."""
    STARTED = "started"
    """All seats have joined."""
    FINISHED = "finished"
    """The game is over, perhaps without ever having started."""
    SETTLED = "settled"
    """And it is paid."""
    RELEASING = "releasing"
    """It will never start, so the stakes may go back."""
    UNDONE = "undone"
    """Nothing is left of it."""


class MatchMove(StrEnum):
    """What may happen to a match: the definite answers of others, what they tell, and what follows
    from it."""

    HOLD = "hold"
    HOLD_REFUSED = "hold_refused"
    CREATE = "create"
    CREATE_REFUSED = "create_refused"
    CREATE_TAKEN = "create_taken"
    TELL = "tell"
    TOO_LATE = "too_late"
    PLAYED = "played"
    CANCEL = "cancel"
    RELEASE = "release"
    START = "start"
    FINISH = "finish"
    LOST = "lost"
    SETTLE = "settle"


MATCH_MOVES: Final = MappingProxyType(
    {
        (MatchStatus.PAIRED, MatchMove.HOLD): MatchStatus.HELD,
        # An earlier call whose answer was lost may still be under way: a release ends that, too.
        (MatchStatus.PAIRED, MatchMove.HOLD_REFUSED): MatchStatus.RELEASING,
        (MatchStatus.HELD, MatchMove.CREATE): MatchStatus.CREATED,
        (MatchStatus.HELD, MatchMove.CREATE_REFUSED): MatchStatus.CANCELLING,
        # Somebody else's game has the id: it is none of ours to cancel.
        (MatchStatus.HELD, MatchMove.CREATE_TAKEN): MatchStatus.RELEASING,
        (MatchStatus.CREATED, MatchMove.TELL): MatchStatus.MATCHED,
        (MatchStatus.CREATED, MatchMove.TOO_LATE): MatchStatus.CANCELLING,
        (MatchStatus.CANCELLING, MatchMove.CANCEL): MatchStatus.RELEASING,
        # Its players have found it by themselves; then it is a match.
        (MatchStatus.HELD, MatchMove.PLAYED): MatchStatus.MATCHED,
        (MatchStatus.CREATED, MatchMove.PLAYED): MatchStatus.MATCHED,
        (MatchStatus.CANCELLING, MatchMove.PLAYED): MatchStatus.MATCHED,
        (MatchStatus.MATCHED, MatchMove.START): MatchStatus.STARTED,
        # Not everybody has joined (F6), or an operator has ended it before.
        (MatchStatus.MATCHED, MatchMove.FINISH): MatchStatus.FINISHED,
        # `rules` has no such game, or somebody has cancelled it: it can't start any more.
        (MatchStatus.MATCHED, MatchMove.LOST): MatchStatus.RELEASING,
        (MatchStatus.STARTED, MatchMove.FINISH): MatchStatus.FINISHED,
        (MatchStatus.FINISHED, MatchMove.SETTLE): MatchStatus.SETTLED,
        (MatchStatus.RELEASING, MatchMove.RELEASE): MatchStatus.UNDONE,
    }
)

DRIVEN: Final = (
    MatchStatus.PAIRED,
    MatchStatus.HELD,
    MatchStatus.CREATED,
    MatchStatus.CANCELLING,
    MatchStatus.RELEASING,
)
"""Here the next step is ours."""

AWAITED: Final = (MatchStatus.MATCHED, MatchStatus.STARTED, MatchStatus.FINISHED)
"""Here others go on. They tell of it; where nothing is heard for long they are asked."""

OVER: Final = (MatchStatus.SETTLED, MatchStatus.UNDONE)
"""Nothing is left to be done."""


def move_match(status: MatchStatus, move: MatchMove) -> MatchStatus:
    """How far a match is after a move. Raises ForbiddenMoveError."""
    try:
        return MATCH_MOVES[status, move]
    except KeyError:
        raise ForbiddenMoveError(f"a match that is {status} can't {move}") from None


@dataclass(frozen=True, slots=True)
class Seat:
    """Who is to sit in a match. `end` is set where he is the reason that there was no game, or what
    he asked for is. `ticket_id` and `partner` are of who comes from the queue."""

    player_id: str
    ticket_id: UUID | None = None
    end: End | None = None
    partner: str = ""

    @property
    def is_computer(self) -> bool:
        """Whether a computer is to play: its id says so."""
        return self.player_id.startswith(COMPUTER)


@dataclass(frozen=True, slots=True)
class NewMatch:
    """A match to begin, seat 0 first. `source_id` is the table or the tournament's game that it is
    for, None for the queue."""

    match_id: UUID
    game_id: UUID
    source: SourceKind
    source_id: UUID | None
    terms: Terms
    seats: tuple[Seat, ...]


@dataclass(frozen=True, slots=True)
class Match:
    """A match on its way. `tries` counts how often in a row there was no answer; `join_by` is until
    when the game waits for its seats."""

    match_id: UUID
    game_id: UUID
    source: SourceKind
    source_id: UUID | None
    terms: Terms
    status: MatchStatus
    join_by: datetime | None
    tries: int
    seats: tuple[Seat, ...]

    @property
    def players(self) -> tuple[str, ...]:
        """Who is to play, seat 0 first."""
        return tuple(seat.player_id for seat in self.seats)

    @property
    def tickets(self) -> tuple[tuple[UUID, End | None], ...]:
        """The tickets of those who come from the queue, and why they end, if they do."""
        return tuple((s.ticket_id, s.end) for s in self.seats if s.ticket_id is not None)

    @property
    def computer_seats(self) -> tuple[int, ...]:
        """Where a computer is to play."""
        return tuple(number for number, seat in enumerate(self.seats) if seat.is_computer)

    def request_id(self, call: str) -> UUID:
        """The id of the one call of this kind that is made for the match, however often it is
        sent."""
        return uuid5(self.match_id, call)

    def ending(self, ends: dict[str, End]) -> tuple[Seat, ...]:
        """The seats, with who is to blame."""
        return tuple(replace(seat, end=ends.get(seat.player_id, seat.end)) for seat in self.seats)


@dataclass(frozen=True, slots=True)
class Finish:
    """How a game ended. `void` is why nobody has won ("NO_SHOW", "ALL_FORFEITED", "HOUSE",
    "OPERATOR"), empty where `winners` are the seats that did; `score` has one number a side.
    `absent` are the seats that had not joined when a game ended that had not `started`; `forfeits`
    those that were out before its end."""

    started: bool
    void: str
    winners: tuple[int, ...]
    score: tuple[int, ...]
    absent: tuple[int, ...]
    forfeits: tuple[int, ...]


NO_SHOW: Final = "NO_SHOW"
OPERATOR: Final = "OPERATOR"


def blame(match: Match, end: End, players: Collection[str] | None = None) -> dict[str, End]:
    """Which players are the reason that there is no game, and how: those named, or where nobody is
    named all of them. Whose partner has to leave leaves with him. A computer is never to blame."""
    named = match.players if players is None else players
    found: dict[str, End] = {}
    for seat in match.seats:
        if seat.is_computer:
            continue
        if seat.player_id in named:
            found[seat.player_id] = end
        elif seat.partner in named:
            found[seat.player_id] = End.PARTNER_LEFT
    return found


def blame_absent(match: Match, finish: Finish) -> dict[str, End]:
    """Who is the reason that a game has not started (F6); nobody where something else is."""
    if finish.started or finish.void != NO_SHOW:
        return {}
    return blame(match, End.NO_SHOW, [match.players[seat] for seat in finish.absent])


def retry_seconds(tries: int) -> float:
    """How long to wait after so many calls in a row without an answer."""
    return float(min(0.1 * 2 ** min(tries, 10), 5))


def ask_seconds(status: MatchStatus, tries: int) -> float:
    """How long nothing may be heard of an awaited match until it is asked for, after so many times
    in vain. A game that is played may simply go on."""
    first, most = (60.0, 600.0) if status is MatchStatus.STARTED else (5.0, 600.0)
    return float(min(first * 2 ** min(tries, 10), most))
