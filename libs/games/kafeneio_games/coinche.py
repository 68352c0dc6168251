"""Coinche, rules B1-B15 and B26-B30 of the rule book.

    B26, A13  eight cards each; bids of 80, 90 ... in a suit, each above the last, or all tricks,
              which nothing outbids; three passes after a bid end the auction
    B27, A15  an opponent of the last bidder may say contra (coinche): no more bids; then the
              bidder's side may say recontra (surcoinche), which ends the auction, as two passes do
    A16, N9   a contra names the bid that it answers; out of turn while that bid stands, or in turn
    B4-B11    ranks, points, and which cards may be played; N8, whether a lower trump is due
    B12, A17  king and queen of trumps in one hand are 20, announced by themselves
    B13, B30  declarations: their kinds in the first trick, the winning side's cards in the second
    B28, B29  when a contract holds, and what it brings (`belote_scoring`)

House options (fields of `Coinche`): `declarations` (N5, N6, A22, A23), `marks` (N1, N2, N7, A4),
`undertrump` (N8) and `contra_any_time` (N9).

Left out on purpose: contracts without trumps or in all suits, and a slam by one hand alone (B26).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from . import belote_play, belote_view, trick_actions
from .belote_declarations import MAISON, DeclarationRules
from .belote_play import HAND, SEATS, SIDES, State
from .belote_scoring import CAPOT, NOBODY_TOOK, CoincheMarks, Counted, DealResult, coinche_marks
from .cards import SUITS, Deal
from .game import CHANCE, Draw, Illegal, Result, Seat
from .trick_actions import (
    CAPOTS,
    PASS,
    RECONTRA,
    Action,
    Bid,
    Call,
    Capot,
    Contra,
    Declare,
    Pass,
    PlayCard,
    Recontra,
)
from .trick_view import Contract, SideSheet, Stage, TrickView
from .tricks import side_of

LOWEST: Final = 80
STEP: Final = 10
HIGHEST: Final = 160  # without declarations (A13)
HIGHEST_DECLARED: Final = 650  # with them

MARKS: Final = CoincheMarks()
"""The house's own marks, which are the default."""

# Every bid, from low to high, so that listing what is legal makes no objects.
_BIDS: Final[tuple[Action, ...]] = tuple(
    Bid(value, suit) for value in range(LOWEST, HIGHEST_DECLARED + 1, STEP) for suit in SUITS
)
_CAPOTS: Final = tuple(CAPOTS.values())
_CONTRAS: Final = tuple(Contra(number) for number in range(len(_BIDS) + 2))


