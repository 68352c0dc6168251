"""Counting the paths of a hand of pilotta a second time, on what was said and played alone.

A position is the deal and the words since; whose turn it is and what may follow is worked out anew
from these for every step. Contra is asked for after the auction; there are no house options.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tests.games.simple_pilotta import allowed, calls, holder

Hands = list[list[str]]


@dataclass(frozen=True)
class Position:
    """`words` are everything said and played since the deal, in order."""

    dealer: int
    hands: tuple[tuple[str, ...], ...]
    turned: tuple[str, ...]
    rest: tuple[str, ...]
    words: tuple[str, ...] = ()

    def copied(self) -> Hands:
        return [list(hand) for hand in self.hands]


def perft(position: Position, depth: int) -> int:
    """How many ways there are to go on for that many steps."""
    if depth == 0:
        return 1
    return sum(
        perft(replace(position, words=(*position.words, word)), depth - 1)
        for word in open_words(position)
    )


def open_words(position: Position) -> list[str]:
    """What may be said or played now; nothing when the hand is over."""
    words = list(position.words)
    return in_choosing(position, words) if position.turned else in_auction(position, words)


def in_auction(position: Position, words: list[str]) -> list[str]:
    best, last, bids, passes = 0, "", 0, 0
    while passes < (3 if bids else 4):
        if not words:
            return ["pass", *higher(best)]
        word = words.pop(0)
        if word == "pass":
            passes += 1
        else:
            best, last, bids, passes = worth(word), word, bids + 1, 0
    if not bids:
        return []
    for _ in range(2):  # the opponents of the caller
        if not words:
            return ["pass", f"contra {bids}"]
        if words.pop(0) != "pass":
            for _ in range(2):
                if not words:
                    return ["pass", "recontra"]
                if words.pop(0) == "recontra":
                    break
            break
    return in_play(position, position.copied(), last[-1], words)


def worth(bid: str) -> int:
    return 999 if bid.startswith("capot") else int(bid[:-1])


def higher(best: int) -> list[str]:
    numbers = [f"{value}{suit}" for value in range(80, 241, 10) for suit in "SHDC"]
    return [bid for bid in (*numbers, *(f"capot{suit}" for suit in "SHDC")) if worth(bid) > best]


def in_choosing(position: Position, words: list[str]) -> list[str]:
    hands, rest = position.copied(), list(position.rest)
    seats, (turned,) = len(hands), position.turned
    for at in range(2 * seats):
        if not words:
            others = [f"choose {suit}" for suit in "SHDC" if suit != turned[1]]
            return ["pass", *(["take"] if at < seats else others)]
        chosen = words.pop(0)
        if chosen != "pass":
            break
    else:
        return []
    chooser = (position.dealer + 1 + at) % seats
    trump = turned[1] if chosen == "take" else chosen[-1]
    if seats == 2 and chosen == "take" and turned[0] != "7":
        seven = "7" + trump
        if not words:
            return ["pass", *(["exchange"] if seven in hands[chooser] else [])]
        if words.pop(0) == "exchange":
            hands[chooser].remove(seven)
            hands[chooser].append(turned)
    for place in range(seats):
        seat = (position.dealer + 1 + place) % seats
        more = 3
        if seats == 4 and seat == chooser:
            hands[seat].append(turned)
            more = 2
        hands[seat] += rest[:more]
        rest = rest[more:]
    return in_play(position, hands, trump, words)


def in_play(position: Position, hands: Hands, trump: str, words: list[str]) -> list[str]:
    seats = len(hands)
    seat = (position.dealer + 1) % seats
    trick: list[str] = []
    declared: list[int] = []
    first = True
    while any(hands):
        may = first and seat not in declared and calls(hands[seat], trump)
        if not words:
            return [*(["declare"] if may else []), *allowed(hands[seat], trick, trump)]
        word = words.pop(0)
        if word == "declare":
            declared.append(seat)
            continue
        hands[seat].remove(word)
        trick.append(word)
        seat = (seat + 1) % seats
        if len(trick) == seats:
            seat = (seat + holder(trick, trump)) % seats
            trick, first = [], False
    return []
