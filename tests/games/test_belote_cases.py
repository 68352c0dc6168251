"""The rule book's worked cases: declarations, legal plays and marks, each named by its id."""

from __future__ import annotations

import pytest
from kafeneio_games.belote import Belote
from kafeneio_games.belote_declarations import of_hand, scoring_side, won_points
from kafeneio_games.belote_match import BeloteMatch
from kafeneio_games.belote_no_trump import BeloteNoTrump
from kafeneio_games.belote_play import State
from kafeneio_games.belote_scoring import Counted, classic_marks, coinche_marks
from kafeneio_games.cards import SHORT_PACK
from kafeneio_games.coinche import Coinche
from kafeneio_games.game import Seat
from kafeneio_games.trick_play import Announced, TrickPlay
from kafeneio_games.trick_view import Contract, Stage
from kafeneio_games.tricks import sorted_hand

from tests.games.belote_case_file import Case, pair, read_cases
from tests.games.belote_tables import NAMES, SEATS, AnyBelote, cards, game_of, refused, spelt

CASES = read_cases()
SIDES = {"NS": 0, "EW": 1, "nobody": None}


def of_kind(*kinds: str) -> pytest.MarkDecorator:
    chosen = [case for case in CASES if case.kind in kinds]
    return pytest.mark.parametrize("case", chosen, ids=[case.name for case in chosen])


# ---------------------------------------------------------------- declarations


@of_kind("resolve")
def test_declarations(case: Case) -> None:
    trump, side = case.options["trump"], SIDES[case.options["taker"]]
    assert side is not None
    rules = game_of("belote" if trump else "belote-no-trump", case.words[0]).declarations
    announced = tuple(
        Announced(SEATS[NAMES.index(name)], of_hand(sorted_hand(cards(text)), trump, rules))
        for name, text in case.lines.items()
    )
    contract = Contract(SEATS[side], side, 0, trump)
    winner, points, *by_hand = case.answer
    assert scoring_side(announced, contract, rules) == SIDES[winner]
    assert won_points(announced, contract, rules) == pair(points)
    assert by_hand == [
        f"{NAMES[entry.seat]}={sum(one.points for one in entry.found)}" for entry in announced
    ]


# ---------------------------------------------------------------- legal plays


def about_to_play(game: AnyBelote, case: Case) -> State:
    """E to play that hand to that trick."""
    hand, trick = cards(case.lines["hand"]), cards(case.lines["trick"])
    trump, turn = case.options["trump"], SEATS[1]
    left = [card for card in SHORT_PACK if card not in (*hand, *trick)]
    hands = [sorted_hand(left[n * 7 : n * 7 + len(hand)]) for n in range(4)]
    hands[turn] = sorted_hand(hand)
    leader = Seat((turn - len(trick)) % 4)
    play = TrickPlay(trump, tuple(hands), turn, (leader,), trick, tuple(left[-4:]))
    contract = Contract(SEATS[0], 0, 80, trump)
    return State(Stage.PLAYING, SEATS[0], SEATS[1], contract=contract, play=play)


@of_kind("legal")
def test_legal_plays(case: Case) -> None:
    """In every game that such a case concerns; what is not legal is refused."""
    undertrump = case.options["undertrump"] == "yes"
    games: list[AnyBelote] = [Coinche(undertrump=undertrump)]
    if undertrump:
        games.append(Belote())
    if not case.options["trump"]:
        games = [BeloteNoTrump(), BeloteNoTrump(plain_ace=19)]
    for game in games:
        state = about_to_play(game, case)
        assert sorted(spelt(game, state, SEATS[1])) == sorted(case.answer)
        for card in cards(case.lines["hand"]):
            if card not in case.answer:
                assert refused(game, state, SEATS[1], card) in ("B6", "B7", "B9", "B10")


def test_the_rule_set_says_who_must_undertrump() -> None:
    """The cases say undertrump=no for coinche by the official rules alone (N8)."""
    maison, official = game_of("coinche"), game_of("coinche", "official")
    assert isinstance(maison, Coinche)
    assert isinstance(official, Coinche)
    assert (maison.undertrump, official.undertrump) == (True, False)


# ---------------------------------------------------------------- marks


def counted(case: Case, taker: str) -> Counted:
    given, side = case.counts, SIDES[taker]
    assert side is not None
    return Counted(side, given["cards"], given["tricks"], given["belote"], given["won"])


@of_kind("coinche")
def test_marks_of_coinche(case: Case) -> None:
    rule_set, taker, bid, times, *_ = case.words
    game = game_of("coinche", rule_set)
    assert isinstance(game, Coinche)
    capot = bid == "capot"
    asked = 250 if capot else int(bid)
    found = coinche_marks(counted(case, taker), asked, capot, int(times[1:]), game.marks)
    outcome, marks = case.answer
    assert found.points == pair(marks)
    assert (found.ending == "failed") == (outcome == "failed")


@of_kind("classic")
def test_marks_with_and_without_trumps(case: Case) -> None:
    """The match adds the pot to the marks, so the case is a deal of a match."""
    rule_set, taker, *_ = case.words
    game = game_of("belote" if case.options["trump"] else "belote-no-trump", rule_set)
    assert isinstance(game, Belote | BeloteNoTrump)
    found = classic_marks(counted(case, taker), game.transfer)
    match = BeloteMatch(game, 3000, dealer=SEATS[0], pot=int(case.options["pot"])).after(found)
    outcome, marks, pot = case.answer
    assert match.scored == pair(marks)
    assert match.pot == int(pot.removeprefix("pot="))
    assert {"capot": "made"}.get(found.ending, found.ending) == outcome


def test_every_case_is_there() -> None:
    resolved = "D1-maison D2-maison D1-official D2-official D3 D4 D5 D6 D7 D8 D9 D10 D12 D14"
    both = ("L1", "L2", "L12")
    rules = ("classic+coinche maison", "coinche official")
    legal = "L4-True L5-True L6-True L8-True L9-True L10-True L11-True"
    legal += " L3-False L4-False L8-False L9-False L10-False"
    maison, official = "1 3 4 6 7 8 9 10 11 12 13 15 17", "6 7 9 11 14 15 16 17 18"
    classic = "K1-official K2-maison K2-official K3-official K4-maison K4-official K5-maison"
    classic += " K5-official K6-maison K6-official K7-maison K8m-maison K8o-official"
    expected = [*resolved.split(), *legal.split(), *classic.split()]
    expected += [f"{name}-{rule}" for name in both for rule in rules]
    expected += [f"S{n}-maison" for n in maison.split()]
    expected += [f"S{n}-official" for n in official.split()]
    assert sorted(case.name for case in CASES) == sorted(expected)
