"""How likely a deal is, by what the seats have said: bids, passes and declarations.

Nobody is bound to bid as this player would, so nothing that was said rules a deal out.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from random import Random
from typing import Final, NamedTuple

from kafeneio_games.cards import SUITS
from kafeneio_games.game import Seat
from kafeneio_games.trick_actions import TAKE, Bid, Capot, Choose, read
from kafeneio_games.trick_view import TrickView

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


def claims(view: TrickView, seat: Seat) -> tuple[Claim, ...]:
    """What the others have claimed in the auction or the choosing."""
    found: dict[Seat, Claim] = {}
    highest = 70
    trump = view.contract.trump if view.contract else ""
    turned = view.turned[1] if view.turned else trump
    for caller, text in view.calls:
        call = read(text)
        if isinstance(call, Bid | Capot):
            value = call.value if isinstance(call, Bid) else SURE
            highest = max(highest, value)
            found[caller] = Claim(caller, (call.suit,), min(value, SURE) - 5, True)
        elif call == TAKE or isinstance(call, Choose):
            found[caller] = Claim(caller, (trump,), TAKEN, True)
        elif text == "pass" and caller not in found and highest < SURE:
            if view.game in ("pilotta", "coinche"):
                found[caller] = Claim(caller, tuple(SUITS), highest + 15, False)
            elif turned or view.game == "belote-no-trump":
                found[caller] = Claim(caller, (turned,), TAKEN, False)
    return tuple([claim for claim in found.values() if claim.seat != seat])


@functools.lru_cache(maxsize=1 << 12)
def _fits(worth: float, level: float, least: bool) -> float:
    sign = 1 if least else -1
    return DOUBT + (1 - DOUBT) / (1 + math.exp(-sign * (worth - level) / SPREAD))


class Judge:
    """Weighs deals by what was said in one view."""

    def __init__(self, view: TrickView, house: House, memory: Memory, seat: Seat) -> None:
        self._house, self._played = house, memory.played
        self._claims = claims(view, seat)
        self._trump = view.contract.trump if view.contract else ""
        # By seat whose first card is played: the points, or kinds, that it has announced.
        self._told: dict[Seat, list[object]] = {
            player: [] for player, _ in (*view.played, *view.trick) if player != seat
        }
        self._kinds = view.game.startswith(("belote", "coinche"))
        for declared in view.declarations:
            if declared.seat in self._told:
                told = declared.kind if self._kinds else declared.points
                self._told[declared.seat].append(told)

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

    def _as_told(self, hand: Mask, told: list[object]) -> bool:
        if not may_declare(hand):
            return not told
        own = self._house.found(cards_of(hand), self._trump)
        if self._kinds:
            return [one.kind for one in own] == told
        return [one.points for one in own[: len(told) or 1]] == told


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
