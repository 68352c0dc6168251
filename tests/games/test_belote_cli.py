"""Belote against an independent program, `belote-cli`: legal plays, winners, points, marks.

It plays classic belote, without trumps, and coinche with the same plays as the house's own rules.
Where the rules here differ on purpose, the deal is counted under the rule's id, and the difference
is checked to be what that rule says.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from random import Random

import pytest
from belote import deck, game, scoring
from kafeneio_games.belote import Belote
from kafeneio_games.belote_no_trump import BeloteNoTrump
from kafeneio_games.belote_play import State
from kafeneio_games.belote_scoring import Counted
from kafeneio_games.cards import SHORT_PACK, Card
from kafeneio_games.trick_actions import PlayCard

from tests.games import simple_belote
from tests.games.belote_redeals import Played, played
from tests.games.belote_tables import GAMES, AnyBelote, game_of
from tests.games.boards import told

# Deals that somebody took, and tables: the judge gives a fallen side's declarations away (N7).
DEALS = {"belote": 2200, "belote-no-trump": 2000, "coinche": 1400}
TABLES = {kind: game_of(kind, decl_transfer="yes") for kind in GAMES}

SUIT = {"S": deck.Suit.SPADES, "H": deck.Suit.HEARTS}
SUIT |= {"D": deck.Suit.DIAMONDS, "C": deck.Suit.CLUBS}
RANK = {rank.value[-1:].replace("0", "T"): rank for rank in deck.Rank}
THEIRS = {card: deck.Card(SUIT[card[1]], RANK[card[0]]) for card in SHORT_PACK}
OURS = {theirs: card for card, theirs in THEIRS.items()}
JUDGE_SEATS = tuple(game.Seat)


@dataclass(frozen=True)
class Judged:
    """What the program makes of one deal."""

    legal: tuple[frozenset[Card], ...]
    leaders: tuple[int, ...]
    breakdown: scoring.ScoringBreakdown


def hands_of(whole: Played) -> tuple[tuple[Card, ...], ...]:
    start = next(state.play for state in whole.states if state.play is not None)
    assert start is not None
    return start.hands


def judge(whole: Played) -> Judged:
    """The same deal played by the program, card by card."""
    end = whole.states[-1]
    assert end.contract is not None
    trump = SUIT.get(end.contract.trump)
    hands = hands_of(whole)
    theirs = tuple(tuple(THEIRS[card] for card in hand) for hand in hands)
    leader = JUDGE_SEATS[(whole.dealer + 1) % 4]
    state = game.GameState(
        hands=theirs,
        initial_hands=theirs,
        trump=trump,
        contract=deck.Contract.NORMAL if trump else deck.Contract.SANS_ATOUT,
        dealer=JUDGE_SEATS[whole.dealer],
        leader=leader,
        turn=leader,
        phase=game.Phase.PLAYING,
        taker=JUDGE_SEATS[end.contract.seat],
        belote_holders={
            suit: seat
            for seat, hand in zip(JUDGE_SEATS, theirs, strict=True)
            for suit in deck.CARD_SUITS
            if scoring.detect_belote(hand, suit)
        },
    )
    legal, leaders = [], []
    for _, action in whole.log:
        if isinstance(action, PlayCard):
            legal.append(frozenset(OURS[c] for c in game.legal_cards(state, state.turn)))
            if not state.current_trick:
                leaders.append(state.turn.value)
            state = game.play_card(state, THEIRS[action.card])
    return Judged(tuple(legal), tuple(leaders), scoring.score_round(state))


def legal_of(whole: Played) -> tuple[frozenset[Card], ...]:
    found = []
    for state, (seat, action) in zip(whole.states, whole.log, strict=False):
        if isinstance(action, PlayCard):
            options = whole.game.legal(state, seat)
            found.append(frozenset(o.card for o in options if isinstance(o, PlayCard)))
    return tuple(found)


def taken(table: AnyBelote, seed: int) -> Played:
    """The first deal of that generator which somebody took."""
    random = Random(seed)
    while True:
        whole = played(table, random)
        if whole.states[-1].counted is not None:
            return whole


# ---------------------------------------------------------------- where the rules differ


def why_declarations_differ(whole: Played, end: State) -> str:
    """The rule by which another side, or none, scores than the program says."""
    hands = hands_of(whole)
    low = [seat for seat, hand in enumerate(hands) if four_low(hand)]
    if low:
        return "B30"  # four sevens or eights are nothing; to the program they beat a sequence
    best = [
        max(
            (one for seat in (side, side + 2) for one in declared(hands[seat])),
            key=lambda one: simple_belote.strength(one, "trump"),
        )
        for side in (0, 1)
    ]
    (kind, cards, points), (other_kind, other_cards, other_points) = best
    assert kind == other_kind
    if kind == "carre":
        assert points == other_points == 100
        return "A9"  # aces, tens, kings, queens; to the program aces, kings, queens, tens
    if kind == "hundred" and len(cards) != len(other_cards):
        return "A8"  # the top card decides; to the program the length
    assert top(cards) == top(other_cards)
    return "N5"  # the taker's; to the program that in trumps, or the first to speak


def top(cards: frozenset[str]) -> int:
    return max(simple_belote.NATURAL.index(card[0]) for card in cards)


def four_low(hand: tuple[Card, ...]) -> bool:
    ranks = [card[0] for card in hand]
    return ranks.count("7") == 4 or ranks.count("8") == 4


def declared(hand: tuple[Card, ...]) -> list[simple_belote.Declared]:
    return simple_belote.of_hand(hand, "trump", True)


def why_marks_differ(counted: Counted) -> str:
    """The rule by which the marks may differ though all that was counted is the same."""
    taker = counted.taker
    ours, theirs = (counted.cards[side] + counted.won[side] for side in (taker, 1 - taker))
    with_belote = counted.totals[taker], counted.totals[1 - taker]
    if sign(ours - theirs) != sign(with_belote[0] - with_belote[1]):
        return "B19"  # belote counts for the contract; to the program it is marked beside it
    if with_belote[0] == with_belote[1] and any(counted.belote):
        return "A19"  # what is held is the whole total, belote included
    return ""


def sign(number: int) -> int:
    return (number > 0) - (number < 0)


# ---------------------------------------------------------------- the comparison


@pytest.mark.parametrize("kind", GAMES)
def test_same_as_an_independent_program(kind: str) -> None:
    table, count = TABLES[kind], Counter[str]()
    for seed in range(DEALS[kind]):
        whole = taken(table, seed)
        with told(f"{kind} {seed}", position=whole.log[0]):
            compare(whole, count)
    print(f"\n{kind}: {DEALS[kind]} deals, {dict(count)}")
    assert count["plays"] == DEALS[kind] * 32
    assert count["forced"] >= DEALS[kind]
    if isinstance(table, Belote | BeloteNoTrump):
        differing = ("B30", "A9", "A8", "N5", "B19", "A19")
        assert count["same marks"] + sum(count[name] for name in differing) == DEALS[kind]
        assert count["same marks"] >= 0.9 * DEALS[kind]
        assert count["same marks, down"] >= 300
        assert count["same marks, litige"] >= 5
        assert count["same marks, capot"] >= 10


def compare(whole: Played, count: Counter[str]) -> None:
    end = whole.states[-1]
    assert end.play is not None
    assert end.counted is not None
    assert end.contract is not None
    found, mine = judge(whole), legal_of(whole)
    assert mine == found.legal
    count["plays"] += len(mine)
    count["forced"] += sum(len(cards) < 8 - at // 4 for at, cards in enumerate(mine))
    assert tuple(map(int, end.play.leaders)) == found.leaders
    taker = end.contract.side
    breakdown = found.breakdown
    assert breakdown.taker_team == taker
    assert end.play.points[taker] == breakdown.table_taker_pts
    assert end.play.points[1 - taker] == breakdown.table_defender_pts
    assert (end.play.tricks[0], end.play.tricks[1]) == (breakdown.tricks_ns, breakdown.tricks_ew)
    belote = (breakdown.taker_belote, breakdown.defender_belote)
    assert (end.counted.belote[taker], end.counted.belote[1 - taker]) == belote
    if whole.game.name != "coinche@1":
        compare_marks(whole, end, breakdown, count)


def compare_marks(
    whole: Played, end: State, breakdown: scoring.ScoringBreakdown, count: Counter[str]
) -> None:
    counted, result = end.counted, end.result
    assert counted is not None
    assert result is not None
    taker = counted.taker
    theirs = (breakdown.taker_declarations, breakdown.defender_declarations)
    if (counted.won[taker], counted.won[1 - taker]) != theirs:
        count[why_declarations_differ(whole, end)] += 1
        return
    marks = (result.points[taker], result.points[1 - taker])
    differing = why_marks_differ(counted)
    if counted.tricks[taker] == 8:  # all tricks are made, and won declarations move
        differing = ""
    if differing:
        assert marks != (breakdown.taker_total, breakdown.defender_total) or result.held
        count[differing] += 1
        return
    assert marks == (breakdown.taker_total, breakdown.defender_total)
    assert result.held == breakdown.litige_points_awarded
    assert (result.ending == "failed") == breakdown.is_failed
    assert (result.ending == "litige") == breakdown.is_litige
    count["same marks"] += 1
    count["same marks, down"] += breakdown.is_failed
    count["same marks, litige"] += breakdown.is_litige
    count["same marks, capot"] += breakdown.is_capot
