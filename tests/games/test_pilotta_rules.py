"""Rules of play, declarations and score of pilotta, each by its id, on hands made for it."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from kafeneio_games import pilotta_scoring
from kafeneio_games.cards import SHORT_PACK, Deal
from kafeneio_games.declarations import Kind
from kafeneio_games.game import Illegal, Seat
from kafeneio_games.pilotta import Pilotta
from kafeneio_games.pilotta_play import State
from kafeneio_games.pilotta_scoring import Count, Scoring
from kafeneio_games.pilotta_two import PilottaTwo
from kafeneio_games.trick_play import TrickPlay
from kafeneio_games.trick_view import Contract, SideSheet, Stage

from tests.games.pilotta_hands import AnyPilotta, cards, filled, say, start

A, B, C, D = map(Seat, range(4))
GAME = Pilotta()

# A has a fifty in spades, B a tierce in clubs, C belote and a tierce of trumps, D nothing.
A_HAND = "7S 8S 9S TS 7H AD TC AC"
B_HAND = "JS QS 7C 8C 9C AH 9H QD"
C_HAND = "KS AS JH QH KH 7D JC 9D"
D_HAND = "8H TH TD JD KD QC KC 8D"
HANDS = (A_HAND, B_HAND, C_HAND, D_HAND)


def hearts(game: Pilotta = GAME, hands: tuple[str, ...] = HANDS, line: str = "") -> State:
    """A has called 80 hearts; then what the line says."""
    state = start(game, Deal(tuple(map(cards, hands))))
    return say(game, state, f"80H pass pass pass pass pass {line}")


def rule_of(game: AnyPilotta, state: State, text: str, seat: Seat | None = None) -> str:
    with pytest.raises(Illegal) as refused:
        game.apply(state, game.to_act(state)[0] if seat is None else seat, game.read(text))
    return refused.value.rule


# ---------------------------------------------------------------- cards


def to_follow(trick: str, hand: str) -> State:
    """A later trick, led by A, trumps hearts: the next seat holds that hand."""
    on_table, own = cards(trick), cards(hand)
    others = [card for card in SHORT_PACK if card not in (*on_table, *own)]
    turn = len(on_table)
    hands = [tuple(others[seat * 4 : seat * 4 + 3]) for seat in range(4)]
    hands[turn] = own
    gone = tuple(others[16:20])
    play = TrickPlay("H", tuple(hands), Seat(turn), (A, A), on_table, gone, (1, 0))
    return replace(hearts(), play=play)


@pytest.mark.parametrize(
    ("trick", "hand", "refused", "rule"),
    [
        ("TS", "7S AS JH", "JH", "P20"),  # a plain suit led, and held
        ("TS 9H", "7S AS JH", "JH", "P20"),  # trumped or not
        ("QH", "8H KH TH 7S", "8H 7S", "P21"),  # trump led: it must be beaten
        ("8H QH 7H", "KH JH 7S", "7S", "P21"),  # the partner's too
        ("JH", "9H 8H 7S", "7S", "P21"),  # no higher one: any trump
        ("AS 7S", "8H TH 7C", "7C", "P22"),  # void: a trump, though the partner wins
        ("7S AS", "8H TH 7C", "7C", "P22"),
        ("AS KH", "8H TH QH 7C", "8H QH 7C", "P23"),  # trumped: a higher one
        ("AS KH 7S", "8H AH", "8H", "P23"),  # over the partner too
        ("AS KH", "8H QH 7C", "7C", "P24"),  # no higher one: a lower one
        ("AS KH", "7C 8D", "", ""),  # P25
        ("AS", "7C 8D", "", ""),
        ("", "7C 8D JH", "", ""),
        ("AS", "7S", "8S JH", "P26"),  # not held
    ],
)
def test_refused_cards(trick: str, hand: str, refused: str, rule: str) -> None:
    state = to_follow(trick, hand)
    turn = GAME.to_act(state)[0]
    for text in refused.split():
        assert rule_of(GAME, state, text) == rule
    legal = {GAME.write(action) for action in GAME.legal(state, turn)}
    assert legal == set(hand.split()) - set(refused.split())
    for text in hand.split():
        assert rule_of(GAME, state, text, Seat((turn + 1) % 4)) == "P3"


@pytest.mark.parametrize("text", ["90H", "capotH", "pass", "contra 1", "recontra", "take"])
def test_no_calls_in_the_play(text: str) -> None:
    assert rule_of(GAME, hearts(), text) == "P26"
    assert rule_of(GAME, hearts(), text, B) == "P3"


@pytest.mark.parametrize(
    ("trick", "hand", "free"),
    [
        ("AS 7S", "8H TH 7C", True),  # P22: the partner's ace wins
        ("AS KH 7S", "8H AH 7C", True),  # P23: the partner's trump wins
        ("AS KH 7S", "8H QH 7C", True),  # neither need it be under-trumped
        ("7S AS", "8H TH 7C", False),  # an opponent wins
        ("AS KH", "8H AH 7C", False),
        ("AS 8S 7S", "8H TH 7C", False),
        ("AS", "8H 7C", False),
        ("QH 7H", "8H KH 7C", False),  # trump led is beaten all the same
        ("AS 7S", "8S TH 7C", False),  # and suit followed
    ],
)
def test_partner_exemption(trick: str, hand: str, free: bool) -> None:
    exempt = Pilotta(partner_exemption=True)
    state = to_follow(trick, hand)
    (turn,) = GAME.to_act(state)
    strict = {GAME.write(action) for action in GAME.legal(state, turn)}
    assert strict != set(hand.split())
    legal = {exempt.write(action) for action in exempt.legal(state, turn)}
    assert legal == (set(hand.split()) if free else strict)


# ---------------------------------------------------------------- declarations


def test_p30_only_before_the_first_card() -> None:
    state = hearts(line="7S JS KS 8H")
    assert state.play is not None
    assert rule_of(GAME, state, "declare") == "P30"
    assert not any(GAME.view(state, seat).can_declare for seat in (A, B, C, D))


def test_p30_once_and_in_turn() -> None:
    state = hearts()
    assert GAME.view(state, A).can_declare
    assert not GAME.view(state, B).can_declare
    assert rule_of(GAME, state, "declare", B) == "P3"
    said = say(GAME, state, "declare")
    assert rule_of(GAME, said, "declare") == "P30"
    assert (GAME.prompted(said), GAME.mid_turn(said)) == (A, True)
    assert not GAME.mid_turn(state)
    after = say(GAME, said, "7S")
    assert (GAME.prompted(after), GAME.mid_turn(after)) == (B, False)


def test_p48_only_what_one_holds() -> None:
    state = hearts(line="7S JS KS")
    assert rule_of(GAME, state, "declare") == "P48"
    assert not GAME.view(state, D).can_declare


def test_p31_nobody_must() -> None:
    """A keeps his fifty back: then C's twenty of trumps counts, over B's twenty."""
    state = hearts(line="7S declare JS declare KS 8H")
    shown = GAME.view(state, A).declarations
    assert [(entry.seat, entry.points, entry.scored) for entry in shown] == [
        (B, 20, False),
        (C, 20, True),
    ]


def test_p32_p44_what_is_seen_of_a_declaration() -> None:
    """First its points; after the trick its cards, if it counts; one's own at once."""
    state = hearts(line="declare 7S declare")
    fifty = (Kind.FIFTY, cards("7S 8S 9S TS"))
    for viewer in (A, B, C, None):
        own, other = GAME.view(state, viewer).declarations
        assert (own.points, other.points) == (50, 20)
        assert (own.kind, own.cards) == (fifty if viewer == A else (None, ()))
        assert (other.cards == cards("7C 8C 9C")) == (viewer == B)
        assert own.scored is other.scored is None
    state = say(GAME, state, "JS declare KS 8H")
    for viewer in (A, B, D, None):
        first, second, third = GAME.view(state, viewer).declarations
        assert (first.kind, first.cards, first.scored) == (*fifty, True)
        assert (second.scored, second.cards == cards("7C 8C 9C")) == (False, viewer == B)
        assert (third.kind, third.cards) == (Kind.TIERCE, cards("JH QH KH"))


