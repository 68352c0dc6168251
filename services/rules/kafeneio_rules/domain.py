"""What `rules` knows: a staked game is its log, and the log grows row by row.

Pure: no wire, no store, no clock. Every function takes a position and what is asked, and returns
the rows that it makes, with what is to be announced of them. Refusals are those of
`kafeneio_games`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, TypeAlias

from kafeneio_games.game import TABLE, Draw, Entry, OutOfOrder, Seat
from kafeneio_games.match import Outcome
from kafeneio_games.play import CANCEL, RESIGN, Forfeit, Play, forfeit_text, void_text


class Status(StrEnum):
    """Where a game stands."""

    WAITING = "waiting"
    RUNNING = "running"
    FINISHED = "finished"
    CANCELLED = "cancelled"

    @classmethod
    def of(cls, play: Play, version: int) -> Status:
        """Where a game with a log up to `version` stands."""
        if play.outcome is not None:
            return cls.CANCELLED if play.outcome.void == "CANCELLED" else cls.FINISHED
        return cls.RUNNING if version else cls.WAITING


@dataclass(frozen=True, slots=True)
class Terms:
    """What was agreed before the game; `options` are (name, value), sorted, all of them."""

    variant: str
    edition: int
    options: tuple[tuple[str, str], ...]
    target: int


class Step(NamedTuple):
    """One row of a log and the position after it."""

    version: int
    entries: tuple[Entry, ...]
    play: Play


@dataclass(frozen=True, slots=True)
class Started:
    """All seats have joined."""


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """`seat` is prompted; `turn` counts the prompts of the game from 1."""

    turn: int
    seat: Seat


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """The prompt is over."""

    turn: int
    seat: Seat


@dataclass(frozen=True, slots=True)
class ForfeitRecorded:
    """A seat is out; `computer` says whether one plays on for it (F1)."""

    forfeit: Forfeit
    computer: bool


@dataclass(frozen=True, slots=True)
class Finished:
    """The whole game is over."""

    outcome: Outcome
    forfeits: tuple[Forfeit, ...]
    computers: tuple[Seat, ...]


PromptMoved: TypeAlias = TurnStarted | TurnEnded
Happening: TypeAlias = Started | TurnStarted | TurnEnded | ForfeitRecorded | Finished


class Change(NamedTuple):
    """What a call does to a game: its own row, the row of the house that follows, and what each
    row announces, as (version, happening)."""

    steps: tuple[Step, ...]
    happenings: tuple[tuple[int, Happening], ...]

    @property
    def play(self) -> Play:
        """The position after it."""
        return self.steps[-1].play


def start(play: Play, draw: Draw) -> Change:
    """All seats have joined: the opening throw and the first roll are version 1."""
    opened = _house(play, 0, draw)
    happenings = [(opened.version, Started()), *_happenings(play, opened)]
    return Change((opened,), tuple(happenings))


def no_show(play: Play) -> Change:
    """A game that not every seat has joined in time ends void before its start (F6)."""
    return _ended(play, 0, void_text("NO_SHOW"))


def cancel(play: Play) -> Change:
    """A game is called off before its start. Nobody is told: who cancels knows, and nobody else has
    heard of the game."""
    return Change(_ended(play, 0, CANCEL).steps, ())


def act(play: Play, version: int, seat: Seat, actions: Sequence[str], draw: Draw) -> Change:
    """A batch of one seat's actions in one turn, all or none.

    Raises Unreadable, Illegal or OutOfOrder at the first action that does not stand.
    """
    entries = tuple([Entry(seat, action) for action in actions])
    own = Step(version + 1, entries, tried(play, seat, actions))
    return _followed(play, own, draw)


def tried(play: Play, seat: Seat, actions: Sequence[str]) -> Play:
    """The position after actions that are not played; raises as `act`.

    With the end of its turn a seat may get to see cards: whether more is refused would tell which,
    and a refusal changes nothing. So a batch ends with its turn, whatever would follow.
    """
    turn = play.turn
    for place, action in enumerate(actions):
        if place and (play.prompted != seat or play.turn != turn):
            raise OutOfOrder("TURN_OVER", "the turn is over with the action before")
        play = play.apply(Entry(seat, action))
    return play


def resign(play: Play, version: int, seat: Seat, draw: Draw) -> Change:
    """The seat gives the running round up (VA9)."""
    return _change(play, version, [Entry(seat, RESIGN)], draw)


def forfeit(play: Play, version: int, seat: Seat, reason: str, draw: Draw) -> Change:
    """The seat is out of the game (F)."""
    return _change(play, version, [Entry(seat, forfeit_text(reason))], draw)


def abort(play: Play, version: int) -> Change:
    """An operator ends the game void, before its start or after."""
    return _ended(play, version, void_text("OPERATOR"))


def _ended(play: Play, version: int, text: str) -> Change:
    step = _row(play, version, [Entry(TABLE, text)])
    return Change((step,), tuple(_happenings(play, step)))


def _change(play: Play, version: int, entries: Sequence[Entry], draw: Draw) -> Change:
    return _followed(play, _row(play, version, entries), draw)


def _followed(play: Play, own: Step, draw: Draw) -> Change:
    """A row, and the row of the house that follows it."""
    happenings = list(_happenings(play, own))
    if own.play.over or own.play.prompted is not None:
        return Change((own,), tuple(happenings))
    house = _house(own.play, own.version, draw)
    happenings += _happenings(own.play, house)
    if _prompt(play) == _prompt(house.play):  # the house shuffled within a turn, which goes on
        happenings = [each for each in happenings if not isinstance(each[1], PromptMoved)]
    return Change((own, house), tuple(happenings))


def _row(play: Play, version: int, entries: Sequence[Entry]) -> Step:
    return Step(version + 1, tuple(entries), play.apply_all(tuple(entries)))


def _house(play: Play, version: int, draw: Draw) -> Step:
    """The row of everything that the house does by itself until a seat is prompted."""
    play, entries = play.advance(draw)
    return Step(version + 1, entries, play)


def _happenings(before: Play, step: Step) -> Iterator[tuple[int, Happening]]:
    """What a row announces, in the order in which it came about."""
    after = step.play
    was, now = _prompt(before), _prompt(after)
    if was is not None and was != now:
        yield step.version, TurnEnded(*was)
    for recorded in after.forfeits[len(before.forfeits) :]:
        yield step.version, ForfeitRecorded(recorded, recorded.seat in after.computers)
    if now is not None and was != now:
        yield step.version, TurnStarted(*now)
    if after.outcome is not None:
        yield step.version, Finished(after.outcome, after.forfeits, after.computers)


def _prompt(play: Play) -> tuple[int, Seat] | None:
    return None if play.prompted is None else (play.turn, play.prompted)
