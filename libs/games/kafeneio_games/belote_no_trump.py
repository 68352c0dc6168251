"""Belote without trumps, rules B1-B3, B5, B6, B13-B15, B19-B25 and B30 of the rule book.

    B24       no suit ruffs, and following suit is the only duty; in one single round each takes or
              passes, with no card turned; when nobody takes, nothing is scored; there is no belote
    A5        the players speak on five cards, and get three more when somebody has taken
    B25       130 card points in all with an ace of 11, 162 with one of 19; all tricks 220 or 252
    B19-B23   made, dedans, litige, capot; marked exactly

House options (fields of `BeloteNoTrump`): `declarations` (N4, N5, N6, A22, A23), `transfer` of
them to the side that wins the deal (N7), `plain_ace` (N3), and `before_take`, the cards that each
holds when he speaks (A5).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from . import belote_play, belote_view, trick_actions
from .belote_declarations import MAISON, DeclarationRules
from .belote_play import HAND, SEATS, SIDES, State
from .belote_scoring import NOBODY_TOOK, Counted, DealResult, classic_marks
from .cards import Deal
from .game import CHANCE, Draw, Illegal, Result, Seat
from .trick_actions import PASS, TAKE, Action, Call, Declare, Pass, PlayCard, Take
from .trick_view import Contract, Stage, TrickView
from .tricks import NO_TRUMP, side_of


@dataclass(frozen=True, slots=True)
class BeloteNoTrump:
    """The game of belote without trumps as a `Game[State, Action, TrickView]`."""

    declarations: DeclarationRules = MAISON
    transfer: bool = False
    plain_ace: Literal[11, 19] = 11
    before_take: Literal[5, 8] = 5

    @property
    def name(self) -> str:
        """Variant and edition."""
        return "belote-no-trump@1"

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
        return belote_play.begun("belote without trumps", first, live)

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
        return iter((TAKE, PASS))

    def apply(self, state: State, seat: Seat, action: Action) -> State:
        """The next state, or `Illegal` with the rule that refuses."""
        match action:
            case PlayCard(card):
                return belote_play.card_played(
                    state, seat, card, self.declarations, self._marks, plain_ace=self.plain_ace
                )
            case Take() | Pass():
                return _called(state, seat, action)
            case Declare():
                return belote_play.declared(state, seat, self.declarations)
            case Deal():
                belote_play.check_deal(state, seat, action, self.before_take, 0, "A5")
                return belote_play.spread(action, Stage.CHOOSING, state.dealer)
        raise Illegal("B24", "that is no action of this game")

    def chance(self, state: State, draw: Draw) -> Action:
        """The pack shuffled and dealt (B1, A5)."""
        return belote_play.cut(state, draw, self.before_take, 0)

    def view(self, state: State, seat: Seat | None) -> TrickView:
        """What that seat may know; None is a spectator."""
        sheet = belote_view.classic_sheet(state)
        return belote_view.view(state, seat, "belote-no-trump", self.declarations, sheet)

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
        """ "take", "pass", "declare", "JS", "deal ..."."""
        return trick_actions.write(action)

    def read(self, text: str) -> Action:
        """The exact inverse of `write`; `Unreadable` for anything else."""
        return trick_actions.read(text)

    def show(self, action: Action, seat: Seat | None) -> str:
        """`write`, less the cards of a deal that the seat may not see."""
        return trick_actions.show(action, seat)

    def _marks(self, counted: Counted, contract: Contract) -> DealResult:
        return classic_marks(counted, self.transfer)


# ---------------------------------------------------------------- who takes


def _called(state: State, seat: Seat, call: Take | Pass) -> State:
    belote_play.check_auction(state, seat, "B24")
    calls: tuple[tuple[Seat, Call], ...] = (*state.calls, (seat, call))
    if isinstance(call, Pass):
        state = replace(state, calls=calls, asked=belote_play.after(seat))
        return belote_play.passed_out(state, NOBODY_TOOK) if len(calls) == len(SEATS) else state
    eight = len(state.hands[seat]) == HAND
    hands = state.hands if eight else belote_play.complete(state, seat)
    contract = Contract(seat, side_of(seat), 0, NO_TRUMP)
    return belote_play.playing(replace(state, calls=calls), hands, contract)
