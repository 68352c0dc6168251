"""Positions and logs of tavli as text, for tests: what they read and what a failure prints."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from kafeneio_games.game import CHANCE, TABLE, Entry, Seat
from kafeneio_games.portes import Portes, Stage, State
from kafeneio_games.tavli import Action, Pass, Roll, dice_of

SEATS = (Seat(0), Seat(1))
GAME = Portes()


def board(text: str) -> bytes:
    """ "24:2 13:5 bar:1" in own numbering; what is missing to 15 is off."""
    counts = [0] * 26
    for item in text.split():
        point, _, count = item.partition(":")
        counts[25 if point == "bar" else int(point)] += int(count or 1)
    counts[0] = 15 - sum(counts)
    assert counts[0] >= 0, text
    return bytes(counts)


def text(counts: bytes) -> str:
    """The inverse of `board`."""
    names = {25: "bar"}
    return " ".join(f"{names.get(p, p)}:{counts[p]}" for p in range(25, 0, -1) if counts[p])


def to_move(mine: bytes, theirs: bytes, roll: str, seat: Seat = SEATS[0]) -> State:
    """`seat` has thrown `roll` ("64") and moved nothing yet."""
    thrown = Roll(int(roll[0]), int(roll[1]))
    boards = (mine, theirs) if seat == 0 else (theirs, mine)
    return State(boards, seat, dice_of(thrown), (thrown.first, thrown.second), Stage.MOVE, None)


def play_line(state: State, line: str) -> State:
    """The state after the mover's actions, "13/8 6/5"."""
    for word in line.split():
        seat = CHANCE if state.stage is Stage.ROLL else state.mover
        state = GAME.apply(state, seat, GAME.read(word))
    return state


def spelt(actions: Iterable[Action]) -> set[str]:
    """Actions as their notation."""
    return {GAME.write(action) for action in actions}


def is_pass(action: object) -> bool:
    """Whether an action is the forced pass."""
    return isinstance(action, Pass)


NAMES = {CHANCE: "house", TABLE: "table"}


def log_text(entries: Iterable[Entry]) -> str:
    """A log as lines "seat text", consecutive entries of one seat on one line."""
    lines: list[str] = []
    last: Seat | None = None
    for entry in entries:
        if entry.seat == last and not entry.text.startswith("!"):
            lines[-1] += f", {entry.text}"
        else:
            lines.append(f"{NAMES.get(entry.seat, str(entry.seat))}: {entry.text}")
        last = entry.seat
    return "\n".join(lines)


def read_log(lines: Iterable[str]) -> Iterator[Entry]:
    """The entries that `log_text` wrote."""
    seats = {name: seat for seat, name in NAMES.items()}
    for line in lines:
        name, _, texts = line.partition(": ")
        seat = seats[name] if name in seats else Seat(int(name))
        yield from (Entry(seat, item) for item in texts.split(", "))


@contextmanager
def told(seed: object, log: Iterable[Entry] = (), position: object = "") -> Iterator[None]:
    """Whatever fails inside prints what is needed to repeat it."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"seed: {seed}\nposition: {position}\nlog so far:\n{log_text(log)}")
        raise