def test_p41_a_full_tie() -> None:
    """Two equal tierces in plain suits: nothing counts, not C's lower one either."""
    hands = (
        "8S 9S TS AH KD QC 7H JD",
        "8D 9D TD KS QH JC AS 8H",
        "7C 8C 9C KH JS 7D AD TH",
        "7S QS 9H JH QD TC KC AC",
    )
    state = hearts(hands=hands, line="declare 8S declare KS declare JS QS")
    shown = GAME.view(state, None).declarations
    assert [(entry.seat, entry.points, entry.scored, entry.cards) for entry in shown] == [
        (A, 20, False, ()),
        (B, 20, False, ()),
        (C, 20, False, ()),
    ]


def test_p37_low_carres() -> None:
    hands = ("7S 7H 7D 7C AS KS AD JC", "8S 8D 9C QS QH JH AC KC")
    rest = ("9S 9D TS TC KD QD TH KH", "8H 8C 9H JS JD TD AH QC")
    assert rule_of(GAME, hearts(hands=hands + rest), "declare") == "P48"
    low = Pilotta(low_carres_count=True)
    state = hearts(low, hands + rest, "declare AS QS 9S JS")
    (shown,) = low.view(state, None).declarations
    assert (shown.kind, shown.points) == (Kind.CARRE, 100)
    assert shown.cards == cards("7S 7H 7D 7C")


