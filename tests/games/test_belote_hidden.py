"""What a seat may not know: unseen cards are dealt again, and it must see no difference."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields, is_dataclass
from random import Random

import pytest
from kafeneio_games.belote_play import State
from kafeneio_games.cards import SHORT_PACK, Card
from kafeneio_games.declarations import Kind
from kafeneio_games.game import CHANCE, Illegal, Seat, digest
from kafeneio_games.trick_actions import (
    CAPOTS,
    CARDS,
    CHOICES,
    DECLARE,
    PASS,
    RECONTRA,
    TAKE,
    Action,
    Bid,
    Contra,
)
from kafeneio_games.trick_play import on_table
from kafeneio_games.trick_view import TrickView

from tests.games.belote_redeals import Played, heard, played, redealt, replayed
from tests.games.belote_tables import GAMES, SEATS, AnyBelote, game_of

TABLES = {
    "belote": game_of("belote"),
    "belote official": game_of("belote", "official"),
    "belote by the player": game_of("belote", declare="by_player"),
    "no trump": game_of("belote-no-trump"),
    "no trump official": game_of("belote-no-trump", "official"),
    "coinche": game_of("coinche"),
    "coinche official": game_of("coinche", "official"),
    "coinche by the player": game_of("coinche", declare="by_player"),
    "coinche without": game_of("coinche", declarations="no"),
}
tables = pytest.mark.parametrize("name", TABLES)
DEALS, POSITIONS, TRIES = 14, 22, 6

ASKED: tuple[Action, ...] = (
    *CARDS.values(),
    *CHOICES.values(),
    *CAPOTS.values(),
    *(DECLARE, PASS, RECONTRA, TAKE, Contra(1), Contra(2)),
    *(Bid(value, "H") for value in (80, 100, 160, 400, 650)),
)


def answers(game: AnyBelote, state: State, seat: Seat) -> list[str]:
    """What the rules answer to everything that this seat might try."""
    found = []
    for action in ASKED:
        try:
            game.apply(state, seat, action)
        except Illegal as refusal:
            found.append(f"{refusal.rule} {refusal}")
        else:
            found.append("yes")
    return found


@pytest.mark.matrix
@tables
def test_unseen_cards_make_no_difference(name: str) -> None:
    """In thousands of positions: the view, its digest, what is legal, and every refusal."""
    game, count = TABLES[name], Counter[str]()
    for seed in range(DEALS):
        random = Random(f"{name} {seed}")
        whole = played(game, random)
        for _ in range(POSITIONS):
            steps = random.randrange(1, len(whole.states))
            viewer = random.choice((*SEATS, None))
            compare(whole, steps, viewer, random, count)
    print(f"\n{name}: {dict(count)}")
    assert count["compared"] >= 400
    assert count["in the auction"] >= 20
    assert count["after the first trick"] >= 100


def compare(
    whole: Played, steps: int, viewer: Seat | None, random: Random, count: Counter[str]
) -> None:
    game, state = whole.game, whole.states[steps]
    for _ in range(TRIES):
        deal = redealt(whole, steps, viewer, random)
        states = replayed(whole, steps, deal)
        if states is None or heard(whole, states, steps) != heard(
            whole, whole.states[: steps + 1], steps
        ):
            count["told apart"] += 1
            continue
        other = states[-1]
        count["compared"] += 1
        count["in the auction"] += state.play is None
        count["after the first trick"] += state.play is not None and len(state.play.played) > 0
        view, again = game.view(state, viewer), game.view(other, viewer)
        if state.result is None:
            assert view == again
            assert digest(view) == digest(again)
        assert game.show(deal, viewer) == game.show(whole.log[0][1], viewer)
        assert game.prompted(state) == game.prompted(other)
        assert game.mid_turn(state) == game.mid_turn(other)
        if viewer is not None:
            assert list(game.legal(state, viewer)) == list(game.legal(other, viewer))
            assert answers(game, state, viewer) == answers(game, other, viewer)


def cards_in(value: object) -> set[Card]:
    """Every card that stands anywhere in a value."""
    if isinstance(value, str):
        return {Card(value)} & set(SHORT_PACK)
    if isinstance(value, tuple):
        return set().union(*map(cards_in, value)) if value else set()
    if is_dataclass(value):
        return set().union(*(cards_in(getattr(value, field.name)) for field in fields(value)))
    return set()


@pytest.mark.matrix
@tables
def test_no_card_is_in_a_view_that_may_not_be(name: str) -> None:
    """Own cards, what was played or turned, and the scoring side's declarations; nothing else."""
    game, checked = TABLES[name], 0
    for seed in range(60):
        whole = played(game, Random(f"{name} {seed}"))
        for steps, state in enumerate(whole.states):
            facts = heard(whole, whole.states[: steps + 1], steps)
            public = set(state.turned)
            if state.play is not None:
                public |= {*state.play.played, *state.play.trick}
                shown = facts[1] if facts else None
                if isinstance(shown, tuple):
                    public |= set().union(*shown[1])
            for viewer in (*SEATS, None):
                view = game.view(state, viewer)
                own = own_cards(whole, state, viewer)
                assert cards_in(view) <= public | own
                assert set(view.hand) <= own
                checked += 1
    assert checked > 5000


