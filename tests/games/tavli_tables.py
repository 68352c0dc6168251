"""Positions of Plakoto, Fevga and Gul Bara: as text, for the engine, and for the second generator.

A position is "MINE | THEIRS", each side in its own numbering as in `boards`; ":p" instead of a
count is a single pinned checker.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from kafeneio_games import fevga, gulbara, plakoto
from kafeneio_games.fevga import Fevga
from kafeneio_games.game import Seat
from kafeneio_games.gulbara import Gulbara
from kafeneio_games.plakoto import Plakoto
from kafeneio_games.tavli import Boards, Roll, Stage, by_seat, dice_of, own_and_other

from tests.games.simple_tavli import Position, Rules

AnyTavli: TypeAlias = Plakoto | Fevga | Gulbara
AnyState: TypeAlias = Any
GAMES: dict[str, AnyTavli] = {"plakoto": Plakoto(), "fevga": Fevga(), "gulbara": Gulbara()}


def read_side(side: str) -> tuple[bytes, tuple[int, ...]]:
    """ "24:13 8:p" as counts and pinned points; what is missing to fifteen is borne off."""
    counts, pinned = [0] * 26, []
    for item in side.split():
        point, _, count = item.partition(":")
        counts[int(point)] += 1 if count == "p" else int(count or 1)
        if count == "p":
            pinned.append(int(point))
    counts[0] = 15 - sum(counts)
    assert counts[0] >= 0, side
    return bytes(counts), tuple(sorted(pinned, reverse=True))


def write_side(board: bytes, pinned: tuple[int, ...]) -> str:
    """The inverse of `read_side`."""
    return " ".join(
        f"{point}:{'p' if point in pinned else board[point]}"
        for point in range(24, 0, -1)
        if board[point]
    )


@dataclass(frozen=True)
class Table:
    """A position by sides, the mover's first; throws are those before this one."""

    mine: bytes
    theirs: bytes
    pinned: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
    throws: tuple[int, int] = (0, 0)

    @classmethod
    def read(cls, position: str, throws: tuple[int, int] = (0, 0)) -> Table:
        """ "24:13 8:p | 1:12 17:1"."""
        (mine, pinned), (theirs, theirs_pinned) = map(read_side, position.split("|"))
        return cls(mine, theirs, (pinned, theirs_pinned), throws)

    def __str__(self) -> str:
        sides = (self.mine, self.pinned[0]), (self.theirs, self.pinned[1])
        return " | ".join(write_side(*side) for side in sides)

    def boards(self, seat: Seat) -> Boards:
        """By seat, when `seat` is the mover."""
        return by_seat(seat, self.mine, self.theirs)

    def thrown(self, game: AnyTavli, roll: str, seat: Seat) -> AnyState:
        """The engine's state when `seat` has thrown "64" and moved nothing yet; "-" before it."""
        rolled = () if roll == "-" else (int(roll[0]), int(roll[1]))
        stage = Stage.MOVE if rolled else Stage.ROLL
        dice = dice_of(Roll(*rolled)) if rolled else ()
        boards = self.boards(seat)
        if isinstance(game, Plakoto):
            pinned = self.pinned if seat == 0 else self.pinned[::-1]
            return plakoto.State(boards, seat, dice, rolled, stage, None, pinned)
        if isinstance(game, Fevga):
            return fevga.State(boards, seat, dice, rolled, stage, None)
        own = self.throws[0] + bool(rolled)
        throws = (own, self.throws[1]) if seat == 0 else (self.throws[1], own)
        dice = game.numbers(rolled, own) if rolled else ()
        return gulbara.State(boards, seat, dice, rolled, stage, None, (), throws)

    def receiving(self, numbers: tuple[int, ...], seat: Seat) -> gulbara.State:
        """Gul Bara, when `seat` has been handed those numbers."""
        throws = self.throws if seat == 0 else self.throws[::-1]
        boards = self.boards(seat)
        return gulbara.State(boards, seat, numbers, (), Stage.MOVE, None, numbers, throws)

    def plain(self) -> Position:
        """For the second generator."""
        mine, theirs = tuple(self.mine), tuple(self.theirs)
        return Position(mine, theirs, *map(frozenset, self.pinned))


def table_of(state: AnyState, seat: Seat) -> Table:
    """The position of a state as `seat` sees it."""
    mine, theirs = own_and_other(state.boards, seat)
    pinned = getattr(state, "pinned", ((), ()))
    throws = getattr(state, "throws", (0, 0))
    if seat == 1:
        pinned, throws = pinned[::-1], throws[::-1]
    return Table(mine, theirs, pinned, throws)


def rules_of(game: AnyTavli) -> Rules:
    """The same options for the second generator."""
    match game:
        case Plakoto(while_pinned, mother, outside, highest, _):
            return Rules(
                "plakoto",
                bearoff_while_pinned=while_pinned == "continues",
                mother=mother == "wins",
                pinned_outside_ignored=outside,
                pinned_counts_as_highest=highest,
            )
        case Fevga(wall_start, wall_front, wall_when, leave_move, _):
            return Rules(
                "fevga",
                wall_start=wall_start,
                wall_front=wall_front,
                wall_each_move=wall_when == "every_move",
                leave_move=leave_move == "prefer",
            )
        case Gulbara(stuck, escalate_from, _):
            skips = stuck == "skip_number"
            return Rules("gulbara", receiver_skips=skips, escalate_from=escalate_from)


def ends(game: AnyTavli, state: AnyState) -> set[AnyState]:
    """The states at the end of every chain of legal steps of this prompt."""
    mover, open_states, done, seen = state.mover, [state], set(), {state}
    while open_states:
        now = open_states.pop()
        for action in game.legal(now, mover):
            after: AnyState = game.apply(now, mover, action)
            if game.mid_turn(after) and after.mover == mover:
                if after not in seen:
                    seen.add(after)
                    open_states.append(after)
            else:
                done.add(after)
    return done


def plain_of(state: AnyState, seat: Seat) -> Position:
    """A state's position for the second generator."""
    return table_of(state, seat).plain()
