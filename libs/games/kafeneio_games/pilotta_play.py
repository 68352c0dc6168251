"""A hand of pilotta: its state, the play from the first lead to the score, and who sees what.

What the three games of pilotta share; how a contract comes about is each game's own.

    P3, P5, C11  the seat after the dealer leads, the winner of a trick the next
    P20-P26      which card may be played; a wrong one is refused and changes nothing
    P30, P48     a declaration is announced by yes or no before one's own first card
    P31          it need not be
    P32, P44     its value alone is told, until the first trick is over: then the cards of the
                 side whose declarations count are shown to all
    P45          belote by itself, as king and queen of trumps are played
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final, Protocol, TypeAlias

from . import pilotta_calls, pilotta_scoring, trick_play, tricks
from .cards import SHORT_PACK, Card, Deal
from .declarations import Declaration
from .game import CHANCE, Illegal, Result, Seat
from .pilotta_scoring import Count, Scoring
from .trick_actions import CARDS, DECLARE, Action, Call, Exchange, PlayCard, write
from .trick_play import TrickPlay
from .trick_view import Contract, Declared, SideSheet, Stage, TrickView
from .tricks import Duty, side_of

RULES: Final = {
    Duty.FOLLOW: ("P20", "a card of the suit led must be played"),
    Duty.FOLLOW_TRUMP: ("P21", "trump is led and must be followed"),
    Duty.BEAT: ("P21", "trump is led, and the best one so far must be beaten"),
    Duty.TRUMP: ("P22", "without the suit led a trump must be played"),
    Duty.OVERTRUMP: ("P23", "the trick is trumped, and a higher trump must be played"),
    Duty.UNDERTRUMP: ("P24", "without the suit led a trump must be played, if only a lower one"),
}
WRONG_CARD: Final = "P26"
OVER: Final = "P63"

Made: TypeAlias = Callable[[Count, Contract], bool]
"""Whether a contract is made."""


class House(Protocol):
    """The switches of section 8 that concern the play and the score of every pilotta."""

    @property
    def partner_exemption(self) -> bool:
        """P22, P23: without the suit led any card may be played while the partner's card wins."""

    @property
    def score_all_declarations(self) -> bool:
        """P33: the side with the best call counts all declarations of its callers."""

    @property
    def low_carres_count(self) -> bool:
        """P37: four sevens and four eights are declarations of 100."""

    @property
    def scoring(self) -> Scoring:
        """The switches of the arithmetic."""


# ---------------------------------------------------------------- state


@dataclass(frozen=True, slots=True)
class State:
    """One hand, the whole truth.

    `hands` are the cards by seat, in the order of `tricks.sorted_hand`, until the play begins,
    which then has them; `turned` and `rest` the turned card and those not dealt yet, while the
    trump is being chosen.  `said` is who said what before the play, and `turn` whose turn it is to
    speak.  `contract` is the highest bid so far, then the contract; `play` is there once it
    stands.  `result` is there when `stage` is OVER, `sheet` too unless nobody took the hand.
    """

    dealer: Seat
    stage: Stage
    hands: tuple[tuple[Card, ...], ...]
    turned: Card | None
    rest: tuple[Card, ...]
    said: tuple[tuple[Seat, Call | Exchange], ...]
    turn: Seat
    contract: Contract | None
    play: TrickPlay | None
    sheet: tuple[SideSheet, SideSheet] | None
    result: Result | None


def start(dealer: Seat, live: tuple[Seat, ...], seats: int) -> State:
    """Before the deal; ValueError unless all seats take part and one of them deals."""
    if live != tuple(range(seats)) or dealer not in live:
        raise ValueError(f"{seats} seats take part, and one of them deals")
    hands: tuple[tuple[Card, ...], ...] = ((),) * seats
    return State(
        dealer,
        Stage.DEAL,
        hands,
        None,
        (),
        (),
        tricks.next_seat(dealer, seats),
        None,
        None,
        None,
        None,
    )


def to_act(state: State) -> tuple[Seat, ...]:
    """CHANCE before the deal, then one seat, nobody when the hand is over."""
    if state.play is not None and state.stage is Stage.PLAYING:
        return (state.play.turn,)
    if state.stage is Stage.DEAL:
        return (CHANCE,)
    return () if state.stage is Stage.OVER else (state.turn,)


