"""Cards played out with all hands known: a plain way to play for every seat, fast.

What comes of a hand is an *outcome*: the card points of side 0, the last trick's ten included; with
`ALL` added when it has taken all the tricks, and less `ALL` when it has taken none.  So the greater
outcome is the better one for side 0 whatever the game pays.
"""

from __future__ import annotations

from random import Random
from typing import Final, NamedTuple

from kafeneio_games.tricks import LAST_TRICK

from .tricks_table import Mask, Table

ALL: Final = 1000
NOBODY: Final = -1


class Law(NamedTuple):
    """Which cards may be played: `table`, and what is due to who cannot follow.

    `exempt`: nothing while the partner holds the trick; `undertrump`: a trump though it is lower.
    """

    table: Table
    exempt: bool
    undertrump: bool

    def allowed(self, hand: Mask, led: Mask, best: int, partners: bool) -> Mask:
        """What may be played to a trick: `led` the suit, `best` the card that holds it so far,
        `partners` whether that is the partner's.  The same as `tricks.following`."""
        same, trumps = hand & led, self.table.trumps
        if led == trumps:
            return same & self.table.beats[best] or same or hand
        if same or not trumps:
            return same or hand
        own = hand & trumps
        if not own or (partners and self.exempt):
            return hand
        return own & self.table.beats[best] or (own if self.undertrump else hand)


class Position(NamedTuple):
    """A hand in the midst of its play: the cards of each seat, and the trick on the table.

    `turn` plays next.  Of the trick: `lying` cards lie, worth `worth`, of suit `led`, and `best`,
    which `holder` played, holds it; meaningless before the lead.  `points` are those of side 0 so
    far; `won` says of each side whether it has a trick.
    """

    hands: tuple[Mask, ...]
    turn: int
    led: Mask
    best: int
    holder: int
    lying: int
    worth: int
    points: int
    won: tuple[bool, bool]

    def allowed(self, law: Law) -> Mask:
        """What the seat on turn may play."""
        hand = self.hands[self.turn]
        if not self.lying:
            return hand
        return law.allowed(hand, self.led, self.best, (self.holder ^ self.turn) & 1 == 0)

    def after(self, card: int, law: Law) -> Position:
        """The position when that card is played."""
        hands, turn, led, best, holder, count, worth, points, won = self
        table, seats = law.table, len(hands)
        hands = tuple([h & ~(1 << card) if s == turn else h for s, h in enumerate(hands)])
        worth += table.points[card]
        if not count:
            led, best, holder = table.suit[card], card, turn
        elif table.beats[best] >> card & 1:
            best, holder = card, turn
        if count + 1 < seats:
            turn = (turn + 1) % seats
            return Position(hands, turn, led, best, holder, count + 1, worth, points, won)
        if not any(hands):
            worth += LAST_TRICK
        points, won = (points, (won[0], True)) if holder & 1 else (points + worth, (True, won[1]))
        return Position(hands, holder, 0, 0, 0, 0, 0, points, won)


def outcome(points: int, won: bool, lost: bool) -> int:
    """The outcome of a hand: side 0 has `points`, and has won, and lost, a trick."""
    return points + (0 if lost else ALL) - (0 if won else ALL)


def played_out(
    position: Position, law: Law, calling: int, erring: int = NOBODY, random: Random | None = None
) -> int:
    """The outcome when everybody plays on plainly; `calling` is the side of the contract.

    The side `erring` plays any card that it may instead, drawn from `random`.
    """
    hands = list(position.hands)
    _, seat, led, best, holder, count, worth, points, (won, lost) = position
    table, seats = law.table, len(hands)
    beats, value, suit_of, allowed = table.beats, table.points, table.suit, law.allowed
    last, trumps = seats - 1, table.trumps
    left = sum([hand.bit_count() for hand in hands])
    while left or count:
        hand = hands[seat]
        if seat & 1 == erring and random is not None:
            card = _any(
                allowed(hand, led, best, (holder ^ seat) & 1 == 0) if count else hand, random
            )
        elif not count:
            card = _lead(table, hands, seat, seat & 1 == calling)
        else:
            partners = (holder ^ seat) & 1 == 0
            may = allowed(hand, led, best, partners)
            if not may & (may - 1):
                card = may.bit_length() - 1
            else:
                # Of the seats that are still to play only the next is an opponent's.
                after = hands[(seat + 1) % seats] if count < last else 0
                theirs = after & led or after & trumps
                winning = may & beats[best]
                if partners:
                    groups = table.away if theirs & beats[best] else table.give
                    card = _first(groups, may & ~winning or may)
                else:
                    card = _taking(table, may, winning & -1 << theirs.bit_length())
        worth += value[card]
        if not count:
            led, best, holder = suit_of[card], card, seat
        elif beats[best] >> card & 1:
            best, holder = card, seat
        hands[seat] = hand & ~(1 << card)
        left -= 1
        count += 1
        if count < seats:
            seat = (seat + 1) % seats
            continue
        if not left:
            worth += LAST_TRICK
        if holder & 1:
            lost = True
        else:
            won = True
            points += worth
        seat, count, worth = holder, 0, 0
    return outcome(points, won, lost)


def _any(may: Mask, random: Random) -> int:
    """One of the cards, each as likely."""
    for _ in range(random.randrange(may.bit_count())):
        may &= may - 1
    return (may & -may).bit_length() - 1


def _first(groups: tuple[Mask, ...], may: Mask) -> int:
    """The first card of the first group that has one."""
    for group in groups:
        found = group & may
        if found:
            return (found & -found).bit_length() - 1
    raise ValueError("no card")


def _taking(table: Table, may: Mask, winners: Mask) -> int:
    """The card with which an opponent's trick is taken, by one of `winners`, or left."""
    suit = winners & ~table.trumps
    if suit:
        return _first(table.give, suit)
    if winners:
        return (winners & -winners).bit_length() - 1
    return _first(table.away, may)


def _lead(table: Table, hands: list[Mask], seat: int, calling: bool) -> int:
    """What is led: by the calling side the highest trump while the others hold some; a card that
    wins at once; a suit in which the partner's does; else what is worth least."""
    seats, trumps = len(hands), table.trumps
    hand, left, right = hands[seat], hands[seat - 1], hands[(seat + 1) % seats]
    partner = hands[(seat + 2) % seats] if seats > 2 else 0
    theirs = (left | right) & trumps
    if calling and theirs and hand & trumps > theirs:
        return (hand & trumps).bit_length() - 1
    best, gain, through = -1, -1, -1
    rest = hand & ~trumps
    while rest:
        top = rest.bit_length() - 1
        suit = table.suit[top]
        rest &= ~suit
        against = (left | right) & suit
        if theirs and not (
            (left & suit or not left & trumps) and (right & suit or not right & trumps)
        ):
            continue
        if against < 1 << top:
            if table.points[top] > gain:
                best, gain = top, table.points[top]
        elif partner & suit > against:
            through = _first(table.give, hand & suit)
    if best >= 0:
        return best
    return through if through >= 0 else _first(table.away, hand & ~trumps or hand)
