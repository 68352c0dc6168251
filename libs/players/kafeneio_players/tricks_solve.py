"""The last tricks, with all hands known, played as well as can be by both sides."""

from __future__ import annotations

from typing import Final

from kafeneio_games.tricks import LAST_TRICK

from .tricks_playout import Law, Position, outcome
from .tricks_table import Mask

FAR: Final = 1 << 20
WON: Final = 1  # side 0 has a trick
LOST: Final = 2  # side 1 has one


class Solver:
    """Alpha-beta over positions of one deal, with a memory of what it has found.

    Values are what is still to come for side 0: card points, and at the end what makes an
    `outcome` of them.  `visits` counts the cards tried.
    """

    def __init__(self, law: Law) -> None:
        self.visits = 0
        self._law = law
        self._hands: list[Mask] = []
        # By leader, who has a trick, and hands: what is to come is at least and at most that.
        self._known: dict[tuple[int, ...], tuple[int, int]] = {}

    def outcome(self, position: Position) -> int:
        """The outcome of best play."""
        hands, turn, led, best, holder, count, worth, points, (won, lost) = position
        self._hands = list(hands)
        sides = (WON if won else 0) | (LOST if lost else 0)
        if count:
            value = self._play(turn, led, best, holder, count, worth, sides, -FAR, FAR)
        else:
            value = self._lead(turn, sides, -FAR, FAR)
        return points + value

    def _lead(self, turn: int, sides: int, low: int, high: int) -> int:
        """Between tricks: what is to come, exact between `low` and `high`, else a bound."""
        hands = self._hands
        hand = hands[turn]
        if not hand & (hand - 1):
            return self._last_trick(turn, sides) if hand else outcome(0, sides & 1 > 0, sides > 1)
        key = (turn, sides, *hands)
        least, most = self._known.get(key, (-FAR, FAR))
        if least == most or least >= high:
            return least
        if most <= low:
            return most
        value = self._play(turn, 0, 0, 0, 0, 0, sides, low, high)
        if value > low:
            least = value
        if value < high:
            most = value
        self._known[key] = (least, most)
        return value

    def _last_trick(self, turn: int, sides: int) -> int:
        """One card each: nobody has a choice."""
        hands, table = self._hands, self._law.table
        seats = len(hands)
        best, holder = hands[turn].bit_length() - 1, turn
        worth = LAST_TRICK + table.points[best]
        for place in range(1, seats):
            seat = (turn + place) % seats
            card = hands[seat].bit_length() - 1
            worth += table.points[card]
            if table.beats[best] >> card & 1:
                best, holder = card, seat
        sides |= LOST if holder & 1 else WON
        return outcome(0 if holder & 1 else worth, sides & 1 > 0, sides > 1)

    def _play(
        self,
        turn: int,
        led: Mask,
        best: int,
        holder: int,
        count: int,
        worth: int,
        sides: int,
        low: int,
        high: int,
    ) -> int:
        """What is to come when `turn` plays to the trick of `worth`, its points included."""
        hands, law = self._hands, self._law
        table, seats = law.table, len(hands)
        hand = hands[turn]
        may = law.allowed(hand, led, best, (holder ^ turn) & 1 == 0) if count else hand
        ours, last, following = turn & 1 == 0, count == seats - 1, (turn + 1) % seats
        found = -FAR if ours else FAR
        while may:
            card = may.bit_length() - 1
            may ^= 1 << card
            self.visits += 1
            hands[turn] = hand ^ 1 << card
            lies = worth + table.points[card]
            wins = not count or table.beats[best] >> card & 1
            if not last:
                value = self._play(
                    following,
                    led if count else table.suit[card],
                    card if wins else best,
                    turn if wins else holder,
                    count + 1,
                    lies,
                    sides,
                    low,
                    high,
                )
            else:
                if not hands[turn]:
                    lies += LAST_TRICK
                winner = turn if wins else holder
                if winner & 1:
                    value = self._lead(winner, sides | LOST, low, high)
                else:
                    value = lies + self._lead(winner, sides | WON, low - lies, high - lies)
            if ours:
                if value > found:
                    found = value
                    if value > low:
                        low = value
            elif value < found:
                found = value
                if value < high:
                    high = value
            if low >= high:
                break
        hands[turn] = hand
        return found
