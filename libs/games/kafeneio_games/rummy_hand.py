"""A hand of rummy, as far as the three games share it: the pack, seats, stock and discards.

    K2, K35    108 cards; ten to each player, one turned up, the rest is the stock
    K3         the player after the dealer begins
    K22, K39   who asks for a card of the empty stock gets one of the discards, shuffled, all but
               the top one; once in a hand, and after that the hand is void
    F3         a forfeited seat's cards leave play and the turn passes on; with one seat left the
               hand is over

A turn goes from the draw to the discard and is one prompt (X1), a reshuffle in it included.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from .cards import FULL_PACK, JOKER, Card, Deal
from .game import CHANCE, Draw, Illegal, Result, Seat
from .melds import Meld, sorted_hand, without
from .rummy import Action, PutBack, Reshuffle

PACK: Final = (*FULL_PACK, *FULL_PACK, *[JOKER] * 4)
"""What is shuffled for a deal, in this order."""

HAND_SIZE: Final = 10
SEATS_LEAST: Final = 2
SEATS_MOST: Final = 4


class Stage(enum.Enum):
    """What a hand waits for: chance in DEAL, PUT_BACK and RESHUFFLE, the mover in DRAW and PLAY."""

    DEAL = "deal"
    PUT_BACK = "put-back"
    DRAW = "draw"
    RESHUFFLE = "reshuffle"
    PLAY = "play"
    OVER = "over"


CHANCES: Final = (Stage.DEAL, Stage.PUT_BACK, Stage.RESHUFFLE)


@dataclass(frozen=True, slots=True)
class State:
    """One position of a hand, with all that is hidden in it.

    `live` are the seats that still take part; `hands` has one for every seat of the table, in the
    order of `sorted_hand`, empty where the seat does not.  `stock` has its next card first,
    `discards` its top card last.  `turned` is the card put aside at the deal (H2), none in
    Koum-kan.  `gone` are the cards of seats that forfeited (F3).  `reshuffles` counts those of this
    hand; `out` is who went out.  `mover` is of no meaning before the deal.
    """

    dealer: Seat
    live: tuple[Seat, ...]
    stage: Stage
    mover: Seat
    hands: tuple[tuple[Card, ...], ...]
    stock: tuple[Card, ...]
    discards: tuple[Card, ...]
    turned: tuple[Card, ...]
    gone: tuple[Card, ...]
    reshuffles: int
    out: Seat | None
    result: Result | None


@dataclass(frozen=True, slots=True)
class Laid:
    """A meld on the table, and who laid it."""

    owner: Seat
    meld: Meld


S = TypeVar("S", bound=State)


# ---------------------------------------------------------------- seats


def sides(players: int) -> tuple[tuple[Seat, ...], ...]:
    """Everybody for himself."""
    return tuple((Seat(number),) for number in range(players))


def check_start(players: int, first: Seat, live: tuple[Seat, ...]) -> None:
    """ValueError unless two or more seats of that table take part, in order, the dealer one."""
    if not SEATS_LEAST <= players <= SEATS_MOST:
        raise ValueError("rummy has two to four seats")
    if not set(live) <= set(range(players)) or list(live) != sorted(set(live)):
        raise ValueError("seats take part in order, each once")
    if len(live) < SEATS_LEAST or first not in live:
        raise ValueError("two seats or more take part, and the dealer is one of them")


def next_live(seat: Seat, live: Sequence[Seat]) -> Seat:
    """The next seat in order of play after `seat`, which need not be live itself (K29)."""
    return next((each for each in live if each > seat), live[0])


def to_act(state: State) -> tuple[Seat, ...]:
    """CHANCE, or the mover; nobody when the hand is over."""
    if state.stage is Stage.OVER:
        return ()
    return (CHANCE,) if state.stage in CHANCES else (state.mover,)


def prompted(state: State) -> Seat | None:
    """The mover, from his draw to his discard."""
    return state.mover if state.stage in (Stage.DRAW, Stage.PLAY) else None


def check_turn(state: State, seat: Seat, *stages: Stage) -> None:
    """`Illegal` unless that seat may act now, in one of those stages."""
    if state.stage is Stage.OVER:
        raise Illegal("K37", "the hand is over")
    if seat not in to_act(state):
        raise Illegal("K34", "it is not this seat's turn")
    if state.stage not in stages:
        raise Illegal("K34", "first a card is drawn, then melds are laid, last is the discard")


def check_held(state: State, card: Card) -> tuple[Card, ...]:
    """The mover's hand without that card; `Illegal` if he has not got it."""
    left = without(state.hands[state.mover], (card,))
    if left is None:
        raise Illegal("K34", "that card is not in your hand")
    return left


