"""Plakoto (Tapa, Treta), rules V2.1-V2.9, V4.1-V4.12, VA and VP of the rule book.

    V4.1       all fifteen start on 24; the players move in opposite directions; there is no bar
    V2.1, V2.2 a die moves one checker its number; a double is four moves of it
    V2.3       forced dice: as many numbers as possible (VA1), if only one the larger (VA2);
               what ends the game is always accepted and ends the turn at once (VA3, VP5)
    V4.2       landing on a single free opposing checker pins it: it cannot move while a checker
               of mine stays on it (VP8); I may add to them (VP15) or release it (VP16, V4.4)
    V4.3       a point is closed by two free opposing checkers, or by one on my pinned one (VP0)
    V4.5       pinning is possible anywhere, and again in the same turn (VP13, VP14)
    V4.6       mother: my last checker on 24 (VP4).  If it is pinned, the pinner wins 2 points as
               soon as his own 24 holds none of his checkers (VP1, VP2, VP17)
    V4.7       both mothers pinned: drawn 0-0 at once (VP3)
    V2.6, V4.8 bearing off once all 15 are home, a larger number only from the highest point; while
               one of mine is pinned it waits, or goes on with the others (VP6, VP7, VP9, VP10)
    V2.7, VP11 the first to bear off all 15 wins 1 point, 2 when the loser has borne off none
    V2.8, VA9  resigning gives the opponent 2 points when none is borne off, else 1 (VA10)
    VA17       without a legal move the turn is passed, which the house does by itself
    VA18       should no number let either player move, the game is drawn 0-0

House options (fields of `Plakoto`): `bearoff_while_pinned` (V4.8) waits in the Greek set and goes
on in the Macedonian and the Bulgarian one and with Betomall; then `pinned_outside_ignored` (VP6)
and `pinned_counts_as_highest` (VP7).  `mother` (V4.6) is "none" with Betomall, whose rules do not
know her; two pinned ones draw the game all the same, for nobody could ever bear off again.
`disconnect_points`, what a forfeit concedes (VA11).

Facts that the code relies on: a checker on my 1-point can leave it only by being borne off, so
with a winning mother a pinned one is never released (V4.10).  Which opposing checkers are pinned
follows from the boards and from which of mine are: a turn pins and releases none of mine.
VA18 cannot come up in play.  A player whom no number lets move has his free checkers on his
1-point (any other block of his way lets the blocker move), and waits for a pinned one; if that
holds for both, they stand on each other's mothers, and V4.7 has ended the game.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from . import lookahead, tavli
from .game import CHANCE, Draw, Illegal, Result, Seat
from .lookahead import Turn
from .tavli import OFF, Action, Boards, Dice, MoveChecker, Path, Roll, Stage, by_seat, other

START: Final = tavli.all_on_24()  # V4.1
MOTHER: Final = 24  # whose point it is: of the checker's owner
THEIR_MOTHER: Final = 1  # the same point of the opponent's mother, in my numbering


# ---------------------------------------------------------------- state

Pinned: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]
"""The points where seat 0 and where seat 1 has a pinned checker, own numbering, farthest first."""


@dataclass(frozen=True, slots=True)
class State:
    """One position of a game, with nothing hidden in it.

    `boards` are the 26 counts of seat 0 and of seat 1, each in its own numbering, pinned checkers
    included; `pinned` says which they are, always the only one of their side on the point.
    `rolled` are the two numbers of this turn as they fell, () before the roll.  `dice` are the
    numbers still to be played, larger first, those of a double up to four times.  `result` is
    there when `stage` is OVER.
    """

    boards: Boards
    mover: Seat
    dice: Dice
    rolled: tuple[int, ...]
    stage: Stage
    result: Result | None
    pinned: Pinned


# ---------------------------------------------------------------- which moves a turn may begin with

# Beside its free checkers a player's mask of points held says what his pinned ones do in this turn:
_PINNED: Final = 1 << 25  # there are some, so that bearing off all the others is not the end
_WAITS: Final = 1 << 26  # nothing is borne off
_HIGHER: Final = 27  # from this bit on: the points in the home on which they count (VP7)
_NOT_HOME: Final = (1 << 25) - (1 << 7) | _WAITS


def movable(held: int, open_points: int, die: int) -> int:
    """The points that a checker may leave with `die`, by bit masks in own numbering."""
    starts = held & open_points << die & tavli.POINTS_MASK
    if not held & _NOT_HOME:  # V2.6, V4.8
        home = held & tavli.HOME_MASK
        if held >> die & 1 or home > held >> _HIGHER:
            starts |= tavli.borne_off(home, die)
    return starts


def _hindering(rules: Plakoto, pinned: int) -> int:
    """What my pinned checkers add to the mask of points that I hold (V4.8)."""
    if not pinned:
        return 0
    outside = pinned & ~tavli.HOME_MASK
    ignored = rules.pinned_outside_ignored and not pinned >> MOTHER & 1  # VP6
    if rules.bearoff_while_pinned == "waits" or (outside and not ignored):
        return _PINNED | _WAITS
    counted = pinned & tavli.HOME_MASK if rules.pinned_counts_as_highest else 0  # VP7
    return _PINNED | counted << _HIGHER


def turn_of(rules: Plakoto, mine: bytes, theirs: bytes, pinned: int, dice: Dice) -> Turn:
    """The beginning of a turn for the look-ahead; `pinned` is the mask of mine."""
    free = tavli.held(mine) & ~pinned
    open_points = tavli.left_open(theirs)[0] & ~pinned  # V4.3: on my pinned one stands one of his
    position = tavli.pack(mine, theirs)
    ends = _ends(rules, free, mine[MOTHER], pinned, dice) if theirs[MOTHER] == 1 else None
    if ends is None:
        return Turn(position, mine, free | _hindering(rules, pinned), open_points)
    # Where a turn may end the game in its midst, the order of its moves says what is done by then.
    held = free | _hindering(rules, pinned)
    return Turn(position, mine, held, open_points, ends=ends, sortable=False)


def _ends(
    rules: Plakoto, free: int, at_start: int, pinned: int, dice: Dice
) -> tuple[int, int] | None:
    """Which points held end the game by mothers (V4.6, V4.7); None when it cannot be now.

    Their mother is alone, so whoever of mine is on her point has pinned her.
    """
    if not lookahead.may_hold(1 << THEIR_MOTHER, free, dice):
        return None
    if pinned >> MOTHER & 1:
        return 1 << THEIR_MOTHER, 1 << THEIR_MOTHER
    if rules.mother == "none" or at_start >= len(dice):
        return None  # as many as dice leave only with the last of these, if with any
    return 1 << THEIR_MOTHER | 1 << MOTHER, 1 << THEIR_MOTHER


@functools.lru_cache(maxsize=1 << 14)
def first_steps(
    rules: Plakoto, mine: bytes, theirs: bytes, pinned: tuple[int, ...], dice: Dice
) -> Path:
    """The moves with which a turn may begin or go on; () when nothing can be played."""
    turn = turn_of(rules, mine, theirs, _mask(pinned), dice)
    return lookahead.first_steps(turn, dice, movable)


def _mask(pinned: tuple[int, ...]) -> int:
    return sum([1 << point for point in pinned])


# ---------------------------------------------------------------- the game


@dataclass(frozen=True, slots=True)
class Plakoto:
    """The game of Plakoto as a `Game[State, Action, State]`.

    `bearoff_while_pinned` (V4.8): "waits", or "continues" with the other checkers.
    `mother` (V4.6): "wins" 2 points for the pinner, or "none": she is a checker like any other.
    `pinned_outside_ignored` (VP6): whoever goes on bearing off need not bring home a pinned checker
    first, unless it is his mother.  `pinned_counts_as_highest` (VP7): a larger number bears off
    nothing from below a pinned checker.  `disconnect_points` (VA11): "formula" concedes what
    resigning would, "two" always 2 points.
    """

    bearoff_while_pinned: Literal["waits", "continues"] = "waits"
    mother: Literal["wins", "none"] = "wins"
    pinned_outside_ignored: bool = False
    pinned_counts_as_highest: bool = False
    disconnect_points: Literal["formula", "two"] = "formula"

    @property
    def name(self) -> str:
        """Variant and edition."""
        return "plakoto@1"

    @property
    def sides(self) -> tuple[tuple[Seat, ...], ...]:
        """Two players, each for himself."""
        return tavli.SIDES

    @property
    def hidden(self) -> bool:
        """Everybody sees everything."""
        return False

    def start(self, first: Seat, live: tuple[Seat, ...]) -> State:
        """The opening position (V4.1); the house rolls for `first`."""
        tavli.check_start("Plakoto", first, live)
        return State((START, START), first, (), (), Stage.ROLL, None, ((), ()))

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

    def turns(self, state: State) -> tuple[tuple[Path, Boards, Pinned], ...]:
        """The distinct ends of the mover's turn: one path to each, the boards and the pinned.

        A turn that can only be passed is one empty path that changes nothing.  ValueError when no
        checker is to be moved.
        """
        if state.stage is not Stage.MOVE:
            raise ValueError("no checker is to be moved now")
        mover, mine, theirs = state.mover, *tavli.own_and_other(state.boards, state.mover)
        pinned = state.pinned[mover]
        turn = turn_of(self, mine, theirs, _mask(pinned), state.dice)
        found = lookahead.finals(turn, state.dice, movable)
        if not found:
            return (((), state.boards, state.pinned),)
        alone, ends = _alone(theirs, pinned), []
        for final, path in found.items():
            after = tavli.unpack(final)[0]
            ends.append((path, by_seat(mover, after, theirs), _pins(mover, pinned, alone, after)))
        return tuple(ends)

    def apply(self, state: State, seat: Seat, action: Action) -> State:
        """The next state, or `Illegal` with the rule that refuses."""
        if state.stage is Stage.OVER:
            raise Illegal("V4.9", "the game is over")
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
        """Points by seat, and "single", "double", "mother", "drawn", "resigned" or "forfeit"."""
        return state.result

    def concession(self, state: State, seat: Seat) -> Result:
        """2 points to the opponent when `seat` has borne off none, else 1 (V2.8, VA9, VA10)."""
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
        mine, theirs = tavli.own_and_other(state.boards, state.mover)
        return first_steps(self, mine, theirs, state.pinned[state.mover], state.dice)

    def _passed(self, state: State, seat: Seat) -> State:
        tavli.check_turn(state.stage, state.mover, seat)
        if self._steps(state):
            raise Illegal("V2.3", "a number that can be played must be played")
        if self._shut_out(state, seat) and self._shut_out(state, other(seat)):
            return _ended(state, Result((0, 0), "drawn"))  # VA18
        return State(state.boards, other(seat), (), (), Stage.ROLL, None, state.pinned)

    def _shut_out(self, state: State, seat: Seat) -> bool:
        """No number lets `seat` move."""
        mine, theirs, pinned = state.boards[seat], state.boards[other(seat)], state.pinned[seat]
        return not any(first_steps(self, mine, theirs, pinned, (die,)) for die in range(1, 7))

    def _moved(self, state: State, seat: Seat, step: MoveChecker) -> State:
        tavli.check_turn(state.stage, state.mover, seat)
        if step not in self._steps(state):
            raise self._refusal(state, step)
        mine, theirs = tavli.moved(state.boards[seat], step), state.boards[other(seat)]
        boards, mine_pinned = by_seat(seat, mine, theirs), state.pinned[seat]
        pinned = _pins(seat, mine_pinned, _alone(theirs, mine_pinned), mine)
        result = self._result(seat, mine, theirs, pinned)
        if result is not None:
            return State(boards, seat, (), state.rolled, Stage.OVER, result, pinned)
        dice = tavli.without(state.dice, step.die)
        if dice and first_steps(self, mine, theirs, mine_pinned, dice):
            return State(boards, seat, dice, state.rolled, Stage.MOVE, None, pinned)
        return State(boards, other(seat), (), (), Stage.ROLL, None, pinned)

    def _result(self, seat: Seat, mine: bytes, theirs: bytes, pinned: Pinned) -> Result | None:
        """The result if `seat`'s move has ended the game."""
        if mine[OFF] == tavli.CHECKERS:
            return tavli.borne_all_off(seat, theirs)
        if MOTHER in pinned[other(seat)]:
            if MOTHER in pinned[seat]:
                return Result((0, 0), "drawn")  # V4.7
            if self.mother == "wins" and not mine[MOTHER]:
                return tavli.won(seat, 2, "mother")  # V4.6
        return None

    def _refusal(self, state: State, step: MoveChecker) -> Illegal:
        """Why a step is none of the legal ones: the most specific rule."""
        start, die = step.start, step.die
        mine, theirs = tavli.own_and_other(state.boards, state.mover)
        pinned = state.pinned[state.mover]
        if die not in state.dice:
            return Illegal("V2.1", f"no {die} is left to play")
        if not 1 <= start <= MOTHER or not mine[start]:
            return Illegal("V2.1", "no checker of yours stands there")
        if start in pinned:
            return Illegal("V4.2", "a pinned checker cannot move")
        if start > die:
            if theirs[25 - (start - die)] >= 2 or start - die in pinned:
                return Illegal("V4.3", f"point {start - die} is closed")
        elif pinned and self.bearoff_while_pinned == "waits":
            return Illegal("V4.8", "bearing off waits while a checker of yours is pinned")
        elif any(mine[point] for point in range(7, 25) if point not in pinned):
            return Illegal("V2.6", "all your checkers must be home before one is borne off")
        elif _hindering(self, _mask(pinned)) & _WAITS:
            return Illegal("VP6", "a checker of yours is pinned outside your home")
        elif start < die and any(mine[p] for p in range(start + 1, 7) if p not in pinned):
            return Illegal("V2.6", "a larger number bears off only from your highest point")
        elif start < die and self.pinned_counts_as_highest and max(pinned, default=0) > start:
            return Illegal("VP7", "a pinned checker of yours stands on a higher point")
        longest = max(len(path) for path, _, _ in self.turns(state))
        return tavli.forced(state.dice, die, self._steps(state), longest)


def _rolled(state: State, seat: Seat, roll: Roll) -> State:
    tavli.check_throw(state.stage, seat, roll)
    rolled, dice = (roll.first, roll.second), tavli.dice_of(roll)
    return State(state.boards, state.mover, dice, rolled, Stage.MOVE, None, state.pinned)


def _ended(state: State, result: Result) -> State:
    return State(state.boards, state.mover, (), state.rolled, Stage.OVER, result, state.pinned)


def _alone(theirs: bytes, pinned: tuple[int, ...]) -> list[int]:
    """My points where a checker of mine pins one of his, the lowest first (V4.2).

    `pinned` are mine; on those a single one of his pins.
    """
    return tavli.points(tavli.left_open(theirs)[1] & ~_mask(pinned))[::-1]


def _pins(mover: Seat, pinned: tuple[int, ...], alone: list[int], mine: bytes) -> Pinned:
    """All pinned checkers: those of the mover, and those of `alone` on which he stands."""
    his = tuple([25 - point for point in alone if mine[point]])
    return (pinned, his) if mover == 0 else (his, pinned)
