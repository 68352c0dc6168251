"""How likely a deal is, by what the seats have said: bids, passes and declarations.

Nobody is bound to bid as this player would, so nothing that was said rules a deal out.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterable, Sequence
from random import Random
from typing import Final, NamedTuple

from kafeneio_games.cards import SUITS
from kafeneio_games.game import Seat
from kafeneio_games.trick_actions import Action, Bid, Capot, Choose, Exchange, Pass, read
from kafeneio_games.trick_view import Declared, TrickView

from .tricks_deals import Dealer, Hands
from .tricks_house import House
from .tricks_memory import Memory
from .tricks_table import Mask, cards_of

MORE: Final = 3  # deals looked at for each one that is kept
DOUBT: Final = 0.08  # what is left of a factor when a hand does not fit at all
SPREAD: Final = 14.0  # points by which a hand's worth may differ from what its owner thinks
TAKEN: Final = 85  # what a hand is worth, roughly, with which the turned suit is taken
SURE: Final = 120  # bids beyond rest on declarations

# ---------------------------------------------------------------- what a hand is worth


def _trump_worth(held: int) -> float:
    """A trump suit's share in the points of a side; bits from 7 8 9 T J Q K A, low to high."""
    each = (5, 5, 23, 12, 33, 8, 7, 15)
    count = held.bit_count()
    own = sum(worth for place, worth in enumerate(each) if held >> place & 1)
    return own + 4 * max(0, count - 3) + 2 * max(0, count - 4)


def _plain_worth(held: int) -> float:
    """A plain suit's share beside trumps."""
    ace, ten, count = held >> 7 & 1, held >> 3 & 1, held.bit_count()
    if count < 2:
        return 10.0 - 5 * count + 12 * ace
    return ace * (12 + 5 * ten) + 6 * (ten and not ace)


def _alone_worth(held: int) -> float:
    """A suit's share without trumps."""
    ace, ten, king, count = held >> 7 & 1, held >> 3 & 1, held >> 6 & 1, held.bit_count()
    own = 13.0 * ace + 10 * (ace and ten) + 3 * (ace and ten and king) + 3 * ace * max(0, count - 3)
    return own + 8 * (ten and not ace and count > 1)


_TRUMP: Final = tuple(map(_trump_worth, range(256)))
_PLAIN: Final = tuple(map(_plain_worth, range(256)))
_ALONE: Final = tuple(map(_alone_worth, range(256)))


def estimate(hand: Mask, trump: str) -> float:
    """The points that the side of such a hand takes in tricks on the average (plain mask).

    Fitted to hands played out at random; the truth is some 35 points above or below.
    """
    first, second, third, fourth = hand & 255, hand >> 8 & 255, hand >> 16 & 255, hand >> 24
    each = _PLAIN if trump else _ALONE
    total = each[first] + each[second] + each[third] + each[fourth]
    if not trump:
        return 43 + total
    own = hand >> 8 * SUITS.index(trump) & 255
    return 33 + total + _TRUMP[own] - _PLAIN[own]


# ---------------------------------------------------------------- declarations

_RUN: Final = tuple(any(held >> at & 7 == 7 for at in range(6)) for held in range(256))


def may_declare(hand: Mask) -> bool:
    """Whether a hand (plain mask) has three cards in a row, or four of a kind of any rank."""
    fours = hand & hand >> 8
    return bool(
        fours & fours >> 16
        or _RUN[hand & 255]
        or _RUN[hand >> 8 & 255]
        or _RUN[hand >> 16 & 255]
        or _RUN[hand >> 24]
    )


# ---------------------------------------------------------------- what was said


class Claim(NamedTuple):
    """`seat` holds at least, or at most, what makes `level` points with one of `suits`."""

    seat: Seat
    suits: tuple[str, ...]
    level: float
    least: bool


def claims(view: TrickView, house: House, seat: Seat) -> tuple[Claim, ...]:
    """What the others have claimed, one claim each at most."""
    calls = [(caller, read(text)) for caller, text in view.calls]
    found = _of_bids(calls) if house.highest else _of_choices(calls, view)
    return tuple([claim for claim in found if claim.seat != seat])


