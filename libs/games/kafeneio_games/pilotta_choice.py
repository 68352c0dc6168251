"""How the trump of the classic games is chosen: the turned card, in two rounds.

C2   first round: each in turn, from the one after the dealer, takes the turned suit or passes;
     the first who takes it ends the choosing
C3   second round: any of the other three suits
C4   all pass twice: the hand is over without a score
C1, T1   then three more cards each are dealt, beginning after the dealer
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from . import pilotta_play, tricks
from .cards import SHORT_PACK, Card, Deal
from .game import Draw, Illegal, Seat
from .pilotta_play import State
from .trick_actions import CHOICES, PASS, TAKE, Action, Choose, Contra, Recontra, Take
from .trick_view import Contract, Stage

LATER: Final = 3
"""How many cards each player is dealt when the trump is fixed."""

Fixed: TypeAlias = Callable[[State, Contract], State]
"""What happens when somebody has fixed the trump."""


@dataclass(frozen=True, slots=True)
class Table:
    """How many players there are, how many cards each is dealt first, and the rule that says so."""

    seats: int
    each: int
    rule: str


def chance(state: State, table: Table, draw: Draw) -> Deal:
    """The pack, shuffled afresh: the hands, the turned card, the rest."""
    if state.stage is not Stage.DEAL:
        raise ValueError("no deal is due")
    pack = draw.shuffled(SHORT_PACK)
    cut = table.seats * table.each
    hands = tuple(pack[at : at + table.each] for at in range(0, cut, table.each))
    return Deal(hands, pack[cut : cut + 1], pack[cut + 1 :])


def dealt(state: State, seat: Seat, deal: Deal, table: Table) -> State:
    """The first cards are dealt, and one is turned; `Illegal` for another deal."""
    pilotta_play.check_deal(state, seat, table.rule)
    hands = pilotta_play.dealt(deal, table.each, 1, table.seats, table.rule)
    (turned,) = deal.turned
    return replace(state, stage=Stage.CHOOSING, hands=hands, turned=turned, rest=deal.rest)


def legal(state: State) -> Iterator[Action]:
    """Pass, then the turned suit in the first round, the other three in the second."""
    yield PASS
    if second_round(state):
        yield from (choice for suit, choice in CHOICES.items() if suit != turned_suit(state))
    else:
        yield TAKE


def said(state: State, seat: Seat, action: Action, fixed: Fixed) -> State:
    """The state after a word in the choosing; `fixed` goes on when the trump is."""
    pilotta_play.check_speaker(state, seat)
    if action == PASS:
        return _passed(state, seat)
    if action == TAKE:
        if second_round(state):
            raise Illegal("C2", "the turned suit could be taken in the first round only")
        return _fixed(state, seat, TAKE, turned_suit(state), fixed)
    if isinstance(action, Contra | Recontra):
        raise Illegal("C5", "there is no contra in this game")
    if not isinstance(action, Choose):
        raise Illegal("C2", "the trump is being chosen")
    if not second_round(state):
        raise Illegal("C3", "another suit may be named in the second round only")
    if action.suit not in CHOICES or action.suit == turned_suit(state):
        raise Illegal("C3", "one of the other three suits is named")
    return _fixed(state, seat, action, action.suit, fixed)


def second_round(state: State) -> bool:
    """Whether everybody has passed the turned suit."""
    return len(state.said) >= len(state.hands)


def turned_suit(state: State) -> str:
    """The suit of the card on the table."""
    return _turned(state)[1]


def deal_out(
    hands: tuple[tuple[Card, ...], ...], rest: tuple[Card, ...], first: Seat, fewer: Seat | None
) -> tuple[tuple[Card, ...], ...]:
    """The hands with three more cards each from `rest`, `first` first; `fewer` gets two."""
    filled = list(hands)
    for place in range(len(hands)):
        seat = Seat((first + place) % len(hands))
        more = LATER - (seat == fewer)
        filled[seat], rest = tricks.sorted_hand((*hands[seat], *rest[:more])), rest[more:]
    return tuple(filled)


def _turned(state: State) -> Card:
    if state.turned is None:
        raise ValueError("no card is turned")
    return state.turned


def _passed(state: State, seat: Seat) -> State:
    seats = len(state.hands)
    after = replace(state, said=(*state.said, (seat, PASS)), turn=tricks.next_seat(seat, seats))
    return pilotta_play.passed_out(after) if len(after.said) == 2 * seats else after


def _fixed(state: State, seat: Seat, action: Take | Choose, trump: str, fixed: Fixed) -> State:
    contract = Contract(seat, tricks.side_of(seat), 0, trump)
    after = replace(state, said=(*state.said, (seat, action)), contract=contract)
    return fixed(after, contract)
