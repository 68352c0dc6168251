"""The rule book's worked cases of pilotta, by their names (G1 ... G57)."""

from __future__ import annotations

from random import Random

import pytest
from kafeneio_games import pilotta_calls, pilotta_scoring, tricks
from kafeneio_games.cards import SHORT_PACK, Deal
from kafeneio_games.classic_pilotta import ClassicPilotta
from kafeneio_games.game import Illegal, Seat
from kafeneio_games.pilotta import Pilotta
from kafeneio_games.pilotta_scoring import Scoring
from kafeneio_games.pilotta_two import PilottaTwo
from kafeneio_games.trick_view import Contract, Stage

from tests.games import simple_pilotta
from tests.games.pilotta_cases import Case, Sum, of, pair, read, turned
from tests.games.pilotta_hands import cards, filled, say, start

sides = pytest.mark.parametrize("side", [0, 1])


def cases(*kinds: str) -> pytest.MarkDecorator:
    found = of(*kinds)
    ids = [f"pilotta-{case.name}-{at}" for at, case in enumerate(found)]
    return pytest.mark.parametrize("case", found, ids=ids)


# ---------------------------------------------------------------- arithmetic


@sides
@cases("rounding")
def test_rounding(case: Case, side: int) -> None:
    raw = turned(pair(case.given), side)
    expected = turned(pair(case.expected), side)
    assert pilotta_scoring.rounded(raw, (0, 0), side, Scoring()) == expected
    assert simple_pilotta.tens(list(raw), [0, 0], side) == list(expected)


@sides
@cases("score", "classic")
def test_score(case: Case, side: int) -> None:
    given = Sum.of(case, side)
    judge = pilotta_scoring.bid_made if case.kind == "score" else pilotta_scoring.more_made
    made = judge(given.count, given.contract)
    sheet = pilotta_scoring.sheet(given.count, given.contract, made, given.rules)
    word, raw, recorded = case.expected.split()
    assert made == (word == "made")
    assert (sheet[0].total, sheet[1].total) == turned(pair(raw), side)
    assert (sheet[0].marked, sheet[1].marked) == turned(pair(recorded), side)


# ---------------------------------------------------------------- declarations


@cases("calls")
@pytest.mark.parametrize("seed", range(5))
def test_calls(case: Case, seed: int) -> None:
    """In a whole hand, all who can declare; the other cards must add no declaration."""
    hands = [text.strip() for text in case.given.split("|")]
    game = Pilotta(score_all_declarations=hands[4:] == ["score_all_declarations"])
    hands = hands[:4]
    random = Random(seed)
    deal = filled(hands, random)
    while [found(hand) for hand in deal] != [found(cards(text)) for text in hands]:
        deal = filled(hands, random)
    state = say(game, start(game, Deal(deal)), "80H pass pass pass pass pass")
    while state.stage is Stage.PLAYING and state.play is not None and state.play.first_trick:
        seat = state.play.turn
        state = game.apply(state, seat, next(game.legal(state, seat)))
    assert state.play is not None
    points = pilotta_calls.points(state.play.announced, "H", game.score_all_declarations)
    assert points == pair(case.expected)
    shown = game.view(state, None).declarations
    scored = [0, 0]
    for declared in shown:
        assert bool(declared.scored) == bool(declared.cards)
        scored[declared.seat % 2] += declared.points if declared.scored else 0
    assert tuple(scored) == points


def found(hand: tuple[str, ...]) -> list[tuple[list[int], int]]:
    return simple_pilotta.calls(list(hand), "H")


# ---------------------------------------------------------------- legal plays


@cases("legal")
def test_legal(case: Case) -> None:
    trick, hand = map(cards, case.given.split("|"))
    expected = set(cards(case.expected))
    assert set(tricks.following(hand, trick, "H")) == expected
    assert simple_pilotta.allowed(list(hand), list(trick), "H") == expected


# ---------------------------------------------------------------- auctions

A, B, C, D = map(Seat, range(4))
ANY_DEAL = Deal(filled(["", "", "", ""], Random(7)))


