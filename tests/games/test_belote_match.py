"""A match of belote: the target, the pot of the litiges, belote alone, the dealer, leavers."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from random import Random

import pytest
from kafeneio_games.belote_match import BeloteMatch
from kafeneio_games.belote_scoring import (
    NOBODY_TOOK,
    CoincheMarks,
    Counted,
    DealResult,
    classic_marks,
    coinche_marks,
)
from kafeneio_games.game import CHANCE, Entry, Illegal, OutOfOrder, Result, Seat, Unreadable
from kafeneio_games.play import Play
from kafeneio_games.record import verify
from kafeneio_games.registry import build, variant

from tests.games.belote_tables import GAMES, SEATS, E, N, S, Shuffler, W
from tests.games.plays import log_of, record_of
from tests.games.simple_belote_match import reckoned

kinds = pytest.mark.parametrize("kind", GAMES)


def match_of(kind: str = "belote", rule_set: str = "maison", target: int = 501) -> BeloteMatch:
    """Dealt by N first."""
    match = build(kind, 1, {"rule_set": rule_set}, target).opened("dealer 0")
    assert isinstance(match, BeloteMatch)
    return match


def made(ours: int, theirs: int, taker: int = 0) -> DealResult:
    return classic_marks(counted(ours, theirs, taker), False)


def counted(ours: int, theirs: int, taker: int, belote: int = 0) -> Counted:
    """The takers' cards and belote, and the defence's cards."""
    pairs = [(ours, theirs), (5, 3), (belote, 0), (0, 0)]
    cards, tricks, twenty, won = (p if taker == 0 else p[::-1] for p in pairs)
    return Counted(taker, cards, tricks, twenty, won)


LITIGE = made(81, 81)


# ---------------------------------------------------------------- the pot (B22, A19)


def test_b22_a_litige_is_held_for_the_next_winner() -> None:
    match = match_of().after(LITIGE)
    assert (match.score, match.pot) == ((0, 81), 81)
    assert match.after(made(100, 62)).score == (181, 143)
    assert match.after(made(62, 100, taker=1)).score == (162 + 81, 81), "EW fell: NS won"
    assert match.after(made(70, 92)).score == (0, 81 + 162 + 81), "NS fell: EW won"
    assert match.after(made(100, 62)).pot == 0


def test_b22_several_litiges_add_up() -> None:
    match = match_of().after(LITIGE).after(made(81, 81, taker=1)).after(LITIGE)
    assert (match.score, match.pot) == ((81, 162), 243)
    assert match.after(made(82, 80, taker=1)).score == (81 + 80, 162 + 82 + 243)


def test_b22_a_passed_deal_leaves_the_pot() -> None:
    match = match_of().after(LITIGE).after(NOBODY_TOOK)
    assert (match.score, match.pot, match.ending) == ((0, 81), 81, "passed")
    assert match.after(NOBODY_TOOK).after(made(100, 62)).score == (181, 143)


def test_a19_the_belote_is_held_too() -> None:
    held = classic_marks(counted(71, 91, 0, belote=20), False)
    assert match_of().after(held).pot == 91


def test_b15_an_open_pot_lapses() -> None:
    """The defence reaches the target by the litige itself; the pot is nobody's."""
    match = replace(match_of(), scored=(495, 430)).after(LITIGE)
    outcome = match.outcome()
    assert outcome is not None
    assert (outcome.winners, outcome.score, outcome.ending) == ((E, W), (495, 511), "litige")
    assert match.pot == 81


def test_a4_a_litige_of_coinche() -> None:
    held = coinche_marks(counted(81, 81, 1), 80, False, 2, CoincheMarks(equal="litige"))
    match = match_of("coinche").after(held)
    assert (match.score, match.pot) == ((81, 0), 81)


# ---------------------------------------------------------------- the end (B15, A18)


def test_b15_the_higher_side_wins() -> None:
    match = replace(match_of(), scored=(450, 480))
    outcome = match.after(made(120, 42)).outcome()
    assert outcome is not None
    assert (outcome.winners, outcome.score) == ((N, S), (570, 522))
    assert match.after(made(45, 117, taker=0)).outcome() is not None
    level = replace(match_of(), scored=(460, 440)).after(made(82, 80))
    assert (level.score, level.outcome()) == ((542, 520), level.outcome())


