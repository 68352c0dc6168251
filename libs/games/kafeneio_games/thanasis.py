"""Thanasis and Dynamitis, rules H1-H14 and D1-D5 of the rule book.

    H1, H2     a card is turned and put aside; the seven others of its rank are jokers (H9, H11)
    D1         in Dynamitis the twos are jokers too
    H3, D2     a turned joker goes back into the stock, and another card is turned
    H4         a turn begins with a card of the stock, and ends with a discard
    H5, H5b    who can use up the ten other cards in melds goes out with his discard
    H7         nothing is melded before, and nothing laid off
    H8, H10    the others count what their melds leave at the least, an ace 1
    H13, H14   everything else as in Koum-kan, see `rummy_hand`

House options (fields of `Thanasis`): `ace_high_low` (K5), `two_naturals` (K8),
`max_stock_reshuffles` (K22), and the number of players (K1).  `wild_twos` makes it Dynamitis.

Going out is an action of its own, "out 9S": a player may prefer "discard 9S" and play on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from . import rummy, rummy_hand
from .cards import JOKER, Card, Deal
from .deadwood import Partition, after_discards, best_partition, goes_out
from .game import CHANCE, Draw, Illegal, Result, Seat
from .melds import ORDER, MeldRules
from .rummy import Action, Discard, DrawStock, GoOut, PutBack, Reshuffle
from .rummy_hand import Stage
from .rummy_hand import State as State  # what a hand is, so it can be had from here
from .rummy_view import HandEnd, RummyView, view_of

KINDS: Final = ("draws", "outs", "discards")
"""The kinds of a seat's actions, in the order of `legal`."""

ACE: Final = 1
TWO: Final = "2"


