"""Nothing that a seat may not know is in its view, its legal actions or its refusals.

The cards that it cannot see are dealt anew, thousands of times: all must stay as it was.
"""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from kafeneio_games.game import Illegal, Seat, canonical, digest
from kafeneio_games.koumkan import Koumkan
from kafeneio_games.rummy_hand import Stage
from kafeneio_games.thanasis import Thanasis

from tests.games.rummy_tables import SEATS, Rummy, dealt, koumkan_state, played, redealt, stepped

GAMES: list[Koumkan | Thanasis] = [
    Koumkan(2),
    Koumkan(4, joker_must_be_used=True),
    Thanasis(3),
    Thanasis(2, wild_twos=True),
]
TRIED = (
    "draw",
    "take",
    "discard KS",
    "discard *",
    "out 7H",
    "lay 7H 1",
    "lay * 2 low",
    "swap 9D 1",
)
TRIED_MELDS = ("meld run 4C5C6C", "meld group KSKHKD", "meld group KS**")
POSITIONS = 1500


def answers(game: Rummy, state: Any, seat: Seat | None) -> tuple[object, ...]:
    """All that a seat can find out by asking."""
    found: list[object] = [game.view(state, seat), digest(game.view(state, seat))]
    if seat is not None:
        found += [game.write(action) for action in game.legal(state, seat)]
        found += [refusal(game, state, seat, text) for text in (*TRIED, *TRIED_MELDS)]
    return (*found, game.prompted(state), game.to_act(state))


def refusal(game: Rummy, state: Any, seat: Seat, text: str) -> str:
    try:
        game.apply(state, seat, game.read(text))
    except Illegal as error:
        return f"{error.rule}: {error}"
    return "accepted"


@pytest.mark.parametrize("game", GAMES, ids=lambda game: f"{game.name}-{game.players}")
def test_unseen_cards_change_nothing(game: Rummy) -> None:
    random = Random(len(game.sides))
    checked = 0
    while checked < POSITIONS:
        state = dealt(game, random)
        while state.result is None and checked < POSITIONS:
            if random.random() < 0.02 and len(state.live) > 2:
                state = game.withdraw(state, random.choice(state.live))
            for seat in (*SEATS[: len(game.sides)], None):
                other = redealt(state, seat, random)
                assert answers(game, other, seat) == answers(game, state, seat)
                checked += 1
            state = stepped(game, state, random)
    assert checked >= POSITIONS


@pytest.mark.parametrize("game", GAMES, ids=lambda game: f"{game.name}-{len(game.sides)}")
def test_a_view_names_no_unseen_card(game: Rummy) -> None:
    """Every card in a view is one that the seat holds, or that lies open."""
    random = Random(3)
    state = dealt(game, random)
    for _ in range(200):
        if state.result is not None:
            state = dealt(game, random)
        for seat in (*SEATS[: len(game.sides)], None):
            view = game.view(state, seat)
            assert view.hand == (() if seat is None else state.hands[seat])
            assert view.counts == tuple(map(len, state.hands))
            assert view.ends == ()
            assert view.stock_left == len(state.stock)
            assert view.discard_count == len(state.discards)
            assert isinstance(canonical(view), str)
        state = stepped(game, state, random)


def test_what_is_drawn_is_seen_by_nobody_else() -> None:
    game = Koumkan(3)
    state = koumkan_state("3C 9D|KH|QH", ["0 group 9S 9H 9C", "1 run 2C * 4C"], drawn=False)
    drawn = played(game, state, "draw")
    for seat in (Seat(1), Seat(2), None):
        before, after = game.view(state, seat), game.view(drawn, seat)
        assert after.hand == before.hand
        assert after.counts[0] == before.counts[0] + 1
        assert (after.drawn, after.stage) == (True, Stage.PLAY)
    swapped = played(game, drawn, "swap 3C 2")
    assert "*" in game.view(swapped, Seat(0)).hand
    assert "*" not in game.view(swapped, Seat(1)).hand


def test_the_hands_are_shown_at_the_end() -> None:
    """K23: all see them alike."""
    game = Koumkan(3)
    over = played(game, koumkan_state("9D|KH AS|QH *"), "discard 9D")
    view = game.view(over, None)
    assert [(end.seat, end.hand, end.deadwood) for end in view.ends] == [
        (0, (), 0),
        (1, ("AS", "KH"), 20),
        (2, ("QH", "*"), 35),
    ]
    assert view.result is not None
    assert view.result.points == (0, 20, 35)
    assert all(end.melds == () and end.left == end.hand for end in view.ends)
    assert game.view(over, Seat(1)).ends == view.ends


def test_a_view_of_the_table() -> None:
    game = Koumkan(2)
    state = koumkan_state("3C 9D 7S|KH", ["1 run * 2C 3C", "0 group 9S 9H *"], taken="7S")
    view = game.view(state, Seat(1))
    assert [(m.owner, m.cards, m.stands_for) for m in view.melds] == [
        (1, ("*", "2C", "3C"), ("AC", "2C", "3C")),
        (0, ("9S", "9H", "*"), ("9S", "9H", "*")),
    ]
    assert view.opened == (True, True)
    assert (view.taken, view.owed, view.mover, view.drawn) == ("7S", 0, 0, True)
    assert (view.game, view.turned, view.wild_ranks) == ("koumkan@1", None, ())
    assert (view.discard_top, view.discard_count) == ("KS", 1)
    assert view.hand == ("KH",)
    started = game.view(game.start(Seat(0), SEATS[:2]), None)
    assert (started.mover, started.stage, started.discard_top) == (None, Stage.DEAL, None)
