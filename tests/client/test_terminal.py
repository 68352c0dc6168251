"""What the terminal shows, compared with text files; `UPDATE_DRAWINGS=1` writes them anew."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest
from kafeneio.rules.v1 import actions_pb2, events_pb2, views_pb2
from kafeneio.rules.v1 import game_pb2 as pb
from kafeneio_client.terminal import ASCII, UNICODE, Drawing, Signs, plain
from rich.console import Console
from rich.text import Text

DRAWINGS = Path(__file__).parent / "drawings"
START = {24: 2, 13: 5, 8: 3, 6: 5}


def points(where: dict[int, int]) -> list[int]:
    assert sum(where.values()) == 15
    return [where.get(point, 0) for point in range(26)]


def position(
    own: dict[int, int], other: dict[int, int], dice: tuple[int, ...] = (), game: str = "portes"
) -> pb.Position:
    table = views_pb2.TavliView(game=game, mover=0, rolled=dice[:2], dice=dice)
    for side in (own, other):
        table.sides.add().points.extend(points(side))
    return pb.Position(
        version=5,
        status=pb.GAME_STATUS_RUNNING,
        round=2,
        score=[1, 0],
        turn=pb.Turn(turn=9, seat=0),
        view=views_pb2.View(tavli=table),
    )


MIDDLE = position({25: 1, 24: 1, 13: 1, 8: 2, 6: 9, 0: 1}, {25: 2, 20: 1, 6: 7, 1: 5}, (6, 4))
ENDING = position({2: 3, 1: 2, 0: 10}, {5: 1, 0: 14}, (3, 3, 3, 3))
PINNED = position({24: 12, 5: 2, 3: 1}, {24: 13, 20: 1, 22: 1}, (2, 1), "plakoto")
PINNED.view.tavli.sides[1].pinned.append(20)
SAME_WAY = position({24: 14, 13: 1}, {24: 14, 13: 1}, (2, 1), "fevga")


def tricks() -> pb.Position:
    """A hand of pilotta in the middle of a trick, seen by seat 2."""
    table = views_pb2.TrickView(
        game="pilotta",
        stage=views_pb2.TRICK_STAGE_PLAYING,
        dealer=3,
        seat=2,
        hand=["KS", "QH", "TH", "7D"],
        counts=[3, 3, 4, 4],
        contract=views_pb2.Contract(
            seat=2, side=0, value=100, trump=actions_pb2.SUIT_HEARTS, multiplier=2
        ),
        tricks=[3, 1],
        points=[61, 20],
        can_declare=False,
    )
    for seat, call in ((0, "pass"), (1, "80S"), (2, "100H"), (3, "pass"), (1, "contra 2")):
        table.calls.add(seat=seat, call=call)
    for seat, card in ((0, "9C"), (1, "AC")):
        table.trick.add(seat=seat, card=card)
    for seat, card in ((2, "JS"), (3, "AS"), (0, "7S"), (1, "TS")):
        table.last_trick.add(seat=seat, card=card)
    run = table.declarations.add(seat=1, kind="fifty", points=50, scored=True)
    run.cards.extend(("TD", "JD", "QD", "KD"))
    table.declarations.add(seat=0, points=20, scored=False)
    table.belote.add(seat=2, call="belote")
    return pb.Position(
        version=40,
        status=pb.GAME_STATUS_RUNNING,
        round=3,
        score=[45, 12],
        turn=pb.Turn(turn=31, seat=2),
        view=views_pb2.View(tricks=table),
    )


def after_a_hand() -> pb.Position:
    """The same evening, one hand later: how the last one ended."""
    position = tricks()
    position.view.Clear()
    last = position.last_round
    last.round, last.ending = 3, "made"
    last.points.extend((29, 4))
    for marks in ((117, 50, 20, 100, 287, 29), (45, 0, 0, 0, 45, 4)):
        names = ("tricks", "declarations", "belote", "contract", "total", "marked")
        last.view.tricks.sheet.add(**dict(zip(names, marks, strict=True)))
    return position


def rummy() -> pb.Position:
    """A hand of Koum-kan with melds on the table, seen by seat 0."""
    table = views_pb2.RummyView(
        game="koumkan",
        stage=views_pb2.RUMMY_STAGE_PLAY,
        dealer=2,
        live=[0, 2],
        mover=0,
        drawn=True,
        hand=["AS", "KH", "9C", "*"],
        counts=[4, 0, 7],
        stock_left=52,
        discard_top="9S",
        discard_count=6,
        opened=[True, False, True],
    )
    group, run = actions_pb2.MELD_KIND_GROUP, actions_pb2.MELD_KIND_RUN
    table.melds.add(owner=0, kind=run, cards=["4C", "*", "6C"], stands_for=["4C", "5C", "6C"])
    table.melds.add(owner=2, kind=group, cards=["KS", "KD", "*"], stands_for=["KS", "KD", "*"])
    return pb.Position(
        version=40,
        status=pb.GAME_STATUS_RUNNING,
        round=2,
        score=[31, 104, 12],
        turn=pb.Turn(turn=31, seat=0),
        view=views_pb2.View(rummy=table),
    )


FOUR = ("eleni", "nikos", "maria", "petros")
THREE = ("eleni", "nikos", "maria")


def shown(text: Text, *, color: bool = False) -> str:
    """As a terminal of 80 columns gets it."""
    console = Console(
        file=io.StringIO(),
        width=80,
        highlight=False,
        force_terminal=color,
        color_system="standard" if color else None,
    )
    console.print(text, end="")
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def drawing(lower: int = 0, signs: Signs = UNICODE, names: tuple[str, ...] = ()) -> Drawing:
    return Drawing(names or ("eleni", "nikos"), 3, lower, signs)


@pytest.mark.parametrize(
    ("name", "what", "how"),
    [
        ("start", position(START, START, (6, 4)), drawing()),
        ("middle", MIDDLE, drawing()),
        ("middle-other-side", MIDDLE, drawing(lower=1)),
        ("middle-ascii", MIDDLE, drawing(signs=ASCII)),
        ("ending", ENDING, drawing()),
        ("pinned", PINNED, drawing()),
        ("same-way", SAME_WAY, drawing()),
        ("tricks", tricks(), Drawing(FOUR, 151, 2)),
        ("tricks-ascii", tricks(), Drawing(FOUR, 151, 0, ASCII)),
        ("rummy", rummy(), Drawing(THREE, 101, 0)),
    ],
)
def test_a_board_is_drawn_as_in_the_file(name: str, what: pb.Position, how: Drawing) -> None:
    drawn = shown(how.position(what))
    path = DRAWINGS / f"{name}.txt"
    if os.environ.get("UPDATE_DRAWINGS"):
        path.write_text(drawn, encoding="utf-8")
    assert drawn == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("lower", [0, 1])
def test_a_board_fits_into_80_columns(lower: int) -> None:
    names = ("α" * 64, "β" * 64)
    drawn = Drawing(tuple(map(plain, names)), 15, lower).position(MIDDLE).plain
    board = [line for line in drawn.splitlines() if "│" in line or "─" in line]
    assert len(board) == 13
    assert max(len(line) for line in board) < 80
    assert drawing(lower, ASCII).position(MIDDLE).plain.isascii()


def test_colours_change_no_character() -> None:
    text = drawing().position(MIDDLE)
    coloured = shown(text, color=True)
    assert "\x1b[" in coloured
    assert Text.from_ansi(coloured).plain.split() == shown(text).split()


def test_a_game_that_waits_has_no_board() -> None:
    waiting = pb.Position(status=pb.GAME_STATUS_WAITING)
    drawn = shown(drawing().position(waiting))
    assert " ".join(drawn.split()) == "to 3 points nobody is to play"


def over(outcome: pb.Outcome) -> str:
    return shown(drawing().prompt(pb.Position(outcome=outcome))).strip()


def test_the_end_is_told() -> None:
    decided = events_pb2.Decided(winners=[1], score=[1, 3], ending="double")
    assert over(pb.Outcome(decided=decided)) == "○ nikos won 1 : 3 (double)"
    void = actions_pb2.VOID_REASON_NO_SHOW
    assert over(pb.Outcome(void_reason=void)) == (
        "void, for not everybody sat down: nobody wins, every stake goes back"
    )
    assert over(pb.Outcome()) == "cancelled"


def test_a_row_of_the_log_is_told() -> None:
    entries = [
        pb.LogEntry(seat=0, action=actions_pb2.Action(notation="13/8")),
        pb.LogEntry(seat=0, action=actions_pb2.Action(notation="8/5")),
        pb.LogEntry(seat=-1, action=actions_pb2.Action(notation="64")),
        pb.LogEntry(seat=1, action=actions_pb2.Action(notation="pass")),
        pb.LogEntry(seat=-1, action=actions_pb2.Action(notation="11")),
        pb.LogEntry(seat=-2, action=actions_pb2.Action(notation="!void HOUSE")),
    ]
    lines = [line.strip() for line in shown(drawing().happened(entries)).splitlines()]
    assert lines == [
        *("● eleni: 13/8 8/5", "dice: 64", "○ nikos: pass", "dice: 11", "house: !void HOUSE"),
    ]
    assert shown(drawing().happened([])) == ""


def test_a_name_can_not_steer_the_terminal() -> None:
    assert plain("eleni\x1b[2J\r\n") == "eleni?[2J??"
    assert plain("x" * 30) == "x" * 23 + "…"
    assert "[red]" in drawing(names=("[red]", "b")).position(MIDDLE).plain


def test_the_last_hand_is_told_with_its_arithmetic() -> None:
    told = Drawing(FOUR, 151, 2).last_round(after_a_hand()).plain
    assert told.splitlines() == [
        "       round 3: 29 : 4 (made)",
        "         eleni & maria: "
        "tricks 117, declarations 50, belote 20, contract 100; 287, marked 29",
        "         nikos & petros: tricks 45; 45, marked 4",
    ]
