"""What a game is.  Pure: standard library only; no clock, no I/O, no global randomness.

Refusals, all of them ValueErrors whose message may be shown to a person:

    Refusal
    |- Unreadable     the text is no action of this game at all
    |- Illegal        the rules refuse the action; `rule` is the rule book's id
    `- OutOfOrder     the table refuses the entry (game over, no such seat ...); `reason` says which
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NewType, Protocol, TypeAlias, TypeVar

Seat = NewType("Seat", int)
"""0, 1, 2 ... in order of play; who opens the game is an argument, not "seat 0"."""

CHANCE: Final = Seat(-1)
"""The dice and the dealer: they act like a seat, and are logged like one."""

TABLE: Final = Seat(-2)
"""The house itself, for entries that void or cancel what is staked."""

T = TypeVar("T")
S = TypeVar("S")  # state: frozen, hashable; the whole truth, secrets included
A = TypeVar("A")  # action: a union of small frozen dataclasses, one per thing a hand can do
V_co = TypeVar("V_co", covariant=True)  # view: what one seat may know of a state


class Refusal(ValueError):  # noqa: N818 - a refusal is an answer, not a fault
    """Something was asked that is not done; nothing has changed."""


class Unreadable(Refusal):
    """The text is no action of this game, in whatever position."""


class Illegal(Refusal):
    """The rules refuse an action; `rule` is the rule book's id ("P23"), for clients and tests."""

    def __init__(self, rule: str, detail: str = "") -> None:
        super().__init__(detail or rule)
        self.rule = rule


