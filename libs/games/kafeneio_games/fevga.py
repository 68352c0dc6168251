"""Fevga, rules V2.1-V2.9, V5.1-V5.6, VA and VF of the rule book.

    V5.1       all fifteen start on 24, the opponent's on my 12; both move the same way round; no
               hitting: one opposing checker closes a point
    V2.1, V2.2 a die moves one checker its number; a double is four moves of it (V5.3)
    V5.2       first checker: until one of mine is past the opponent's start (on 11 or lower, or
               off, VF11), only that one may leave my start (VF13, VF14)
    V5.4       walls, judged when the turn ends (VF2).  I may not hold 24..19 while an opposing
               checker is still behind them, on my 1..12 (W1, VF5), nor 11..6 while one of his is
               still on his start, my 12 (W2, VF6)
    V2.3       forced dice, among the turns that the walls leave (VF3): as many numbers as possible
               (VA1), if only one the larger (VA2); what wins is always accepted (VA3)
    V5.5       leave a move: among those that then stand, and if any does, a turn must leave the
               opponent a number with which he could move a checker (VF7-VF10)
    V2.6, V5.6 bearing off once all 15 are home, a larger number only from the highest point; the
               first to bear off all 15 wins 1 point, 2 when the loser has borne off none
    V2.8, VA9  resigning gives the opponent 2 points when none is borne off, else 1
    VA17       without a legal move the turn is passed, which the house does by itself

House options (fields of `Fevga`): `wall_start`, `wall_front`, `wall_when` and `leave_move`; with
Betomall 24..19 may never be held, and 11..6 always.  The other values of `wall_start` are what VF1
knows from elsewhere.  `disconnect_points`, what a forfeit concedes (VA11).

VA18 cannot come up: only six points in a row stop a player for good, and whoever holds those may
move within them with a 1, which makes no wall.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final, Literal, NamedTuple, TypeAlias

from . import lookahead, tavli
from .game import CHANCE, Draw, Illegal, Result, Seat
from .lookahead import Groups, Plays, Reached, Turn
from .tavli import OFF, Action, Boards, Dice, MoveChecker, Path, Roll, Stage, by_seat, other

START: Final = tavli.all_on_24()  # V5.1
START_POINT: Final = 1 << 24
THEIR_START: Final = 1 << 12  # the opponent's start, in my numbering
PASSED: Final = THEIR_START - 1  # points 1..11, or off: past it


def _six(top: int) -> int:
    """The mask of six points in a row, `top` the farthest."""
    return 0b111111 << top - 5


W1: Final = _six(24)
W2: Final = _six(11)
WallStart: TypeAlias = Literal[
    "only_if_opponent_behind", "always", "both_quadrants", "four_points", "any_six"
]


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
    """The points that a checker may leave with `die`, walls aside, by masks in own numbering."""
    starts = held & open_points << die
    if not held & PASSED:  # V5.2: the first checker leaves the start, and goes on alone
        return starts if held == START_POINT else starts & ~START_POINT
    if held <= tavli.HOME_MASK | 1:  # V2.6
        starts |= tavli.borne_off(held, die)
    return starts


class Limits(NamedTuple):
    """What a board of the opponent's forbids me, as masks of my points.

    A turn may not end with all points of one of `walls` held (V5.4).  When all points of `lock` are
    held he has no move (V5.5); None when he has one whatever I do.
    """

    walls: tuple[int, ...]
    lock: int | None


@functools.lru_cache(maxsize=1 << 14)
def limits(rules: Fevga, theirs: int) -> Limits:
    """The limits by the mask of the points that the opponent holds, in his own numbering."""
    return Limits(_walls(rules, theirs), None if rules.leave_move == "off" else _lock(theirs))


def _walls(rules: Fevga, theirs: int) -> tuple[int, ...]:
    walls: list[int] = []
    match rules.wall_start:
        case "only_if_opponent_behind":
            walls += [W1] if theirs >> 13 else []  # VF5: on my 1..12, his 13..24
        case "always":
            walls += [W1]
        case "both_quadrants":
            walls += [W1, _six(12)]
        case "four_points":
            walls += [W1 & ~(1 << point) for point in range(19, 25)]
        case "any_six":
            # Unless one of his is past it.  Six that he meets as his last points and his first
            # (my 17..13 with 12) are no wall to him.
            tops = [top for top in range(24, 5, -1) if not 13 <= top <= 17]
            walls += [_six(top) for top in tops if not theirs & _past(top)]
    if rules.wall_front and theirs & START_POINT:  # VF6
        walls.append(W2)
    return tuple(walls)


def _past(top: int) -> int:
    """What the opponent holds when one of his checkers is past my six points from `top` down."""
    return (1 << tavli.facing(top - 5)) - 1


def _lock(theirs: int) -> int | None:
    """All points to which his checkers could move with some number (VF7), in my numbering."""
    if theirs & PASSED:
        if theirs <= tavli.HOME_MASK | 1:
            return None  # he can always bear off
        starts = theirs
    else:
        starts = theirs if theirs == START_POINT else theirs & ~START_POINT
    targets = 0
    for die in range(1, 7):
        targets |= starts >> die
    targets &= tavli.POINTS_MASK
    return None if targets & theirs else tavli.faced(targets)  # his own points are open to him


def turn_of(mine: bytes, theirs: bytes) -> Turn:
    """The beginning of a turn for the look-ahead."""
    held, held_by_him = tavli.held(mine), tavli.held(theirs)
    open_points = tavli.POINTS_MASK & ~tavli.faced(held_by_him)  # V5.1
    # Only the first checker can make room for others (V5.2); then the order is no matter.
    sortable = bool(held & PASSED)
    return Turn(tavli.pack(mine, theirs), mine, held, open_points, sortable=sortable)


def _in_reach(rules: Fevga, turn: Turn, theirs: bytes, dice: Dice) -> Limits | None:
    """The limits that a turn with `dice` might touch, None when there are none."""
    walls, lock = limits(rules, tavli.held(theirs))
    walls = tuple([wall for wall in walls if lookahead.may_hold(wall, turn.held, dice)])
    if lock is not None and not lookahead.may_hold(lock, turn.held, dice):
        lock = None
    return Limits(walls, lock) if walls or lock is not None else None


def _limited(rules: Fevga, turn: Turn, dice: Dice, within: Limits) -> Plays[Reached]:
    """All legal turns, by the order of the rule book's section 10."""
    walls, lock = within
    barred = walls if rules.wall_when == "every_move" else ()
    groups, ended = lookahead.prefixes(turn, dice, movable, barred)
    groups = lookahead.where(groups, lambda held: not any(held & w == w for w in walls))  # VF3
    for keep in lookahead.FORCED:
        groups = keep(groups)
    return Plays(groups if lock is None else _leaving_a_move(groups, lock), ended)


