"""What is said before the play: each thing that may be said is weighed by the same deals.

For every trump in question the deals that may be are played out plainly once; what a contract, a
contra or a pass then brings follows from the game's own arithmetic.  A pass is worth what the
contract that stands is worth; without one, `NOTHING`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random
from typing import Final, NamedTuple

from kafeneio_games.cards import SUITS, Card
from kafeneio_games.game import Seat
from kafeneio_games.trick_actions import (
    CAPOTS,
    CHOICES,
    EXCHANGE,
    PASS,
    RECONTRA,
    TAKE,
    Action,
    Bid,
    Capot,
    Contra,
    read,
)
from kafeneio_games.trick_view import Contract, Stage, TrickView
from kafeneio_games.tricks import side_of

from .tricks_deals import Hands
from .tricks_guess import estimate, guessed
from .tricks_house import Dealt, House
from .tricks_memory import memory
from .tricks_playout import ALL, Position, played_out
from .tricks_reckoner import Reckoner, law_of
from .tricks_table import BIT, Mask, plain

DEALS: Final = 40
LOWEST: Final = 80
STEP: Final = 10
CAPOT: Final = 250
WORSE: Final = 35.0  # no suit is weighed that is so much worse than the best, by its estimate

# Points that a pass is worth when nobody has bid, by seats: of two the other may take, and fail.
NOTHING: Final = {4: 0.0, 2: 15.0}
OVER_PARTNER: Final = 12.0  # what a bid over the partner's must bring more, in points
CONTRA: Final = 0.6  # what a contra must bring more, by the value of the contract
ANSWER: Final = 1.6  # and a recontra


class Played(NamedTuple):
    """One deal played out, and how often it counts."""

    outcome: int
    dealt: Dealt
    times: int


class Auction:
    """The weighing of one view."""

    def __init__(self, view: TrickView, house: House, seat: Seat, random: Random) -> None:
        self.view, self.house, self.seat, self.random = view, house, seat, random
        self.side = side_of(seat)
        self._deals: dict[Mask, Sequence[tuple[Hands, int]]] = {}
        self._played: dict[tuple[Mask, str, int], list[Played]] = {}

    def results(self, own: Mask, trump: str, side: int) -> list[Played]:
        """The deals in which the seat holds `own`, played out with that trump of that side."""
        key = (own, trump, side)
        if key not in self._played:
            view, house = self.view, self.house
            if own not in self._deals:
                known = memory(view, house, self.seat, own)
                self._deals[own] = guessed(view, house, known, self.seat, self.random, DEALS)
            law = law_of(house, trump)
            leader = (view.dealer + 1) % house.seats
            contract = Contract(self.seat, side, 0, trump)
            reckoner = Reckoner(view, house, contract, (0,) * house.seats)
            found = []
            for hands, times in self._deals[own]:
                ranked = tuple([law.table.of(hand) for hand in hands])
                start = Position(ranked, leader, 0, 0, 0, 0, 0, 0, (False, False))
                found.append(Played(played_out(start, law, side), reckoner.dealt(hands), times))
            self._played[key] = found
        return self._played[key]

    def worth(self, own: Mask, contract: Contract, failed: Contract | None = None) -> float:
        """What the seat's side gets more than the other, on the average, by that contract.

        Where it gets less, `failed` counts instead, if it is given.
        """
        results = self.results(own, contract.trump, contract.side)
        sign, total = -1 if self.side else 1, 0
        for one in results:
            value = sign * self.house.worth(one.outcome, one.dealt, contract)
            if value < 0 and failed is not None:
                value = sign * self.house.worth(one.outcome, one.dealt, failed)
            total += one.times * value
        return total / sum([one.times for one in results])

    def most(self, own: Mask, trump: str) -> int:
        """The most points that the seat's side has in any of the deals, 250 for all tricks."""
        side = self.side
        return max(
            _points(one, side) + one.dealt.declarations[side] + one.dealt.belote[side]
            for one in self.results(own, trump, side)
        )


def _points(one: Played, side: int) -> int:
    outcome = one.outcome if side == 0 else one.dealt.pool - one.outcome
    return CAPOT if outcome > ALL // 2 else max(0, outcome)


