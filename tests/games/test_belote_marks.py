"""What a deal of belote and of coinche brings each side (B19-B25, B28, B29), by hand."""

from __future__ import annotations

from kafeneio_games.belote_scoring import CoincheMarks, Counted, classic_marks, coinche_marks
from kafeneio_games.cards import Card

from tests.games.belote_tables import E, S, filled, finish, game_of, line, stacked

SUITS = {
    "N": "7S 8S 9S TS JS QS KS AS",
    "E": "7H 8H 9H TH JH QH KH AH",
    "S": "7D 8D 9D TD JD QD KD AD",
    "W": "7C 8C 9C TC JC QC KC AC",
}


def test_b20_capot() -> None:
    """Belote, and two hundreds to the ace in trumps' favour: 252 + 20 + 200."""
    for rule_set in ("maison", "official"):
        game = game_of("belote", rule_set)
        state = stacked(game, filled(SUITS), E, Card("7H"))
        end = finish(game, line(game, state, "take"))
        assert end.result is not None
        assert (end.result.points, end.result.ending) == ((0, 472), "capot")
        sheet = game.view(end, None).sheet
        assert sheet is not None
        assert (sheet[1].tricks, sheet[1].declarations, sheet[1].belote) == (252, 200, 20)
        assert (sheet[1].contract, sheet[1].total, sheet[1].marked) == (0, 472, 472)
        assert game.view(end, S).points == (0, 162), "without what all tricks are worth"


def last_of(counted: Counted, transfer: bool = False) -> tuple[tuple[int, ...], str, int]:
    found = classic_marks(counted, transfer)
    return found.points, found.ending, found.held


def test_b20_all_tricks_are_always_made() -> None:
    """Though the defence has more by declarations and belote; capot or equal alike."""
    for theirs in (300, 232, 252):
        counted = Counted(0, (252, 0), (8, 0), (0, 20), (0, theirs))
        assert classic_marks(counted, False).ending == "capot"
        assert classic_marks(counted, False).points == (252, theirs + 20)
        assert classic_marks(counted, True).points == (252 + theirs, 20)


def test_b20_judged_before_declarations_move() -> None:
    """60 + 20 against 102 is down, though what moves would not have changed that."""
    counted = Counted(1, (91, 71), (4, 4), (0, 0), (0, 20))
    for transfer in (False, True):  # 91-91
        assert last_of(counted, transfer) == ((91, 0), "litige", 91)


def test_b21_dedans() -> None:
    lost = Counted(0, (60, 102), (3, 5), (20, 0), (0, 50))
    assert last_of(lost) == ((20, 212), "failed", 0)
    assert last_of(lost, transfer=True) == ((20, 212), "failed", 0)
    # All tricks to the defence: 252, and without trumps 220.
    for cards_, pack in ((252, 252), (220, 220)):
        none = Counted(1, (cards_, 0), (8, 0), (0, 20), (0, 0))
        assert last_of(none) == ((pack, 20), "failed", 0)


def test_b21_made_by_declarations_alone() -> None:
    """Plain arithmetic: no trick, but more than the defence."""
    counted = Counted(0, (0, 252), (0, 8), (0, 0), (300, 0))
    assert last_of(counted) == ((300, 252), "made", 0)


def test_a19_a20_what_a_litige_holds() -> None:
    counted = Counted(0, (71, 91), (4, 4), (0, 0), (20, 0))
    assert last_of(counted, transfer=True) == ((0, 91), "litige", 91)
    counted = Counted(0, (71, 91), (4, 4), (20, 0), (0, 0))
    assert last_of(counted) == ((0, 91), "litige", 91)
    found = classic_marks(counted, False)
    assert (found.winner, found.idle) == (None, (0, 0))


def test_b25_without_trumps() -> None:
    assert last_of(Counted(0, (65, 65), (4, 4), (0, 0), (0, 0))) == ((0, 65), "litige", 65)
    assert last_of(Counted(0, (64, 66), (4, 4), (0, 0), (0, 0))) == ((0, 130), "failed", 0)
    assert last_of(Counted(0, (80, 82), (4, 4), (0, 0), (0, 0))) == ((0, 162), "failed", 0)
    assert last_of(Counted(0, (220, 0), (8, 0), (0, 0), (0, 0))) == ((220, 0), "capot", 0)


def test_a4_equal_totals_in_coinche() -> None:
    counted = Counted(0, (81, 81), (4, 4), (0, 0), (0, 0))
    assert coinche_marks(counted, 80, False, 1, CoincheMarks()).points == (0, 240)
    held = coinche_marks(counted, 80, False, 1, CoincheMarks(equal="litige"))
    assert (held.points, held.ending, held.held) == ((0, 81), "litige", 81)
    rounded = coinche_marks(counted, 80, False, 1, CoincheMarks(rounded=True, equal="litige"))
    assert (rounded.points, rounded.held) == ((0, 80), 80)
    # Short of the contract there is nothing to hold.
    short = coinche_marks(counted, 90, False, 1, CoincheMarks(equal="litige"))
    assert (short.points, short.ending) == ((0, 250), "failed")


def test_a12_the_defence_takes_all() -> None:
    counted = Counted(0, (0, 252), (0, 8), (20, 0), (0, 0))
    for rules in (CoincheMarks(), CoincheMarks(capot_base=250)):
        assert coinche_marks(counted, 100, False, 1, rules).points == (20, 260)
        assert coinche_marks(counted, 100, False, 2, rules).points == (20, 520)


def test_a6_a14_what_is_multiplied() -> None:
    counted = Counted(0, (252, 0), (8, 0), (20, 0), (100, 0))
    official = CoincheMarks(rounded=True, capot_base=250, transfer=True)
    assert coinche_marks(counted, 250, True, 2, official).points == (1240, 0)
    assert coinche_marks(counted, 250, True, 4, CoincheMarks()).points == (2120, 0)
    loser = Counted(1, (90, 72), (4, 4), (0, 20), (0, 0))
    assert coinche_marks(loser, 100, False, 4, official).points == (1040, 20)


def test_b28_both_conditions() -> None:
    """80 reached by declarations, but less than the defence; and all eight tricks for a capot."""
    counted = Counted(0, (40, 122), (2, 6), (0, 0), (50, 0))
    assert coinche_marks(counted, 80, False, 1, CoincheMarks()).ending == "failed"
    seven = Counted(0, (162, 0), (7, 1), (20, 0), (200, 0))
    assert coinche_marks(seven, 250, True, 1, CoincheMarks()).ending == "failed"
    assert coinche_marks(seven, 380, False, 1, CoincheMarks()).ending == "made"
    assert coinche_marks(seven, 390, False, 1, CoincheMarks()).ending == "failed"


def test_the_sheet_of_coinche() -> None:
    game = game_of("coinche", "official")
    state = line(game, stacked(game, filled(SUITS)), "E 80H, S contra 1, W recontra")
    end = finish(game, state)
    sheet = game.view(end, None).sheet
    assert sheet is not None
    marked = (250 + 80 + 20 + 200) * 4
    assert (sheet[1].contract, sheet[1].total, sheet[1].marked) == (320, marked, marked)
    assert (sheet[0].tricks, sheet[0].total) == (0, 0)
