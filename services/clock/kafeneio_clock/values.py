"""What the clock of a game consists of, what happens to it, and what it announces.

Pure values; `domain` makes one state of another. Those of which every turn makes new ones are
named tuples, which cost a third of what a dataclass does.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, TypeAlias

from kafeneio_clock.turns import Cause, CreditReason, Micros, Options, Turn


class Presence(StrEnum):
    """Whether a seat's player is there."""

    EXPECTED = "expected"
    """The game has just started; his move clock runs."""
    ATTACHED = "attached"
    UNKNOWN = "unknown"
    """The house ended his stream; his time stands still."""
    LOST = "lost"
    OUT = "out"
    """Nobody is waited for: the seat was forfeited, or a computer has it from the start."""


class Reason(StrEnum):
    """Why a seat is out (X12)."""

    LEFT = "LEFT"
    CONNECTION_LOST = "CONNECTION_LOST"
    TIMEOUTS_EXCEEDED = "TIMEOUTS_EXCEEDED"


@dataclass(frozen=True, slots=True)
class Intent:
    """A forfeit that `rules` is about to be asked for, since a moment. `request` is the Leave's id,
    `turn` the one in which the time ran out."""

    reason: Reason
    since: Micros
    turn: int = 0
    request: str = ""


class Seat(NamedTuple):
    """One seat. `player` is "" where a computer has it from the start. `since` is when its presence
    began, `until` when EXPECTED or UNKNOWN end; `away` is T without the running turn; `replica` has
    the stream; `computer` says whether one plays, from the start or since the forfeit (F1)."""

    player: str
    presence: Presence
    since: Micros
    until: Micros = 0
    epoch: int = 0
    replica: str = ""
    charged: int = 0
    away: Micros = 0
    intent: Intent | None = None
    computer: bool = False


@dataclass(frozen=True, slots=True)
class Forfeit:
    """A seat that is out; `request` is the id of its Leave."""

    seat: int
    reason: Reason
    request: str = ""


class State(NamedTuple):
    """The clock of one game. `silent_since` is when `rules` could first not be asked,
    `paused_since` when an operator paused the game, `idle_since` since when nobody is on turn; 0
    where that is not so."""

    options: Options
    seats: tuple[Seat, ...]
    turn: Turn | None = None
    forfeits: tuple[Forfeit, ...] = ()
    silent_since: Micros = 0
    closed: bool = False
    paused_since: Micros = 0
    idle_since: Micros = 0


# --- what happens ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Tick:
    """Nothing but that time has passed."""


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """`rules`: a seat is prompted."""

    turn: int
    seat: int
    at: Micros


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """`rules`: the prompt is over."""

    turn: int
    at: Micros


@dataclass(frozen=True, slots=True)
class ForfeitRecorded:
    """`rules`: a forfeit stands in the log, and perhaps a computer plays on for the seat (F1)."""

    seat: int
    reason: Reason
    computer: bool = False


@dataclass(frozen=True, slots=True)
class Finished:
    """`rules`: the game is over."""


@dataclass(frozen=True, slots=True)
class Attached:
    """A stream was opened at a replica: the seat's next epoch."""

    seat: int
    replica: str


@dataclass(frozen=True, slots=True)
class Heard:
    """Life came from a stream that is open although its seat counts as lost or unknown."""

    seat: int
    epoch: int
    replica: str


@dataclass(frozen=True, slots=True)
class Lost:
    """The player closed his stream, or was silent for too long."""

    seat: int
    epoch: int
    since: Micros


@dataclass(frozen=True, slots=True)
class StreamEnded:
    """The house ended a stream, or died with it."""

    seat: int
    epoch: int
    since: Micros


@dataclass(frozen=True, slots=True)
class Outage:
    """No replica of `clock` was alive."""

    began: Micros
    ended: Micros


@dataclass(frozen=True, slots=True)
class RulesOutage:
    """No replica of `rules` was alive."""

    began: Micros
    ended: Micros


@dataclass(frozen=True, slots=True)
class Unreachable:
    """`rules` could not be asked."""


@dataclass(frozen=True, slots=True)
class TurnRuns:
    """`rules` was asked at `asked` or later, and the turn still ran."""

    turn: int
    asked: Micros


@dataclass(frozen=True, slots=True)
class TurnPassed:
    """`rules` was asked, and another turn runs, or none."""


@dataclass(frozen=True, slots=True)
class Leaving:
    """A player wants to leave."""

    seat: int
    request: str


@dataclass(frozen=True, slots=True)
class Confirmed:
    """`rules` has recorded the forfeit that was intended."""

    seat: int


@dataclass(frozen=True, slots=True)
class Refused:
    """`rules` has refused it: the turn has passed, or the game is over."""

    seat: int


@dataclass(frozen=True, slots=True)
class Pausing:
    """An operator stops the time of the game, and says why."""

    reason: str


@dataclass(frozen=True, slots=True)
class Resuming:
    """An operator lets it go on."""


Event: TypeAlias = (
    Tick
    | TurnStarted
    | TurnEnded
    | ForfeitRecorded
    | Finished
    | Attached
    | Heard
    | Lost
    | StreamEnded
    | Outage
    | RulesOutage
    | Unreachable
    | TurnRuns
    | TurnPassed
    | Leaving
    | Confirmed
    | Refused
    | Pausing
    | Resuming
)

# --- what is announced -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Charged:
    """One timeout was charged; `charged` counts it."""

    seat: int
    turn: int
    charged: int
    cause: Cause


@dataclass(frozen=True, slots=True)
class ConnectionLost:
    """A player is away."""

    seat: int
    since: Micros


@dataclass(frozen=True, slots=True)
class ConnectionRestored:
    """He is back."""

    seat: int


@dataclass(frozen=True, slots=True)
class Forfeited:
    """A seat is out."""

    seat: int
    reason: Reason


@dataclass(frozen=True, slots=True)
class Credited:
    """Time was given back."""

    seat: int
    duration: Micros
    reason: CreditReason


@dataclass(frozen=True, slots=True)
class Closed:
    """The game is over; the forfeits that were announced, in order."""

    forfeits: tuple[Forfeit, ...]


@dataclass(frozen=True, slots=True)
class Paused:
    """The time of the game stands still."""

    reason: str


@dataclass(frozen=True, slots=True)
class Resumed:
    """It goes on."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A turn that is over and was not ordinary: nobody is told, but it is kept, so that what it has
    cost can be explained."""

    turn: Turn
    ended: Micros


Announcement: TypeAlias = (
    Charged
    | ConnectionLost
    | ConnectionRestored
    | Forfeited
    | Credited
    | Closed
    | Paused
    | Resumed
    | Kept
)
