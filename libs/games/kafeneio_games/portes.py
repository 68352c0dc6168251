"""Portes (Tavla), rules V2.1-V2.9, V3.1-V3.7, VA and VB of the rule book.

    V3.1       start 24:2, 13:5, 8:3, 6:5; the players move in opposite directions
    V2.1, V2.2 a die moves one checker its number; a double is four moves of it
    V2.3       forced dice: as many numbers as possible (VA1), if only one the larger (VA2);
               a move that wins is always accepted and ends the turn at once (VA3)
    V3.2       a point with two or more opposing checkers is closed
    V3.3       a single one is hit and goes to the bar
    V3.4       checkers on the bar enter before anything else moves (VB2, VB3)
    V2.6, V3.5 bearing off once all 15 are home; a larger number only from the highest point
    V2.7, V3.6 the first to bear off all 15 wins 1 point, 2 when the loser has borne off none (VB1)
    V2.8, VA9  resigning gives the opponent 2 points when none is borne off, else 1
    VA17       without a legal move the turn is passed, which the house does by itself
    VA18       should both players be shut out at once for good, the game is drawn 0-0

House options (fields of `Portes`): `disconnect_points`, what a forfeit concedes (VA11).

Left out on purpose: the doubling cube and triple games (V2.7), a ban on hit-and-run (VB4), the
opening dice as the first roll (VB5).  Who starts is the match's business (V2.4, V2.5).
VA18 cannot come up in play: a player whom no number lets move stands on the bar before six closed
points, and two such homes cannot both be closed while both hold each other's checker on the bar.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final, Literal

from . import lookahead, tavli
from .game import CHANCE, Draw, Illegal, Result, Seat
from .lookahead import Turn
from .tavli import (
    BAR,
    CHECKERS,
    HOME_MASK,
    OFF,
    PASS,
    SIDES,
    Action,
    Boards,
    Dice,
    MoveChecker,
    Path,
    Roll,
    by_seat,
    other,
)
from .tavli import Stage as Stage  # part of a state, so it can be had from here

START: Final = bytes([0, 0, 0, 0, 0, 0, 5, 0, 3, 0, 0, 0, 0, 5] + [0] * 10 + [2, 0])  # V3.1


# ---------------------------------------------------------------- state


@dataclass(frozen=True, slots=True)
class State:
    """One position of a game, with nothing hidden in it.

    `boards` are the 26 counts of seat 0 and of seat 1, each in its own numbering.  `rolled` are the
    two numbers of this turn as they fell, () before the roll.  `dice` are the numbers still to be
    played, larger first, those of a double up to four times.  `result` is there when `stage` is
    OVER.
    """

    boards: Boards
    mover: Seat
    dice: Dice
    rolled: tuple[int, ...]
    stage: Stage
    result: Result | None


# ---------------------------------------------------------------- which moves a turn may begin with


def movable(held: int, open_points: int, die: int) -> int:
    """The points that a checker may leave with `die`, by bit masks in own numbering.

    `held` has bit 25 for the bar, `open_points` bits 1..24.
    """
    if held >> BAR:  # V3.4: whoever has checkers on the bar enters first
        return (1 << BAR) & open_points << die
    starts = held & open_points << die
    if held <= HOME_MASK | 1:  # V2.6: all at home, so they may be borne off
        starts |= tavli.borne_off(held, die)
    return starts


# What the first checker that lands on a lone opposing one adds to a packed position: it goes from
# his point 25 - p to his bar (V3.3).
_HIT: Final = tuple(
    tavli.UNIT[26 + BAR] - tavli.UNIT[26 + BAR - p] if 1 <= p <= 24 else 0 for p in range(26)
)


def turn_of(mine: bytes, theirs: bytes) -> Turn:
    """The beginning of a turn for the look-ahead."""
    open_points, lone = tavli.left_open(theirs)
    position = tavli.pack(mine, theirs)
    return Turn(position, mine, tavli.held(mine), open_points, lone, _HIT)


@functools.lru_cache(maxsize=1 << 14)
def first_steps(mine: bytes, theirs: bytes, dice: Dice) -> Path:
    """The moves with which a turn may begin or go on; () when nothing can be played."""
    return lookahead.first_steps(turn_of(mine, theirs), dice, movable)


def turns(
    state: State,
    filters: Iterable[lookahead.Filter[dict[int, Path]]] = lookahead.FORCED,
) -> tuple[tuple[Path, Boards], ...]:
    """The distinct ends of the mover's turn: one path to each, and both boards by seat.

    A turn that can only be passed is one empty path that changes nothing.  `filters` are the
    forced-dice rules; tests leave some out.  ValueError when no checker is to be moved.
    """
    if state.stage is not Stage.MOVE:
        raise ValueError("no checker is to be moved now")
    mover = state.mover
    turn = turn_of(state.boards[mover], state.boards[other(mover)])
    found = lookahead.finals(turn, state.dice, movable, filters)
    if not found:
        return (((), state.boards),)
    return tavli.ends(mover, found)


# ---------------------------------------------------------------- the game


@dataclass(frozen=True, slots=True)
class Portes:
    """The game of Portes as a `Game[State, Action, State]`.

    `disconnect_points` (VA11): "formula" concedes what resigning would, "two" always 2 points.
    """

    disconnect_points: Literal["formula", "two"] = "formula"

    @property
    def name(self) -> str:
        """Variant and edition."""
        return "portes@1"

    @property
    def sides(self) -> tuple[tuple[Seat, ...], ...]:
        """Two players, each for himself."""
        return SIDES

    @property
    def hidden(self) -> bool:
        """Everybody sees everything."""
        return False

    def start(self, first: Seat, live: tuple[Seat, ...]) -> State:
        """The opening position (V3.1); the house rolls for `first`."""
        tavli.check_start("Portes", first, live)
        return State((START, START), first, (), (), Stage.ROLL, None)

    def to_act(self, state: State) -> tuple[Seat, ...]:
        """CHANCE before the roll, the mover after it, nobody when the game is over."""
        return tavli.to_act(state.stage, state.mover)

    def prompted(self, state: State) -> Seat | None:
        """The mover, when there is a checker that he can move (VA17)."""
        return state.mover if state.stage is Stage.MOVE and _steps(state) else None

    def mid_turn(self, state: State) -> bool:
        """Some dice of this roll are played, others not yet."""
        return state.stage is Stage.MOVE and tavli.begun(state.rolled, state.dice)

    def legal(self, state: State, seat: Seat) -> Iterator[Action]:
        """The 36 rolls, or first steps by larger die and farthest checker, or only the pass."""
        if seat not in self.to_act(state):
            return
        if seat == CHANCE:
            yield from tavli.ROLLS
        else:
            yield from _steps(state) or (PASS,)

    def turns(self, state: State) -> tuple[tuple[Path, Boards], ...]:
        """The distinct ends of the mover's turn: one path to each, and both boards by seat."""
        return turns(state)

    def apply(self, state: State, seat: Seat, action: Action) -> State:
        """The next state, or `Illegal` with the rule that refuses."""
        if state.stage is Stage.OVER:
            raise Illegal("V3.6", "the game is over")
        match action:
            case Roll():
                return _rolled(state, seat, action)
            case MoveChecker():
                return _moved(state, seat, action)
            case tavli.Pass():
                return _passed(state, seat)
        raise Illegal("V2.1", "that is no action of this game")

    def chance(self, state: State, draw: Draw) -> Action:
        """Both dice of the turn, thrown afresh (VB5)."""
        return tavli.chance(state.stage, draw)

    def view(self, state: State, seat: Seat | None) -> State:
        """The state itself: nothing is hidden."""
        return state

    def result(self, state: State) -> Result | None:
        """Points by seat, and "single", "double", "resigned", "forfeit" or "drawn"."""
        return state.result

    def concession(self, state: State, seat: Seat) -> Result:
        """2 points to the opponent when `seat` has borne off none, else 1 (V2.8, VA9)."""
        return tavli.conceded(seat, state.boards[seat], "resigned")

    def resign(self, state: State, seat: Seat) -> State:
        """The game over by `concession`, on either player's turn (VA9)."""
        if state.stage is Stage.OVER:
            raise Illegal("VA9", "the game is over")
        return _ended(state, self.concession(state, seat))

    def withdraw(self, state: State, seat: Seat) -> State:
        """The leaver concedes (F2) with the points of VA11; a finished game stays as it is."""
        if state.stage is Stage.OVER:
            return state
        points = self.disconnect_points
        return _ended(state, tavli.conceded(seat, state.boards[seat], "forfeit", points))

    def write(self, action: Action) -> str:
        """ "64", "13/8", "bar/20", "6/off", "3/off(6)", "pass"."""
        return tavli.write(action)

    def read(self, text: str) -> Action:
        """The exact inverse of `write`; `Unreadable` for anything else."""
        return tavli.read(text)

    def show(self, action: Action, seat: Seat | None) -> str:
        """As `write`: nothing is hidden."""
        return tavli.write(action)