def prompted(state: State) -> Seat | None:
    """The seat whose word or card is awaited; a seat that merely may speak is not."""
    if state.play is not None and state.stage is Stage.PLAYING:
        return state.play.turn
    return None if state.stage in (Stage.DEAL, Stage.OVER) else state.turn


def mid_turn(state: State) -> bool:
    """A declaration was made, and its card is still due (X1)."""
    return state.stage is Stage.PLAYING and trick_play.mid_turn(_in_play(state))


def passed_out(state: State) -> State:
    """Nobody took the hand: it scores nothing (P11, C4)."""
    return replace(state, stage=Stage.OVER, result=Result((0, 0), pilotta_scoring.PASSED))


def opened(state: State, hands: tuple[tuple[Card, ...], ...], contract: Contract) -> State:
    """The play begins: forehand leads (P5, C11, T2)."""
    leader = tricks.next_seat(state.dealer, len(hands))
    play = trick_play.begun(hands, leader, contract.trump)
    return replace(
        state,
        stage=Stage.PLAYING,
        hands=(),
        turned=None,
        rest=(),
        contract=contract,
        play=play,
    )


# ---------------------------------------------------------------- deal


_PACK: Final = frozenset(SHORT_PACK)


def check_deal(state: State, seat: Seat, rule: str) -> None:
    """`Illegal` unless a deal is due and it is the house that deals."""
    if seat != CHANCE:
        raise Illegal(rule, "the house deals")
    if state.stage is not Stage.DEAL:
        raise Illegal(rule, "the cards are dealt already")


def dealt(
    deal: Deal, each: int, turned: int, seats: int, rule: str
) -> tuple[tuple[Card, ...], ...]:
    """The hands of a deal, in the order of hands; `Illegal` unless it is the whole pack, cut so."""
    cards = [card for group in (*deal.hands, deal.turned, deal.rest) for card in group]
    if len(cards) != len(SHORT_PACK) or set(cards) != _PACK:
        raise Illegal(rule, "a deal is the whole pack, each card once")
    if [len(hand) for hand in deal.hands] != [each] * seats or len(deal.turned) != turned:
        raise Illegal(rule, f"each of {seats} players is dealt {each} cards")
    return tuple([tricks.sorted_hand(hand) for hand in deal.hands])


# ---------------------------------------------------------------- legal and apply


def check_speaker(state: State, seat: Seat) -> None:
    """`Illegal` unless it is that seat's turn to speak."""
    if seat != state.turn or state.stage in (Stage.DEAL, Stage.OVER):
        raise _not_on_turn(len(state.hands))


def _not_on_turn(seats: int) -> Illegal:
    return Illegal("T2" if seats == 2 else "P3", "it is not this seat's turn")


def declarable(state: State, seat: Seat, house: House) -> bool:
    """Whether `seat` may announce now: its first card is due, and it holds a declaration."""
    play = state.play
    return (
        play is not None
        and trick_play.may_announce(play, seat)
        and bool(pilotta_calls.found(play.hands[seat], play.trump, house.low_carres_count))
    )


def legal(state: State, seat: Seat, house: House) -> Iterator[Action]:
    """In the play: a declaration if there is one to make, then the cards, in the hand's order."""
    play = _in_play(state)
    if seat != play.turn:
        return
    if play.first_trick and declarable(state, seat, house):
        yield DECLARE
    for card in tricks.following(play.hands[seat], play.trick, play.trump, house.partner_exemption):
        yield CARDS[card]


def applied(state: State, seat: Seat, action: Action, house: House, is_made: Made) -> State:
    """In the play: the state after a card or a declaration, or `Illegal`.

    After the last card `is_made` judges the contract (P51, C7).
    """
    play = _in_play(state)
    if seat != play.turn:
        raise _not_on_turn(len(play.hands))
    if isinstance(action, PlayCard):
        play = _carded(play, seat, action.card, house)
        if play.over:
            return _finished(state, play, house, is_made)
    elif action == DECLARE:
        play = _announced(play, seat, house)
    else:
        raise Illegal(WRONG_CARD, "the trump is fixed: a card is due")
    return State(
        state.dealer,
        Stage.PLAYING,
        (),
        None,
        (),
        state.said,
        state.turn,
        state.contract,
        play,
        None,
        None,
    )


