"""Pilotta as it is played at the Palaristi: an auction, contra, and eight tricks for two pairs.

    P3, P4     everything goes to the next seat; eight cards each, a fresh shuffle every hand
    P5         the seat after the dealer speaks first, and leads
    P6         bids from 80 in tens, each higher than the last; suits have no rank
    P7         capot, all tricks, is worth 250, beats every number and cannot be overbid
    P8, P9     a seat that passed may bid again, also over its partner
    P10, P11   three passes after a bid end the auction; four at once end the hand without a score
    P13, P15   then the opponents of the caller are asked for a contra, on capot too
    P14        after one the calling side is asked for a recontra; then the play begins
    P16        no contra on one's own side, none twice, none without a bid
    P20-P65    the play, declarations and score: `pilotta_play`, `pilotta_calls`, `pilotta_scoring`

House options (fields of `Pilotta`): those of section 8.  `contra_timing` (P13) says when a contra
may be said: "after_auction", "in_turn" (instead of a bid or a pass; it ends the bidding), or
"any_time" (also out of turn, while a bid of the other side stands; it ends the bidding).
`numeric_bid_cap` (P6) is the highest number that may be bid.

Left out: no-trump and all-trump (P12), penalties (P65), resigning.  The target (P64), the first
dealer (P1) and the next one (P2) are the match's business.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final, Literal

from . import pilotta_play, trick_actions
from .cards import SHORT_PACK, SUITS, Deal
from .game import Draw, Illegal, Result, Seat
from .pilotta_play import State
from .pilotta_scoring import CAPOT_VALUE, Scoring, bid_made
from .trick_actions import (
    CAPOTS,
    PASS,
    RECONTRA,
    Action,
    Bid,
    Capot,
    Contra,
    Pass,
    Recontra,
)
from .trick_view import Contract, Stage, TrickView
from .tricks import next_seat

SIDES: Final = ((Seat(0), Seat(2)), (Seat(1), Seat(3)))
SEATS: Final = 4
EACH: Final = 8
LOWEST_BID: Final = 80
PASSES_TO_END: Final = 3

ContraTiming = Literal["after_auction", "in_turn", "any_time"]

_BIDS: Final = tuple(Bid(value, suit) for value in range(LOWEST_BID, 1000, 10) for suit in SUITS)


@dataclass(frozen=True, slots=True)
class Pilotta:
    """The game of Pilotta as a `Game[State, Action, TrickView]`; its fields are the switches."""

    score_all_declarations: bool = False
    contra_timing: ContraTiming = "after_auction"
    contra_winner_takes_pool: bool = False
    round_highest_up: bool = False
    low_carres_count: bool = False
    six_six_to_caller: bool = False
    partner_exemption: bool = False
    failed_adds_game_value: bool = True
    numeric_bid_cap: int = 240

    @property
    def name(self) -> str:
        """Variant and edition."""
        return "pilotta@1"

    @property
    def sides(self) -> tuple[tuple[Seat, ...], ...]:
        """Partners sit opposite each other (P4b)."""
        return SIDES

    @property
    def hidden(self) -> bool:
        """The others' hands are."""
        return True

    @property
    def scoring(self) -> Scoring:
        """The switches of the arithmetic."""
        return Scoring(
            self.failed_adds_game_value,
            self.contra_winner_takes_pool,
            self.round_highest_up,
            self.six_six_to_caller,
        )

    def start(self, first: Seat, live: tuple[Seat, ...]) -> State:
        """Before the deal; `first` deals."""
        return pilotta_play.start(first, live, SEATS)

    def to_act(self, state: State) -> tuple[Seat, ...]:
        """CHANCE for the deal, then the seat on turn; with "any_time" who may say contra too."""
        acting = pilotta_play.to_act(state)
        if state.stage is Stage.BIDDING and self.contra_timing == "any_time":
            return (*acting, *(seat for seat in _opponents(state) if seat not in acting))
        return acting

    def prompted(self, state: State) -> Seat | None:
        """The seat on turn."""
        return pilotta_play.prompted(state)

    def mid_turn(self, state: State) -> bool:
        """A declaration was made, and its card is still due."""
        return pilotta_play.mid_turn(state)

    def legal(self, state: State, seat: Seat) -> Iterator[Action]:
        """Pass, bids from low to high, capots, contra; or a declaration and cards.

        A deal is not listed: there are more of them than anybody could read.
        """
        if state.stage is Stage.PLAYING:
            yield from pilotta_play.legal(state, seat, self)
        elif seat in self.to_act(state):
            yield from self._calls(state, seat)

    def _calls(self, state: State, seat: Seat) -> Iterator[Action]:
        if state.stage is Stage.CONTRA:
            yield from (PASS, Contra(_bids(state)))
        elif state.stage is Stage.RECONTRA:
            yield from (PASS, RECONTRA)
        elif state.stage is Stage.BIDDING:
            contract = state.contract
            if seat == state.turn:
                yield PASS
                if contract is None or not contract.capot:
                    lowest = LOWEST_BID if contract is None else contract.value + 10
                    yield from _BIDS[_at(lowest) : _at(self.numeric_bid_cap + 10)]
                    yield from CAPOTS.values()
            if self.contra_timing != "after_auction" and seat in _opponents(state):
                yield Contra(_bids(state))

    def apply(self, state: State, seat: Seat, action: Action) -> State:
        """The next state, or `Illegal` with the rule that refuses."""
        match state.stage:
            case Stage.PLAYING:
                return pilotta_play.applied(state, seat, action, self, bid_made)
            case Stage.OVER:
                raise Illegal(pilotta_play.OVER, "the hand is over")
        match action:
            case Deal():
                return _dealt(state, seat, action)
            case Contra(bid):
                return _contraed(self._may_contra(state, seat, bid), seat, action)
            case Bid() | Capot() | Pass() | Recontra():
                pilotta_play.check_speaker(state, seat)
                return self._said(state, seat, action)
        pilotta_play.check_speaker(state, seat)
        raise Illegal("P6", "the trump is being bid for: a bid or a pass is due")

    def _said(self, state: State, seat: Seat, action: Bid | Capot | Pass | Recontra) -> State:
        if state.stage is Stage.BIDDING:
            match action:
                case Bid() | Capot():
                    return _bid(self._overbidding(state, action), seat, action)
                case Recontra():
                    raise Illegal("P14", "a recontra answers a contra")
            return self._passed(state, seat)
        if isinstance(action, Bid | Capot):
            raise Illegal("P10", "the bidding is over")
        if state.stage is Stage.CONTRA:
            if action == RECONTRA:
                raise Illegal("P14", "a recontra answers a contra")
            return _not_contraed(state, seat)
        return _answered(state, seat, action)

    def _overbidding(self, state: State, action: Bid | Capot) -> State:
        """The state, if that bid may be made in it (P6, P7)."""
        contract = state.contract
        if action.suit not in CAPOTS:
            raise Illegal("P6", "one of the four suits is named")
        if contract is not None and contract.capot:
            raise Illegal("P7", "capot cannot be overbid")
        if isinstance(action, Bid):
            if action.value % 10 or not LOWEST_BID <= action.value <= self.numeric_bid_cap:
                raise Illegal("P6", f"bids go from {LOWEST_BID} to {self.numeric_bid_cap} in tens")
            if contract is not None and action.value <= contract.value:
                raise Illegal("P6", "a bid must be higher than the last one")
        return state

    def _passed(self, state: State, seat: Seat) -> State:
        said = (*state.said, (seat, PASS))
        passes = _passes(said)
        turn = next_seat(seat, SEATS)
        if state.contract is None:
            after = replace(state, said=said, turn=turn)
            return pilotta_play.passed_out(after) if passes == SEATS else after
        if passes < PASSES_TO_END:
            return replace(state, said=said, turn=turn)
        if self.contra_timing != "after_auction":
            return _play_begins(replace(state, said=said), state.contract)
        # P13: the two opponents are asked, beginning after the caller.
        asked = next_seat(state.contract.seat, SEATS)
        return replace(state, stage=Stage.CONTRA, said=said, turn=asked)

    def _may_contra(self, state: State, seat: Seat, bid: int) -> State:
        """The state, if `seat` may answer the bid of that number with a contra now (P13, P16)."""
        bidding = state.stage is Stage.BIDDING
        if not bidding or self.contra_timing != "any_time":
            pilotta_play.check_speaker(state, seat)
        if state.stage is Stage.RECONTRA:
            raise Illegal("P16", "contra is said once")
        if bidding and self.contra_timing == "after_auction":
            raise Illegal("P13", "contra is asked for when the auction is over")
        if seat not in _opponents(state):
            raise Illegal("P16", "contra answers a bid of the other side")
        if bid != _bids(state):
            raise Illegal("P16", "that bid does not stand any more")
        return state

    def chance(self, state: State, draw: Draw) -> Deal:
        """The pack, shuffled afresh and cut into four hands of eight (P4)."""
        if state.stage is not Stage.DEAL:
            raise ValueError("no deal is due")
        pack = draw.shuffled(SHORT_PACK)
        return Deal(tuple(pack[at : at + EACH] for at in range(0, len(pack), EACH)))

    def view(self, state: State, seat: Seat | None) -> TrickView:
        """The hand without the others' cards."""
        return pilotta_play.view("pilotta", state, seat, self)

    def result(self, state: State) -> Result | None:
        """Recorded tens by side, and "made", "capot" (all the tricks), "failed" or "passed"."""
        return state.result

    def concession(self, state: State, seat: Seat) -> None:
        """A hand of pilotta cannot be resigned."""
        return

    def resign(self, state: State, seat: Seat) -> State:
        """Always refused."""
        raise Illegal("F1", "a hand of pilotta cannot be resigned")

    def withdraw(self, state: State, seat: Seat) -> State:
        """Nothing changes: a computer plays on (F1)."""
        return state

    def write(self, action: Action) -> str:
        """ "90H", "capotS", "pass", "contra 3", "declare", "JS" ..."""
        return trick_actions.write(action)

    def read(self, text: str) -> Action:
        """The exact inverse of `write`; `Unreadable` for anything else."""
        return trick_actions.read(text)

    def show(self, action: Action, seat: Seat | None) -> str:
        """As `write`; of a deal only the seat's own cards."""
        return trick_actions.show(action, seat)


