"""The computer player of Koum-kan, Thanasis and Dynamitis, two at the table, to 101 points: against
a random legal player, and against one that melds all it can and throws away what counts most."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from random import Random
from typing import Any, Final, TypeAlias

from kafeneio_games import koumkan, thanasis
from kafeneio_games.deadwood import after_discards, value
from kafeneio_games.elimination_match import EliminationMatch
from kafeneio_games.game import CHANCE, Result, Seat
from kafeneio_games.koumkan import Koumkan
from kafeneio_games.rummy import Action, Discard, GoOut, LayMeld, LayOff
from kafeneio_games.target_match import write_dealer
from kafeneio_games.thanasis import Thanasis
from kafeneio_players import choose

from tests.games.positions import RandomDraw
from tests.strength.measure import Contest, Pair

SEED: Final = 20_240_603
COUNT: Final = 400
TARGET: Final = 101
Rummy: TypeAlias = Koumkan | Thanasis
GAMES: Final[dict[str, Rummy]] = {
    "koumkan": Koumkan(),
    "thanasis": Thanasis(),
    "dynamitis": Thanasis(wild_twos=True),
}
Chooser: TypeAlias = Callable[[Rummy, Any, Seat, Random], tuple[Action, ...]]
"""(game, the whole state, the seat, chance) -> what it does."""


# ---------------------------------------------------------------- the other players


def at_random(game: Rummy, state: Any, seat: Seat, random: Random) -> tuple[Action, ...]:
    """One action, each legal one as likely."""
    return (random.choice(list(game.legal(state, seat))),)


def plainly(game: Rummy, state: Any, seat: Seat, random: Random) -> tuple[Action, ...]:
    """Draws from the stock, goes out, melds and lays off as soon as it can, and discards what
    leaves the fewest points; it keeps jokers."""
    actions: list[Action] = list(game.legal(state, seat))
    for kind in (GoOut, LayMeld, LayOff):
        found = [action for action in actions if isinstance(action, kind)]
        if found:
            return (found[-1],)
    discards = [action.card for action in actions if isinstance(action, Discard)]
    if not discards:
        return (actions[0],)
    if isinstance(game, Thanasis):
        left = after_discards(state.hands[seat], game.meld_rules(state), thanasis.ACE)
        return (Discard(min(discards, key=left.__getitem__)),)
    rules = game.meld_rules
    naturals = [card for card in discards if card != "*"] or discards
    return (Discard(max(naturals, key=lambda card: value(card, rules, koumkan.ACE))),)


# ---------------------------------------------------------------- the contests

OPPONENTS: Final[dict[str, Chooser]] = {"random": at_random, "plain": plainly}
DEMANDED: Final = {
    ("koumkan", "random"): 0.7,
    ("koumkan", "plain"): 0.7,
    ("thanasis", "random"): 0.7,
    ("thanasis", "plain"): 0.5,
    ("dynamitis", "random"): 0.7,
}
"""Against the plain player Dynamitis is a matter of luck: it knows what to throw away."""


def contests() -> tuple[Contest, ...]:
    """What the player of rummy has to show: the share of the games that it wins."""
    return tuple(
        Contest(f"{name} against {opponent}", functools.partial(pair, name, opponent), demanded)
        for (name, opponent), demanded in DEMANDED.items()
    )


def pair(name: str, opponent: str, number: int) -> Pair:
    """Two whole games with the same chance, the seats exchanged: 1 for a win, 0 for a loss."""
    points: list[float] = []
    seconds: list[float] = []
    for seat in (Seat(0), Seat(1)):
        seed = f"{SEED} {name} {opponent} {number}"
        winner = game_of(GAMES[name], seat, OPPONENTS[opponent], seed, Seat(number % 2), seconds)
        points.append(float(winner == seat))
    return Pair(tuple(points), tuple(seconds))


def game_of(
    game: Rummy, seat: Seat, other: Chooser, seed: str, dealer: Seat, seconds: list[float]
) -> Seat:
    """Who wins a game to `TARGET` points; `seconds` gets the time of each decision."""
    match = EliminationMatch.begin(game, TARGET).opened(write_dealer(dealer))
    while (outcome := match.outcome()) is None:
        chance = Random(f"{seed} {match.hands}")
        match = match.after(hand_of(game, match, seat, other, chance, seconds))
    (winner,) = outcome.winners
    return winner


def hand_of(
    game: Rummy,
    match: EliminationMatch,
    seat: Seat,
    other: Chooser,
    random: Random,
    seconds: list[float],
) -> Result:
    """The next hand of a match."""
    turn = match.next()
    assert turn is not None
    draw, others = RandomDraw(random), Random(random.random())
    state: Any = game.start(turn.first, turn.live)
    while (result := game.result(state)) is None:
        (mover,) = game.to_act(state)
        actions: tuple[Action, ...]
        if mover == CHANCE:
            actions = (game.chance(state, draw),)
        elif mover != seat:
            actions = other(game, state, mover, others)
        else:
            view = game.view(state, seat)
            begin = time.process_time()  # its own time, whatever else the machine does
            actions = choose(game, view, seat)
            seconds.append(time.process_time() - begin)
        for action in actions:
            state = game.apply(state, mover, action)
    return result
