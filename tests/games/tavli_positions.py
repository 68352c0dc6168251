"""Positions of Plakoto, Fevga and Gul Bara with a throw, from a seed.

Random play almost never reaches the walls, the duty to leave a move, or an escalation that gets
stuck, so these are built.  Each generator says what it is near to; none ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from random import Random
from typing import NamedTuple

from kafeneio_games.game import CHANCE
from kafeneio_games.tavli import Stage, facing

from tests.games.boards import SEATS
from tests.games.positions import RandomDraw
from tests.games.tavli_tables import GAMES, AnyState, Table, table_of


class Thrown(NamedTuple):
    """A position and the throw that the mover has to play."""

    table: Table
    roll: str


class Side:
    """One player's checkers while they are being put on the board."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self.counts = [0] * 26
        self.pinned: list[int] = []

    def put(self, *points: int) -> None:
        """One checker on each."""
        for point in points:
            self.counts[point] += 1

    def fill(self, points: Iterable[int]) -> None:
        """The rest of the fifteen, each on any of those points."""
        choice = list(points)
        while sum(self.counts) < 15:
            self.put(self._random.choice(choice))

    def held(self) -> list[int]:
        """The points with a checker."""
        return [point for point in range(1, 25) if self.counts[point]]


def table(mine: Side, theirs: Side, throws: tuple[int, int] = (0, 0)) -> Table:
    """Both sides as they stand."""
    pinned = tuple(sorted(mine.pinned, reverse=True)), tuple(sorted(theirs.pinned, reverse=True))
    return Table(bytes(mine.counts), bytes(theirs.counts), pinned, throws)


def filling_roll(random: Random, mine: Side, point: int) -> str:
    """Two dice, one of which brings a checker of mine to that point, if one can."""
    dice = [die for die in range(1, 7) if point + die <= 24 and mine.counts[point + die]]
    return f"{random.choice(dice or [1])}{random.randint(1, 6)}"


def any_roll(random: Random) -> str:
    """Two dice."""
    return f"{random.randint(1, 6)}{random.randint(1, 6)}"


def played(name: str, seed: int) -> Iterator[Thrown]:
    """Every position with a throw and nothing moved yet of endless random games."""
    random, game = Random(seed), GAMES[name]
    while True:
        state: AnyState = game.start(random.choice(SEATS), SEATS)
        while state.stage is not Stage.OVER:
            if state.stage is Stage.ROLL:
                before = table_of(state, state.mover)
                state = game.apply(state, CHANCE, game.chance(state, RandomDraw(random)))
                yield Thrown(before, "".join(map(str, state.rolled)))
            action = random.choice(list(game.legal(state, state.mover)))
            state = game.apply(state, state.mover, action)


# ---------------------------------------------------------------- few free checkers


def few_movers(name: str, seed: int) -> Iterator[Thrown]:
    """One to three men behind or among many closed points, the rest deep at home or off.

    In every other one a single man could play either number, but the sum of both is closed.
    """
    random = Random(seed)
    while True:
        mine, theirs = Side(random), Side(random)
        roll, low = any_roll(random), random.randint(3, 14)
        window = range(low, low + random.randint(8, 11))
        closed = set(random.sample(window, random.randint(4, 6)))
        first, second = map(int, roll)
        touched: set[int] = set()
        if random.random() < 0.5:
            man = random.randint(first + second + 2, 23)
            touched = {man - first, man - second, man}
            closed = (closed | {man - first - second}) - touched
            mine.put(man)
        free = [point for point in range(1, 25) if point not in closed]
        near = [point for point in free if point > low] or free
        if not mine.held():
            mine.put(*(random.choice(near) for _ in range(random.randint(1, 3))))
        mine.fill([*[point for point in (1, 1, 1, 2) if point in free] * 3, 0])
        for point in closed:
            theirs.put(*[the_other_calls(name, point)] * (2 if name == "plakoto" else 1))
        empty = [p for p in range(2, 24) if not mine.counts[p] and p not in touched]
        theirs.fill([the_other_calls(name, point) for point in empty])
        yield Thrown(table(mine, theirs), roll)


def the_other_calls(name: str, point: int) -> int:
    """His number of my point."""
    return 25 - point if name == "plakoto" else facing(point)


# ---------------------------------------------------------------- Plakoto


def pinned_men(seed: int) -> Iterator[Thrown]:
    """Men pinned on both sides, mothers alone, and one side that is bearing off or about to."""
    random = Random(seed)
    while True:
        mine, theirs = Side(random), Side(random)
        home = random.random() < 0.6
        mothers(random, mine, theirs)
        for point in random.sample(range(2, 24), random.randint(0, 3)):
            if mine.counts[point] or theirs.counts[25 - point]:
                continue
            if random.random() < 0.6:
                pin(random, mine, theirs, point if not home else random.randint(2, 6))
            else:
                pin(random, theirs, mine, 25 - point)
        taken = [25 - point for point in theirs.held()]
        span = range(1, 7) if home else range(1, 20)
        mine.fill([point for point in span if point not in taken] + [0] * home or [0])
        free = [p for p in range(2, 24) if not mine.counts[25 - p]]
        theirs.fill(free or [0])
        thrown = Thrown(table(mine, theirs), any_roll(random))
        if not mothers_decide(thrown.table):
            yield thrown


