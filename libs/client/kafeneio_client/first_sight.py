"""How much a step gains at first sight, for the greedy program.

It knows no rule: of legal steps it says which one looks good on the table that everybody sees
and in the own hand of the seat.
"""

from __future__ import annotations

from typing import Final

from kafeneio.rules.v1.actions_pb2 import Action, Suit
from kafeneio.rules.v1.views_pb2 import RummyView, TrickView, View

from kafeneio_client import board

_SUITS: Final = "-SHDC"
"""The letter of each `Suit`, by its number."""
_TRUMPS: Final = {"J": 4, "9": 3, "A": 2, "T": 2}
"""What a card is worth to whoever makes its suit trump; any other one."""
_ENOUGH: Final = 7
_RANKS: Final = "23456789TJQKA"
_PIPS: Final = {"A": 10, "T": 10, "J": 10, "Q": 10, "K": 10, "*": -25}


def worth(view: View, seat: int, action: Action) -> int:
    """How much a step gains; 0 where nothing is known of it."""
    match view.WhichOneof("table"):
        case "tavli":
            return _of_move(view, seat, action)
        case "tricks":
            return _of_tricks(view.tricks, action)
        case "rummy":
            return _of_rummy(view.rummy, action)
    return 0


def _of_move(view: View, seat: int, action: Action) -> int:
    """Bears off, hits, makes points, and dislikes to stand alone."""
    if not action.HasField("move_checker"):
        return 0
    table, move = view.tavli, action.move_checker
    target = board.landing(move.start, move.die)
    worth = 0
    if move.start != board.BAR and board.count(table, seat, move.start) == 2:
        worth -= 2  # leaves one alone
    if target == board.OFF:
        return worth + 6
    standing = board.count(table, seat, target)
    if board.opposing(table, seat, target) == 1:
        worth += 4
    if standing == 1:
        worth += 3
    elif standing == 0:
        worth -= 2
    return worth


def _of_tricks(table: TrickView, action: Action) -> int:
    """Declares; bids on many good trumps, the least that it can; leads high and follows low."""
    match action.WhichOneof("action"):
        case "declare":
            return 100
        case "bid":
            good = not action.bid.capot and _trumps(table, action.bid.suit) >= _ENOUGH
            return 200 - action.bid.value if good else -1
        case "take":
            suit = _SUITS.find(table.turned[-1:])
            return _trumps(table, suit) - _ENOUGH if suit > 0 else _aces(table) - 1
        case "choose_trump":
            return _trumps(table, action.choose_trump.suit) - _ENOUGH
        case "contra" | "recontra":
            return -1
        case "play_card":
            high = _RANKS.index(action.play_card.card[0])
            return -high if table.trick else high
    return 0


def _trumps(table: TrickView, suit: Suit.ValueType | int) -> int:
    return sum(_TRUMPS.get(card[0], 1) for card in table.hand if card[1] == _SUITS[suit])


def _aces(table: TrickView) -> int:
    return sum(card[0] == "A" for card in table.hand)


def _of_rummy(table: RummyView, action: Action) -> int:
    """Goes out, melds, lays off; discards what counts most and has no neighbour."""
    match action.WhichOneof("action"):
        case "go_out":
            return 1000
        case "lay_meld":
            return 100 + len(action.lay_meld.cards)
        case "lay_off":
            return 90
        case "draw_stock":
            return 1
        case "discard":
            return _discarded(table, action.discard.card)
    return 0


def _discarded(table: RummyView, card: str) -> int:
    pips = _PIPS.get(card[0]) or int(card[0])
    if card == "*" or card[0] in table.wild_ranks:
        return -25
    others = [other for other in table.hand if other != "*"]
    friends = sum(other[0] == card[0] and other != card for other in others)
    place = _RANKS.index(card[0])
    friends += sum(
        other[1] == card[1] and 0 < abs(_RANKS.index(other[0]) - place) <= 2 for other in others
    )
    return pips - 6 * friends