# ---------------------------------------------------------------- the steps of the auction


def _dealt(state: State, seat: Seat, deal: Deal) -> State:
    pilotta_play.check_deal(state, seat, "P4")
    return replace(state, stage=Stage.BIDDING, hands=pilotta_play.dealt(deal, EACH, 0, SEATS, "P4"))


def _bid(state: State, seat: Seat, action: Bid | Capot) -> State:
    capot = isinstance(action, Capot)
    value = CAPOT_VALUE if isinstance(action, Capot) else action.value
    contract = Contract(seat, seat % 2, value, action.suit, capot)
    return replace(
        state,
        said=(*state.said, (seat, action)),
        turn=next_seat(seat, SEATS),
        contract=contract,
    )


def _contraed(state: State, seat: Seat, action: Contra) -> State:
    """The calling side is asked for a recontra, beginning after the one who said contra (P14)."""
    assert state.contract is not None
    return replace(
        state,
        stage=Stage.RECONTRA,
        said=(*state.said, (seat, action)),
        turn=next_seat(seat, SEATS),
        contract=replace(state.contract, multiplier=2),
    )


def _not_contraed(state: State, seat: Seat) -> State:
    """The other opponent is asked; after both the play begins (P13)."""
    assert state.contract is not None
    said = (*state.said, (seat, PASS))
    if seat == next_seat(state.contract.seat, SEATS):
        return replace(state, said=said, turn=_partner(seat))
    return _play_begins(replace(state, said=said), state.contract)