def mothers(random: Random, mine: Side, theirs: Side) -> None:
    """Perhaps a mother that is alone, pinned or nearly, on either side."""
    if random.random() < 0.5:
        theirs.put(24)
        if random.random() < 0.3:
            mine.put(1)
            theirs.pinned.append(24)
    if random.random() < 0.4:
        mine.put(24)
        if random.random() < 0.5:
            theirs.put(1)
            mine.pinned.append(24)


def mothers_decide(now: Table) -> bool:
    """Whether the game would be over already (V4.6, V4.7)."""
    (mine, theirs), boards = now.pinned, (now.mine, now.theirs)
    won = [24 in theirs and not boards[0][24], 24 in mine and not boards[1][24]]
    return any(won) or (24 in mine and 24 in theirs)


def pin(random: Random, below: Side, above: Side, point: int) -> None:
    """One of `below` under one or two of `above`, if both have the room."""
    if below.counts[point] or above.counts[25 - point] or sum(above.counts) > 11:
        return
    below.put(point)
    below.pinned.append(point)
    above.put(*[25 - point] * random.randint(1, 2))


# ---------------------------------------------------------------- Fevga


def near_start_wall(seed: int) -> Iterator[Thrown]:
    """Four or five of 24..19 held and a few to fill the rest; mostly an opponent behind."""
    random = Random(seed)
    while True:
        mine, theirs = Side(random), Side(random)
        missing = random.sample(range(19, 24), random.choice([1, 1, 2]))
        mine.put(*(point for point in range(19, 25) if point not in missing))
        mine.put(*[24] * random.randint(1, 2), random.choice([23, 22, 16, 11, 8]))
        mine.fill([1])
        against(random, mine, theirs, behind=random.random() < 0.9, keep=missing)
        yield Thrown(table(mine, theirs), filling_roll(random, mine, missing[0]))


def near_front_wall(seed: int) -> Iterator[Thrown]:
    """Four or five of 11..6 held, a few above; mostly an opponent still on his start, my 12."""
    random = Random(seed)
    while True:
        mine, theirs = Side(random), Side(random)
        missing = random.sample(range(6, 12), random.choice([1, 1, 1, 2]))
        mine.put(*(point for point in range(6, 12) if point not in missing))
        mine.put(*random.sample(range(max(missing) + 1, 18), 2), random.choice([24, 20, 11]))
        mine.counts[12] = 0
        mine.fill([1])
        if random.random() < 0.9:
            theirs.put(*[24] * random.randint(1, 5))
        against(random, mine, theirs, behind=random.random() < 0.3, keep=missing)
        yield Thrown(table(mine, theirs), filling_roll(random, mine, missing[0]))


def near_lock(seed: int) -> Iterator[Thrown]:
    """All opposing checkers on one point or on his last one, and most of the six points before."""
    random = Random(seed)
    while True:
        mine, theirs = Side(random), Side(random)
        stuck = random.choice([*range(8, 24), 24, 24])
        theirs.put(*[stuck] * random.randint(2, 6))
        theirs.fill([1])
        before = [facing(stuck - n) for n in range(1, 7)]
        missing = random.choice([0, 1, 1, 1, 2])
        mine.put(*random.sample(before, 6 - missing))
        his = [facing(point) for point in theirs.held()]
        near = [p + n for p in before for n in range(1, 7) if p + n <= 24 and p + n not in his]
        if missing:
            mine.put(*[random.choice(near) for _ in range(3)] if near else [])
        mine.fill([1] if missing else before)
        if any(mine.counts[p] for p in his) or not any(mine.counts[:12]):
            continue
        yield Thrown(table(mine, theirs), any_roll(random))


def against(random: Random, mine: Side, theirs: Side, behind: bool, keep: Iterable[int]) -> None:
    """The other side on free points but those to `keep`: some on my 1..12 if `behind`, or none."""
    free = [point for point in range(1, 25) if not mine.counts[point] and point not in keep]
    low = [facing(point) for point in free if point <= 12]
    high = [facing(point) for point in free if point > 12]
    few = random.sample(low, min(len(low), 4)) if behind else []
    if behind and low:
        theirs.put(random.choice(low))
    theirs.fill(few + random.sample(high, min(len(high), 3)) or [0])


# ---------------------------------------------------------------- Gul Bara


def escalations(seed: int) -> Iterator[Thrown]:
    """Doubles from the own fourth throw on, few movers, and points closed before them."""
    random = Random(seed)
    for thrown in few_movers("gulbara", seed):
        double = random.choice("1223344556")
        throws = (random.choice([3, 3, 4, 8]), random.randint(0, 9))
        now = thrown.table
        yield Thrown(Table(now.mine, now.theirs, throws=throws), double * 2)


Source = Callable[[int], Iterator[Thrown]]
SOURCES: dict[str, dict[str, Source]] = {
    "plakoto": {"few movers": lambda seed: few_movers("plakoto", seed), "pinned": pinned_men},
    "fevga": {
        "few movers": lambda seed: few_movers("fevga", seed),
        "start wall": near_start_wall,
        "front wall": near_front_wall,
        "lock": near_lock,
    },
    "gulbara": {
        "few movers": lambda seed: few_movers("gulbara", seed),
        "escalations": escalations,
    },
}
