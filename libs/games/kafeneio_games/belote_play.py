"""What the three games of belote share beside the tricks: the deal and the play.

B1, B2    32 cards, dealt by the house; who is on turn
B6-B11    which cards may be played (`tricks`), each duty with its rule
B13, A22  declarations before one's own first card (`belote_view`: who sees them, and when)
B5, B19   what is counted when all cards are played
F1        a leaver's seat is played on by a computer; nobody resigns
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from . import trick_play
from .belote_declarations import DeclarationRules, of_hand, won_points
from .belote_scoring import ALL_TRICKS, TRICKS, Counted, DealResult
from .cards import SHORT_PACK, Card, Deal
from .game import CHANCE, Draw, Illegal, Seat
from .trick_actions import CARDS, DECLARE, Action, Call
from .trick_play import TrickPlay
from .trick_view import Contract, Stage
from .tricks import LAST_TRICK, Duty, duty, following, points_table, sorted_hand

SEATS: Final = (Seat(0), Seat(1), Seat(2), Seat(3))
SIDES: Final = ((SEATS[0], SEATS[2]), (SEATS[1], SEATS[3]))  # B1
HAND: Final = 8

Hands: TypeAlias = tuple[tuple[Card, ...], ...]


@dataclass(frozen=True, slots=True)
class State:
    """A deal, whole: what only the house may know included.

    `asked` speaks next; once the play has begun that is `play.turn`.  `hands`, by seat and sorted,
    `turned` and `rest` are what the deal gave, () when `play` has the hands.  `calls` is the
    auction; `contract` its last bid, then the contract.  `counted` and `result` are there when all
    is over, `counted` only where somebody took.
    """

    stage: Stage
    dealer: Seat
    asked: Seat
    hands: Hands = ()
    turned: tuple[Card, ...] = ()
    rest: tuple[Card, ...] = ()
    calls: tuple[tuple[Seat, Call], ...] = ()
    contract: Contract | None = None
    play: TrickPlay | None = None
    counted: Counted | None = None
    result: DealResult | None = None


Marks: TypeAlias = Callable[[Counted, Contract], DealResult]
"""What a game marks for a deal played out."""

_OFFICIAL_ACE: Final = points_table("", 19)
_DUTIES: Final = {
    Duty.FOLLOW: ("B6", "you hold a card of the suit led"),
    Duty.FOLLOW_TRUMP: ("B6", "trumps are led and you hold one"),
    Duty.BEAT: ("B7", "you hold a trump that beats the highest one"),
    Duty.TRUMP: ("B9", "you must trump"),
    Duty.OVERTRUMP: ("B9", "you hold a trump that beats the highest one"),
    Duty.UNDERTRUMP: ("B10", "you must play a trump, though a lower one"),
}


def after(seat: Seat, places: int = 1) -> Seat:
    """The seat that comes so many places later."""
    return SEATS[(seat + places) % 4]


# ---------------------------------------------------------------- the deal


def begun(game: str, dealer: Seat, live: tuple[Seat, ...]) -> State:
    """Before the deal; ValueError unless all four seats take part."""
    if live != SEATS or dealer not in SEATS:
        raise ValueError(f"{game} is played by seats 0 to 3")
    return State(Stage.DEAL, dealer, after(dealer))


def cut(state: State, draw: Draw, each: int, turned: int) -> Deal:
    """The pack, shuffled once and cut: `each` cards a hand, the turned ones, the rest (B1)."""
    if state.stage is not Stage.DEAL:
        raise ValueError("no deal is due")
    pack = draw.shuffled(SHORT_PACK)
    hands = tuple(pack[seat * each : seat * each + each] for seat in SEATS)
    left = pack[4 * each :]
    return Deal(hands, left[:turned], left[turned:])


def check_deal(
    state: State, seat: Seat, deal: Deal, each: int, turned: int, rule: str = "B1"
) -> None:
    """`Illegal` unless the house deals now, all cards once; `rule` refuses other numbers."""
    if seat != CHANCE or state.stage is not Stage.DEAL:
        raise Illegal("B1", "only the house deals, once a deal")
    if [len(hand) for hand in deal.hands] != [each] * 4 or len(deal.turned) != turned:
        raise Illegal(rule, f"{each} cards are dealt to each seat")
    dealt = [card for group in (*deal.hands, deal.turned, deal.rest) for card in group]
    if len(dealt) != len(SHORT_PACK) or set(dealt) != set(SHORT_PACK):
        raise Illegal("B1", "every card is dealt once")


def spread(deal: Deal, stage: Stage, dealer: Seat) -> State:
    """The deal lying on the table, and the first speaker asked (B3)."""
    hands = tuple([sorted_hand(hand) for hand in deal.hands])
    return State(stage, dealer, after(dealer), hands, deal.turned, deal.rest)


def complete(state: State, taker: Seat) -> Hands:
    """The hands when the rest is dealt: the taker gets the turned card, all fill up to eight.

    In order of play, from the seat after the dealer (B18, A5).
    """
    hands, rest = list(state.hands), state.rest
    for place in range(1, 5):
        seat = after(state.dealer, place)
        held = hands[seat] + (state.turned if seat == taker else ())
        missing = HAND - len(held)
        hands[seat] = sorted_hand(held + rest[:missing])
        rest = rest[missing:]
    return tuple(hands)


# ---------------------------------------------------------------- whose turn it is


def to_act(state: State) -> tuple[Seat, ...]:
    """CHANCE before the deal, the one who is asked, nobody when it is over."""
    if state.stage is Stage.DEAL:
        return (CHANCE,)
    asked = prompted(state)
    return () if asked is None else (asked,)


def prompted(state: State) -> Seat | None:
    """The seat that is asked for a call or a card, though it may have one only."""
    if state.stage is Stage.DEAL or state.stage is Stage.OVER:
        return None
    return state.asked if state.play is None else state.play.turn


def mid_turn(state: State) -> bool:
    """Whether the seat to play has declared: its card belongs to the same prompt (X1)."""
    return (
        state.stage is Stage.PLAYING and state.play is not None and trick_play.mid_turn(state.play)
    )


def check_auction(state: State, seat: Seat, rule: str) -> None:
    """`Illegal` unless the auction goes on and `seat` is asked; `rule` says how it is held."""
    check_going_on(state)
    if state.stage is Stage.PLAYING:
        raise Illegal(rule, "nothing is bid any more")
    if seat != state.asked:
        raise Illegal("B2", "it is not your turn")


def check_going_on(state: State) -> None:
    """`Illegal` before the deal and when all is over."""
    if state.stage is Stage.OVER:
        raise Illegal("B2", "the deal is over")
    if state.stage is Stage.DEAL:
        raise Illegal("B1", "the cards are not dealt yet")


def refuse_resignation() -> State:
    """No game of tricks is resigned: a seat that leaves is played on by a computer."""
    raise Illegal("F1", "this game cannot be resigned")


# ---------------------------------------------------------------- the play


def passed_out(state: State, result: DealResult) -> State:
    """The deal over, with nobody having taken."""
    return State(
        Stage.OVER,
        state.dealer,
        state.asked,
        state.hands,
        state.turned,
        state.rest,
        state.calls,
        result=result,
    )


def playing(state: State, hands: Hands, contract: Contract) -> State:
    """The auction over; the seat after the dealer leads (B3)."""
    leader = after(state.dealer)
    play = trick_play.begun(hands, leader, contract.trump)
    return State(
        Stage.PLAYING, state.dealer, leader, calls=state.calls, contract=contract, play=play
    )


def legal(state: State, rules: DeclarationRules, undertrump: bool = True) -> tuple[Action, ...]:
    """A declaration where one is open, then the cards, in the hand's order.

    `undertrump`: whether a lower trump is due where none can win (B10, N8).
    """
    play = state.play
    if play is None:
        return ()
    seat = play.turn
    allowed = following(play.hands[seat], play.trick, play.trump, True, undertrump)
    cards = tuple([CARDS[card] for card in allowed])
    if rules.by_player and can_declare(state, seat, rules):
        return (DECLARE, *cards)
    return cards


def can_declare(state: State, seat: Seat, rules: DeclarationRules) -> bool:
    """Whether `seat` may say now that it declares (A22)."""
    play = state.play
    return (
        play is not None
        and state.stage is Stage.PLAYING
        and rules.played
        and rules.by_player
        and trick_play.may_announce(play, seat)
        and bool(of_hand(play.hands[seat], play.trump, rules))
    )


def declared(state: State, seat: Seat, rules: DeclarationRules) -> State:
    """The state when `seat` has said that it declares, before its first card (B13)."""
    check_going_on(state)
    if not rules.played:
        raise Illegal("A23", "there are no declarations at this table")
    if not rules.by_player:
        raise Illegal("A22", "declarations are made by themselves at this table")
    play = _play_of(state, seat)
    if not trick_play.may_announce(play, seat):
        raise Illegal("B13", "declarations are made once, before one's first card")
    found = of_hand(play.hands[seat], play.trump, rules)
    if not found:
        raise Illegal("B13", "you hold no declaration")
    return _going_on(state, trick_play.with_announced(play, seat, found))


def card_played(
    state: State,
    seat: Seat,
    card: Card,
    rules: DeclarationRules,
    marks: Marks,
    undertrump: bool = True,
    plain_ace: int = 11,
) -> State:
    """The state when `seat` has played `card`; the last one of all ends the deal.

    `undertrump` as in `legal`; `plain_ace` is what an ace counts that is no trump (N3).
    """
    check_going_on(state)
    play = _play_of(state, seat)
    hand = play.hands[seat]
    if card not in hand:
        raise Illegal("B3", f"you do not hold {card}")
    broken = duty(card, hand, play.trick, play.trump, True, undertrump)
    if broken is not None:
        raise Illegal(*_DUTIES[broken])
    if not play.played and rules.played and not rules.by_player:  # A22, automatic
        found = of_hand(hand, play.trump, rules)
        if found:
            play = trick_play.with_announced(play, seat, found)
    ace = None if plain_ace == 11 else _OFFICIAL_ACE
    play = trick_play.after_card(play, card, ace)
    if len(play.played) < len(SHORT_PACK):
        return _going_on(state, play)
    return _counted(state, play, rules, marks)


def _play_of(state: State, seat: Seat) -> TrickPlay:
    if state.play is None:
        raise Illegal("B3", "no card is to be played yet")
    if seat != state.play.turn:
        raise Illegal("B2", "it is not your turn")
    return state.play


def _going_on(state: State, play: TrickPlay) -> State:
    return State(
        Stage.PLAYING,
        state.dealer,
        state.asked,
        (),
        (),
        (),
        state.calls,
        state.contract,
        play,
    )


def _counted(state: State, play: TrickPlay, rules: DeclarationRules, marks: Marks) -> State:
    """The deal over and marked (B5, B12, B30)."""
    contract = state.contract
    if contract is None:
        raise ValueError("nobody has taken")
    first, second = play.points
    if TRICKS in play.tricks:  # the hundred stands instead of the ten
        more = ALL_TRICKS - LAST_TRICK
        first, second = (first + more, second) if play.tricks[0] else (first, second + more)
    counted = Counted(
        contract.side,
        (first, second),
        play.tricks,
        trick_play.belote_points(play),
        won_points(play.announced, contract, rules),
    )
    return State(
        Stage.OVER,
        state.dealer,
        state.asked,
        calls=state.calls,
        contract=contract,
        play=play,
        counted=counted,
        result=marks(counted, contract),
    )
