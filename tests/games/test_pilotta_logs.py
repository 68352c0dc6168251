"""The golden logs of pilotta, judged a second time hand by hand; and the rule book's whole deal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from kafeneio_games.game import Seat
from kafeneio_games.pilotta import Pilotta

from tests.games import simple_pilotta
from tests.games.pilotta_hands import written_down
from tests.games.test_golden_logs import FILES, begin, read_golden

PATHS = [path for path in FILES if "pilotta" in path.name]
# The second program knows no switches of the score; these two hands are reckoned by hand below.
AS_USUAL = [path for path in PATHS if path.stem not in ("pilotta_pool", "pilotta_score_all")]
A, B, C, D = map(Seat, range(4))


@dataclass(frozen=True)
class Ended:
    """A hand of a log: what was done in it, its last state, and the match's score after it."""

    steps: tuple[tuple[Any, Seat, Any], ...]
    last: Any
    score: tuple[int, ...]


def hands_of(name: str) -> Iterator[Ended]:
    """Every hand of a log that was finished."""
    golden = read_golden(next(path for path in PATHS if path.stem == name))
    play = begin(golden)
    steps: list[tuple[Any, Seat, Any]] = []
    for entry in golden.entries:
        before, play = play, play.apply(entry)
        if before.game is None or entry.text.startswith("!"):
            continue
        steps.append((before.state, entry.seat, before.game.read(entry.text)))
        if play.round > before.round or play.over:
            last = play.state if play.last is None or play.over else play.last.state
            yield Ended(tuple(steps), last, play.score)
            steps = []


@pytest.mark.parametrize("name", [path.stem for path in AS_USUAL])
def test_every_hand_of_a_log(name: str) -> None:
    """Every card allowed, every total and every mark, by the second program."""
    score = [0, 0]
    for hand in hands_of(name):
        contract = hand.last.contract
        if contract is not None:
            bid = contract.value or None
            total, tens = simple_pilotta.marks(
                written_down(hand.steps), bid, contract.multiplier, contract.capot
            )
            assert [side.total for side in hand.last.sheet] == total
            assert [side.marked for side in hand.last.sheet] == tens
            score = [before + more for before, more in zip(score, tens, strict=True)]
        assert list(hand.score) == score
    assert score != [0, 0] or "passed" in name or "void" in name


# What the first hand of each log comes to; its first lines say how.
RECKONED = {
    "pilotta_deal_one": ((287, 45), (29, 4), "made"),
    "pilotta_failed_by_one": ((242, 0), (24, 0), "failed"),
    "pilotta_made_exactly": ((72, 180), (7, 18), "made"),
    "pilotta_contra_made": ((21, 361), (2, 36), "made"),
    "pilotta_contra_failed": ((362, 0), (36, 0), "failed"),
    "pilotta_recontra_made": ((531, 31), (53, 3), "made"),
    "pilotta_recontra_failed": ((542, 0), (54, 0), "failed"),
    "pilotta_six_six": ((26, 246), (2, 25), "made"),
    "pilotta_five_seven": ((455, 107), (45, 11), "made"),
    "pilotta_tied_declarations": ((42, 440), (4, 44), "made"),
    "pilotta_carre": ((677, 25), (68, 2), "made"),
    "pilotta_other_side_all_tricks": ((0, 590), (0, 59), "failed"),
    "pilotta_all_tricks_unbid": ((450, 0), (45, 0), "capot"),
    "pilotta_capot_recontra": ((1270, 0), (127, 0), "capot"),
    "pilotta_capot_failed": ((0, 1182), (0, 118), "failed"),
    "pilotta_capot_failed_by_nothing": ((0, 432), (0, 43), "failed"),
    # B and D take 19 + 15 + 9 + 23 + 21 + 21 + 33 = 141, A and C 21; then 2 x 110, all to one side.
    "pilotta_pool": ((0, 382), (0, 38), "made"),
    "pilotta_in_turn": ((0, 562), (0, 56), "failed"),
    "pilotta_any_time": ((300, 42), (30, 4), "made"),
    # B and D take 28 + 14 + 13 + 19 = 74, A and C 24 + 16 + 35 + 13 = 88, short of 90; then B's two
    # sequences and belote, and 4 x 90.
    "pilotta_score_all": ((0, 582), (0, 58), "failed"),
    "pilotta-classic_first_round": ((14, 168), (1, 17), "made"),
    "pilotta-classic_second_round": ((35, 127), (3, 13), "made"),
    "pilotta-classic_tied_failed": ((162, 0), (16, 0), "failed"),
    "pilotta-classic_failed_by_a_call": ((362, 0), (36, 0), "failed"),
    "pilotta-classic-2_exchange": ((27, 74), (3, 7), "made"),
    "pilotta-classic-2_equal_fives": ((65, 15), (7, 1), "made"),
    "pilotta-classic-2_rounded_failure": ((0, 87), (0, 9), "failed"),
    "pilotta-classic-2_second_round": ((105, 0), (11, 0), "failed"),
    "pilotta-classic-2_nine_tricks": ((370, 0), (37, 0), "capot"),
}


@pytest.mark.parametrize("name", RECKONED)
def test_first_hand_of_a_log(name: str) -> None:
    totals, tens, ending = RECKONED[name]
    last = next(hands_of(name)).last
    assert tuple(side.total for side in last.sheet) == totals
    assert (last.result.points, last.result.ending) == (tens, ending)


def test_passed_out_hands() -> None:
    for name in ("pilotta_passed_out", "pilotta-classic_passed_twice"):
        (hand,) = hands_of(name)
        assert (hand.score, hand.last.dealer, hand.last.result.ending) == ((0, 0), D, "passed")


def test_deal_1() -> None:
    """Section 9.7: the calls, each trick, 287 to 45, recorded 29 to 4."""
    (hand,) = hands_of("pilotta_deal_one")
    after = [state.play for state, _, _ in hand.steps if state.play] + [hand.last.play]
    points = dict.fromkeys(play.points for play in after)
    # The tricks of 17, 22, 44, 7, 25, 19, 5 and 23 points.
    assert list(points) == [
        *((0, 0), (0, 17), (22, 17), (66, 17), (73, 17)),
        *((98, 17), (117, 17), (117, 22), (117, 45)),
    ]
    ours, theirs = hand.last.sheet
    assert (ours.tricks, ours.declarations, ours.belote, ours.contract) == (117, 50, 20, 100)
    assert (ours.total, theirs.total, ours.marked, theirs.marked) == (287, 45, 29, 4)
    assert hand.score == (29, 4)
    view = Pilotta().view(hand.last, None)
    assert [(entry.seat, entry.points, entry.scored) for entry in view.declarations] == [
        (B, 50, False),
        (C, 50, True),
        (D, 20, False),
    ]
    assert "".join(view.declarations[1].cards) == "JHQHKHAH"
    assert view.belote == ((C, "belote"), (C, "rebelote"))
    assert [text for _, text in view.calls] == [*["pass"] * 2, "100H", *["pass"] * 5]