@dataclass(frozen=True, slots=True)
class Thanasis:
    """Thanasis, or Dynamitis, as a `Game[State, Action, RummyView]`: one hand of a match.

    `first` of `start` is the dealer.
    """

    players: int = 2
    wild_twos: bool = False
    ace_high_low: bool = False
    two_naturals: bool = False
    max_stock_reshuffles: int = 1

    @property
    def name(self) -> str:
        """Variant and edition."""
        return "dynamitis@1" if self.wild_twos else "thanasis@1"

    @property
    def sides(self) -> tuple[tuple[Seat, ...], ...]:
        """Everybody for himself."""
        return rummy_hand.sides(self.players)

    @property
    def hidden(self) -> bool:
        """Hands and stock are hidden."""
        return True

    def meld_rules(self, state: State) -> MeldRules:
        """With the ranks that are wild in this hand (H1, D1), from low to high."""
        ranks = {card[0] for card in state.turned if card != JOKER}
        if self.wild_twos:
            ranks.add(TWO)
        wild = "".join(rank for rank in ORDER if rank in ranks)
        return MeldRules(wild, self.ace_high_low, self.two_naturals)

    def partition(self, state: State, seat: Seat) -> Partition:
        """A seat's hand with the least left over (H8)."""
        return best_partition(state.hands[seat], self.meld_rules(state), ACE)

    def start(self, first: Seat, live: tuple[Seat, ...]) -> State:
        """Before the deal; ValueError unless two seats or more take part, the dealer one."""
        rummy_hand.check_start(self.players, first, live)
        hands = ((),) * self.players
        return State(first, live, Stage.DEAL, first, hands, (), (), (), (), 0, None, None)

    def to_act(self, state: State) -> tuple[Seat, ...]:
        """CHANCE or the mover; nobody when the hand is over."""
        return rummy_hand.to_act(state)

    def prompted(self, state: State) -> Seat | None:
        """The mover, from his draw to his discard."""
        return rummy_hand.prompted(state)

    def mid_turn(self, state: State) -> bool:
        """The mover has drawn (X1)."""
        return state.stage is Stage.PLAY

    def legal(self, state: State, seat: Seat) -> Iterator[Action]:
        """The draw; or the ways to go out, then the discards; or the places for a turned joker.

        A deal's or reshuffle's orders are not listed.  Everything else that `apply` accepts is
        there, once.
        """
        if seat == CHANCE and state.stage is Stage.PUT_BACK:
            yield from map(PutBack, range(len(state.stock)))
        for kind in KINDS:
            yield from self.legal_of(state, seat, kind)

    def legal_of(self, state: State, seat: Seat, kind: str) -> Iterator[Action]:
        """Those of one of `KINDS`, lazily; ValueError for another kind."""
        if kind not in KINDS:
            raise ValueError(f"no kind of action: {kind[:20]}")
        if seat != rummy_hand.prompted(state):
            return
        hand = state.hands[seat]
        if state.stage is Stage.DRAW:
            if kind == "draws":
                yield DrawStock()
        elif kind == "outs":
            left = after_discards(hand, self.meld_rules(state), ACE)
            yield from [GoOut(card) for card in left if not left[card]]
        elif kind == "discards":
            yield from map(Discard, dict.fromkeys(hand))

    def apply(self, state: State, seat: Seat, action: Action) -> State:
        """The next state, or `Illegal` with the rule that refuses."""
        match action:
            case Deal():
                return self._turned(rummy_hand.dealt(state, seat, action))
            case PutBack():
                return self._turned(_put_back(state, seat, action))
            case Reshuffle():
                return rummy_hand.reshuffled(state, seat, action)
            case DrawStock():
                rummy_hand.check_turn(state, seat, Stage.DRAW)
                return rummy_hand.drawn(state, self.max_stock_reshuffles)
            case Discard(card):
                rummy_hand.check_turn(state, seat, Stage.PLAY)
                return rummy_hand.passed_on(_discarded(state, card))
            case GoOut(card):
                rummy_hand.check_turn(state, seat, Stage.PLAY)
                return self._went_out(state, card)
            case rummy.TakeDiscard():
                raise Illegal("H4", "a card is drawn from the stock only")
            case rummy.LayMeld() | rummy.LayOff() | rummy.SwapJoker():
                raise Illegal("H7", "nothing is laid on the table before somebody goes out")
        raise Illegal("K34", "that is no action of this game")

    def chance(self, state: State, draw: Draw) -> Action:
        """A shuffled pack, a place, or shuffled discards; ValueError when none is due."""
        return rummy_hand.draw_chance(state, draw)

    def view(self, state: State, seat: Seat | None) -> RummyView:
        """The own hand, the turned card and the top discard, and how many cards everybody holds."""
        rules = self.meld_rules(state)
        return view_of(self.name, state, seat, rules=rules, ends=self._ends(state))

    def result(self, state: State) -> Result | None:
        """What each seat adds to its total; "went-out", "void" or "forfeit"."""
        return state.result

    def concession(self, state: State, seat: Seat) -> Result | None:
        """None: nobody can resign."""
        return None

    def resign(self, state: State, seat: Seat) -> State:
        """Always `Illegal`."""
        raise Illegal("K40", "this game cannot be resigned")

    def withdraw(self, state: State, seat: Seat) -> State:
        """F3: his cards leave play, the turn passes on."""
        return rummy_hand.withdrawn(state, seat)

    def write(self, action: Action) -> str:
        """The notation of `rummy`."""
        return rummy.write(action)

    def read(self, text: str) -> Action:
        """The exact inverse of `write`; `Unreadable` for anything else."""
        return rummy.read(text)

    def show(self, action: Action, seat: Seat | None) -> str:
        """`write`, less what is hidden of a deal, a put-back or a reshuffle."""
        return rummy.show(action, seat)

    # ------------------------------------------------------------ the deal and the end

    def _turned(self, state: State) -> State:
        """A turned joker, or in Dynamitis a two, must go back (H3, D2)."""
        card = state.turned[0]
        goes_back = card == JOKER or (self.wild_twos and card[0] == TWO)
        return replace(state, stage=Stage.PUT_BACK if goes_back else Stage.DRAW)

    def _went_out(self, state: State, card: Card) -> State:
        rummy_hand.check_held(state, card)
        if not goes_out(state.hands[state.mover], card, self.meld_rules(state)):
            raise Illegal("H5", "the other ten cards are not all used up in combinations")
        after = replace(_discarded(state, card), out=state.mover)
        points = {seat: self.partition(after, seat).deadwood for seat in after.live}
        return rummy_hand.ended(after, points, "went-out")

    def _ends(self, state: State) -> tuple[HandEnd, ...]:
        """Every hand as it was counted (H8), once somebody has gone out."""
        if state.out is None:
            return ()
        ends = []
        for seat in state.live:
            best = self.partition(state, seat)
            hand = state.hands[seat]
            ends.append(HandEnd(seat, hand, best.melds, best.left, best.deadwood))
        return tuple(ends)


def _put_back(state: State, seat: Seat, action: PutBack) -> State:
    """The next card is turned, and the joker is in the stock."""
    rummy_hand.check_turn(state, seat, Stage.PUT_BACK)
    top, *rest = state.stock
    place = action.place
    if place is None or not 0 <= place <= len(rest):
        raise Illegal("H3", "the card goes back somewhere into the stock")
    rest[place:place] = state.turned
    return replace(state, turned=(top,), stock=tuple(rest))


def _discarded(state: State, card: Card) -> State:
    left = rummy_hand.check_held(state, card)
    after = rummy_hand.with_hand(state, state.mover, left)
    return replace(after, discards=(*state.discards, card))