def _in_play(state: State) -> TrickPlay:
    if state.play is None:
        raise ValueError("the play has not begun")
    return state.play


def _carded(play: TrickPlay, seat: Seat, card: Card, house: House) -> TrickPlay:
    hand = play.hands[seat]
    if card not in hand:
        raise Illegal(WRONG_CARD, f"you do not hold {card}")
    exempt = house.partner_exemption
    if play.trick and card not in tricks.following(hand, play.trick, play.trump, exempt):
        broken = tricks.duty(card, hand, play.trick, play.trump, exempt)
        assert broken is not None
        raise Illegal(*RULES[broken])
    return trick_play.after_card(play, card)


def _announced(play: TrickPlay, seat: Seat, house: House) -> TrickPlay:
    if not trick_play.may_announce(play, seat):
        raise Illegal("P30", "a declaration is made once, with one's own first card")
    calls = pilotta_calls.found(play.hands[seat], play.trump, house.low_carres_count)
    if not calls:
        raise Illegal("P48", "you hold no declaration")
    return trick_play.with_announced(play, seat, calls)


# ---------------------------------------------------------------- the score


def counted(play: TrickPlay, house: House) -> Count:
    """What both sides have when all cards are played."""
    declarations = pilotta_calls.points(play.announced, play.trump, house.score_all_declarations)
    belote = trick_play.belote_points(play)
    return pilotta_scoring.count(play.points, play.tricks, declarations, belote)


def _finished(state: State, play: TrickPlay, house: House, is_made: Made) -> State:
    """The hand is played out: its arithmetic, and its result in recorded tens."""
    contract = state.contract
    if contract is None:
        raise ValueError("there is no contract")
    count = counted(play, house)
    made = is_made(count, contract)
    sheet = pilotta_scoring.sheet(count, contract, made, house.scoring)
    points = (sheet[0].marked, sheet[1].marked)
    result = Result(points, pilotta_scoring.ending(count, contract, made))
    return replace(state, stage=Stage.OVER, play=play, sheet=sheet, result=result)


# ---------------------------------------------------------------- what may be seen


def declared(play: TrickPlay, viewer: Seat | None, house: House) -> tuple[Declared, ...]:
    """The declarations as `viewer` may know them (P32, P44)."""
    if not play.announced:
        return ()
    score_all = house.score_all_declarations
    side = None if play.first_trick else pilotta_calls.best_side(play.announced, play.trump)
    shown = []
    for entry in play.announced:
        scored = None if play.first_trick else side_of(entry.seat) == side
        if scored:
            calls = pilotta_calls.counted(entry, score_all)
            shown += [_open(entry.seat, call, scored) for call in calls]
        elif entry.seat == viewer:
            shown.append(_open(entry.seat, entry.found[0], scored))
        else:
            shown.append(Declared(entry.seat, None, entry.found[0].points, (), scored))
    return tuple(shown)


def _open(seat: Seat, call: Declaration, scored: bool | None) -> Declared:
    return Declared(seat, call.kind, call.points, call.cards, scored)


def view(name: str, state: State, viewer: Seat | None, house: House) -> TrickView:
    """What `viewer`, or a spectator (None), may know of the hand; `name` is the variant's id."""
    play = state.play
    hands = state.hands if play is None else play.hands
    return TrickView(
        game=name,
        stage=state.stage,
        dealer=state.dealer,
        seat=viewer,
        hand=() if viewer is None else hands[viewer],
        counts=tuple(map(len, hands)),
        calls=tuple([(seat, write(call)) for seat, call in state.said]),
        turned=state.turned,
        contract=state.contract,
        prompted=prompted(state),
        trick=() if play is None else trick_play.on_table(play),
        last_trick=() if play is None else trick_play.last_completed(play),
        played=() if play is None else trick_play.completed(play),
        tricks=(0, 0) if play is None else play.tricks,
        points=(0, 0) if play is None else play.points,
        declarations=() if play is None else declared(play, viewer, house),
        belote=() if play is None else play.belote,
        can_declare=viewer is not None and declarable(state, viewer, house),
        result=state.result,
        sheet=state.sheet,
    )