def test_p33_all_declarations() -> None:
    """One player's fifty and tierce: only the better one counts, or both."""
    hands = ("7S 8S 9S TS QD KD AD 7H", "JS QS 7C 8C AH 9H JD TC")
    rest = ("KS AS JH QH 8D 7D JC 9D", "8H TH TD KH 9C QC KC AC")
    for score_all, counted in ((False, [50]), (True, [50, 20])):
        game = Pilotta(score_all_declarations=score_all)
        state = hearts(game, hands + rest, "declare")
        assert [entry.points for entry in game.view(state, B).declarations] == [50]
        state = say(game, state, "7S JS KS 8H")
        assert [entry.points for entry in game.view(state, B).declarations] == counted


def test_p45_belote_is_announced_as_it_is_played() -> None:
    state = hearts(line="7S JS KS 8H")
    assert GAME.view(state, A).belote == ()
    # B leads over to C by the nine and the jack; C then leads his queen, and later his king.
    state = say(GAME, hearts(), "7H 9H JH 8H QH")
    assert GAME.view(state, A).belote == ((C, "belote"),)
    state = say(GAME, state, "TH 7S AH JS AS 8D 8S")
    assert GAME.view(state, A).belote == ((C, "belote"),)
    state = say(GAME, state, "KH")
    assert GAME.view(state, A).belote == ((C, "belote"), (C, "rebelote"))


def test_p45_king_and_queen_in_two_hands_are_nothing() -> None:
    hands = ("KH 7S 8S 9S TS JS QS KS", "7C 8C 9C TC JC QC KC AH")
    rest = ("QH 7D 8D 9D TD JD QD KD", "JH 9H TH 8H 7H AS AC AD")
    state = hearts(hands=hands + rest, line="KH AH QH JH")
    assert GAME.view(state, B).belote == ()


# ---------------------------------------------------------------- whole hands, by hand


# A holds all trumps: every trick is his.
ALL_TRUMPS = (
    "7H 8H 9H TH JH QH KH AH",
    "7S 8S 9S TS JS QS KS AS",
    "7D 8D 9D TD JD QD KD AD",
    "7C 8C 9C TC JC QC KC AC",
)


def played_down(game: Pilotta, call: str, declare: bool) -> State:
    """A plays his trumps from the top; the others what lies first."""
    state = say(game, start(game, Deal(tuple(map(cards, ALL_TRUMPS)))), call)
    if declare:
        state = say(game, state, "declare")
    for rank in "J9ATKQ87":
        state = say(game, state, f"{rank}H")
        for _ in range(3):
            (seat,) = game.to_act(state)
            *_, card = game.legal(state, seat)
            state = game.apply(state, seat, card)
    return state


AFTER = "pass pass pass pass pass"


@pytest.mark.parametrize(
    ("call", "declare", "sheet", "recorded", "ending"),
    [
        # 250 for all tricks, belote 20, 80 for the bid; the run of eight is not called, then is.
        (f"80H {AFTER}", False, SideSheet(250, 0, 20, 80, 350, 35), (35, 0), "capot"),
        (f"80H {AFTER}", True, SideSheet(250, 100, 20, 80, 450, 45), (45, 0), "capot"),
        (f"capotH {AFTER}", False, SideSheet(250, 0, 20, 250, 520, 52), (52, 0), "capot"),
        (
            "capotH pass pass pass contra:1 recontra",
            False,
            SideSheet(250, 0, 20, 1000, 1270, 127),
            (127, 0),
            "capot",
        ),
    ],
)
def test_p56_p58_all_tricks(
    call: str, declare: bool, sheet: SideSheet, recorded: tuple[int, int], ending: str
) -> None:
    state = played_down(Pilotta(), call, declare)
    assert state.sheet is not None
    assert state.sheet[0] == sheet
    assert state.result is not None
    assert (state.result.points, state.result.ending) == (recorded, ending)
    assert state.play is not None
    assert state.play.tricks == (8, 0)
    assert state.play.points == (162, 0)
    assert state.play.belote == ((A, "belote"), (A, "rebelote"))
    for text in ("7H", "pass", "declare", "80H", "deal 7S/8S/9S/TS//"):
        assert rule_of(Pilotta(), state, text, A) == "P63"