# ---------------------------------------------------------------- apply, and why it refuses


def _rolled(state: State, seat: Seat, roll: Roll) -> State:
    tavli.check_throw(state.stage, seat, roll)
    rolled = (roll.first, roll.second)
    return State(state.boards, state.mover, tavli.dice_of(roll), rolled, Stage.MOVE, None)


def _passed(state: State, seat: Seat) -> State:
    tavli.check_turn(state.stage, state.mover, seat)
    if _steps(state):
        raise Illegal("V2.3", "a number that can be played must be played")
    if _shut_out(state.boards[0], state.boards[1]) and _shut_out(*state.boards[::-1]):
        return _ended(state, Result((0, 0), "drawn"))  # VA18
    return State(state.boards, other(seat), (), (), Stage.ROLL, None)


def _moved(state: State, seat: Seat, step: MoveChecker) -> State:
    tavli.check_turn(state.stage, state.mover, seat)
    if step not in _steps(state):
        raise _refusal(state, step)
    mine, theirs = _after(state.boards[seat], state.boards[other(seat)], step)
    boards = by_seat(seat, mine, theirs)
    if mine[OFF] == CHECKERS:
        won = tavli.borne_all_off(seat, theirs)
        return State(boards, seat, (), state.rolled, Stage.OVER, won)
    dice = tavli.without(state.dice, step.die)
    if dice and first_steps(mine, theirs, dice):
        return State(boards, seat, dice, state.rolled, Stage.MOVE, None)
    return State(boards, other(seat), (), (), Stage.ROLL, None)


