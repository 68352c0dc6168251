"""Which card is played: the one after which the deals that may be bring most, on the average.

The last tricks are played to the best by all, those before plainly.  Of two players the other one
is taken to err as often as not: half of what a card brings is what it brings when he plays at
random, which costs little against a good player and wins much from a weak one.
"""

from __future__ import annotations

from random import Random
from typing import Final

from kafeneio_games.cards import Card
from kafeneio_games.game import Seat
from kafeneio_games.trick_view import Contract, TrickView
from kafeneio_games.tricks import following, side_of, winner

from .tricks_deals import Hands
from .tricks_guess import guessed
from .tricks_house import House
from .tricks_memory import memory
from .tricks_playout import Law, Position, played_out
from .tricks_reckoner import Reckoner, law_of
from .tricks_solve import Solver
from .tricks_table import BIT, PACK, Mask, bits, plain

DEALS: Final = 24
SOLVED: Final = {4: 12, 2: 10}  # by seats: with at most so many cards left all is tried


def chosen(view: TrickView, house: House, contract: Contract, seat: Seat, random: Random) -> Card:
    """The card to play; `view` is the seat's own, and its turn to play."""
    trick = tuple([card for _, card in view.trick])
    may = following(view.hand, trick, contract.trump, house.exempt, house.undertrump)
    if len(may) == 1:
        return may[0]
    law = law_of(house, contract.trump)
    known = memory(view, house, seat)
    gone = plain(view.hand) | sum(known.played) & ~plain(trick)
    options = _different(law, plain(may), PACK & ~gone)
    if len(options) == 1:
        return law.table.cards[options[0]]
    total = dict.fromkeys(options, 0)
    reckoner = Reckoner(view, house, contract, known.played)
    left = sum(view.counts)
    sign = -1 if side_of(seat) else 1
    for hands, times in guessed(view, house, known, seat, random, DEALS):
        deal = reckoner.dealt(hands)
        position = at(view, law, hands, seat)
        solver = Solver(law) if left <= SOLVED[house.seats] else None
        for card in options:
            after = position.after(card, law)
            outcome = solver.outcome(after) if solver else played_out(after, law, contract.side)
            worth = house.worth(outcome, deal, contract)
            if house.seats == 2:
                erred = played_out(after, law, contract.side, 1 - side_of(seat), random)
                worth += house.worth(erred, deal, contract)
            total[card] += sign * times * worth
    # The first of equals is the one that is missed least.
    return law.table.cards[max(_cheapest(law, options), key=total.__getitem__)]


def at(view: TrickView, law: Law, hands: Hands, seat: Seat) -> Position:
    """The position of the view with these hands; `seat` plays next."""
    table = law.table
    ranked = tuple([table.of(hand) for hand in hands])
    won = (view.tricks[0] > 0, view.tricks[1] > 0)
    if not view.trick:
        return Position(ranked, seat, 0, 0, 0, 0, 0, view.points[0], won)
    cards = tuple([card for _, card in view.trick])
    numbers = [bits(table.of(BIT[card]))[0] for card in cards]
    trump = table.cards[-1][1] if table.trumps else ""
    best = winner(cards, trump)
    return Position(
        ranked,
        seat,
        table.suit[numbers[0]],
        numbers[best],
        view.trick[best][0],
        len(numbers),
        sum([table.points[number] for number in numbers]),
        view.points[0],
        won,
    )


def _different(law: Law, may: Mask, others: Mask) -> list[int]:
    """Of cards of one's own that do the same, worth nothing and with no other card between them,
    only the lowest."""
    table = law.table
    between = table.of(others)
    found: list[int] = []
    for card in bits(table.of(may)):
        last = found[-1] if found else -1
        same = (
            last >= 0
            and table.suit[last] == table.suit[card]
            and table.points[last] == table.points[card]
            and not between & (1 << card) - (2 << last)
        )
        if not same:
            found.append(card)
    return found


def _cheapest(law: Law, options: list[int]) -> list[int]:
    """In the order in which cards are thrown away."""
    return [card for group in law.table.away for card in options if group >> card & 1]
