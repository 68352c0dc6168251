"""The play of a hand, trick by trick: what pilotta and belote share of it.

    P5, B3    the seat after the dealer leads the first trick, the winner of a trick the next
    P28, B4   who wins a trick (`tricks`)
    P29, B5   the last trick is worth ten more
    P30, B13  declarations are announced with one's own first card
    P45, B12  king and queen of trumps in one hand are announced as they are played, by themselves

Legality is each game's: `after_card` plays any card of the seat whose turn it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from .cards import Card
from .declarations import Declaration
from .game import Seat
from .tricks import LAST_TRICK, POINTS, side_of, winner

BELOTE: Final = "belote"
REBELOTE: Final = "rebelote"
BELOTE_POINTS: Final = 20
_PAIR: Final = {"K": "Q", "Q": "K"}


@dataclass(frozen=True, slots=True)
class Announced:
    """The declarations that a seat has announced, its best one first; never empty."""

    seat: Seat
    found: tuple[Declaration, ...]


@dataclass(frozen=True, slots=True)
class TrickPlay:
    """The cards of a hand being played.

    `hands` are the cards still held, by seat, in the order of `tricks.sorted_hand`; `turn` is the
    seat to play.  `leaders` has the seat that led, for each trick up to the one on the table;
    `trick` the cards of that one, `played` those of all tricks before it, in order of play.
    `tricks` and `points` are the tricks and card points won by side, the last trick's ten
    included.  `announced` are the declarations in order of play, `belote` who has announced
    "belote" and "rebelote".
    """

    trump: str
    hands: tuple[tuple[Card, ...], ...]
    turn: Seat
    leaders: tuple[Seat, ...]
    trick: tuple[Card, ...] = ()
    played: tuple[Card, ...] = ()
    tricks: tuple[int, int] = (0, 0)
    points: tuple[int, int] = (0, 0)
    announced: tuple[Announced, ...] = ()
    belote: tuple[tuple[Seat, str], ...] = ()

    @property
    def over(self) -> bool:
        """Whether all cards are played."""
        return not self.trick and not any(self.hands)

    @property
    def first_trick(self) -> bool:
        """Whether the first trick is not complete yet."""
        return not self.played


def begun(hands: tuple[tuple[Card, ...], ...], leader: Seat, trump: str) -> TrickPlay:
    """Nothing played yet; `hands` by seat, each in the order of `tricks.sorted_hand`."""
    return TrickPlay(trump, hands, leader, (leader,))


def after_card(play: TrickPlay, card: Card, points: Mapping[Card, int] | None = None) -> TrickPlay:
    """The play when the seat whose turn it is has played `card`, which it must hold.

    `points` are the card points where they are not the usual ones of this trump (N3).
    """
    seat, hands = play.turn, play.hands
    hand = hands[seat]
    at = hand.index(card)
    hand = hand[:at] + hand[at + 1 :]
    hands = (*hands[:seat], hand, *hands[seat + 1 :])
    trick = (*play.trick, card)
    belote = play.belote
    if card[1] == play.trump and card[0] in _PAIR:
        belote = _with_belote(belote, seat, hand, card)
    if len(trick) < len(hands):
        return TrickPlay(
            play.trump,
            hands,
            Seat((seat + 1) % len(hands)),
            play.leaders,
            trick,
            play.played,
            play.tricks,
            play.points,
            play.announced,
            belote,
        )
    worth = sum(map((points or POINTS[play.trump]).__getitem__, trick))
    if not hand:  # the last card of the last trick
        worth += LAST_TRICK
    winning = Seat((play.leaders[-1] + winner(trick, play.trump)) % len(hands))
    (won, his_won), (taken, his_taken) = play.tricks, play.points
    if side_of(winning) == 0:
        tricks, taken_by_side = (won + 1, his_won), (taken + worth, his_taken)
    else:
        tricks, taken_by_side = (won, his_won + 1), (taken, his_taken + worth)
    return TrickPlay(
        play.trump,
        hands,
        winning,
        (*play.leaders, winning) if hand else play.leaders,
        (),
        play.played + trick,
        tricks,
        taken_by_side,
        play.announced,
        belote,
    )


def _with_belote(
    belote: tuple[tuple[Seat, str], ...], seat: Seat, hand: tuple[Card, ...], card: Card
) -> tuple[tuple[Seat, str], ...]:
    """After a king or queen of trumps, `hand` being what is left: the other one may be there."""
    if Card(_PAIR[card[0]] + card[1]) in hand:
        return (*belote, (seat, BELOTE))
    return (*belote, (seat, REBELOTE)) if (seat, BELOTE) in belote else belote


def belote_points(play: TrickPlay) -> tuple[int, int]:
    """Twenty for the side that has announced belote and rebelote (P45, B12), by side."""
    first, second = 0, 0
    for seat, word in play.belote:
        if word == REBELOTE:
            first, second = (BELOTE_POINTS, 0) if side_of(seat) == 0 else (0, BELOTE_POINTS)
    return first, second


# ---------------------------------------------------------------- declarations


def may_announce(play: TrickPlay, seat: Seat) -> bool:
    """Whether `seat` is to play its first card and has not announced (P30, B13).

    That it holds a declaration is asked beside this.
    """
    return play.first_trick and play.turn == seat and not has_announced(play, seat)


def has_announced(play: TrickPlay, seat: Seat) -> bool:
    """Whether `seat` has announced its declarations."""
    return any(entry.seat == seat for entry in play.announced)


def with_announced(play: TrickPlay, seat: Seat, found: tuple[Declaration, ...]) -> TrickPlay:
    """The play when `seat` has announced `found`, its best declaration first."""
    return replace(play, announced=(*play.announced, Announced(seat, found)))


def mid_turn(play: TrickPlay) -> bool:
    """Whether the seat to play has just announced: its card belongs to the same prompt (X1)."""
    return play.first_trick and has_announced(play, play.turn)


# ---------------------------------------------------------------- for views


def on_table(play: TrickPlay) -> tuple[tuple[Seat, Card], ...]:
    """The trick on the table: who played what, in order of play; () between tricks."""
    return _by_seats(play.leaders[-1], play.trick, len(play.hands))


def completed(play: TrickPlay) -> tuple[tuple[Seat, Card], ...]:
    """All completed tricks: who played what, in order of play."""
    seats = len(play.hands)
    return tuple(
        [
            pair
            for number, leader in enumerate(play.leaders)
            for pair in _by_seats(
                leader, play.played[number * seats : number * seats + seats], seats
            )
        ]
    )


def last_completed(play: TrickPlay) -> tuple[tuple[Seat, Card], ...]:
    """The last completed trick; () before the first."""
    return completed(play)[-len(play.hands) :]


def _by_seats(leader: Seat, cards: tuple[Card, ...], seats: int) -> tuple[tuple[Seat, Card], ...]:
    return tuple([(Seat((leader + at) % seats), card) for at, card in enumerate(cards)])
