"""Koum-kan, rules K1-K40 of the rule book.

    K3, K4     the player after the dealer begins; the turned card starts the discard pile
    K18, K32   a turn begins with one card, of the stock or the top discard, jokers included
    K14, K15   then any number of melds, and once a meld of his own lies there, of lay-offs (K38)
    K10, K11   a natural card takes the place of a joker in any meld; the joker goes to the hand
    K19, K20   a turn ends with a discard: one card must always be kept for it, and another one
               than the card just taken from the discard pile; its twin will do
    K23, K37   who has discarded the last card has gone out; the others add their hands to their
               totals (K24), and play ceases
    K22, K39   the empty stock, see `rummy_hand`
    F3         a forfeit, see `rummy_hand`; melds stay on the table

House options (fields of `Koumkan`): `ace_high_low` (K5), `two_naturals` (K8),
`allow_same_discard` (K19), `joker_must_be_used` (K11), `max_stock_reshuffles` (K22), and the number
of players (K1).

Laying several melds is several actions of one turn: each lays exactly one, so that whatever is
legal can be listed.  With `joker_must_be_used` a step is legal only if the turn can still end, with
every joker taken from the table used and a card kept to discard.

Left out on purpose: a first-meld minimum (K13) and buying back in (K28).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from . import rummy, rummy_hand
from .cards import JOKER, Card, Deal
from .deadwood import value
from .game import Draw, Illegal, Result, Seat
from .melds import (
    Meld,
    MeldRules,
    check,
    ends_for,
    laid_off,
    single_melds,
    swap_place,
    swapped,
    without,
)
from .rummy import (
    Action,
    Discard,
    DrawStock,
    LayMeld,
    LayOff,
    Reshuffle,
    SwapJoker,
    TakeDiscard,
)
from .rummy_hand import Laid, Stage
from .rummy_view import HandEnd, RummyView, view_of

KINDS: Final = ("draws", "melds", "lay-offs", "swaps", "discards")
"""The kinds of a seat's actions, in the order of `legal`."""

ACE: Final = 10


# ---------------------------------------------------------------- state


@dataclass(frozen=True, slots=True)
class State(rummy_hand.State):
    """A hand of Koum-kan.

    `table` are the melds in the order in which they were laid.  `taken` is the card that the mover
    took from the discard pile, as long as it is in his hand (K19).  `owed` counts the jokers taken
    from the table that must still be used in this turn (K11), always 0 without that house rule.
    """

    table: tuple[Laid, ...] = ()
    taken: Card | None = None
    owed: int = 0


def has_melded(state: State, seat: Seat) -> bool:
    """Whether a meld of that seat's own lies on the table."""
    return any(laid.owner == seat for laid in state.table)


# ---------------------------------------------------------------- the game