def _of_bids(calls: Sequence[tuple[Seat, Action]]) -> Iterable[Claim]:
    """By its last bid; or by its first pass, if that was to a low bid."""
    found: dict[Seat, Claim] = {}
    highest = 70
    for caller, call in calls:
        match call:
            case Bid(value, suit):
                highest = value
                found[caller] = Claim(caller, (suit,), min(value, SURE) - 5, True)
            case Capot(suit):
                highest = SURE
                found[caller] = Claim(caller, (suit,), SURE, True)
            case Pass() if caller not in found and highest < SURE:
                found[caller] = Claim(caller, tuple(SUITS), highest + 15, False)
    return found.values()


def _of_choices(calls: Sequence[tuple[Seat, Action]], view: TrickView) -> Iterable[Claim]:
    """By the suit chosen, or by its last pass: in the first round to the turned suit, which is not
    known any more when another has been chosen, in the second to the others."""
    found: dict[Seat, Claim] = {}
    trump = view.contract.trump if view.contract else None
    turned = view.turned[1] if view.turned else trump or ""  # "" where there are no trumps at all
    others = tuple(suit for suit in SUITS if suit != turned) if trump is None else (trump,)
    unknown = bool(calls) and isinstance(calls[-1][1], Choose)
    for at, (caller, call) in enumerate(calls):
        first = at < len(view.counts)
        if not isinstance(call, Pass | Exchange):
            found[caller] = Claim(caller, (trump or "",), TAKEN, True)
        elif caller in found and found[caller].least:
            continue  # the answer about the exchange
        elif not first or not unknown:
            found[caller] = Claim(caller, (turned,) if first else others, TAKEN, False)
    return found.values()


@functools.lru_cache(maxsize=1 << 12)
def _fits(worth: float, level: float, least: bool) -> float:
    sign = 1 if least else -1
    return DOUBT + (1 - DOUBT) / (1 + math.exp(-sign * (worth - level) / SPREAD))


class Judge:
    """Weighs deals by what was said in one view."""

    def __init__(self, view: TrickView, house: House, memory: Memory, seat: Seat) -> None:
        self._house, self._played = house, memory.played
        self._claims = claims(view, house, seat)
        self._trump = view.contract.trump if view.contract else ""
        # By seat whose first card is played: what it has announced.
        self._told: dict[Seat, list[Declared]] = {
            player: [] for player, _ in (*view.played, *view.trick) if player != seat
        }
        for declared in view.declarations:
            if declared.seat in self._told:
                self._told[declared.seat].append(declared)

    @property
    def silent(self) -> bool:
        """Whether nothing is known by which deals differ."""
        return not self._claims and not self._told

    def weight(self, hands: Hands) -> float:
        """How well a deal fits, from 0 to 1; never 0."""
        found = 1.0
        for seat, suits, level, least in self._claims:
            whole = hands[seat] | self._played[seat]
            worth = max([estimate(whole, suit) for suit in suits])
            found *= _fits(worth, level, least)
        for seat, told in self._told.items():
            if not self._as_told(hands[seat] | self._played[seat], told):
                found *= DOUBT
        return found

    def _as_told(self, hand: Mask, told: list[Declared]) -> bool:
        """Whether its best declarations are of the kinds, or worth the points, announced."""
        own = self._house.found(cards_of(hand), self._trump) if may_declare(hand) else ()
        if not told or len(told) > len(own):
            return not told and not own
        return all(
            one.points == said.points if said.kind is None else one.kind is said.kind
            for one, said in zip(own, told, strict=False)
        )


def guessed(
    view: TrickView, house: House, memory: Memory, seat: Seat, random: Random, count: int
) -> Sequence[tuple[Hands, int]]:
    """So many deals, each with how often it counts: of more deals the likelier ones."""
    dealer, judge = Dealer(memory, random), Judge(view, house, memory, seat)
    if not memory.unseen:
        return [(dealer.deal(), 1)]
    if judge.silent:
        return [(dealer.deal(), 1) for _ in range(count)]
    deals = [dealer.deal() for _ in range(count * MORE)]
    sums = list(itertools.accumulate(map(judge.weight, deals)))
    step = sums[-1] / count
    mark, kept = step / 2, []
    for deal, reached in zip(deals, sums, strict=True):
        times = 0
        while mark < reached:
            mark += step
            times += 1
        if times:
            kept.append((deal, times))
    return kept
