"""Classic Pilotta for two: nine cards each, of which three come when the trump is chosen.

    T1     six cards each, one turned, then three each; thirteen stay unseen, the turned one is
           put away
    T2     the one who does not deal speaks first and leads; they deal in turn
    T3     who took the turned suit may give its seven for the turned card
    T4     before the three more cards; not when the turned card is the seven itself
    T5     otherwise nobody takes the turned card
    T6     the points are those of the eighteen cards in play, and ten for the last trick
    T7     success as C7, C8: more than the other
    T8     rounding as P61; equal in everything, the caller goes up
    T9     all nine tricks are worth 250
    T10    sequences may be as long as eight
    P1, P11, P20-P65, C2-C10, C12, C13, where these do not say otherwise

The question whether to exchange is asked whenever the rules would allow it, not only of a chooser
who holds the seven: else the question itself would tell.

House options (fields of `PilottaTwo`): those of `ClassicPilotta` that do not concern partners.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from . import pilotta_choice, pilotta_play, trick_actions
from .cards import Card, Deal
from .game import Draw, Illegal, Result, Seat
from .pilotta_choice import Table
from .pilotta_play import State
from .pilotta_scoring import Scoring, more_made
from .trick_actions import EXCHANGE, PASS, TAKE, Action, Exchange, Pass
from .trick_view import Contract, Stage, TrickView
from .tricks import next_seat, sorted_hand

SIDES: Final = ((Seat(0),), (Seat(1),))
TABLE: Final = Table(seats=2, each=6, rule="T1")


@dataclass(frozen=True, slots=True)
class PilottaTwo:
    """The game as a `Game[State, Action, TrickView]`; its fields are the switches."""

    score_all_declarations: bool = False
    round_highest_up: bool = False
    low_carres_count: bool = False
    six_six_to_caller: bool = False

    @property
    def name(self) -> str:
        """Variant and edition."""
        return "pilotta-classic-2@1"

    @property
    def sides(self) -> tuple[tuple[Seat, ...], ...]:
        """Each for himself."""
        return SIDES

    @property
    def hidden(self) -> bool:
        """The other's hand is, and the cards not dealt."""
        return True

    @property
    def partner_exemption(self) -> bool:
        """There are no partners."""
        return False

    @property
    def scoring(self) -> Scoring:
        """The switches of the arithmetic."""
        return Scoring(
            round_highest_up=self.round_highest_up, six_six_to_caller=self.six_six_to_caller
        )

    def start(self, first: Seat, live: tuple[Seat, ...]) -> State:
        """Before the deal; `first` deals."""
        return pilotta_play.start(first, live, TABLE.seats)

    def to_act(self, state: State) -> tuple[Seat, ...]:
        """CHANCE for the deal, then the seat on turn."""
        return pilotta_play.to_act(state)

    def prompted(self, state: State) -> Seat | None:
        """The seat on turn."""
        return pilotta_play.prompted(state)

    def mid_turn(self, state: State) -> bool:
        """A declaration was made, and its card is still due."""
        return pilotta_play.mid_turn(state)

    def legal(self, state: State, seat: Seat) -> Iterator[Action]:
        """Pass and what may be chosen or exchanged, or a declaration and cards; no deals."""
        if state.stage is Stage.PLAYING:
            yield from pilotta_play.legal(state, seat, self)
        elif seat == state.turn and state.stage is Stage.CHOOSING:
            yield from pilotta_choice.legal(state)
        elif seat == state.turn and state.stage is Stage.EXCHANGE:
            yield PASS
            if _seven(state) in state.hands[seat]:
                yield EXCHANGE

    def apply(self, state: State, seat: Seat, action: Action) -> State:
        """The next state, or `Illegal` with the rule that refuses."""
        match state.stage:
            case Stage.PLAYING:
                return pilotta_play.applied(state, seat, action, self, more_made)
            case Stage.OVER:
                raise Illegal(pilotta_play.OVER, "the hand is over")
        if isinstance(action, Deal):
            return pilotta_choice.dealt(state, seat, action, TABLE)
        if state.stage is Stage.EXCHANGE:
            pilotta_play.check_speaker(state, seat)
            return _answered(state, seat, action)
        if action == EXCHANGE:
            pilotta_play.check_speaker(state, seat)
            raise Illegal("T3", "only who took the turned suit may exchange its seven")
        return pilotta_choice.said(state, seat, action, _fixed)

    def chance(self, state: State, draw: Draw) -> Deal:
        """The pack, shuffled afresh: six cards each, the turned one, the rest (T1)."""
        return pilotta_choice.chance(state, TABLE, draw)

    def view(self, state: State, seat: Seat | None) -> TrickView:
        """The hand without the other's cards and those not dealt."""
        return pilotta_play.view("pilotta-classic-2", state, seat, self)

    def result(self, state: State) -> Result | None:
        """Recorded tens by side, and "made", "capot" (all the tricks), "failed" or "passed"."""
        return state.result

    def concession(self, state: State, seat: Seat) -> None:
        """A hand of pilotta cannot be resigned."""
        return

    def resign(self, state: State, seat: Seat) -> State:
        """Always refused."""
        raise Illegal("F4", "a hand of pilotta cannot be resigned")

    def withdraw(self, state: State, seat: Seat) -> State:
        """Nothing changes: a computer plays on (F4)."""
        return state

    def write(self, action: Action) -> str:
        """ "take", "choose H", "exchange", "pass", "declare", "JS" ..."""
        return trick_actions.write(action)

    def read(self, text: str) -> Action:
        """The exact inverse of `write`; `Unreadable` for anything else."""
        return trick_actions.read(text)

    def show(self, action: Action, seat: Seat | None) -> str:
        """As `write`; of a deal only the seat's own cards and the turned one."""
        return trick_actions.show(action, seat)


def _seven(state: State) -> Card:
    return Card("7" + pilotta_choice.turned_suit(state))


def _fixed(state: State, contract: Contract) -> State:
    """The chooser who took the turned suit is asked for the exchange; else the rest is dealt."""
    if state.said[-1][1] == TAKE and state.turned != _seven(state):
        return replace(state, stage=Stage.EXCHANGE, turn=contract.seat)
    return _dealt_out(state, contract)


def _answered(state: State, seat: Seat, action: Action) -> State:
    """The answer to the question for the exchange (T3, T4)."""
    assert state.contract is not None
    assert state.turned is not None
    if not isinstance(action, Exchange | Pass):
        raise Illegal("T4", "the exchange, or a pass, comes first")
    after = replace(state, said=(*state.said, (seat, action)))
    if isinstance(action, Exchange):
        seven, hand = _seven(state), state.hands[seat]
        if seven not in hand:
            raise Illegal("T3", "only the seven of trumps is exchanged")
        own = sorted_hand((*(card for card in hand if card != seven), state.turned))
        hands = (own, state.hands[1]) if seat == 0 else (state.hands[0], own)
        after = replace(after, hands=hands)
    return _dealt_out(after, state.contract)


def _dealt_out(state: State, contract: Contract) -> State:
    """Three more cards each; the card on the table is put away (T1, T5)."""
    first = next_seat(state.dealer, TABLE.seats)
    hands = pilotta_choice.deal_out(state.hands, state.rest, first, None)
    return pilotta_play.opened(state, hands, contract)
