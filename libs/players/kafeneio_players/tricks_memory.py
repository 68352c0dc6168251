"""What a seat knows of the cards it does not see: who cannot hold what, and who must hold what.

Everything follows from the view: cards played, suits not followed, tricks not trumped or not
overtrumped though that was due, belote said or not said, declarations shown.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

from kafeneio_games.cards import Card
from kafeneio_games.game import Seat
from kafeneio_games.trick_play import BELOTE
from kafeneio_games.trick_view import TrickView
from kafeneio_games.tricks import TRUMP_ORDER, winner

from .tricks_house import House
from .tricks_table import BIT, PACK, SUIT, Mask, plain

_OTHER = {"K": "Q", "Q": "K"}


class Memory(NamedTuple):
    """Masks are plain; lists are by seat.

    `known` are the cards that a seat holds for certain, `played` those it has played; `missing` is
    how many more it holds, or will when all are dealt, out of `unseen`; `may` which of these it may
    hold.  Of `unseen` may be more than is missing: cards that nobody is dealt.
    """

    known: tuple[Mask, ...]
    played: tuple[Mask, ...]
    missing: tuple[int, ...]
    unseen: Mask
    may: tuple[Mask, ...]


def memory(view: TrickView, house: House, seat: Seat, own: Mask | None = None) -> Memory:
    """What `seat` knows; `own` is its hand where it is not the one of the view, but the one that it
    is about to take."""
    trump = view.contract.trump if view.contract else ""
    known = [0] * house.seats
    known[seat] = plain(view.hand) if own is None else own
    played = [0] * house.seats
    for player, card in (*view.played, *view.trick):
        played[player] |= BIT[card]
    for declared in view.declarations:
        known[declared.seat] |= plain(declared.cards) & ~played[declared.seat]
    ruled_out = [0] * house.seats
    if trump:
        _belote(view, trump, played, known, ruled_out)
    _duties(view, house, trump, ruled_out)
    gone = sum(played) | sum(known) | plain(view.hand) | plain(_away(view, trump))
    unseen = PACK & ~gone
    missing = [
        house.cards - played[s].bit_count() - known[s].bit_count() for s in range(house.seats)
    ]
    return Memory(
        tuple(known),
        tuple(played),
        tuple(missing),
        unseen,
        tuple([unseen & ~ruled_out[s] for s in range(house.seats)]),
    )


def _away(view: TrickView, trump: str) -> tuple[Card, ...]:
    """Cards that nobody will hold: what lies turned on the table, or the seven laid down there."""
    exchanged = any(text == "exchange" for _, text in view.calls)
    return (Card("7" + trump),) if exchanged else (view.turned,) if view.turned else ()


def _belote(
    view: TrickView, trump: str, played: list[Mask], known: list[Mask], ruled_out: list[Mask]
) -> None:
    """Who has played one of the pair holds the other if he has said so, and else does not (A17)."""
    said = {seat for seat, word in view.belote if word == BELOTE}
    for seat, card in (*view.played, *view.trick):
        if card[1] == trump and card[0] in _OTHER:
            other = BIT[Card(_OTHER[card[0]] + trump)]
            if seat not in said:
                ruled_out[seat] |= other
            elif not played[seat] & other:
                known[seat] |= other


def _duties(view: TrickView, house: House, trump: str, ruled_out: list[Mask]) -> None:
    """What each card that was played says of the cards that it was played instead of."""
    cards = (*view.played, *view.trick)
    for start in range(0, len(cards), house.seats):
        trick = cards[start : start + house.seats]
        for place in range(1, len(trick)):
            seat, _ = trick[place]
            ruled_out[seat] |= _not_held(trick[: place + 1], trump, house)


def _not_held(trick: tuple[tuple[Seat, Card], ...], trump: str, house: House) -> Mask:
    """What the seat that played the last card of `trick` cannot have held."""
    *before, (seat, card) = trick
    holder, best = before[winner(tuple([card for _, card in before]), trump)]
    led, own = before[0][1][1], card[1]
    beaten = own == trump and bool(_higher(trump, card) & BIT[best])
    if own == led:
        return _higher(trump, best) if led == trump and beaten else 0
    void = SUIT[led]
    if not trump or led == trump or (house.exempt and (seat ^ holder) & 1 == 0):
        return void
    if best[1] != trump:
        return void if own == trump else void | SUIT[trump]
    if own == trump:
        return void | _higher(trump, best) if beaten else void
    return void | (SUIT[trump] if house.undertrump else _higher(trump, best))


@functools.cache
def _higher(trump: str, card: Card) -> Mask:
    """The trumps that are higher than that one; all of them, if it is no trump."""
    if card[1] != trump:
        return SUIT[trump]
    return plain(Card(rank + trump) for rank in TRUMP_ORDER[TRUMP_ORDER.index(card[0]) + 1 :])
