"""Pilotta a second time, plainly: who may play what, who wins, and what a hand scores.

It follows the rule book's sentences one by one, on lists of text, shares nothing with the games,
and is as slow as it likes.
"""

from __future__ import annotations

from dataclasses import dataclass

TRUMP_RANKS = ["J", "9", "A", "T", "K", "Q", "8", "7"]  # from high to low
PLAIN_RANKS = ["A", "T", "K", "Q", "J", "9", "8", "7"]
IN_SEQUENCE = ["7", "8", "9", "T", "J", "Q", "K", "A"]
CARRES = ["J", "9", "A", "T", "K", "Q"]


def beats(card: str, other: str, trump: str) -> bool:
    """Whether `card`, played after `other`, takes the trick from it."""
    if card[1] == other[1]:
        ranks = TRUMP_RANKS if card[1] == trump else PLAIN_RANKS
        return ranks.index(card[0]) < ranks.index(other[0])
    return card[1] == trump


def holder(trick: list[str], trump: str) -> int:
    """The place of the card that holds the trick."""
    best = 0
    for place in range(1, len(trick)):
        if beats(trick[place], trick[best], trump):
            best = place
    return best


def allowed(hand: list[str], trick: list[str], trump: str, exempt: bool = False) -> set[str]:
    """The cards that may be played (P20-P25), four players if `exempt`."""
    if not trick:
        return set(hand)
    of_suit = {card for card in hand if card[1] == trick[0][1]}
    trumps = {card for card in hand if card[1] == trump}
    best = trick[holder(trick, trump)]
    higher = {card for card in trumps if best[1] != trump or beats(card, best, trump)}
    if of_suit and trick[0][1] != trump:
        return of_suit  # P20
    if of_suit:
        return higher or of_suit  # P21
    if exempt and len(trick) > 1 and holder(trick, trump) == len(trick) - 2:
        return set(hand)
    return higher or trumps or set(hand)  # P22, P23; P24; P25


def worth(card: str, trump: str) -> int:
    """P29."""
    if card[1] == trump and card[0] in "J9":
        return 20 if card[0] == "J" else 14
    return {"A": 11, "T": 10, "K": 4, "Q": 3, "J": 2}.get(card[0], 0)


def calls(hand: list[str], trump: str) -> list[tuple[list[int], int]]:
    """All declarations: how good, for comparing, and what it is worth (P35-P40, P47)."""
    found = []
    for rank in CARRES:
        if all(rank + suit in hand for suit in "SHDC"):
            points = {"J": 200, "9": 150}.get(rank, 100)
            found.append(([1, -CARRES.index(rank)], points))
    for suit in "SHDC":
        for low in range(8):
            for high in range(low + 2, 8):
                inside = all(IN_SEQUENCE[at] + suit in hand for at in range(low, high + 1))
                longer = [at for at in (low - 1, high + 1) if 0 <= at <= 7]
                if inside and not any(IN_SEQUENCE[at] + suit in hand for at in longer):
                    length = high - low + 1
                    points = {3: 20, 4: 50}.get(length, 100)
                    found.append(([0, length, high, int(suit == trump)], points))
    return sorted(found, reverse=True)


@dataclass
class Played:
    """What a hand needs to be scored: the deal as played with, and how it was played.

    `hands` are the full hands, `order` the cards in the order played with their seats, `callers`
    who declared, `caller` the side that named the trump.
    """

    trump: str
    hands: list[list[str]]
    order: list[tuple[int, str]]
    callers: list[int]
    caller: int


def tricks_of(hand: Played) -> tuple[list[int], list[int]]:
    """Card points with the last ten, and tricks won, by side; every card checked."""
    seats = len(hand.hands)
    held = [list(cards) for cards in hand.hands]
    points, won = [0, 0], [0, 0]
    leader = hand.order[0][0]
    for at in range(0, len(hand.order), seats):
        trick: list[str] = []
        for place, (seat, card) in enumerate(hand.order[at : at + seats]):
            assert seat == (leader + place) % seats
            assert card in allowed(held[seat], trick, hand.trump)
            held[seat].remove(card)
            trick.append(card)
        leader = (leader + holder(trick, hand.trump)) % seats
        points[leader % 2] += sum(worth(card, hand.trump) for card in trick)
        won[leader % 2] += 1
    assert not any(held)
    points[leader % 2] += 10
    return points, won


def declared(hand: Played) -> list[int]:
    """What the declarations give each side (P33, P34, P41, P42)."""
    best: dict[int, list[list[int]]] = {0: [], 1: []}
    given = [0, 0]
    for seat in hand.callers:
        strength, points = calls(hand.hands[seat], hand.trump)[0]
        best[seat % 2].append(strength)
        given[seat % 2] += points
    if not best[0] or not best[1]:
        return given
    if max(best[0]) == max(best[1]):
        return [0, 0]
    return [given[0], 0] if max(best[0]) > max(best[1]) else [0, given[1]]


def marks(hand: Played, bid: int | None, times: int, capot: bool) -> tuple[list[int], list[int]]:
    """The exact totals and the recorded tens of both sides; no bid is a classic game."""
    points, won = tricks_of(hand)
    in_tricks = [250 * (won[1 - side] == 0) if 0 in won else points[side] for side in (0, 1)]
    given = declared(hand)
    own = [in_tricks[side] + given[side] for side in (0, 1)]
    for seat, cards in enumerate(hand.hands):
        if "K" + hand.trump in cards and "Q" + hand.trump in cards:
            own[seat % 2] += 20
    us, them = hand.caller, 1 - hand.caller
    if bid is None:
        made = own[us] > own[them]
    elif capot:
        made = won[them] == 0
    else:
        made = own[us] >= bid
    value = (bid or 0) * times
    total = [0, 0]
    if made:
        total[us], total[them] = own[us] + value, own[them]
    else:
        total[them] = own[us] + own[them] + value
    return total, tens(total, in_tricks, us)


def tens(total: list[int], in_tricks: list[int], caller: int) -> list[int]:
    """P61, T8."""
    down = [points // 10 for points in total]
    want = [points % 10 >= 5 for points in total]
    rest = [points % 10 for points in total]
    if want[0] and want[1]:
        if rest[0] != rest[1]:
            up = 0 if rest[0] > rest[1] else 1
        elif in_tricks[0] != in_tricks[1]:
            up = 0 if in_tricks[0] > in_tricks[1] else 1
        else:
            up = caller
        want = [up == 0, up == 1]
    return [down[side] + want[side] for side in (0, 1)]