@dataclass(frozen=True, slots=True)
class Coinche:
    """The game of coinche as a `Game[State, Action, TrickView]`."""

    declarations: DeclarationRules = MAISON
    marks: CoincheMarks = MARKS
    undertrump: bool = True
    contra_any_time: bool = True

    @property
    def name(self) -> str:
        """Variant and edition."""
        return "coinche@1"

    @property
    def sides(self) -> tuple[tuple[Seat, ...], ...]:
        """Two pairs, partners opposite."""
        return SIDES

    @property
    def hidden(self) -> bool:
        """Hands are hidden."""
        return True

    @property
    def highest(self) -> int:
        """The highest number that may be bid (A13)."""
        return HIGHEST_DECLARED if self.declarations.played else HIGHEST

    def start(self, first: Seat, live: tuple[Seat, ...]) -> State:
        """Before the deal; `first` is the dealer."""
        return belote_play.begun("coinche", first, live)

    def to_act(self, state: State) -> tuple[Seat, ...]:
        """As in belote; and both opponents of the last bidder, where contra needs no turn (N9)."""
        seats = belote_play.to_act(state)
        contract = state.contract
        if not self.contra_any_time or contract is None or state.stage is not Stage.BIDDING:
            return seats
        others = SIDES[1 - contract.side]
        return seats + tuple([seat for seat in others if seat != state.asked])

    def prompted(self, state: State) -> Seat | None:
        """Whoever is asked for a call or a card; not who may say contra out of turn."""
        return belote_play.prompted(state)

    def mid_turn(self, state: State) -> bool:
        """Between a declaration and its card."""
        return belote_play.mid_turn(state)

    def legal(self, state: State, seat: Seat) -> Iterator[Action]:
        """Bids, contra and pass, or a declaration and cards; of the house's deals none."""
        if seat == CHANCE or seat not in self.to_act(state):
            return iter(())
        if state.stage is Stage.PLAYING:
            return iter(belote_play.legal(state, self.declarations, self.undertrump))
        if state.stage is Stage.RECONTRA:
            return iter((RECONTRA, PASS))
        return iter(self._calls(state, seat))

    def apply(self, state: State, seat: Seat, action: Action) -> State:
        """The next state, or `Illegal` with the rule that refuses."""
        match action:
            case PlayCard(card):
                return belote_play.card_played(
                    state, seat, card, self.declarations, self._marks, self.undertrump
                )
            case Pass():
                return _passed(state, seat)
            case Bid() | Capot():
                return _bid(state, seat, action, self.highest)
            case Contra():
                return self._contra(state, seat, action)
            case Recontra():
                return _recontra(state, seat)
            case Declare():
                return belote_play.declared(state, seat, self.declarations)
            case Deal():
                belote_play.check_deal(state, seat, action, HAND, 0, "B26")
                return belote_play.spread(action, Stage.BIDDING, state.dealer)
        raise Illegal("B26", "that is no action of this game")

    def chance(self, state: State, draw: Draw) -> Action:
        """The pack shuffled and dealt (B1, B26)."""
        return belote_play.cut(state, draw, HAND, 0)

    def view(self, state: State, seat: Seat | None) -> TrickView:
        """What that seat may know; None is a spectator."""
        return belote_view.view(state, seat, "coinche", self.declarations, self._sheet(state))

    def result(self, state: State) -> Result | None:
        """A `DealResult`: the marks by side, and what the match must remember."""
        return state.result

    def concession(self, state: State, seat: Seat) -> None:
        """None: a deal is not resigned."""

    def resign(self, state: State, seat: Seat) -> State:
        """`Illegal`, always."""
        return belote_play.refuse_resignation()

    def withdraw(self, state: State, seat: Seat) -> State:
        """Nothing changes: a computer plays on (F1)."""
        return state

    def write(self, action: Action) -> str:
        """ "90H", "capotH", "contra 3", "recontra", "pass", "declare", "JS", "deal ..."."""
        return trick_actions.write(action)

    def read(self, text: str) -> Action:
        """The exact inverse of `write`; `Unreadable` for anything else."""
        return trick_actions.read(text)

    def show(self, action: Action, seat: Seat | None) -> str:
        """`write`, less the cards of a deal that the seat may not see."""
        return trick_actions.show(action, seat)

    def _marks(self, counted: Counted, contract: Contract) -> DealResult:
        return _marked(counted, contract, self.marks)

    def _sheet(self, state: State) -> tuple[SideSheet, ...] | None:
        counted, contract, result = state.counted, state.contract, state.result
        if counted is None or contract is None or result is None:
            return None
        exact = _marked(counted, contract, replace(self.marks, rounded=False)).points
        value = contract.value * contract.multiplier
        return belote_view.sheet_of(counted, result, (exact[0], exact[1]), value)

    def _calls(self, state: State, seat: Seat) -> tuple[Action, ...]:
        contract, asked = state.contract, seat == state.asked
        higher: tuple[Action, ...] = ()
        if asked and (contract is None or not contract.capot):
            start = 0 if contract is None else _place(contract.value + STEP)
            higher = _BIDS[start : _place(self.highest + STEP)] + _CAPOTS
        contra: tuple[Action, ...] = ()
        if contract is not None and side_of(seat) != contract.side:
            contra = (_CONTRAS[bids_made(state)],)
        return higher + contra + ((PASS,) if asked else ())

    def _contra(self, state: State, seat: Seat, contra: Contra) -> State:
        """The contract frozen and doubled, and its side asked for a recontra (B27, A16)."""
        belote_play.check_going_on(state)
        if state.stage is not Stage.BIDDING:
            raise Illegal("B27", "it is too late for a contra")
        if seat not in SEATS:
            raise Illegal("B2", "there is no such seat")
        contract = state.contract
        if contract is None:
            raise Illegal("B27", "there is no bid to answer")
        if side_of(seat) == contract.side:
            raise Illegal("A16", "the bid is your own side's")
        if not self.contra_any_time and seat != state.asked:
            raise Illegal("N9", "a contra is said in turn")
        if contra.bid != bids_made(state):
            raise Illegal("A16", "that bid no longer stands")
        asked = contract.seat if self.contra_any_time else belote_play.after(seat)
        return replace(
            state,
            stage=Stage.RECONTRA,
            asked=asked,
            calls=(*state.calls, (seat, contra)),
            contract=replace(contract, multiplier=2),
        )


