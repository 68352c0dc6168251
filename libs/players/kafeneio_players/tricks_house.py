"""What a computer player has to know of each of the six games, read off the game's own fields.

The arithmetic is the engines' own, so that every house rule counts in the player's reckoning.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from kafeneio_games import belote_declarations, pilotta_calls, pilotta_scoring
from kafeneio_games.belote import Belote
from kafeneio_games.belote_declarations import DeclarationRules
from kafeneio_games.belote_no_trump import BeloteNoTrump
from kafeneio_games.belote_scoring import (
    ALL_TRICKS,
    Counted,
    DealResult,
    classic_marks,
    coinche_marks,
)
from kafeneio_games.cards import Card
from kafeneio_games.classic_pilotta import ClassicPilotta
from kafeneio_games.coinche import Coinche
from kafeneio_games.declarations import Declaration
from kafeneio_games.game import AnyGame
from kafeneio_games.pilotta import Pilotta
from kafeneio_games.pilotta_two import PilottaTwo
from kafeneio_games.trick_play import Announced
from kafeneio_games.trick_view import Contract
from kafeneio_games.tricks import LAST_TRICK

from .tricks_playout import ALL

Pair: TypeAlias = tuple[int, int]


class Dealt(NamedTuple):
    """What counts beside the tricks, and what they are worth together, the last one's ten
    included; pairs by side."""

    declarations: Pair
    belote: Pair
    pool: int


class House(NamedTuple):
    """One game with its house rules.

    `seats` and `cards` are how many there are, and how many cards each plays; `exempt`,
    `undertrump` and `plain_ace` as in `tricks`; `highest` is the highest number that may be bid, 0
    without bids; `contra_in_auction` whether a contra is said while it goes on.
    `found(hand, trump)` are the declarations of a hand, () where none are played;
    `called(announced, contract)` what they give each side.  `worth(outcome, dealt, contract)` is
    what side 0 gets more than side 1, in points.
    """

    seats: int
    cards: int
    exempt: bool
    undertrump: bool
    plain_ace: int
    highest: int
    contra_in_auction: bool
    found: Callable[[tuple[Card, ...], str], tuple[Declaration, ...]]
    called: Callable[[tuple[Announced, ...], Contract], Pair]
    worth: Callable[[int, Dealt, Contract], int]


def house(game: AnyGame) -> House:
    """What is to be known of that game; TypeError when it is none of the six."""
    match game:
        case Pilotta():
            in_auction = game.contra_timing != "after_auction"
            made = pilotta_scoring.bid_made
            return _pilotta(game, 4, 8, made, game.numeric_bid_cap, in_auction)
        case ClassicPilotta():
            return _pilotta(game, 4, 8, pilotta_scoring.more_made)
        case PilottaTwo():
            return _pilotta(game, 2, 9, pilotta_scoring.more_made)
        case Coinche(rules, marks, undertrump):
            return _belote(
                rules,
                lambda counted, contract: coinche_marks(
                    counted, contract.value, contract.capot, contract.multiplier, marks
                ),
                undertrump=undertrump,
                highest=game.highest,
            )
        case BeloteNoTrump(rules, transfer, ace):
            return _belote(rules, lambda counted, _: classic_marks(counted, transfer), ace=ace)
        case Belote(rules, transfer):
            return _belote(rules, lambda counted, _: classic_marks(counted, transfer))
    raise TypeError(f"{game.name} is no game of tricks")


def _pilotta(
    game: Pilotta | ClassicPilotta | PilottaTwo,
    seats: int,
    cards: int,
    is_made: Callable[[pilotta_scoring.Count, Contract], bool],
    highest: int = 0,
    contra_in_auction: bool = False,
) -> House:
    low_carres, score_all, rules = (
        game.low_carres_count,
        game.score_all_declarations,
        game.scoring,
    )

    def worth(outcome: int, dealt: Dealt, contract: Contract) -> int:
        points, won = _shared(outcome, dealt.pool)
        counted = pilotta_scoring.count(points, won, dealt.declarations, dealt.belote)
        made = is_made(counted, contract)
        first, second = pilotta_scoring.totals(counted, contract, made, rules)
        return first - second

    return House(
        seats,
        cards,
        game.partner_exemption,
        True,
        11,
        highest,
        contra_in_auction,
        lambda hand, trump: pilotta_calls.found(hand, trump, low_carres),
        lambda announced, contract: pilotta_calls.points(announced, contract.trump, score_all),
        worth,
    )


def _belote(
    rules: DeclarationRules,
    marks: Callable[[Counted, Contract], DealResult],
    *,
    undertrump: bool = True,
    ace: int = 11,
    highest: int = 0,
) -> House:
    def found(hand: tuple[Card, ...], trump: str) -> tuple[Declaration, ...]:
        return belote_declarations.of_hand(hand, trump, rules) if rules.played else ()

    def worth(outcome: int, dealt: Dealt, contract: Contract) -> int:
        (first, second), tricks = _shared(outcome, dealt.pool)
        if 8 in tricks:
            more = ALL_TRICKS - LAST_TRICK
            first, second = (first + more, second) if tricks[0] else (first, second + more)
        counted = Counted(contract.side, (first, second), tricks, dealt.belote, dealt.declarations)
        points = marks(counted, contract).points
        return points[0] - points[1]

    return House(
        4,
        8,
        True,
        undertrump,
        ace,
        highest,
        highest > 0,
        found,
        lambda announced, contract: belote_declarations.won_points(announced, contract, rules),
        worth,
    )


def _shared(outcome: int, pool: int) -> tuple[Pair, Pair]:
    """Card points and tricks by side; of the tricks it matters only who has none."""
    if outcome > ALL // 2:
        return (pool, 0), (8, 0)
    if outcome < 0:
        return (0, pool), (0, 8)
    return (outcome, pool - outcome), (4, 4)
