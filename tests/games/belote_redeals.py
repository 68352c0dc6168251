"""Deals of belote that one seat cannot tell apart: unseen cards dealt again, the log replayed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from random import Random

from kafeneio_games.belote_play import State
from kafeneio_games.cards import Card, Deal
from kafeneio_games.game import CHANCE, Illegal, Seat
from kafeneio_games.trick_actions import Action, Declare, PlayCard
from kafeneio_games.trick_view import Stage

from tests.games import simple_belote
from tests.games.belote_tables import SEATS, AnyBelote, Shuffler, some_action

Step = tuple[Seat, Action]


@dataclass(frozen=True)
class Played:
    """One deal of a game: its dealer, its log, and the states before and after each step."""

    game: AnyBelote
    dealer: Seat
    log: tuple[Step, ...]
    states: tuple[State, ...]


def played(game: AnyBelote, random: Random) -> Played:
    """A deal at random, contra out of turn included."""
    dealer = random.choice(SEATS)
    states = [game.start(dealer, SEATS)]
    log: list[Step] = [(CHANCE, game.chance(states[0], Shuffler(random)))]
    while True:
        states.append(game.apply(states[-1], *log[-1]))
        seat = game.prompted(states[-1])
        if seat is None:
            return Played(game, dealer, tuple(log), tuple(states))
        if random.random() < 0.1:
            seat = random.choice(game.to_act(states[-1]))
        log.append((seat, some_action(game, states[-1], seat, random)))


def owners(state: State, deal: Deal, turned_to: Seat | None) -> list[Seat | None]:
    """Who owns each card of a deal in the end, hands first, then the rest; None: nobody yet."""
    found: list[Seat | None] = [
        seat for seat, hand in zip(SEATS, deal.hands, strict=True) for _ in hand
    ]
    if state.play is None:
        return found + [None] * len(deal.rest)
    for place in range(1, 5):
        seat = SEATS[(state.dealer + place) % 4]
        missing = 8 - len(deal.hands[seat]) - (seat == turned_to)
        found += [seat] * missing
    return found


def redealt(whole: Played, steps: int, viewer: Seat | None, random: Random) -> Deal:
    """The deal with all cards in other places that `viewer` has not seen after so many steps.

    Cards that were played stay with those who played them.
    """
    deal, state = whole.log[0][1], whole.states[steps]
    assert isinstance(deal, Deal)
    taker = state.contract.seat if state.contract is not None and deal.turned else None
    owned = owners(state, deal, taker)
    cards = [card for group in (*deal.hands, deal.rest) for card in group]
    shown = {a.card: seat for seat, a in whole.log[1:steps] if isinstance(a, PlayCard)}
    placed: dict[int, Card] = {
        place: card
        for place, card in enumerate(cards)
        if owned[place] == viewer and viewer is not None
    }
    free = [place for place in range(len(cards)) if place not in placed]
    random.shuffle(free)
    left = [card for card in cards if card not in placed.values()]
    for card in [card for card in left if card in shown]:
        places = [place for place in free if owned[place] == shown[card]]
        if not places:  # the turned card itself, played by its taker
            continue
        placed[places[0]] = card
        free.remove(places[0])
        left.remove(card)
    random.shuffle(left)
    placed |= dict(zip(free, left, strict=True))
    dealt = [placed[place] for place in range(len(cards))]
    each = len(deal.hands[0])
    hands = tuple(tuple(dealt[n * each : n * each + each]) for n in range(4))
    return Deal(hands, deal.turned, tuple(dealt[4 * each :]))


def replayed(whole: Played, steps: int, deal: Deal) -> tuple[State, ...] | None:
    """The states of that other deal after the same steps; None where one is not legal in it."""
    states = [whole.states[0]]
    try:
        for step in ((CHANCE, deal), *whole.log[1:steps]):
            states.append(whole.game.apply(states[-1], *step))
    except Illegal:
        return None
    return tuple(states)


# ---------------------------------------------------------------- what everybody has heard


def heard(whole: Played, states: tuple[State, ...], steps: int) -> tuple[object, ...]:
    """What was said of the hands in that deal, from the rule book alone (B13, A17)."""
    state = states[-1]
    start = next((s for s in states if s.stage is Stage.PLAYING), None)
    if state.play is None or start is None or start.play is None or state.contract is None:
        return ()
    rules, trump = whole.game.declarations, state.contract.trump
    scale = "no_trump" if rules.own_scale and not trump else "trump"
    hands = start.play.hands
    plays = [step for step in whole.log[1:steps] if isinstance(step[1], PlayCard)]
    speakers = [step for step in whole.log[1:steps] if isinstance(step[1], Declare)]
    if not rules.played:
        speakers = []
    elif not rules.by_player:
        speakers = plays[:4]
    declared = {int(seat): held(hands[seat], scale, rules.overlap) for seat, _ in speakers}
    kinds = tuple(
        (seat, tuple(kind for kind, _, _ in one)) for seat, one in declared.items() if one
    )
    shown: object = None
    if len(plays) > 4:
        side = simple_belote.scoring(declared, trump, state.contract.side, scale, rules.tie)
        shown = (
            side,
            frozenset(
                cards for seat, one in declared.items() if seat % 2 == side for _, cards, _ in one
            ),
        )
    return kinds, shown, tuple(belote_heard(hands, plays, trump))


@cache
def held(hand: tuple[Card, ...], scale: str, overlap: bool) -> list[simple_belote.Declared]:
    """The plain way is slow, and the same hands are asked for again and again."""
    return simple_belote.of_hand(hand, scale, overlap)


def belote_heard(
    hands: tuple[tuple[Card, ...], ...], plays: list[Step], trump: str
) -> Iterator[tuple[Seat, str]]:
    """Who has said belote and rebelote."""
    pair = {f"K{trump}", f"Q{trump}"}
    said = 0
    for seat, action in plays:
        assert isinstance(action, PlayCard)
        if trump and action.card in pair and pair <= set(hands[seat]):
            yield seat, ("belote", "rebelote")[said]
            said += 1
