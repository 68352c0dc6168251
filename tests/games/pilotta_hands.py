"""Hands of pilotta for tests: written down, played at random, and dealt again where unseen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from random import Random
from typing import TypeVar

from kafeneio_games.cards import SHORT_PACK, Card, Deal, read_cards
from kafeneio_games.classic_pilotta import ClassicPilotta
from kafeneio_games.game import CHANCE, AnyGame, Entry, Seat
from kafeneio_games.pilotta import Pilotta
from kafeneio_games.pilotta_play import State
from kafeneio_games.pilotta_two import PilottaTwo
from kafeneio_games.trick_actions import Action, Bid, Capot, PlayCard
from kafeneio_games.trick_play import Announced
from kafeneio_games.trick_view import Stage
from kafeneio_games.tricks import sorted_hand

from tests.games.simple_pilotta import Played

T = TypeVar("T")
AnyPilotta = Pilotta | ClassicPilotta | PilottaTwo
GAMES: tuple[AnyPilotta, ...] = (Pilotta(), ClassicPilotta(), PilottaTwo())
DEALER = Seat(3)
"""The dealer of the rule book's cases: A, seat 0, speaks and leads."""


class RandomDraw:
    """Chance from an ordinary generator."""

    def __init__(self, random: Random) -> None:
        self.random = random

    def below(self, n: int) -> int:
        return self.random.randrange(n)

    def shuffled(self, cards: Sequence[T]) -> tuple[T, ...]:
        return tuple(self.random.sample(cards, len(cards)))


def cards(text: str) -> tuple[Card, ...]:
    """ "7S AS JH" as cards."""
    return read_cards(text.replace(" ", ""))


def seats_of(game: AnyPilotta) -> tuple[Seat, ...]:
    """All seats, in order of play."""
    return tuple(sorted(seat for side in game.sides for seat in side))


def filled(hands: Iterable[str], random: Random, each: int = 8) -> tuple[tuple[Card, ...], ...]:
    """Hands of which some cards are given, filled with the others by chance."""
    given = [cards(text) for text in hands]
    left = [card for card in SHORT_PACK if not any(card in hand for hand in given)]
    random.shuffle(left)
    dealt = []
    for hand in given:
        more = each - len(hand)
        dealt.append((*hand, *left[:more]))
        left = left[more:]
    return tuple(dealt)


def start(game: AnyPilotta, deal: Deal, dealer: Seat = DEALER) -> State:
    """The hand when those cards have been dealt."""
    state = game.start(dealer, seats_of(game))
    return game.apply(state, CHANCE, deal)


def say(game: AnyPilotta, state: State, line: str) -> State:
    """The state after actions in notation, each by the seat on turn: "80H pass contra:1"."""
    for word in line.split():
        (seat, *_) = game.to_act(state)
        state = game.apply(state, seat, game.read(word.replace(":", " ")))
    return state


def random_action(game: AnyGame, state: State, random: Random) -> tuple[Seat, Action]:
    """Any legal action of anybody, but bids low and seldom, so that all contracts come up."""
    seat = random.choice(game.to_act(state))
    legal = list(game.legal(state, seat))
    bids = [action for action in legal if isinstance(action, Bid | Capot)]
    if not bids or random.random() < 0.02:
        return seat, random.choice(legal)
    if random.random() < 0.3:
        return seat, random.choice(bids[:8])
    return seat, random.choice([action for action in legal if action not in bids])


def played(game: AnyPilotta, seed: int) -> Iterator[tuple[State, Seat, Action]]:
    """One random hand: each state with the action that is done in it; the last one without."""
    random = Random(seed)
    state = game.start(Seat(random.randrange(len(seats_of(game)))), seats_of(game))
    draw = RandomDraw(random)
    while to_act := game.to_act(state):
        action: Action
        if to_act == (CHANCE,):
            seat, action = CHANCE, game.chance(state, draw)
        else:
            seat, action = random_action(game, state, random)
        yield state, seat, action
        state = game.apply(state, seat, action)
    yield state, CHANCE, None  # type: ignore[misc]  # nothing is done when it is over


def states(game: AnyPilotta, seed: int) -> list[State]:
    """All states of one random hand."""
    return [state for state, _, _ in played(game, seed)]


def log(game: AnyPilotta, seed: int) -> list[Entry]:
    """The entries of one random hand."""
    steps = list(played(game, seed))[:-1]
    return [Entry(seat, game.write(action)) for _, seat, action in steps]


def written_down(steps: Iterable[tuple[State, Seat, Action]]) -> Played:
    """A hand as one would write it down beside the table: `steps` as `played` gives them."""
    hands: list[list[str]] = []
    order: list[tuple[int, str]] = []
    callers: list[int] = []
    trump, caller = "", 0
    for state, seat, action in steps:
        if state.stage is not Stage.PLAYING or state.play is None or state.contract is None:
            continue
        if not hands:
            hands = [list(hand) for hand in state.play.hands]
            trump, caller = state.contract.trump, state.contract.side
        if isinstance(action, PlayCard):
            order.append((seat, action.card))
        else:
            callers.append(seat)
    return Played(trump, hands, order, callers, caller)


# ---------------------------------------------------------------- dealing again


def dealt_again(state: State, viewer: Seat | None, shown: set[Card], random: Random) -> State:
    """The state with all that `viewer` does not know dealt anew.

    That are the cards of the others, those not dealt and those put away, but for `shown`, which
    everybody has seen; and the cards of declarations that have not been compared yet.
    """
    play = state.play
    hands = state.hands if play is None else play.hands
    known = {*shown, *((state.turned,) if state.turned else ())}
    known |= set() if viewer is None else {*hands[viewer]}
    known |= set() if play is None else {*play.played, *play.trick}
    order = [card for card in SHORT_PACK if card not in known]
    random.shuffle(order)
    fresh = iter(order)

    def anew(old: Iterable[Card]) -> Iterator[Card]:
        return (card if card in shown else next(fresh) for card in old)

    again = tuple(
        hand if seat == viewer else sorted_hand(anew(hand)) for seat, hand in enumerate(hands)
    )
    state = replace(state, rest=tuple(anew(state.rest)))
    if play is None:
        return replace(state, hands=again)
    announced = play.announced
    if play.first_trick:
        announced = tuple(other_cards(entry, viewer, random) for entry in announced)
    return replace(state, play=replace(play, hands=again, announced=announced))


def other_cards(entry: Announced, viewer: Seat | None, random: Random) -> Announced:
    """What another seat has announced, of other cards: only the points of it are known."""
    if entry.seat == viewer:
        return entry
    best = entry.found[0]
    pack = random.sample(SHORT_PACK, len(best.cards))
    return Announced(entry.seat, (replace(best, cards=tuple(pack)),))


def exchanged(log: list[Entry], game: AnyPilotta, random: Random) -> list[Entry]:
    """The log after a deal in which two cards have changed places."""
    deal = game.read(log[0].text)
    assert isinstance(deal, Deal)
    pack = [card for group in (*deal.hands, deal.rest) for card in group]
    a, b = random.sample(pack, 2)
    other = {a: b, b: a}

    def swapped(group: tuple[Card, ...]) -> tuple[Card, ...]:
        return tuple(other.get(card, card) for card in group)

    again = Deal(tuple(map(swapped, deal.hands)), deal.turned, swapped(deal.rest))
    return [Entry(CHANCE, game.write(again)), *log[1:]]