def test_b15_level_sides_play_on() -> None:
    match = replace(match_of(), scored=(440, 462)).after(made(92, 70))
    assert (match.score, match.outcome()) == ((532, 532), None)
    assert match.next() is not None
    again = match.after(NOBODY_TOOK)
    assert again.outcome() is None
    assert again.after(made(82, 80)).outcome() is not None


def test_b15_exactly_the_target() -> None:
    match = replace(match_of(), scored=(401, 0))
    assert match.after(made(100, 62)).outcome() is not None
    assert replace(match, scored=(400, 0)).after(made(100, 62)).outcome() is None


FELL_WITH_BELOTE = classic_marks(counted(60, 102, 0, belote=20), False)


def test_a18_belote_alone_does_not_win() -> None:
    """NS fall and mark their belote, which brings them from 490 to 510."""
    before = {rules: replace(match_of("belote", rules), scored=(490, 100)) for rules in RULES}
    assert [before[rules].no_win_on_belote_only for rules in RULES] == [False, True]
    maison, official = (before[rules].after(FELL_WITH_BELOTE) for rules in RULES)
    assert maison.score == official.score == (510, 262)
    assert maison.outcome() is not None
    assert official.outcome() is None
    assert official.next() is not None
    # The next deal that is scored decides, whoever marks what in it; a passed one does not.
    assert official.after(NOBODY_TOOK).outcome() is None
    outcome = official.after(made(0, 162, taker=1)).outcome()
    assert outcome is not None
    assert outcome.winners == (N, S)


RULES = ("maison", "official")


def test_a18_the_other_side_may_win_meanwhile() -> None:
    match = replace(match_of("belote", "official"), scored=(490, 340)).after(FELL_WITH_BELOTE)
    outcome = match.outcome()
    assert outcome is not None
    assert (outcome.winners, outcome.score) == ((E, W), (510, 502))


def test_a18_more_than_belote_wins() -> None:
    """501 without the twenty: reached by other points."""
    match = replace(match_of("belote", "official"), scored=(501, 600))
    assert replace(match, idle=(20, 0)).outcome() is not None
    made_it = classic_marks(counted(75, 87, 0, belote=20), False)
    assert made_it.idle == (0, 0), "they did not fall"
    assert replace(match_of("belote", "official"), scored=(420, 0)).after(made_it).outcome()


def test_a18_a_side_without_a_trick() -> None:
    capot = classic_marks(Counted(0, (252, 0), (8, 0), (0, 20), (0, 0)), True)
    assert capot.idle == (0, 20)
    match = replace(match_of("belote", "official"), scored=(100, 490)).after(capot)
    assert (match.score, match.outcome()) == ((352, 510), None)
    lost = coinche_marks(counted(60, 102, 1, belote=20), 100, False, 4, CoincheMarks())
    assert lost.idle == (0, 20)


# ---------------------------------------------------------------- dealer and leavers


@kinds
def test_b2_the_dealer(kind: str) -> None:
    match = build(kind, 1, {}, None)
    assert match.next() is None
    assert {match.chance(Shuffler(Random(seed))) for seed in range(40)} == {
        f"dealer {seat}" for seat in SEATS
    }
    for text in ("dealer 4", "dealer 9"):
        with pytest.raises(Illegal) as caught:
            match.opened(text)
        assert caught.value.rule == "B2"
    with pytest.raises(Unreadable):
        match.opened("opening 63")
    opened = match.opened("dealer 3")
    with pytest.raises(Illegal):
        opened.opened("dealer 3")
    with pytest.raises(ValueError, match="no dealer"):
        opened.chance(Shuffler(Random(0)))
    for result in (NOBODY_TOOK, made(100, 62), LITIGE):
        following = opened.after(result).next()
        assert following is not None
        assert (following.first, following.live) == (N, SEATS)


def test_what_is_no_result() -> None:
    with pytest.raises(ValueError, match="not the result"):
        match_of().after(Result((1, 0), "made"))
    with pytest.raises(ValueError, match="no deal"):
        build("belote", 1, {}, 501).after(NOBODY_TOOK)
    over = replace(match_of(), scored=(501, 0))
    with pytest.raises(ValueError, match="no deal"):
        over.after(NOBODY_TOOK)
    with pytest.raises(ValueError, match="match is over"):
        over.next()


