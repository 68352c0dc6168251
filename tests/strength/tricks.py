"""The computer player of the six games of tricks against a team that plays at random, and against
one that plays by simple rules."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from random import Random
from typing import Any, Final, TypeAlias

from kafeneio_games.belote import Belote
from kafeneio_games.belote_no_trump import BeloteNoTrump
from kafeneio_games.cards import Card
from kafeneio_games.classic_pilotta import ClassicPilotta
from kafeneio_games.coinche import Coinche
from kafeneio_games.game import CHANCE, AnyGame, Seat
from kafeneio_games.pilotta import Pilotta
from kafeneio_games.pilotta_two import PilottaTwo
from kafeneio_games.trick_actions import (
    CARDS,
    DECLARE,
    EXCHANGE,
    PASS,
    TAKE,
    Action,
    Bid,
    Choose,
    PlayCard,
)
from kafeneio_games.trick_view import TrickView
from kafeneio_games.tricks import PLAIN_ORDER, POINTS, TRUMP_ORDER, side_of, winner
from kafeneio_players import choose

from tests.games.positions import RandomDraw
from tests.strength.measure import Contest, Pair

SEED: Final = 20_240_602
COUNT: Final = 2000  # a thousand deals, each played twice
GAMES: Final[dict[str, AnyGame]] = {
    game.name.partition("@")[0]: game
    for game in (
        Pilotta(),
        ClassicPilotta(),
        PilottaTwo(),
        Belote(),
        BeloteNoTrump(),
        Coinche(),
    )
}
Chooser: TypeAlias = Callable[[AnyGame, Any, Seat, Random], tuple[Action, ...]]
"""(game, the whole state, the seat, chance) -> what it does."""


# ---------------------------------------------------------------- the plain players


def at_random(game: AnyGame, state: Any, seat: Seat, random: Random) -> tuple[Action, ...]:
    """One action, each legal one as likely."""
    return (random.choice(list(game.legal(state, seat))),)


def simply(game: AnyGame, state: Any, seat: Seat, random: Random) -> tuple[Action, ...]:
    """Bids by a plain rule and declares; leads high, wins as cheaply as it can, else throws away
    what is worth least; it leaves its partner's tricks alone."""
    view: TrickView = game.view(state, seat)
    may = list(game.legal(state, seat))
    if DECLARE in may:
        return (DECLARE,)
    cards = [action.card for action in may if isinstance(action, PlayCard)]
    if cards and view.contract is not None:
        return (CARDS[simple_card(view, cards, view.contract.trump)],)
    return (next(filter(functools.partial(_worth_saying, view), may), PASS),)


def simple_card(view: TrickView, may: list[Card], trump: str) -> Card:
    """The card of the simple player."""
    points = POINTS[trump]
    trick = tuple([card for _, card in view.trick])
    if not trick:
        plain = [card for card in may if card[1] != trump]
        return max(plain or may, key=lambda card: _height(card, trump))
    holder = view.trick[winner(trick, trump)][0]
    winning = [card for card in may if winner((*trick, card), trump) == len(trick)]
    if view.seat is not None and side_of(holder) != side_of(view.seat) and winning:
        return min(winning, key=lambda card: (card[1] == trump, _height(card, trump)))
    return min(may, key=lambda card: (points[card], card[1] == trump))


def _height(card: Card, trump: str) -> int:
    return (TRUMP_ORDER if card[1] == trump else PLAIN_ORDER).index(card[0])


def _worth_saying(view: TrickView, action: Action) -> bool:
    """Whether the simple player says that: never over its partner, never a contra."""
    ours = view.contract is not None and view.contract.side == (view.seat or 0) % 2
    match action:
        case Bid(value, suit):
            return not ours and value <= _simple_bid(view, suit)
        case Choose(suit):
            return _simple_bid(view, suit) >= 80
    if action == TAKE:
        if view.turned is None:
            return [card[0] for card in view.hand].count("A") >= 2
        return _simple_bid(view, view.turned[1]) >= 80
    return action == EXCHANGE


def _simple_bid(view: TrickView, suit: str) -> int:
    """How far the simple player goes with that suit: the jack or the nine, two more trumps and an
    ace are 80, each further trump and ace ten more; 0 for less."""
    turned = () if view.turned is None else (view.turned,)
    ranks = [card[0] for card in (*view.hand, *turned) if card[1] == suit]
    aces = sum(card[0] == "A" and card[1] != suit for card in view.hand)
    if not {"J", "9"} & set(ranks) or len(ranks) < 3 or len(ranks) + aces < 4:
        return 0
    return 40 + 10 * (len(ranks) + aces) + 10 * ({"J", "9"} <= set(ranks))


# ---------------------------------------------------------------- the contests

OPPONENTS: Final[dict[str, Chooser]] = {"random": at_random, "simple": simply}
LEAST: Final = 60.0


def contests() -> tuple[Contest, ...]:
    """What the player of tricks has to show, in points a deal."""
    found = []
    for name in GAMES:
        for opponent in OPPONENTS:
            least = 0.0 if opponent == "simple" else LEAST
            play = functools.partial(pair, name, opponent)
            found.append(Contest(f"{name} against {opponent}", play, least))
    return tuple(found)


def pair(name: str, opponent: str, number: int) -> Pair:
    """The same deal twice, the sides exchanged; the dealer goes round with the number."""
    points: list[float] = []
    seconds: list[float] = []
    for side in (0, 1):
        seed = f"{SEED} {name} {opponent} {number}"
        points.append(deal(GAMES[name], side, OPPONENTS[opponent], seed, number, seconds))
    return Pair(tuple(points), tuple(seconds))


def deal(
    game: AnyGame, side: int, other: Chooser, seed: str, number: int, seconds: list[float]
) -> float:
    """What the player's side gets more than the other in one deal, in points: pilotta's before
    they are rounded to tens.  `seconds` gets the time of each decision."""
    seats = tuple(sorted(seat for own in game.sides for seat in own))
    random = Random(seed + " other")
    state = game.start(seats[number % len(seats)], seats)
    state = game.apply(state, CHANCE, game.chance(state, RandomDraw(Random(seed))))
    while (seat := game.prompted(state)) is not None:
        if side_of(seat) != side:
            actions = other(game, state, seat, random)
        else:
            view = game.view(state, seat)
            begin = time.process_time()  # its own time, whatever else the machine does
            actions = choose(game, view, seat)
            seconds.append(time.process_time() - begin)
        for action in actions:
            state = game.apply(state, seat, action)
    view = game.view(state, None)
    if view.sheet is None:
        return 0.0
    return float(view.sheet[side].total - view.sheet[1 - side].total)
