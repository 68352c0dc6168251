"""Classic Pilotta: the trump is chosen from a turned card; no bids, no contra.

    C1         five cards each, one turned, then three each; the chooser takes that one and two
    C2, C3, C4 two rounds of choosing: `pilotta_choice`
    C6         there is no game value
    C7, C8     the chooser's side needs more than the other; as much is not enough
    C9, C10    made: each side its own; failed: the other side everything
    C11        the seat after the dealer leads, not the chooser
    C12        all tricks are worth 250
    C13        declarations are those of the eight cards
    P1-P5, P11, P20-P65, where these do not say otherwise: `pilotta_play` and what it names

House options (fields of `ClassicPilotta`): those of section 8 that do not concern bids or contra.
Left out: contra (C5), and what P12 and P65 leave out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from . import pilotta_choice, pilotta_play, trick_actions
from .cards import Deal
from .game import Draw, Illegal, Result, Seat
from .pilotta import SIDES
from .pilotta_choice import Table
from .pilotta_play import State
from .pilotta_scoring import Scoring, more_made
from .trick_actions import Action
from .trick_view import Contract, Stage, TrickView
from .tricks import next_seat, sorted_hand

TABLE: Final = Table(seats=4, each=5, rule="C1")


@dataclass(frozen=True, slots=True)
class ClassicPilotta:
    """The game as a `Game[State, Action, TrickView]`; its fields are the switches."""

    score_all_declarations: bool = False
    round_highest_up: bool = False
    low_carres_count: bool = False
    six_six_to_caller: bool = False
    partner_exemption: bool = False

    @property
    def name(self) -> str:
        """Variant and edition."""
        return "pilotta-classic@1"

    @property
    def sides(self) -> tuple[tuple[Seat, ...], ...]:
        """Partners sit opposite each other (P4b)."""
        return SIDES

    @property
    def hidden(self) -> bool:
        """The others' hands are, and the cards not dealt yet."""
        return True

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
        """Pass and what may be chosen, or a declaration and cards; a deal is not listed."""
        if state.stage is Stage.PLAYING:
            yield from pilotta_play.legal(state, seat, self)
        elif state.stage is Stage.CHOOSING and seat == state.turn:
            yield from pilotta_choice.legal(state)

    def apply(self, state: State, seat: Seat, action: Action) -> State:
        """The next state, or `Illegal` with the rule that refuses."""
        match state.stage:
            case Stage.PLAYING:
                return pilotta_play.applied(state, seat, action, self, more_made)
            case Stage.OVER:
                raise Illegal(pilotta_play.OVER, "the hand is over")
        if isinstance(action, Deal):
            return pilotta_choice.dealt(state, seat, action, TABLE)
        return pilotta_choice.said(state, seat, action, _fixed)

    def chance(self, state: State, draw: Draw) -> Deal:
        """The pack, shuffled afresh: five cards each, the turned one, the rest (C1)."""
        return pilotta_choice.chance(state, TABLE, draw)

    def view(self, state: State, seat: Seat | None) -> TrickView:
        """The hand without the others' cards and those not dealt yet."""
        return pilotta_play.view("pilotta-classic", state, seat, self)

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
        """ "take", "choose H", "pass", "declare", "JS" ..."""
        return trick_actions.write(action)

    def read(self, text: str) -> Action:
        """The exact inverse of `write`; `Unreadable` for anything else."""
        return trick_actions.read(text)

    def show(self, action: Action, seat: Seat | None) -> str:
        """As `write`; of a deal only the seat's own cards and the turned one."""
        return trick_actions.show(action, seat)


def _fixed(state: State, contract: Contract) -> State:
    """The chooser takes the turned card, trump or not, and two; the others three (C1, C3)."""
    assert state.turned is not None
    hands = pilotta_choice.deal_out(
        state.hands, state.rest, next_seat(state.dealer, TABLE.seats), contract.seat
    )
    chooser = contract.seat
    filled = (
        *hands[:chooser],
        sorted_hand((*hands[chooser], state.turned)),
        *hands[chooser + 1 :],
    )
    return pilotta_play.opened(state, filled, contract)