def own_cards(whole: Played, state: State, viewer: Seat | None) -> set[Card]:
    if viewer is None:
        return set()
    if state.play is None:
        return set(state.hands[viewer]) if state.hands else set()
    start = next(s for s in whole.states if s.play is not None)
    assert start.play is not None
    return set(start.play.hands[viewer])


@tables
def test_what_is_told_of_declarations(name: str) -> None:
    """Kinds in order of play; cards of the scoring side alone, from the second trick on."""
    game, seen = TABLES[name], Counter[str]()
    for seed in range(80):
        whole = played(game, Random(f"{name} {seed}"))
        for steps, state in enumerate(whole.states):
            facts = heard(whole, whole.states[: steps + 1], steps)
            if not facts:
                continue
            kinds, shown, belote = facts
            for viewer in (*SEATS, None):
                view = game.view(state, viewer)
                assert kinds_of(view) == kinds
                assert view.belote == belote
                seen["belote"] += bool(belote)
                for one in view.declarations:
                    if isinstance(shown, tuple):
                        side, cards = shown
                        assert one.scored == (one.seat % 2 == side)
                        seen["scored" if one.scored else "lost"] += 1
                        if one.scored:
                            assert frozenset(one.cards) in cards
                    else:
                        assert one.scored is None
                        seen["not compared yet"] += 1
                    if not one.scored and one.seat != viewer:
                        assert (one.cards, one.points) == ((), 0)
                    else:
                        assert one.cards
                        assert one.points > 0
    print(f"\n{name}: {dict(seen)}")
    if game.declarations.played:
        assert min(seen["scored"], seen["lost"], seen["not compared yet"]) > 50
    assert (seen["belote"] > 0) == (not name.startswith("no trump"))


def kinds_of(view: TrickView) -> tuple[tuple[int, tuple[str, ...]], ...]:
    found: dict[int, list[str]] = {}
    for one in view.declarations:
        assert isinstance(one.kind, Kind)
        found.setdefault(int(one.seat), []).append(str(one.kind))
    return tuple((seat, tuple(kinds)) for seat, kinds in found.items())


def test_chance_may_not_be_asked_by_anybody() -> None:
    """A seat cannot deal, and the house has nothing to say in play."""
    for kind in GAMES:
        game = game_of(kind)
        whole = played(game, Random(kind))
        deal = whole.log[0][1]
        for state in whole.states[1:]:
            assert list(game.legal(state, CHANCE)) == []
            for seat in (*SEATS, CHANCE):
                with pytest.raises(Illegal):
                    game.apply(state, seat, deal)
            if state.play is not None and state.play.trick:
                assert on_table(state.play)[0][0] == state.play.leaders[-1]
