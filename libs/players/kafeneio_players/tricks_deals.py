"""Deals of the unseen cards that agree with all that a seat knows."""

from __future__ import annotations

from random import Random
from typing import TypeAlias

from .tricks_memory import Memory
from .tricks_table import Mask, bits

Hands: TypeAlias = tuple[Mask, ...]
"""Plain masks by seat: what each holds now, or will hold when all cards are dealt."""


class Dealer:
    """Deals at random, as often as asked."""

    def __init__(self, memory: Memory, random: Random) -> None:
        self._memory, self._random = memory, random
        needy = [seat for seat, missing in enumerate(memory.missing) if missing]
        nobody = len(memory.missing)
        spare = memory.unseen.bit_count() - sum(memory.missing)
        self._room = [*memory.missing, spare]
        owners = [*needy, nobody] if spare else needy
        may = [*memory.may, memory.unseen]
        self._free = all(may[seat] == memory.unseen for seat in owners)
        self._owners = {
            card: [seat for seat in owners if may[seat] >> card & 1] for card in bits(memory.unseen)
        }
        self._cards = list(self._owners)

    def deal(self) -> Hands:
        """One deal, with every seat's known cards."""
        cards = self._cards[:]
        self._random.shuffle(cards)
        hands = list(self._memory.known)
        if self._free:
            start = 0
            for seat, missing in enumerate(self._memory.missing):
                for card in cards[start : start + missing]:
                    hands[seat] |= 1 << card
                start += missing
            return tuple(hands)
        for card, seat in self._placed(cards).items():
            if seat < len(hands):
                hands[seat] |= 1 << card
        return tuple(hands)

    def _placed(self, cards: list[int]) -> dict[int, int]:
        """Each card to a seat that may hold it, those with the fewest such seats first.

        Where all of them are full, cards are moved to make room; the views of real play never
        leave a card without any place.
        """
        room, owners, random = self._room[:], self._owners, self._random
        cards.sort(key=lambda card: len(owners[card]))
        at: dict[int, int] = {}
        for card in cards:
            free = sum([room[seat] for seat in owners[card]])
            if not free:
                self._make_room(card, at, room)
                continue
            place = int(random.random() * free)
            for seat in owners[card]:
                place -= room[seat]
                if place < 0:
                    at[card] = seat
                    room[seat] -= 1
                    break
        return at

    def _make_room(self, card: int, at: dict[int, int], room: list[int]) -> None:
        """Place `card` by moving others along the shortest way to a seat with room."""
        came: dict[int, tuple[int, int]] = {}  # seat: the card that would go there, and from where
        ways = []
        for seat in self._owners[card]:
            came[seat] = (card, -1)
            ways.append(seat)
        for seat in ways:
            if room[seat]:
                room[seat] -= 1
                while seat >= 0:
                    moved, origin = came[seat]
                    at[moved] = seat
                    seat = origin
                return
            for other, holder in at.items():
                if holder == seat:
                    for following in self._owners[other]:
                        if following not in came:
                            came[following] = (other, seat)
                            ways.append(following)
        # What is known contradicts itself; any seat with room will do.
        seat = next(seat for seat, free in enumerate(room) if free)
        at[card] = seat
        room[seat] -= 1