def test_g24() -> None:
    """100 hearts by A; then B and D are asked for a contra."""
    game = Pilotta()
    state = say(game, start(game, ANY_DEAL), "80H 90S pass pass 100H pass pass pass")
    assert state.contract == Contract(A, 0, 100, "H")
    assert (state.stage, game.to_act(state)) == (Stage.CONTRA, (B,))
    assert {game.write(action) for action in game.legal(state, B)} == {"pass", "contra 3"}
    state = say(game, state, "pass")
    assert (state.stage, game.to_act(state)) == (Stage.CONTRA, (D,))
    state = say(game, state, "pass")
    assert (state.stage, game.to_act(state)) == (Stage.PLAYING, (A,))


def test_g25() -> None:
    game = Pilotta()
    state = say(game, start(game, ANY_DEAL), "90H")
    with pytest.raises(Illegal) as refused:
        game.apply(state, B, game.read("90S"))
    assert refused.value.rule == "P6"


def test_g26() -> None:
    game = Pilotta()
    state = say(game, start(game, ANY_DEAL), "pass pass pass pass")
    result = game.result(state)
    assert result is not None
    assert (result.points, result.ending) == ((0, 0), "passed")
    assert game.to_act(state) == ()
    assert game.view(state, A).sheet is None


def test_g27() -> None:
    game = Pilotta(contra_timing="in_turn")
    state = say(game, start(game, ANY_DEAL), "80H contra:1 recontra")
    assert state.contract == Contract(A, 0, 80, "H", multiplier=4)
    assert (state.stage, game.to_act(state)) == (Stage.PLAYING, (A,))


def test_g29() -> None:
    game = Pilotta(contra_timing="in_turn")
    state = say(game, start(game, ANY_DEAL), "240H capotC")
    with pytest.raises(Illegal) as refused:
        game.apply(state, C, game.read("250H"))
    assert refused.value.rule == "P7"
    assert [game.write(action) for action in game.legal(state, C)] == ["pass", "contra 2"]


# ---------------------------------------------------------------- the classic games


def test_g54() -> None:
    """The chooser of the second round takes the turned card, though it is no trump."""
    game = ClassicPilotta()
    deal = dealt_with_turned(["", "", "", ""], "TS", each=5)
    state = say(game, start(game, deal), "pass pass pass pass pass pass")
    assert "choose S" not in {game.write(action) for action in game.legal(state, C)}
    with pytest.raises(Illegal) as refused:
        game.apply(state, C, game.read("choose S"))
    assert refused.value.rule == "C3"
    state = say(game, state, "choose:H")
    assert state.play is not None
    # A and B take three each, C two and the turned card, D the last three.
    assert set(state.play.hands[A]) == {*deal.hands[A], *deal.rest[:3]}
    assert set(state.play.hands[B]) == {*deal.hands[B], *deal.rest[3:6]}
    assert set(state.play.hands[C]) == {*deal.hands[C], *deal.rest[6:8], *cards("TS")}
    assert set(state.play.hands[D]) == {*deal.hands[D], *deal.rest[8:]}
    assert state.contract == Contract(C, 0, 0, "H")
    assert state.play.turn == A


def dealt_with_turned(hands: list[str], turned: str, each: int) -> Deal:
    """A deal of the classic games in which some cards are given."""
    *full, (card, *_) = filled([*hands, turned], Random(5), each=each)
    known = {card, *(card for hand in full for card in hand)}
    return Deal(tuple(full), (card,), tuple(card for card in SHORT_PACK if card not in known))


@pytest.mark.parametrize("seven", ["7C", "7H"])
def test_g57(seven: str) -> None:
    """Clubs are turned and not taken; named in the second round, hearts bring no exchange."""
    game = PilottaTwo()
    state = start(game, dealt_with_turned([seven, ""], "KC", each=6), dealer=B)
    state = say(game, state, "pass pass choose:H")
    assert (state.stage, state.turned) == (Stage.PLAYING, None)
    assert state.play is not None
    assert set(cards(seven)) < set(state.play.hands[A])
    assert not any(set(cards("KC")) & set(hand) for hand in state.play.hands)
    with pytest.raises(Illegal):
        game.apply(state, A, game.read("exchange"))


def test_every_case_is_there() -> None:
    named = {case.name for case in read()} | {"G24", "G25", "G26", "G27", "G29", "G54", "G57"}
    book = "1 2 3 5 6 7 9 10 11 13 14 15 17 18 19 20 21 24 25 26 27 29 30 31 32 33 34 35 37 38 39"
    book += " 41 42 43 44 46 48 49 50 51 53 54 55 57"
    assert named == {f"G{number}" for number in book.split()}