def said(view: TrickView, house: House, seat: Seat, random: Random) -> Action:
    """What is said; `view` is the seat's own, and it is asked for something else than a card."""
    auction = Auction(view, house, seat, random)
    match view.stage:
        case Stage.CHOOSING:
            return _choice(auction)
        case Stage.EXCHANGE:
            return _exchange(auction)
        case Stage.BIDDING:
            return _bid(auction)
        case Stage.CONTRA | Stage.RECONTRA:
            return _answer(auction)
    raise ValueError(f"nothing is said in the stage {view.stage}")


# ---------------------------------------------------------------- choosing


def _choice(auction: Auction) -> Action:
    """The turned suit, another one, "I take", or a pass."""
    view, seat = auction.view, auction.seat
    own = plain(view.hand)
    options: list[tuple[Action, str]]
    if view.turned is None:
        options = [(TAKE, "")]
    elif len(view.calls) < auction.house.seats:
        options = [(TAKE, view.turned[1])]
    else:
        options = [(one, suit) for suit, one in CHOICES.items() if suit != view.turned[1]]
    best: Action = PASS
    most = NOTHING[auction.house.seats]
    for action, trump in options:
        held = own
        if view.turned is not None and auction.house.seats > 2:
            held |= BIT[view.turned]
        elif view.turned is not None and action == TAKE:
            held = _exchanged(own, view.turned)
        worth = auction.worth(held, Contract(seat, auction.side, 0, trump))
        if worth > most:
            best, most = action, worth
    return best


def _exchanged(own: Mask, turned: Card) -> Mask:
    """The hand with the turned card for its seven, if it has it."""
    seven = BIT[Card("7" + turned[1])]
    return own & ~seven | BIT[turned] if own & seven else own


def _exchange(auction: Auction) -> Action:
    """The exchange, when there is a seven to give and the hand is no worse for it."""
    view = auction.view
    own, contract = plain(view.hand), view.contract
    if view.turned is None or contract is None:
        raise ValueError("there is nothing to exchange")
    better = _exchanged(own, view.turned)
    if better == own or auction.worth(better, contract) < auction.worth(own, contract):
        return PASS
    return EXCHANGE


# ---------------------------------------------------------------- bidding


def _bid(auction: Auction) -> Action:
    """A bid, a contra, or a pass."""
    view = auction.view
    stands = view.contract
    own = plain(view.hand)
    best: Action = PASS
    most = NOTHING[auction.house.seats] if stands is None else auction.worth(own, stands)
    if stands is not None and stands.side != auction.side and auction.house.contra_in_auction:
        doubled = auction.worth(own, replace(stands, multiplier=2)) - CONTRA * stands.value
        if doubled > most:
            best, most = _contra(view), doubled
    margin = OVER_PARTNER if stands is not None and stands.side == auction.side else 0.0
    for bid, contract in _bids(auction, own):
        # One that fails is reckoned doubled: the mean of few deals makes one bid too much.
        worth = auction.worth(own, contract, replace(contract, multiplier=2)) - margin
        if worth > most:
            best, most = bid, worth
    return best


def _bids(auction: Auction, own: Mask) -> Iterator[tuple[Bid | Capot, Contract]]:
    """The bids that may be made and could hold."""
    stands, seat, side = auction.view.contract, auction.seat, auction.side
    if stands is not None and stands.capot:
        return
    lowest = LOWEST if stands is None else stands.value + STEP
    worths = {suit: estimate(own, suit) for suit in SUITS}
    for suit, worth in worths.items():
        if worth < max(worths.values()) - WORSE:
            continue
        most = auction.most(own, suit)
        for value in range(lowest, min(most, auction.house.highest) + 1, STEP):
            yield Bid(value, suit), Contract(seat, side, value, suit)
        if most >= CAPOT:
            yield CAPOTS[suit], Contract(seat, side, CAPOT, suit, capot=True)


def _contra(view: TrickView) -> Contra:
    """A contra to the bid that stands: it is named by its number."""
    return Contra(sum(isinstance(read(text), Bid | Capot) for _, text in view.calls))


def _answer(auction: Auction) -> Action:
    """A contra, or a recontra, when the deals say so clearly."""
    view = auction.view
    contract = view.contract
    if contract is None:
        raise ValueError("there is no bid to answer")
    own = plain(view.hand)
    asked = view.stage is Stage.CONTRA
    raised = replace(contract, multiplier=2 if asked else 4)
    gain = auction.worth(own, raised) - auction.worth(own, contract)
    if gain <= (CONTRA if asked else ANSWER) * contract.value:
        return PASS
    return _contra(view) if asked else RECONTRA
