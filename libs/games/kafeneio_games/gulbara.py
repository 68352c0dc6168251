"""Gul Bara, rules V2.1-V2.9, V5.1, V5.6, V6.1-V6.3, VA and VG of the rule book.

    V5.1       all fifteen start on 24, the opponent's on my 12; both move the same way round; no
               hitting: one opposing checker closes a point.  There is no first checker, no limit
               to walls, and no duty to leave a move
    V2.1, V2.2 a die moves one checker its number; a double is four moves of it ...
    V6.1       ... in a player's first three throws; from his own 4th on, d-d is four moves of each
               number from d up to 6 (VG5)
    V2.3       forced dice with two different numbers (VG8): both if possible, else the larger
    V6.2       the numbers of an escalation are played in order, none with an eye to the next
               (VG12); when the current one cannot be played, the thrower stops (VG1)
    V6.3       every number that he has left goes to the opponent (VG4, VG6, VG7, VG14), who must
               play what he can of them (VG9) in a turn of its own before his throw: a pair in any
               order, an escalation in order, passing over what he cannot play (VG2).  What he
               leaves is lost (VG3)
    V2.6, V5.6 bearing off once all 15 are home (VG15), a larger number only from the highest point;
               the first to bear off all 15 wins at once, also with received numbers (VG10, VG11):
               1 point, 2 when the loser has borne off none
    V2.8, VA9  resigning gives the opponent 2 points when none is borne off, else 1
    VA17       without a legal move the turn is passed, which the house does by itself

House options (fields of `Gulbara`): `receiver_stuck` (VG2), `escalate_from_own_throw` (V6.1),
`disconnect_points`, what a forfeit concedes (VA11).

VA18 cannot come up: only six points in a row stop a player for good, and whoever holds those may
move within them.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from . import lookahead, tavli
from .game import CHANCE, Draw, Illegal, Result, Seat
from .lookahead import Turn
from .tavli import OFF, Action, Boards, Dice, MoveChecker, Path, Roll, Stage, by_seat, other

START: Final = tavli.all_on_24()  # V5.1


# ---------------------------------------------------------------- state


@dataclass(frozen=True, slots=True)
class State:
    """One position of a game, with nothing hidden in it.

    `boards` are the 26 counts of seat 0 and of seat 1, each in its own numbering.  `received` are
    all numbers that the mover got from his opponent, while he has not done with them; then `rolled`
    is still empty.  `rolled` are the two numbers of his own throw as they fell, () before it.
    `dice` are the numbers still to be played: of a pair the larger first, of an escalation the
    lowest; those that a receiver cannot play stay among them until he has played a later one or
    is done.  `throws` counts the throws of seat 0 and of seat 1.  `result` is there when `stage`
    is OVER.
    """

    boards: Boards
    mover: Seat
    dice: Dice
    rolled: tuple[int, ...]
    stage: Stage
    result: Result | None
    received: Dice
    throws: tuple[int, int]


# ---------------------------------------------------------------- which moves a turn may begin with


def movable(held: int, open_points: int, die: int) -> int:
    """The points that a checker may leave with `die`, by bit masks in own numbering."""
    starts = held & open_points << die
    if held <= tavli.HOME_MASK | 1:  # V2.6
        starts |= tavli.borne_off(held, die)
    return starts


def turn_of(mine: bytes, theirs: bytes) -> Turn:
    """The beginning of a turn for the look-ahead."""
    open_points = tavli.POINTS_MASK & ~tavli.faced(tavli.held(theirs))  # V5.1
    return Turn(tavli.pack(mine, theirs), mine, tavli.held(mine), open_points)


def current(mine: bytes, theirs: bytes, dice: Dice, skipping: bool) -> Dice:
    """The numbers that must be looked at together now, () when the player is done.

    Both of a pair, or all of an escalation's current number: the first, or for a receiver who
    passes over what he cannot play (`skipping`) the first that he can.
    """
    if _is_pair(dice):
        return dice if first_steps(mine, theirs, dice) else ()
    for number in dict.fromkeys(dice):
        if first_steps(mine, theirs, (number,)):
            return (number,) * dice.count(number)
        if not skipping:
            break
    return ()


def _is_pair(dice: Dice) -> bool:
    """Two different numbers of one throw; an escalation's rest has four 6s at its end."""
    return len(dice) == 2 and dice[0] != dice[1]


@functools.lru_cache(maxsize=1 << 14)
def first_steps(mine: bytes, theirs: bytes, dice: Dice) -> Path:
    """The moves with which a pair, or equal numbers, may be begun; () when nothing moves."""
    return lookahead.first_steps(turn_of(mine, theirs), dice, movable)


# ---------------------------------------------------------------- the game