def _refusal(state: State, step: MoveChecker) -> Illegal:
    """Why a step is none of the legal ones: the most specific rule."""
    start, die = step.start, step.die
    mine, theirs = state.boards[state.mover], state.boards[other(state.mover)]
    if die not in state.dice:
        return Illegal("V2.1", f"no {die} is left to play")
    if not 1 <= start <= BAR or not mine[start]:
        return Illegal("V2.1", "no checker of yours stands there")
    if mine[BAR] and start != BAR:
        return Illegal("V3.4", "a checker on the bar enters first")
    if start > die:
        if theirs[25 - (start - die)] >= 2:
            return Illegal("V3.2", f"point {start - die} is closed")
    elif any(mine[7:]):
        # One that was bearing off already has been hit (V3.5); else it has not begun (V2.6).
        rule = "V3.5" if mine[OFF] else "V2.6"
        return Illegal(rule, "all your checkers must be home before one is borne off")
    elif start < die and any(mine[start + 1 :]):
        return Illegal("V2.6", "a larger number bears off only from your highest point")
    longest = max(len(path) for path, _ in turns(state))
    return tavli.forced(state.dice, die, _steps(state), longest)


def _steps(state: State) -> Path:
    return first_steps(state.boards[state.mover], state.boards[other(state.mover)], state.dice)


def _after(mine: bytes, theirs: bytes, step: MoveChecker) -> tuple[bytes, bytes]:
    """Both boards when the step has been made, a lone opposing checker hit (V3.3)."""
    moved = bytearray(mine)
    moved[step.start] -= 1
    moved[step.target] += 1
    if step.target == OFF or not theirs[25 - step.target]:
        return bytes(moved), theirs
    hit = bytearray(theirs)
    hit[25 - step.target] -= 1
    hit[BAR] += 1
    return bytes(moved), bytes(hit)


def _ended(state: State, result: Result) -> State:
    return replace(state, dice=(), stage=Stage.OVER, result=result)


def _shut_out(mine: bytes, theirs: bytes) -> bool:
    """On the bar before six closed points."""
    return mine[BAR] > 0 and all(theirs[p] >= 2 for p in range(1, 7))