def _leaving_a_move(
    groups: Groups[dict[tavli.Position, Reached]], lock: int
) -> Groups[dict[tavli.Position, Reached]]:
    """V5.5, VF8: only the turns after which he has a move; all of them where none is such."""
    return lookahead.where(groups, lambda held: held & lock != lock) or groups


@functools.lru_cache(maxsize=1 << 14)
def first_steps(rules: Fevga, mine: bytes, theirs: bytes, dice: Dice) -> Path:
    """The moves with which a turn may begin or go on; () when nothing can be played."""
    turn = turn_of(mine, theirs)
    within = _in_reach(rules, turn, theirs, dice)
    if within is None:
        return lookahead.first_steps(turn, dice, movable)
    groups, ended = _limited(rules, turn, dice, within)
    return lookahead.steps_to(lookahead.merged(groups, ended).values())


# ---------------------------------------------------------------- the game


@dataclass(frozen=True, slots=True)
class Fevga:
    """The game of Fevga as a `Game[State, Action, State]`.

    `wall_start` (V5.4, VF1), what may not be held: "only_if_opponent_behind" 24..19 as the rules of
    the house have it, "always" 24..19 at any time, "both_quadrants" 12..7 too, "four_points" more
    than four of 24..19, "any_six" any six points in a row that no opposing checker has passed.
    `wall_front` (V5.4): whether 11..6 are forbidden while his start is occupied.  `wall_when`
    (VF2): "end_of_turn", or "every_move".  `leave_move` (V5.5): "prefer", or "off".
    `disconnect_points` (VA11): "formula" concedes what resigning would, "two" always 2 points.
    """

    wall_start: WallStart = "only_if_opponent_behind"
    wall_front: bool = True
    wall_when: Literal["end_of_turn", "every_move"] = "end_of_turn"
    leave_move: Literal["prefer", "off"] = "prefer"
    disconnect_points: Literal["formula", "two"] = "formula"

    @property
    def name(self) -> str:
        """Variant and edition."""
        return "fevga@1"

    @property
    def sides(self) -> tuple[tuple[Seat, ...], ...]:
        """Two players, each for himself."""
        return tavli.SIDES

    @property
    def hidden(self) -> bool:
        """Everybody sees everything."""
        return False

    def start(self, first: Seat, live: tuple[Seat, ...]) -> State:
        """The opening position (V5.1); the house rolls for `first`."""
        tavli.check_start("Fevga", first, live)
        return State((START, START), first, (), (), Stage.ROLL, None)

    def to_act(self, state: State) -> tuple[Seat, ...]:
        """CHANCE before the roll, the mover after it, nobody when the game is over."""
        return tavli.to_act(state.stage, state.mover)

    def prompted(self, state: State) -> Seat | None:
        """The mover, when there is a checker that he can move (VA17)."""
        return state.mover if state.stage is Stage.MOVE and self._steps(state) else None

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
            yield from self._steps(state) or (tavli.PASS,)

    def turns(self, state: State) -> tuple[tuple[Path, Boards], ...]:
        """The distinct ends of the mover's turn: one path to each, and both boards by seat.

        A turn that can only be passed is one empty path that changes nothing.  ValueError when no
        checker is to be moved.
        """
        if state.stage is not Stage.MOVE:
            raise ValueError("no checker is to be moved now")
        mover, mine, theirs = state.mover, *tavli.own_and_other(state.boards, state.mover)
        turn = turn_of(mine, theirs)
        within = _in_reach(self, turn, theirs, state.dice)
        if within is None:
            found = lookahead.finals(turn, state.dice, movable)
        else:
            groups, ended = _limited(self, turn, state.dice, within)
            found = lookahead.paths(lookahead.merged(groups, ended))
        if not found:
            return (((), state.boards),)
        return tavli.ends(mover, found)

    def apply(self, state: State, seat: Seat, action: Action) -> State:
        """The next state, or `Illegal` with the rule that refuses."""
        if state.stage is Stage.OVER:
            raise Illegal("V5.6", "the game is over")
        match action:
            case Roll():
                return _rolled(state, seat, action)
            case MoveChecker():
                return self._moved(state, seat, action)
            case tavli.Pass():
                return self._passed(state, seat)
        raise Illegal("V2.1", "that is no action of this game")

    def chance(self, state: State, draw: Draw) -> Action:
        """Both dice of the turn, thrown afresh (VB5)."""
        return tavli.chance(state.stage, draw)

    def view(self, state: State, seat: Seat | None) -> State:
        """The state itself: nothing is hidden."""
        return state

    def result(self, state: State) -> Result | None:
        """Points by seat, and "single", "double", "resigned" or "forfeit"."""
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
        """ "64", "13/8", "6/off", "3/off(6)", "pass"."""
        return tavli.write(action)

    def read(self, text: str) -> Action:
        """The exact inverse of `write`; `Unreadable` for anything else."""
        return tavli.read(text)

    def show(self, action: Action, seat: Seat | None) -> str:
        """As `write`: nothing is hidden."""
        return tavli.write(action)

    # ------------------------------------------------------------ apply, and why it refuses

    def _steps(self, state: State) -> Path:
        return first_steps(self, *tavli.own_and_other(state.boards, state.mover), state.dice)

    def _passed(self, state: State, seat: Seat) -> State:
        tavli.check_turn(state.stage, state.mover, seat)
        if self._steps(state):
            raise Illegal("V2.3", "a number that can be played must be played")
        return State(state.boards, other(seat), (), (), Stage.ROLL, None)

    def _moved(self, state: State, seat: Seat, step: MoveChecker) -> State:
        tavli.check_turn(state.stage, state.mover, seat)
        if step not in self._steps(state):
            raise self._refusal(state, step)
        mine, theirs = tavli.moved(state.boards[seat], step), state.boards[other(seat)]
        boards = by_seat(seat, mine, theirs)
        if mine[OFF] == tavli.CHECKERS:
            result = tavli.borne_all_off(seat, theirs)
            return State(boards, seat, (), state.rolled, Stage.OVER, result)
        dice = tavli.without(state.dice, step.die)
        if dice and first_steps(self, mine, theirs, dice):
            return State(boards, seat, dice, state.rolled, Stage.MOVE, None)
        return State(boards, other(seat), (), (), Stage.ROLL, None)

    def _refusal(self, state: State, step: MoveChecker) -> Illegal:
        """Why a step is none of the legal ones: the most specific rule."""
        start, die = step.start, step.die
        mine, theirs = tavli.own_and_other(state.boards, state.mover)
        if die not in state.dice:
            return Illegal("V2.1", f"no {die} is left to play")
        if not 1 <= start <= 24 or not mine[start]:
            return Illegal("V2.1", "no checker of yours stands there")
        if start > die:
            if theirs[tavli.facing(start - die)]:
                return Illegal("V5.1", f"point {start - die} is closed")
        elif any(mine[7:]):
            return Illegal("V2.6", "all your checkers must be home before one is borne off")
        elif start < die and any(mine[start + 1 :]):
            return Illegal("V2.6", "a larger number bears off only from your highest point")
        if not movable(tavli.held(mine), tavli.POINTS_MASK, die) >> start & 1:
            return Illegal("V5.2", "your first checker must pass your opponent's start first")
        return self._limit_of(state, step)

    def _limit_of(self, state: State, step: MoveChecker) -> Illegal:
        """Which of the rules on whole turns refuses a step that a hand could make."""
        mine, theirs = tavli.own_and_other(state.boards, state.mover)
        unlocked = replace(self, leave_move="off")
        if step in first_steps(unlocked, mine, theirs, state.dice):
            return Illegal("V5.5", "you must leave your opponent a move where you can")
        legal = lookahead.first_steps(turn_of(mine, theirs), state.dice, movable)
        if step in legal:
            return Illegal("V5.4", "your turn may not end with these six points held")
        longest = max(len(path) for path, _ in self.turns(state))
        return tavli.forced(state.dice, step.die, self._steps(state), longest)


def _rolled(state: State, seat: Seat, roll: Roll) -> State:
    tavli.check_throw(state.stage, seat, roll)
    rolled = (roll.first, roll.second)
    return State(state.boards, state.mover, tavli.dice_of(roll), rolled, Stage.MOVE, None)


def _ended(state: State, result: Result) -> State:
    return State(state.boards, state.mover, (), state.rolled, Stage.OVER, result)