@dataclass(frozen=True, slots=True)
class Gulbara:
    """The game of Gul Bara as a `Game[State, Action, State]`.

    `receiver_stuck` (VG2): whoever received an escalation and cannot play its current number
    goes on with the next ("skip_number"), or is done ("stop").  `escalate_from_own_throw` (V6.1):
    from which own throw on doubles escalate.  `disconnect_points` (VA11): "formula" concedes what
    resigning would, "two" always 2 points.
    """

    receiver_stuck: Literal["skip_number", "stop"] = "skip_number"
    escalate_from_own_throw: int = 4
    disconnect_points: Literal["formula", "two"] = "formula"

    @property
    def name(self) -> str:
        """Variant and edition."""
        return "gulbara@1"

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
        tavli.check_start("Gul Bara", first, live)
        return State((START, START), first, (), (), Stage.ROLL, None, (), (0, 0))

    def to_act(self, state: State) -> tuple[Seat, ...]:
        """CHANCE before the roll, the mover after it, nobody when the game is over."""
        return tavli.to_act(state.stage, state.mover)

    def prompted(self, state: State) -> Seat | None:
        """The mover, when there is a checker that he can move (VA17)."""
        return state.mover if state.stage is Stage.MOVE and self._steps(state) else None

    def mid_turn(self, state: State) -> bool:
        """Some numbers of this throw, or of those received, are played, others not yet."""
        if state.stage is not Stage.MOVE:
            return False
        given = state.received or self.numbers(state.rolled, state.throws[state.mover])
        return len(state.dice) < len(given)

    def numbers(self, rolled: tuple[int, ...], throw: int) -> Dice:
        """What a player's throw number `throw` (from 1) gives to play (V6.1)."""
        if rolled[0] != rolled[1] or throw < self.escalate_from_own_throw:
            return tavli.dice_of(Roll(*rolled))
        return tuple([number for number in range(rolled[0], 7) for _ in range(4)])

    def legal(self, state: State, seat: Seat) -> Iterator[Action]:
        """The 36 rolls, or first steps by larger die and farthest checker, or only the pass."""
        if seat not in self.to_act(state):
            return
        if seat == CHANCE:
            yield from tavli.ROLLS
        else:
            yield from self._steps(state) or (tavli.PASS,)

    def turns(self, state: State) -> tuple[tuple[Path, Boards], ...]:
        """The distinct ends of what the mover plays next: one path to each, and both boards.

        That is a pair, or all moves of an escalation's current number: none is played with an eye
        to the next (VG12).  What can only be passed is one empty path that changes nothing.
        ValueError when no checker is to be moved.
        """
        if state.stage is not Stage.MOVE:
            raise ValueError("no checker is to be moved now")
        mine, theirs = tavli.own_and_other(state.boards, state.mover)
        dice = current(mine, theirs, state.dice, self._skips(bool(state.received)))
        if not dice:
            return (((), state.boards),)
        found = lookahead.finals(turn_of(mine, theirs), dice, movable)
        return tavli.ends(state.mover, found)

    def apply(self, state: State, seat: Seat, action: Action) -> State:
        """The next state, or `Illegal` with the rule that refuses."""
        if state.stage is Stage.OVER:
            raise Illegal("V5.6", "the game is over")
        match action:
            case Roll():
                return self._rolled(state, seat, action)
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

    def _skips(self, receiving: bool) -> bool:
        return receiving and self.receiver_stuck == "skip_number"

    def _steps(self, state: State) -> Path:
        mine, theirs = tavli.own_and_other(state.boards, state.mover)
        dice = current(mine, theirs, state.dice, self._skips(bool(state.received)))
        return first_steps(mine, theirs, dice) if dice else ()

    def _rolled(self, state: State, seat: Seat, roll: Roll) -> State:
        tavli.check_throw(state.stage, seat, roll)
        mover, rolled = state.mover, (roll.first, roll.second)
        throws = (state.throws[0] + (mover == 0), state.throws[1] + (mover == 1))
        dice = self.numbers(rolled, throws[mover])
        return State(state.boards, mover, dice, rolled, Stage.MOVE, None, (), throws)

    def _passed(self, state: State, seat: Seat) -> State:
        tavli.check_turn(state.stage, state.mover, seat)
        if self._steps(state):
            raise Illegal("V2.3", "a number that can be played must be played")
        return _done(state, state.boards, state.dice)

    def _moved(self, state: State, seat: Seat, step: MoveChecker) -> State:
        tavli.check_turn(state.stage, state.mover, seat)
        if step not in self._steps(state):
            raise self._refusal(state, step)
        mine, theirs = tavli.moved(state.boards[seat], step), state.boards[other(seat)]
        boards, rolled = by_seat(seat, mine, theirs), state.rolled
        if mine[OFF] == tavli.CHECKERS:
            result = tavli.borne_all_off(seat, theirs)
            return State(boards, seat, (), rolled, Stage.OVER, result, (), state.throws)
        if _is_pair(state.dice):
            left = tavli.without(state.dice, step.die)
        else:  # what has been passed over is lost
            left = state.dice[state.dice.index(step.die) + 1 :]
        if current(mine, theirs, left, self._skips(bool(state.received))):
            received, throws = state.received, state.throws
            return State(boards, seat, left, rolled, Stage.MOVE, None, received, throws)
        return _done(state, boards, left)

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
        if not _is_pair(state.dice):
            return Illegal("V6.2", "the numbers are played in order, the lowest first")
        longest = max(len(path) for path, _ in self.turns(state))
        return tavli.forced(state.dice, die, self._steps(state), longest)


def _done(state: State, boards: Boards, left: Dice) -> State:
    """The turn is over with `left` unplayed (V6.3).

    After received numbers the mover throws; after his throw the opponent gets what is left.
    """
    mover, throws = state.mover, state.throws
    if state.received:
        return State(boards, mover, (), (), Stage.ROLL, None, (), throws)
    stage = Stage.MOVE if left else Stage.ROLL
    return State(boards, other(mover), left, (), stage, None, left, throws)


def _ended(state: State, result: Result) -> State:
    """What was received is dropped (VA9)."""
    boards, mover, rolled, throws = state.boards, state.mover, state.rolled, state.throws
    return State(boards, mover, (), rolled, Stage.OVER, result, (), throws)