class OutOfOrder(Refusal):
    """The table refuses an entry.

    `reason` is one of OVER, NO_ROUND, NOT_A_SEAT, NOT_THE_HOUSE, FORFEITED, ELIMINATED,
    NOT_RESIGNABLE, and of those who keep to turns TURN_OVER.
    """

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(detail or reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Result:
    """How one game ended.

    `points` has one whole number per side; `ending` says why: "single", "double", "resigned",
    "forfeit", "drawn", in other games "made", "down", "capot" ...
    """

    points: tuple[int, ...]
    ending: str


class Draw(Protocol):
    """Where chance comes from: the provable stream, or any generator in a test."""

    def below(self, n: int) -> int:
        """A whole number from 0 to n - 1, each equally likely; 1 <= n <= 256."""

    def shuffled(self, cards: Sequence[T]) -> tuple[T, ...]:
        """The same cards in an order of which every one is equally likely."""


class Game(Protocol[S, A, V_co]):
    """The rules of one game: a frozen dataclass whose fields are the house rules."""

    @property
    def name(self) -> str:
        """Key of registry and log, variant and edition: "portes@1"."""

    @property
    def sides(self) -> tuple[tuple[Seat, ...], ...]:
        """((0,), (1,)) alone, ((0, 2), (1, 3)) in pairs."""

    @property
    def hidden(self) -> bool:
        """Whether any seat sees less than the whole."""

    def start(self, first: Seat, live: tuple[Seat, ...]) -> S:
        """The state before anything has happened; `first` opens or deals, `live` take part."""

    def to_act(self, state: S) -> tuple[Seat, ...]:
        """Seats that may act now: (CHANCE,), or one seat, rarely more; () when it is over."""

    def prompted(self, state: S) -> Seat | None:
        """The one seat whose move is awaited, and whose clock runs.

        None while chance is to act, when the game is over, and when the seat to act has no choice
        and its one legal action is a forced pass, which the house plays for it (VA17).
        """

    def mid_turn(self, state: S) -> bool:
        """Whether the prompt that the last action answered is still the same prompt."""

    def legal(self, state: S, seat: Seat) -> Iterator[A]:
        """Every legal action of `seat` once, lazily, in a fixed order; what `apply` accepts."""

    def apply(self, state: S, seat: Seat, action: A) -> S:
        """The next state, or `Illegal`.  The one judge of legality; it never changes `state`."""

    def chance(self, state: S, draw: Draw) -> A:
        """The action of CHANCE that is due, drawn from `draw`; ValueError when none is due."""

    def view(self, state: S, seat: Seat | None) -> V_co:
        """What `seat` may know; None is a spectator."""

    def result(self, state: S) -> Result | None:
        """The result once the game is over, else None."""

    def concession(self, state: S, seat: Seat) -> Result | None:
        """What resigning now would give, or None where the rules know no resignation."""

    def resign(self, state: S, seat: Seat) -> S:
        """The game over by `concession`; `Illegal` when it is over or cannot be resigned."""

    def withdraw(self, state: S, seat: Seat) -> S:
        """Rules F: concede, be removed, or nothing changes (a computer plays on)."""

    def write(self, action: A) -> str:
        """The short notation: "64", "13/8", "90H", "double"."""

    def read(self, text: str) -> A:
        """The exact inverse of `write`, without a state; `Unreadable` for anything else."""

    def show(self, action: A, seat: Seat | None) -> str:
        """`write`, less what that seat may not see of a deal."""


AnyGame: TypeAlias = Game[Any, Any, Any]


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a log: who (a seat, CHANCE or TABLE) did what, in the game's notation."""

    seat: Seat
    text: str


def write_entry(entry: Entry) -> str:
    """An entry as one line of a stored log or record: "-1 64", "0 13/8"."""
    return f"{entry.seat} {entry.text}"


def read_entry(line: str) -> Entry:
    """The exact inverse of `write_entry`; `Unreadable` for anything else."""
    seat, _, text = line.partition(" ")
    digits = seat.removeprefix("-")
    # No seat has more digits; very long ones int() itself would refuse, in another way.
    if not text or len(digits) > 3 or not digits.isdecimal() or str(int(seat)) != seat:
        raise Unreadable(f"no entry reads {line[:40]!r}")
    return Entry(Seat(int(seat)), text)


def replay(game: Game[S, A, V_co], first: Seat, live: tuple[Seat, ...], log: Iterable[Entry]) -> S:
    """The state after `log`; `Unreadable` or `Illegal` at the first entry that does not stand."""
    state = game.start(first, live)
    for entry in log:
        state = game.apply(state, entry.seat, game.read(entry.text))
    return state


def perft(game: Game[S, A, V_co], state: S, depth: int) -> int:
    """Count the paths of `depth` actions: the number on which independent engines must agree."""
    if depth == 0:
        return 1
    return sum(
        perft(game, game.apply(state, seat, action), depth - 1)
        for seat in game.to_act(state)
        for action in game.legal(state, seat)
    )


def digest(value: object) -> bytes:
    """SHA-256 (32 bytes) over the text `canonical(value)` in UTF-8."""
    return hashlib.sha256(canonical(value).encode()).digest()


def canonical(value: Any) -> str:
    """One text for one value, whatever its classes are called.

    None is `n`, True `t`, False `f`, a whole number `i` and its decimal digits and `;`,
    a string `s`, its length in characters, `:` and itself, bytes `b` and their hexadecimal digits
    and `;`, a tuple `(` its items `)`, a dataclass `{` its fields' values in order `}`, and a
    member of an enumeration whatever its value is.  So a class or a field may be renamed and old
    hashes still hold; a field added, removed or moved changes them and asks for a new edition.
    TypeError for anything else.
    """
    kind = type(value)
    encoder = _ENCODERS.get(kind)
    if encoder is None:
        encoder = _ENCODERS[kind] = _encoder(kind)
    return encoder(value)


def _encoder(kind: type[Any]) -> Callable[[Any], str]:
    """How values of exactly this type are written; found once per type, for speed."""
    if issubclass(kind, enum.Enum):
        return lambda value: canonical(value.value)
    if dataclasses.is_dataclass(kind):
        names = tuple(field.name for field in dataclasses.fields(kind))
        # Kept, because a state goes into the hash of the whole and into that of the view.
        return functools.lru_cache(maxsize=1 << 10)(
            lambda value: "{" + "".join([canonical(getattr(value, n)) for n in names]) + "}"
        )
    raise TypeError(f"no canonical text for {kind.__name__}")


# Grows by one entry for each dataclass and enumeration met: a memo, not a setting.
_ENCODERS: Final[dict[type[Any], Callable[[Any], str]]] = {
    type(None): lambda value: "n",
    bool: lambda value: "t" if value else "f",
    int: lambda value: f"i{value};",
    str: lambda value: f"s{len(value)}:{value}",
    bytes: lambda value: f"b{value.hex()};",
    tuple: lambda value: "(" + "".join([canonical(item) for item in value]) + ")",
}