@dataclass(frozen=True, slots=True)
class Koumkan:
    """The game of Koum-kan as a `Game[State, Action, RummyView]`: one hand of a match.

    `first` of `start` is the dealer.
    """

    players: int = 2
    ace_high_low: bool = False
    two_naturals: bool = False
    allow_same_discard: bool = False
    joker_must_be_used: bool = False
    max_stock_reshuffles: int = 1

    @property
    def name(self) -> str:
        """Variant and edition."""
        return "koumkan@1"

    @property
    def sides(self) -> tuple[tuple[Seat, ...], ...]:
        """Everybody for himself."""
        return rummy_hand.sides(self.players)

    @property
    def hidden(self) -> bool:
        """Hands and stock are hidden."""
        return True

    @property
    def meld_rules(self) -> MeldRules:
        """Only the printed jokers are wild."""
        return MeldRules("", self.ace_high_low, self.two_naturals)

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
        """Draws; or melds, lay-offs, swaps, discards.  A deal's or reshuffle's orders: not listed.

        Everything else that `apply` accepts is there, once.
        """
        for kind in KINDS:
            yield from self.legal_of(state, seat, kind)

    def legal_of(self, state: State, seat: Seat, kind: str) -> Iterator[Action]:
        """Those of one of `KINDS`, lazily; ValueError for another kind."""
        if kind not in KINDS:
            raise ValueError(f"no kind of action: {kind[:20]}")
        if seat != rummy_hand.prompted(state):
            return
        if state.stage is Stage.DRAW:
            if kind == "draws":
                yield DrawStock()
                if state.discards:
                    yield TakeDiscard()
        elif kind == "discards":
            if not state.owed:
                yield from map(Discard, self._discards(state))
        elif kind != "draws":
            for action in self._steps(state, kind):
                if self._can_end(self._after(state, action)):
                    yield action

    def apply(self, state: State, seat: Seat, action: Action) -> State:
        """The next state, or `Illegal` with the rule that refuses."""
        match action:
            case Deal():
                after = rummy_hand.dealt(state, seat, action)
                return replace(after, discards=after.turned, turned=())
            case Reshuffle():
                return rummy_hand.reshuffled(state, seat, action)
            case DrawStock():
                rummy_hand.check_turn(state, seat, Stage.DRAW)
                return rummy_hand.drawn(state, self.max_stock_reshuffles)
            case TakeDiscard():
                rummy_hand.check_turn(state, seat, Stage.DRAW)
                return _taken(state)
            case LayMeld() | LayOff() | SwapJoker():
                rummy_hand.check_turn(state, seat, Stage.PLAY)
                after = self._after(state, action)
                if not self._can_end(after):
                    raise self._endless(after)
                return after
            case Discard(card):
                rummy_hand.check_turn(state, seat, Stage.PLAY)
                return self._discarded(state, card)
            case rummy.GoOut():
                raise Illegal("K20", "the last card is discarded, as always")
        raise Illegal("K34", "that is no action of this game")

    def chance(self, state: State, draw: Draw) -> Action:
        """A shuffled pack, or shuffled discards; ValueError when neither is due."""
        return rummy_hand.draw_chance(state, draw)

    def view(self, state: State, seat: Seat | None) -> RummyView:
        """The own hand, what lies on the table, and how many cards everybody holds."""
        return view_of(
            self.name,
            state,
            seat,
            rules=self.meld_rules,
            table=state.table,
            taken=state.taken,
            owed=state.owed,
            ends=self._ends(state),
        )

    def result(self, state: State) -> Result | None:
        """What each seat adds to its total; "went-out", "void" or "forfeit"."""
        return state.result

    def concession(self, state: State, seat: Seat) -> Result | None:
        """None: nobody can resign."""
        return None

    def resign(self, state: State, seat: Seat) -> State:
        """Always `Illegal`."""
        raise Illegal("K40", "a game of Koum-kan cannot be resigned")

    def withdraw(self, state: State, seat: Seat) -> State:
        """F3: his cards leave play, his melds stay, the turn passes on."""
        after = rummy_hand.withdrawn(state, seat)
        if seat == state.mover and after.stage is not Stage.OVER:
            return replace(after, taken=None, owed=0)
        return after

    def write(self, action: Action) -> str:
        """The notation of `rummy`."""
        return rummy.write(action)

    def read(self, text: str) -> Action:
        """The exact inverse of `write`; `Unreadable` for anything else."""
        return rummy.read(text)

    def show(self, action: Action, seat: Seat | None) -> str:
        """`write`, less what is hidden of a deal or a reshuffle."""
        return rummy.show(action, seat)

    # ------------------------------------------------------------ the steps of a turn

    def _steps(self, state: State, kind: str) -> Iterator[LayMeld | LayOff | SwapJoker]:
        """Those of one kind that can be made, whether or not the turn can then be ended."""
        rules, hand = self.meld_rules, state.hands[state.mover]
        if kind == "melds":
            for meld in single_melds(hand, rules):
                if len(meld.cards) < len(hand):
                    yield LayMeld(meld)
        elif has_melded(state, state.mover):
            for card in dict.fromkeys(hand):
                for number, laid in enumerate(state.table, 1):
                    if kind == "swaps":
                        if swap_place(laid.meld, card, rules) is not None:
                            yield SwapJoker(card, number)
                    elif len(hand) > 1:
                        for end in ends_for(laid.meld, card, rules):
                            yield LayOff(card, number, end)

    def _after(self, state: State, action: LayMeld | LayOff | SwapJoker) -> State:
        """The state after a step; `Illegal` if it cannot be made at all."""
        match action:
            case LayMeld(meld):
                return self._melded(state, meld)
            case LayOff(card, number, end):
                left, meld = self._added_to(state, card, number, "K15", "K38")
                if not left:
                    raise Illegal("K20", "one card must be kept for the discard")
                grown = laid_off(meld, card, end, self.meld_rules)
                return _with_meld(_less(state, left, (card,)), number, grown)
            case SwapJoker(card, number):
                left, meld = self._added_to(state, card, number, "K10", "K10")
                filled, joker = swapped(meld, card, self.meld_rules)
                after = _less(state, (*left, joker), (card,))
                owed = after.owed + self.joker_must_be_used
                return replace(_with_meld(after, number, filled), owed=owed)

    def _melded(self, state: State, meld: Meld) -> State:
        hand = state.hands[state.mover]
        check(meld, self.meld_rules)
        left = without(hand, meld.cards)
        if left is None:
            raise Illegal("K34", "those cards are not in your hand")
        if not left:
            rule = "K21" if len(hand) == len(meld.cards) == 3 else "K20"
            raise Illegal(rule, "one card must be kept for the discard")
        after = _less(state, left, meld.cards)
        return replace(after, table=(*after.table, Laid(state.mover, meld)))

    def _added_to(
        self, state: State, card: Card, number: int, unmelded: str, nowhere: str
    ) -> tuple[tuple[Card, ...], Meld]:
        """The hand without a card, and the meld to which it goes; `Illegal` by those rules."""
        left = rummy_hand.check_held(state, card)
        if not has_melded(state, state.mover):
            raise Illegal(unmelded, "first a meld of your own must lie on the table")
        if not 1 <= number <= len(state.table):
            raise Illegal(nowhere, "no such meld lies on the table")
        return left, state.table[number - 1].meld

    def _discards(self, state: State) -> Iterator[Card]:
        """The different cards that K19 lets him discard, whatever he owes."""
        hand = state.hands[state.mover]
        for card in dict.fromkeys(hand):
            barred = card == state.taken and hand.count(card) == 1
            if not barred or self.allow_same_discard:
                yield card

    def _keeps_one(self, state: State) -> bool:
        """Whether a card is left that K19 lets him discard."""
        return any(True for _ in self._discards(state))

    def _can_end(self, state: State) -> bool:
        """Whether the turn can still be ended after a step that led here."""
        return self._keeps_one(state) and (not state.owed or self._can_pay(state, set()))

    def _can_pay(self, state: State, seen: set[State]) -> bool:
        """Whether further steps use all jokers owed and leave a card to discard (K11)."""
        seen.add(state)
        if not state.owed:
            return True
        # Lay-offs first: as a rule one of them does it.
        for kind in ("lay-offs", "melds", "swaps"):
            for step in self._steps(state, kind):
                after = self._after(state, step)
                if after not in seen and self._keeps_one(after) and self._can_pay(after, seen):
                    return True
        return False

    def _endless(self, state: State) -> Illegal:
        """Why a step is refused after which the turn could not be ended."""
        if not self._keeps_one(state):
            return Illegal("K19", "only the card just taken would be left to discard")
        return Illegal("K11", "the joker could not be used any more in this turn")

    def _discarded(self, state: State, card: Card) -> State:
        left = rummy_hand.check_held(state, card)
        if state.owed:
            raise Illegal("K11", "the joker taken from the table must be used in this turn")
        if card not in self._discards(state):
            raise Illegal("K19", "the card just taken from the pile may not be discarded")
        after = rummy_hand.with_hand(state, state.mover, left)
        after = replace(after, discards=(*state.discards, card), taken=None)
        if left:
            return rummy_hand.passed_on(after)
        points = {seat: self._points(after, seat) for seat in after.live}
        return rummy_hand.ended(replace(after, out=state.mover), points, "went-out")

    def _points(self, state: State, seat: Seat) -> int:
        return sum(value(card, self.meld_rules, ACE) for card in state.hands[seat])

    def _ends(self, state: State) -> tuple[HandEnd, ...]:
        """Every hand as it was counted, in full (K24), once somebody has gone out."""
        if state.out is None:
            return ()
        return tuple(
            HandEnd(seat, state.hands[seat], (), state.hands[seat], self._points(state, seat))
            for seat in state.live
        )


def _taken(state: State) -> State:
    """With the top discard in hand."""
    if not state.discards:
        raise Illegal("K18", "there is no discard to take")
    *rest, top = state.discards
    after = rummy_hand.with_hand(state, state.mover, (*state.hands[state.mover], top))
    return replace(after, discards=tuple(rest), taken=top, stage=Stage.PLAY)


def _less(state: State, left: tuple[Card, ...], used: tuple[Card, ...]) -> State:
    """The mover has used cards: of equal ones the one taken from the pile first (K19)."""
    after = rummy_hand.with_hand(state, state.mover, left)
    return replace(
        after,
        taken=None if state.taken in used else state.taken,
        owed=max(0, state.owed - used.count(JOKER)),
    )


def _with_meld(state: State, number: int, meld: Meld) -> State:
    table = list(state.table)
    table[number - 1] = Laid(table[number - 1].owner, meld)
    return replace(state, table=tuple(table))