def _answered(state: State, seat: Seat, action: Pass | Recontra) -> State:
    """A recontra, or a pass; the first of them is followed by the partner's (P14)."""
    assert state.contract is not None
    after = replace(state, said=(*state.said, (seat, action)))
    if action == RECONTRA:
        return _play_begins(after, replace(state.contract, multiplier=4))
    if isinstance(state.said[-1][1], Contra):
        return replace(after, turn=_partner(seat))
    return _play_begins(after, state.contract)


def _play_begins(state: State, contract: Contract) -> State:
    return pilotta_play.opened(state, state.hands, contract)


def _opponents(state: State) -> tuple[Seat, ...]:
    """The side that did not make the highest bid; nobody while there is none."""
    return () if state.contract is None else SIDES[1 - state.contract.side]


def _bids(state: State) -> int:
    """The number of the bid that stands: how many were made in this auction."""
    return sum(isinstance(call, Bid | Capot) for _, call in state.said)


def _passes(said: tuple[tuple[Seat, object], ...]) -> int:
    """How many passes end the auction so far."""
    others = (at for at, (_, call) in enumerate(reversed(said)) if call != PASS)
    return next(others, len(said))


def _partner(seat: Seat) -> Seat:
    return Seat((seat + 2) % SEATS)


def _at(value: int) -> int:
    """Where the bids of that value begin in `_BIDS`."""
    return (value - LOWEST_BID) // 10 * len(SUITS)