def with_hand(state: S, seat: Seat, hand: Sequence[Card]) -> S:
    """The state with another hand for that seat."""
    hands = list(state.hands)
    hands[seat] = sorted_hand(hand)
    return replace(state, hands=tuple(hands))


# ---------------------------------------------------------------- the deal, stock and discards


def draw_chance(state: State, draw: Draw) -> Action:
    """The due action of chance; ValueError when none is due.

    For a deal `PACK` is shuffled and cut: ten cards for each seat that takes part, in order of
    seats, the turned one, the rest.  For a reshuffle all discards but the top one are shuffled,
    taken from the bottom of the pile up.
    """
    match state.stage:
        case Stage.DEAL:
            return cut(state, draw.shuffled(PACK))
        case Stage.PUT_BACK:
            return PutBack(draw.below(len(state.stock)))
        case Stage.RESHUFFLE:
            return Reshuffle(draw.shuffled(state.discards[:-1]))
    raise ValueError("nothing is due of chance")


def cut(state: State, pack: Sequence[Card]) -> Deal:
    """The deal that a shuffled pack makes."""
    place = 0
    hands = []
    for seat in range(len(state.hands)):
        size = HAND_SIZE if seat in state.live else 0
        hands.append(tuple(pack[place : place + size]))
        place += size
    return Deal(tuple(hands), tuple(pack[place : place + 1]), tuple(pack[place + 1 :]))


def dealt(state: S, seat: Seat, deal: Deal) -> S:
    """The hands dealt (K35), `turned` and `stock` set; the first after the dealer moves (K3)."""
    check_turn(state, seat, Stage.DEAL)
    sizes = tuple(HAND_SIZE if place in state.live else 0 for place in range(len(state.hands)))
    cards = [*deal.turned, *deal.rest]
    for hand in deal.hands:
        cards += hand
    if tuple(map(len, deal.hands)) != sizes or len(deal.turned) != 1:
        raise Illegal("K35", "ten cards are dealt to each who takes part, and one is turned")
    if sorted(cards) != sorted(PACK):
        raise Illegal("K2", "the whole pack is dealt, and nothing else")
    return replace(
        state,
        stage=Stage.DRAW,
        mover=next_live(state.dealer, state.live),
        hands=tuple(map(sorted_hand, deal.hands)),
        turned=deal.turned,
        stock=deal.rest,
    )


def drawn(state: S, reshuffles_most: int) -> S:
    """After "draw": with the next card, or a reshuffle is due, or the hand is void (K22, K39)."""
    if state.stock:
        return _with_next_card(state)
    if state.reshuffles < reshuffles_most and len(state.discards) > 1:
        return replace(state, stage=Stage.RESHUFFLE)
    return ended(state, {}, "void")


def reshuffled(state: S, seat: Seat, action: Reshuffle) -> S:
    """The discards are the stock, and the mover has the card for which he asked."""
    check_turn(state, seat, Stage.RESHUFFLE)
    if sorted(action.cards) != sorted(state.discards[:-1]):
        raise Illegal("K22", "all discards but the top one are shuffled")
    after = replace(
        state,
        stock=action.cards,
        discards=state.discards[-1:],
        reshuffles=state.reshuffles + 1,
    )
    return _with_next_card(after)


def _with_next_card(state: S) -> S:
    hand = (*state.hands[state.mover], state.stock[0])
    after = with_hand(state, state.mover, hand)
    return replace(after, stock=state.stock[1:], stage=Stage.PLAY)


def passed_on(state: S) -> S:
    """The next live seat is to draw."""
    return replace(state, stage=Stage.DRAW, mover=next_live(state.mover, state.live))


# ---------------------------------------------------------------- the end


def ended(state: S, points: dict[Seat, int], ending: str) -> S:
    """Over: `points` are what seats add to their totals, the others nothing."""
    everybody = tuple(points.get(Seat(seat), 0) for seat in range(len(state.hands)))
    return replace(state, stage=Stage.OVER, result=Result(everybody, ending))


def withdrawn(state: S, seat: Seat) -> S:
    """F3: the seat takes no further part; a hand with one seat left is over, "forfeit".

    Unchanged if the hand is over or the seat takes no part.
    """
    if state.stage is Stage.OVER or seat not in state.live:
        return state
    live = tuple(each for each in state.live if each != seat)
    after = with_hand(replace(state, live=live, gone=(*state.gone, *state.hands[seat])), seat, ())
    if len(live) == 1:
        return ended(after, {}, "forfeit")
    if state.stage is Stage.DEAL or seat != state.mover:
        return after
    if state.stage is Stage.PUT_BACK:
        return replace(after, mover=next_live(seat, live))
    return passed_on(after)