def test_f1_leavers() -> None:
    match = match_of()
    for number, seat in enumerate((S, E, N)):
        match = match.withdraw(seat)
        assert match.gone == (S, E, N)[: number + 1]
        assert match.withdraw(seat) == match
        assert match.outcome() is None
    outcome = match.withdraw(W).outcome()
    assert outcome is not None
    assert (outcome.winners, outcome.void) == ((), "ALL_FORFEITED")
    with pytest.raises(ValueError, match="no seat"):
        match.withdraw(Seat(4))


def test_standing_knows_all_that_changes() -> None:
    match = match_of()
    changed = [
        replace(match, scored=(1, 0)),
        replace(match, played=1),
        replace(match, dealer=E),
        replace(match, gone=(S,)),
        replace(match, ending="made"),
        replace(match, pot=81),
        replace(match, idle=(20, 0)),
    ]
    assert len({one.standing for one in (match, *changed)}) == len(changed) + 1


# ---------------------------------------------------------------- as a fold of its log


@cache
def logged(kind: str, rule_set: str, seed: int) -> tuple[Entry, ...]:
    record = record_of(variant(kind), seed, 501, {"rule_set": rule_set})
    assert verify(record) == ()
    return log_of(record)


def begun(kind: str, rule_set: str) -> Play:
    return Play.begin(build(kind, 1, {"rule_set": rule_set}, 501))


@kinds
@pytest.mark.parametrize("rule_set", RULES)
def test_a_restart_in_the_middle(kind: str, rule_set: str) -> None:
    log = logged(kind, rule_set, 1)
    plays = [begun(kind, rule_set)]
    for entry in log:
        plays.append(plays[-1].apply(entry))
    assert plays[-1].over
    for place in Random(1).sample(range(len(log)), 12):
        again = begun(kind, rule_set).apply_all(log[:place])
        assert again == plays[place]
        assert again.digest() == plays[place].digest()
        assert again.apply_all(log[place:]).digest() == plays[-1].digest()


@pytest.mark.parametrize("seed", range(12))
def test_the_score_is_the_sum_of_the_deals(seed: int) -> None:
    """Counted once more from the deals' results, with a purse for what is held."""
    kind = GAMES[seed % 2]
    play, purse, score = begun(kind, "maison"), 0, [0, 0]
    for entry in logged(kind, "maison", seed):
        before, play = play, play.apply(entry)
        game, state = before.game, before.state
        if game is None or entry.seat == CHANCE or (play.round == before.round and not play.over):
            continue
        end = game.apply(state, entry.seat, game.read(entry.text))
        result = game.result(end)
        assert result is not None
        score = [a + b for a, b in zip(score, result.points, strict=True)]
        if result.ending == "litige":
            purse += end.counted.totals[end.contract.side]
        elif result.ending != "passed":
            taker = end.contract.side
            score[taker if result.ending in ("made", "capot") else 1 - taker] += purse
            purse = 0
        assert play.score == tuple(score)
        assert play.match.pot == purse  # type: ignore[attr-defined]
    assert play.outcome is not None
    assert max(score) >= 501
    assert play.outcome.winners == ((N, S) if score[0] > score[1] else (E, W))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("rule_set", RULES)
@kinds
def test_the_score_reckoned_from_the_log(kind: str, rule_set: str, seed: int) -> None:
    """By the plain way, which knows of nothing but the rule book and the log."""
    log = logged(kind, rule_set, seed)
    books = reckoned(kind, {"rule_set": rule_set}, log)
    play = begun(kind, rule_set).apply_all(log)
    assert play.score == tuple(books.score)
    assert play.match.pot == books.pot  # type: ignore[attr-defined]


def test_nothing_can_be_resigned() -> None:
    play = begun("belote", "maison").apply(Entry(CHANCE, "dealer 0"))
    with pytest.raises(OutOfOrder) as caught:
        play.apply(Entry(N, "!resign"))
    assert caught.value.reason == "NOT_RESIGNABLE"