def test_t9_t10_nine_tricks_for_two() -> None:
    """A run of eight trumps and the ace of spades: 100, belote, and 250 for nine tricks."""
    game = PilottaTwo()
    hands = (cards("JH 9H AH TH KH QH"), cards("7S 8S 9S TS JS QS"))
    rest = (
        *cards("8H AS TD"),
        *cards("7D 8D 9D"),
        *cards("JD QD KD AD KS 7C 8C 9C TC JC QC KC AC"),
    )
    state = start(game, Deal(hands, cards("7H"), rest), dealer=B)
    state = say(game, state, "take declare JH")
    assert game.view(state, B).declarations[0].points == 100
    while game.to_act(state):
        (seat,) = game.to_act(state)
        *_, action = game.legal(state, seat)
        state = game.apply(state, seat, action)
    assert state.play is not None
    assert state.play.tricks == (9, 0)
    assert state.sheet is not None
    assert state.sheet[0] == SideSheet(250, 100, 20, 0, 370, 37)
    assert state.result is not None
    assert state.result.points == (37, 0)


# ---------------------------------------------------------------- arithmetic


def contract(value: int, multiplier: int = 1, capot: bool = False) -> Contract:
    return Contract(A, 0, value, "H", capot, multiplier)


def test_p59_a_side_without_a_trick_keeps_its_declarations() -> None:
    counted = pilotta_scoring.count((162, 0), (8, 0), (0, 50), (20, 0))
    assert counted == Count((250, 0), (0, 50), (20, 0), 0)
    assert pilotta_scoring.totals(counted, contract(80), True, Scoring()) == (350, 50)
    failed = pilotta_scoring.count((0, 162), (0, 8), (50, 0), (20, 0))
    assert not pilotta_scoring.bid_made(failed, contract(80))
    assert pilotta_scoring.totals(failed, contract(80), False, Scoring()) == (0, 400)


def test_p60_declarations_alone_reach_the_bid() -> None:
    counted = pilotta_scoring.count((0, 162), (0, 8), (300, 0), (0, 0))
    assert pilotta_scoring.bid_made(counted, contract(240))
    assert pilotta_scoring.totals(counted, contract(240), True, Scoring()) == (540, 250)


@pytest.mark.parametrize(("multiplier", "value"), [(1, 80), (2, 160), (4, 320)])
def test_p54_failed_adds_game_value(multiplier: int, value: int) -> None:
    counted = Count((70, 92))
    for adds, total in ((True, 162 + value), (False, 162)):
        rules = Scoring(failed_adds_game_value=adds)
        sheet = pilotta_scoring.sheet(counted, contract(80, multiplier), False, rules)
        assert [side.total for side in sheet] == [0, total]
        assert sheet[1].contract == total - 162
        assert sheet[1].marked == round(total / 10)


@pytest.mark.parametrize(
    ("tricks", "raw", "usual", "highest"),
    [
        ((100, 62), (180, 62), (18, 6), (18, 7)),  # 0-2
        ((81, 81), (161, 81), (16, 8), (16, 8)),  # 1-1: neither
        ((89, 73), (169, 73), (17, 7), (17, 7)),  # 9-3
        ((98, 64), (178, 64), (18, 6), (18, 6)),  # 8-4
        ((85, 77), (165, 77), (16, 8), (16, 8)),  # 5-7
        ((96, 66), (176, 66), (18, 6), (18, 6)),  # 6-6
    ],
)
def test_p61_the_six_classes_of_remainders(
    tricks: tuple[int, int], raw: tuple[int, int], usual: tuple[int, int], highest: tuple[int, int]
) -> None:
    assert pilotta_scoring.rounded(raw, tricks, 0, Scoring()) == usual
    rules = Scoring(round_highest_up=True)
    assert pilotta_scoring.rounded(raw, tricks, 0, rules) == highest


def test_p61_six_six_to_caller() -> None:
    for six_six, expected in ((False, (6, 18)), (True, (7, 17))):
        rules = Scoring(six_six_to_caller=six_six)
        assert pilotta_scoring.rounded((66, 176), (66, 96), 0, rules) == expected


def test_t8_equal_in_everything_the_caller_goes_up() -> None:
    for caller in (0, 1):
        marked = pilotta_scoring.rounded((65, 65), (45, 45), caller, Scoring())
        assert marked == ((7, 6) if caller == 0 else (6, 7))


def test_p62_a_failed_contract_leaves_one_total() -> None:
    for highest in (False, True):
        rules = Scoring(round_highest_up=highest)
        sheet = pilotta_scoring.sheet(Count((70, 92)), contract(80), False, rules)
        assert (sheet[0].marked, sheet[1].marked) == (0, 24)


def test_filled_hands_are_whole() -> None:
    """`filled` deals each card once."""
    hands = filled(["7S", "", "AC", ""], Random(1))
    assert sorted(card for hand in hands for card in hand) == sorted(
        card for hand in ALL_TRUMPS for card in cards(hand)
    )
    assert hearts().stage is Stage.PLAYING
