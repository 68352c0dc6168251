"""Belote with trumps, rules B1-B23 and B30 of the rule book.

    B16       five cards each, and the next one is turned up
    B17       each takes the turned suit or passes; then each names another suit or passes; when
              nobody takes, nothing is scored
    B18       the taker gets the turned card and two more, the others three more
    B4-B11    ranks, points, and which cards may be played; without the suit led a trump is due
              unless the partner holds the trick
    B12, A17  king and queen of trumps in one hand are 20, announced by themselves
    B13, B30  declarations: their kinds in the first trick, the winning side's cards in the second
    B19-B23   made, dedans, litige, capot; marked exactly

House options (fields of `Belote`): `declarations` (N5, N6, A22, A23) and `transfer`, whether
declarations go to the side that wins the deal on a fall or a capot (N7).

Left out on purpose: a cut of the pack and the packets of the deal (a fair shuffle knows neither),
belote that must be said (A17), and showing the losing declarations (B13).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from . import belote_play, belote_view, trick_actions
from .belote_declarations import MAISON, DeclarationRules
from .belote_play import SIDES, State
from .belote_scoring import NOBODY_TOOK, Counted, DealResult, classic_marks
from .cards import Deal
from .game import CHANCE, Draw, Illegal, Result, Seat
from .trick_actions import (
    CHOICES,
    PASS,
    TAKE,
    Action,
    Call,
    Choose,
    Declare,
    Pass,
    PlayCard,
    Take,
)
from .trick_view import Contract, SideSheet, Stage, TrickView
from .tricks import side_of

FIRST: Final = 5  # cards each, before anybody takes (B16)
ROUND: Final = 4  # calls in each of the two rounds (B17)


@dataclass(frozen=True, slots=True)
class Belote:
    """The game of belote with trumps as a `Game[State, Action, TrickView]`."""

    declarations: DeclarationRules = MAISON
    transfer: bool = False

    @property
    def name(self) -> str:
        """Variant and edition."""
        return "belote@1"

    @property
    def sides(self) -> tuple[tuple[Seat, ...], ...]:
        """Two pairs, partners opposite."""
        return SIDES

    @property
    def hidden(self) -> bool:
        """Hands are hidden."""
        return True

    def start(self, first: Seat, live: tuple[Seat, ...]) -> State:
        """Before the deal; `first` is the dealer."""
        return belote_play.begun("belote", first, live)

    def to_act(self, state: State) -> tuple[Seat, ...]:
        """CHANCE before the deal, then whoever is asked, nobody when it is over."""
        return belote_play.to_act(state)

    def prompted(self, state: State) -> Seat | None:
        """Whoever is asked for a call or a card."""
        return belote_play.prompted(state)

    def mid_turn(self, state: State) -> bool:
        """Between a declaration and its card."""
        return belote_play.mid_turn(state)

    def legal(self, state: State, seat: Seat) -> Iterator[Action]:
        """Calls, or a declaration and cards; of the house's deals, too many to list, none."""
        if seat == CHANCE or seat not in self.to_act(state):
            return iter(())
        if state.stage is Stage.PLAYING:
            return iter(belote_play.legal(state, self.declarations))
        return iter(_calls(state))

    def apply(self, state: State, seat: Seat, action: Action) -> State:
        """The next state, or `Illegal` with the rule that refuses."""
        match action:
            case PlayCard(card):
                return belote_play.card_played(state, seat, card, self.declarations, self._marks)
            case Take() | Choose() | Pass():
                return _called(state, seat, action)
            case Declare():
                return belote_play.declared(state, seat, self.declarations)
            case Deal():
                belote_play.check_deal(state, seat, action, FIRST, 1, "B16")
                return belote_play.spread(action, Stage.CHOOSING, state.dealer)
        raise Illegal("B17", "that is no action of this game")

    def chance(self, state: State, draw: Draw) -> Action:
        """The pack shuffled and dealt (B1, B16)."""
        return belote_play.cut(state, draw, FIRST, 1)

    def view(self, state: State, seat: Seat | None) -> TrickView:
        """What that seat may know; None is a spectator."""
        return belote_view.view(state, seat, "belote", self.declarations, self._sheet(state))

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
        """ "take", "choose H", "pass", "declare", "JS", "deal ..."."""
        return trick_actions.write(action)

    def read(self, text: str) -> Action:
        """The exact inverse of `write`; `Unreadable` for anything else."""
        return trick_actions.read(text)

    def show(self, action: Action, seat: Seat | None) -> str:
        """`write`, less the cards of a deal that the seat may not see."""
        return trick_actions.show(action, seat)

    def _marks(self, counted: Counted, contract: Contract) -> DealResult:
        return classic_marks(counted, self.transfer)

    def _sheet(self, state: State) -> tuple[SideSheet, ...] | None:
        return belote_view.classic_sheet(state)


# ---------------------------------------------------------------- who takes


def _calls(state: State) -> tuple[Action, ...]:
    if len(state.calls) < ROUND:
        return (TAKE, PASS)
    turned = state.turned[0][1]
    return (*(choice for suit, choice in CHOICES.items() if suit != turned), PASS)


def _called(state: State, seat: Seat, call: Take | Choose | Pass) -> State:
    belote_play.check_auction(state, seat, "B17")
    second = len(state.calls) >= ROUND
    turned = state.turned[0][1]
    calls: tuple[tuple[Seat, Call], ...] = (*state.calls, (seat, call))
    match call:
        case Pass():
            state = replace(state, calls=calls, asked=belote_play.after(seat))
            return belote_play.passed_out(state, NOBODY_TOOK) if len(calls) == 2 * ROUND else state
        case Take():
            if second:
                raise Illegal("B17", "the turned suit has been passed by all")
            trump = turned
        case Choose(suit):
            if not second:
                raise Illegal("B17", "in the first round only the turned suit can be taken")
            if suit == turned or suit not in CHOICES:
                raise Illegal("B17", "in the second round another suit must be named")
            trump = suit
    hands = belote_play.complete(state, seat)
    contract = Contract(seat, side_of(seat), 0, trump)
    return belote_play.playing(replace(state, calls=calls), hands, contract)