# ---------------------------------------------------------------- the auction


def bids_made(state: State) -> int:
    """How many bids this auction has seen: the number of the last one (A16)."""
    return sum(isinstance(call, Bid | Capot) for _, call in state.calls)


def _place(value: int) -> int:
    """Where the bids of that value begin in the list of all."""
    return (value - LOWEST) // STEP * len(SUITS)


def _bid(state: State, seat: Seat, bid: Bid | Capot, highest: int) -> State:
    if state.stage is Stage.RECONTRA:
        raise Illegal("B27", "a contra has frozen the contract")
    belote_play.check_auction(state, seat, "B26")
    last = state.contract
    capot = isinstance(bid, Capot)
    value = CAPOT if isinstance(bid, Capot) else bid.value
    if bid.suit not in CAPOTS:
        raise Illegal("B26", "a bid names one of the four suits")
    if not capot and (value % STEP or value > highest):
        raise Illegal("A13", f"bids are multiples of {STEP} up to {highest}")
    if value < LOWEST:
        raise Illegal("B26", f"bids begin with {LOWEST}")
    if last is not None and last.capot:
        raise Illegal("B26", "nothing outbids all tricks")
    if last is not None and not capot and value <= last.value:
        raise Illegal("B26", "a bid must be higher than the last one")
    calls: tuple[tuple[Seat, Call], ...] = (*state.calls, (seat, bid))
    contract = Contract(seat, side_of(seat), value, bid.suit, capot)
    return replace(state, calls=calls, asked=belote_play.after(seat), contract=contract)


def _passed(state: State, seat: Seat) -> State:
    """The next one asked; or the auction over (B26), after two passes to a contra (A15)."""
    if state.stage is Stage.RECONTRA and seat != state.asked:
        raise Illegal("A15", "another seat is asked for a recontra")
    belote_play.check_auction(state, seat, "B26")
    calls: tuple[tuple[Seat, Call], ...] = (*state.calls, (seat, PASS))
    state = replace(state, calls=calls)
    passes = _passes(state)
    if state.stage is Stage.RECONTRA:
        if passes == 2:
            return _played(state)
        return replace(state, asked=belote_play.after(seat, 2))  # the partner
    if state.contract is None:
        passed_out = passes == len(SEATS)
        state = replace(state, asked=belote_play.after(seat))
        return belote_play.passed_out(state, NOBODY_TOOK) if passed_out else state
    if passes == len(SEATS) - 1:
        return _played(state)
    return replace(state, asked=belote_play.after(seat))


def _passes(state: State) -> int:
    """How many passes in a row end the auction so far."""
    count = 0
    while count < len(state.calls) and state.calls[-1 - count][1] == PASS:
        count += 1
    return count


def _recontra(state: State, seat: Seat) -> State:
    """The contract worth four times; the auction is over (B27)."""
    belote_play.check_going_on(state)
    contract = state.contract
    if state.stage is not Stage.RECONTRA or contract is None:
        raise Illegal("B27", "only a contra is answered with a recontra")
    if side_of(seat) != contract.side:
        raise Illegal("B27", "only the side that was doubled may say recontra")
    if seat != state.asked:
        raise Illegal("A15", "another seat is asked for a recontra")
    calls: tuple[tuple[Seat, Call], ...] = (*state.calls, (seat, RECONTRA))
    return _played(replace(state, calls=calls, contract=replace(contract, multiplier=4)))


def _played(state: State) -> State:
    if state.contract is None:
        raise ValueError("nobody has bid")
    return belote_play.playing(state, state.hands, state.contract)


def _marked(counted: Counted, contract: Contract, rules: CoincheMarks) -> DealResult:
    return coinche_marks(counted, contract.value, contract.capot, contract.multiplier, rules)
