"""What holds in every deal of belote, whatever is dealt and played."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kafeneio_games.belote_no_trump import BeloteNoTrump
from kafeneio_games.belote_scoring import CoincheMarks, Counted, classic_marks, coinche_marks
from kafeneio_games.cards import SHORT_PACK
from kafeneio_games.coinche import Coinche
from kafeneio_games.game import CHANCE, Illegal, Seat
from kafeneio_games.trick_actions import CARDS
from kafeneio_games.trick_view import Stage

from tests.games import simple_belote
from tests.games.belote_redeals import Played, belote_heard, played
from tests.games.belote_tables import GAMES, SEATS, AnyBelote, game_of

TABLES: tuple[AnyBelote, ...] = (
    *(game_of(kind, rules) for kind in GAMES for rules in ("maison", "official")),
    game_of("coinche", declare="by_player"),
    game_of("belote-no-trump", "official", nt_cards_before_take="8"),
)
deals = given(table=st.integers(0, len(TABLES) - 1), seed=st.integers(0, 2**32))


def deal(table: int, seed: int) -> Played:
    return played(TABLES[table], Random(seed))


def rules_of(game: AnyBelote) -> tuple[bool, int]:
    """Whether a lower trump is due, and what an ace counts."""
    undertrump = game.undertrump if isinstance(game, Coinche) else True
    return undertrump, game.plain_ace if isinstance(game, BeloteNoTrump) else 11


@deals
@settings(max_examples=150, deadline=None)
def test_cards_are_conserved(table: int, seed: int) -> None:
    for state in deal(table, seed).states[1:]:
        groups = [*state.hands, state.turned, state.rest]
        if state.play is not None:
            groups += [*state.play.hands, state.play.trick, state.play.played]
        assert sorted(card for group in groups for card in group) == sorted(SHORT_PACK)


@deals
@settings(max_examples=150, deadline=None)
def test_legal_plays_and_winners_as_the_plain_way_has_them(table: int, seed: int) -> None:
    whole = deal(table, seed)
    undertrump, ace = rules_of(whole.game)
    for state, after in pairwise(whole.states):
        play = state.play
        if play is None or state.stage is Stage.OVER:
            continue
        seat = play.turn
        legal = {whole.game.write(action) for action in whole.game.legal(state, seat)} - {"declare"}
        assert legal == simple_belote.legal(play.hands[seat], play.trick, play.trump, undertrump)
        later = after.play
        assert later is not None
        if len(later.played) == len(play.played):
            continue
        trick = later.played[-4:]
        winner = (play.leaders[-1] + simple_belote.holder(trick, play.trump)) % 4
        worth = simple_belote.card_points(trick, play.trump, ace)
        worth += 10 * (len(later.played) == 32)
        gained = [b - a for a, b in zip(play.points, later.points, strict=True)]
        assert gained == ([worth, 0] if winner % 2 == 0 else [0, worth])
        assert [b - a for a, b in zip(play.tricks, later.tricks, strict=True)] == [
            int(winner % 2 == 0),
            int(winner % 2 == 1),
        ]
        if len(later.played) < 32:
            assert later.turn == winner


@deals
@settings(max_examples=60, deadline=None)
def test_only_the_one_asked_may_play(table: int, seed: int) -> None:
    whole = deal(table, seed)
    for state in whole.states[::3]:
        if state.stage is not Stage.PLAYING:
            continue
        for seat in (*SEATS, CHANCE, Seat(8)):
            if seat != whole.game.prompted(state):
                for action in CARDS.values():
                    with pytest.raises(Illegal):
                        whole.game.apply(state, seat, action)


@deals
@settings(max_examples=200, deadline=None)
def test_totals_and_what_was_counted(table: int, seed: int) -> None:
    whole = deal(table, seed)
    end = whole.states[-1]
    if end.counted is None:
        assert end.result is not None
        assert end.result.points == (0, 0)
        return
    counted, contract = end.counted, end.contract
    assert contract is not None
    assert counted.taker == contract.seat % 2
    pack = {"belote-no-trump@1": 120 + 4 * (rules_of(whole.game)[1] - 11)}.get(whole.game.name, 152)
    assert sum(counted.cards) == pack + (100 if 8 in counted.tricks else 10)
    assert sum(counted.tricks) == 8
    start = next(s for s in whole.states if s.play is not None)
    assert start.play is not None
    hands = start.play.hands
    plays = [(s, a) for s, a in whole.log if a in CARDS.values()]
    said = [(s, w) for s, w in belote_heard(hands, plays, contract.trump) if w == "rebelote"]
    assert counted.belote == (
        20 * any(seat % 2 == 0 for seat, _ in said),
        20 * any(seat % 2 == 1 for seat, _ in said),
    )
    assert 0 in counted.won
    if whole.game.declarations.by_player:
        return
    rules = whole.game.declarations
    scale = "no_trump" if rules.own_scale and not contract.trump else "trump"
    declared = {
        int(seat): simple_belote.of_hand(hands[seat], scale, rules.overlap) for seat in SEATS
    }
    side = simple_belote.scoring(declared, contract.trump, counted.taker, scale, rules.tie)
    worth = [
        sum(points for seat in (at, at + 2) for _, _, points in declared[seat]) for at in (0, 1)
    ]
    assert counted.won == tuple(worth[at] if at == side else 0 for at in (0, 1))


# ---------------------------------------------------------------- marks


@st.composite
def counts(draw: st.DrawFn) -> Counted:
    """Anything that may have been counted in a deal of 162."""
    all_tricks = draw(st.sampled_from([None, None, None, 0, 1]))
    if all_tricks is None:
        first = draw(st.one_of(st.integers(0, 162), st.integers(76, 86)))
        tricks = draw(st.integers(1, 7))
        cards, won_tricks = (first, 162 - first), (tricks, 8 - tricks)
    else:
        cards = (252, 0) if all_tricks == 0 else (0, 252)
        won_tricks = (8, 0) if all_tricks == 0 else (0, 8)
    belote = draw(st.sampled_from([(0, 0), (20, 0), (0, 20)]))
    worth = draw(st.sampled_from([0, 20, 40, 50, 70, 100, 150, 200, 300]))
    won = draw(st.sampled_from([(worth, 0), (0, worth)]))
    return Counted(draw(st.integers(0, 1)), cards, won_tricks, belote, won)


@given(counted=counts(), transfer=st.booleans())
@settings(max_examples=500, deadline=None)
def test_nothing_is_lost_of_a_deal(counted: Counted, transfer: bool) -> None:
    """Marks and pot together are all that was counted, and belote never changes sides."""
    found = classic_marks(counted, transfer)
    assert sum(found.points) + found.held == sum(counted.totals)
    if found.ending != "litige":
        for side in (0, 1):
            assert found.points[side] >= counted.belote[side]
    assert (found.winner is None) == (found.ending == "litige")
    taker = counted.taker
    ours, theirs = counted.totals[taker], counted.totals[1 - taker]
    made = ours > theirs or counted.tricks[taker] == 8
    assert (found.ending in ("made", "capot")) == made
    assert (found.ending == "capot") == (counted.tricks[taker] == 8)
    assert (found.ending == "litige") == (ours == theirs and not made)


@given(
    counted=counts(),
    asked=st.sampled_from(range(80, 651, 10)),
    capot=st.booleans(),
    times=st.sampled_from([1, 2, 4]),
    base=st.sampled_from([160, 250]),
    transfer=st.booleans(),
)
@settings(max_examples=800, deadline=None)
def test_marks_of_coinche(
    counted: Counted, asked: int, capot: bool, times: int, base: int, transfer: bool
) -> None:
    rules = CoincheMarks(capot_base=base, transfer=transfer)
    found = coinche_marks(counted, asked, capot, times, rules)
    taker, value = counted.taker, 250 if capot else asked
    defence = 1 - taker
    ours, theirs = counted.totals[taker], counted.totals[defence]
    made = (counted.tricks[taker] == 8 if capot else ours >= value) and ours > theirs
    assert (found.ending != "failed") == made
    winner = taker if made else defence
    loser = 1 - winner
    assert found.winner == winner
    moving = transfer and (not made or times > 1 or counted.tricks[taker] == 8)
    kept = 0 if moving else counted.won[loser]
    if made and times == 1:
        assert found.points[loser] == counted.cards[loser] + counted.belote[loser] + kept
        assert sum(found.points) == sum(counted.totals) + value
    else:
        assert found.points[loser] == counted.belote[loser] + kept
        won = counted.won[winner] + counted.won[loser] - kept
        ground = base if made and counted.tricks[taker] == 8 else 160
        assert found.points[winner] == (ground + value + counted.belote[winner] + won) * times
    rounded = coinche_marks(
        counted, asked, capot, times, CoincheMarks(rounded=True, capot_base=base, transfer=transfer)
    )
    for exact, ten in zip(found.points, rounded.points, strict=True):
        assert ten % 10 == 0
        assert -5 < ten - exact <= 5
    assert (rounded.ending, rounded.winner, rounded.idle) == (
        found.ending,
        found.winner,
        found.idle,
    )


def test_a21_rounding_does_not_always_sum_to_160() -> None:
    """48 of the 163 ways to split 162 points."""
    rules = CoincheMarks(rounded=True)
    sums = []
    for ours in range(163):
        counted = Counted(0, (ours, 162 - ours), (4, 4), (0, 0), (0, 0))
        found = coinche_marks(counted, 0, False, 1, rules)
        if found.ending == "made":
            sums.append(sum(found.points))
        else:  # seen from the other side, which then has more
            turned = Counted(1, (ours, 162 - ours), (4, 4), (0, 0), (0, 0))
            sums.append(sum(coinche_marks(turned, 0, False, 1, rules).points))
    sums[81] = 160  # 81-81 is a fall either way; each side's 81 rounds to 80
    assert len(sums) - sums.count(160) == 48


def test_every_game_ends_in_every_way() -> None:
    """So that the properties above are not empty."""
    for game in TABLES[:6]:
        ends: set[str] = set()
        for seed in range(300):
            end = played(game, Random(seed)).states[-1]
            assert end.result is not None
            ends.add(end.result.ending)
        expected = {"made", "failed", "capot", "passed"}
        assert expected <= ends <= expected | {"litige"}
        assert ("litige" in ends) == (not isinstance(game, Coinche))
