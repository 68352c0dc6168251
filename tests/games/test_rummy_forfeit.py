"""F3: a forfeited seat is out at once, its cards leave play, its melds stay, the turn passes on."""

from __future__ import annotations

import itertools
from random import Random
from typing import Any

import pytest
from kafeneio_games import koumkan
from kafeneio_games.cards import JOKER
from kafeneio_games.game import CHANCE, Entry, Seat
from kafeneio_games.koumkan import Koumkan
from kafeneio_games.play import Play
from kafeneio_games.registry import build
from kafeneio_games.rummy_hand import PACK, Stage, cut
from kafeneio_games.thanasis import Thanasis

from tests.games.rummy_tables import (
    Dice,
    Rummy,
    all_cards,
    choose,
    dealt,
    koumkan_state,
    played,
    spelt,
    stepped,
)

MAKES: list[type[Koumkan] | type[Thanasis]] = [Koumkan, Thanasis]
makes = pytest.mark.parametrize("make", MAKES)
NINES = "0 group 9S 9H 9C"


def test_on_the_own_turn() -> None:
    game = Koumkan(3)
    state = koumkan_state("4C 5C|KH QH|2D 3D", [NINES], taken="5C", pile="KS")
    after = game.withdraw(state, Seat(0))
    assert after.live == (1, 2)
    assert after.hands[0] == ()
    assert sorted(after.gone[-2:]) == ["4C", "5C"]
    assert after.table == state.table, "melds stay"
    assert (after.mover, after.stage, after.taken, after.owed) == (1, Stage.DRAW, None, 0)
    assert after.result is None
    assert "lay KH 1" not in spelt(game, played(game, after, "draw"), Seat(1))
    assert sorted(all_cards(after)) == sorted(PACK)


def test_on_another_ones_turn() -> None:
    game = Koumkan(3)
    state = koumkan_state("4C 5C 6C 7C|KH QH|2D 3D", [NINES], taken="5C")
    after = game.withdraw(state, Seat(1))
    assert (after.mover, after.stage, after.taken) == (0, Stage.PLAY, "5C")
    assert spelt(game, after) == spelt(game, state)
    assert played(game, after, "discard 4C").mover == 2, "the turn skips him"


def test_melds_of_a_leaver_can_be_added_to() -> None:
    game = Koumkan(3)
    state = koumkan_state("9D 2S 3S|KH QH|2D 3D", ["1 group 9S 9H 9C", "0 run 4C 5C 6C"])
    after = game.withdraw(state, Seat(1))
    assert "lay 9D 1" in spelt(game, after)


def test_two_players() -> None:
    for leaver in (0, 1):
        state = koumkan_state("4C 5C|KH QH")
        after = Koumkan().withdraw(state, Seat(leaver))
        assert after.result is not None
        assert (after.result.ending, after.result.points) == ("forfeit", (0, 0))
        assert Koumkan().to_act(after) == ()
        assert Koumkan().view(after, None).ends == (), "no hand is shown"
        assert Koumkan().withdraw(after, Seat(1 - leaver)) is after


def test_the_pile_may_be_empty_then() -> None:
    """The leaver took the only discard with him."""
    game = Koumkan(3)
    state = koumkan_state("4C 5C|KH QH|2D 3D", taken="5C", pile="")
    after = game.withdraw(state, Seat(0))
    assert spelt(game, after, Seat(1)) == {"draw"}
    assert game.view(after, None).discard_top is None


def test_while_a_reshuffle_is_due() -> None:
    game = Koumkan(3)
    state = koumkan_state("4C 5C|KH QH|2D 3D", pile="2S 3S", drawn=False, stock=0)
    due = played(game, state, "draw")
    mover_left = game.withdraw(due, Seat(0))
    assert (mover_left.stage, mover_left.mover) == (Stage.DRAW, 1)
    assert played(game, mover_left, "draw").stage is Stage.RESHUFFLE
    other_left = game.withdraw(due, Seat(2))
    assert (other_left.stage, other_left.mover) == (Stage.RESHUFFLE, 0)
    after = game.apply(other_left, CHANCE, game.read("reshuffle 2S"))
    assert after.hands[0] == ("2S", "4C", "5C")


@makes
def test_before_the_deal(make: type[Koumkan] | type[Thanasis]) -> None:
    game: Rummy = make(3)
    for dealer, leaver in itertools.product(range(3), repeat=2):
        start = game.start(Seat(dealer), (Seat(0), Seat(1), Seat(2)))
        state: Any = game.withdraw(start, Seat(leaver))
        while state.stage is not Stage.DRAW:
            state = stepped(game, state, Random(dealer))
        assert [len(hand) for hand in state.hands] == [0 if s == leaver else 10 for s in range(3)]
        first = next(s for s in (dealer + 1, dealer + 2, dealer + 3) if s % 3 != leaver) % 3
        assert state.mover == first
    two: Rummy = make(2)
    assert two.withdraw(two.start(Seat(0), (Seat(0), Seat(1))), Seat(0)).result is not None


def test_while_the_turned_joker_goes_back() -> None:
    game = Thanasis(3)
    start = game.start(Seat(2), (Seat(0), Seat(1), Seat(2)))
    pack = sorted(PACK, key=lambda card: card == "*")
    jokers_next = (*pack[:30], JOKER, *pack[30:-1])
    due = game.apply(start, CHANCE, cut(start, jokers_next))
    assert due.stage is Stage.PUT_BACK
    after = game.withdraw(due, Seat(0))
    assert (after.stage, after.mover) == (Stage.PUT_BACK, 1)
    assert game.apply(after, CHANCE, game.read("put-back 3")).mover == 1


@makes
@pytest.mark.parametrize("players", [2, 3, 4])
def test_at_any_moment(make: type[Koumkan] | type[Thanasis], players: int) -> None:
    """One after the other leaves in the midst of hands; what is left plays on, or is over."""
    game: Rummy = make(players)
    random = Random(players)
    for _ in range(30):
        state = dealt(game, random)
        while state.result is None:
            if random.random() < 0.03:
                state = left_one(game, state, random)
            else:
                state = stepped(game, state, random)
        assert state.result.ending in ("forfeit", "went-out", "void")
        assert (len(state.live) == 1) == (state.result.ending == "forfeit")


def left_one(game: Rummy, state: Any, random: Random) -> Any:
    leaver = random.choice(state.live)
    after: Any = game.withdraw(state, leaver)
    assert leaver not in after.live
    assert after.hands[leaver] == ()
    assert sorted(all_cards(after)) == sorted(PACK)
    assert game.withdraw(after, leaver) is after, "it cannot leave twice"
    if isinstance(after, koumkan.State):
        assert after.table == state.table
    if after.result is None and leaver != state.mover:
        assert (after.mover, after.stage) == (state.mover, state.stage)
        assert game.prompted(after) == game.prompted(state)
    if after.result is None:
        assert game.to_act(after)
        assert game.prompted(after) != leaver
    return after


# ---------------------------------------------------------------- the staked game


def game_of(variant: str, players: int) -> tuple[Play, Random]:
    play = Play.begin(build(variant, 1, {"players": str(players)}, 51))
    random = Random(players)
    play, _ = play.advance(Dice(random))
    return play, random


@pytest.mark.parametrize("variant", ["koumkan", "thanasis", "dynamitis"])
@pytest.mark.parametrize("players", [2, 3, 4])
def test_all_but_one_leave(variant: str, players: int) -> None:
    """In every order; the last one wins whatever the totals."""
    for order in itertools.permutations(range(players), players - 1):
        play, random = game_of(variant, players)
        for number, seat in enumerate(order):
            assert play.outcome is None
            for _ in range(7 * number):
                play = one_action(play, random)
            play = play.apply(Entry(Seat(seat), "!forfeit LEFT"))
        (winner,) = set(range(players)) - set(order)
        assert play.outcome is not None
        assert play.outcome.winners == (winner,)
        assert (play.outcome.ending, play.outcome.void) == ("forfeit", None)
        assert play.to_act == ()


def one_action(play: Play, random: Random) -> Play:
    play, _ = play.advance(Dice(random))
    assert play.prompted is not None
    assert play.game is not None
    action = choose(play.game, play.state, random)
    play = play.apply(Entry(play.prompted, play.game.write(action)))
    return play.advance(Dice(random))[0]


def test_a_leaver_sees_what_a_spectator_sees() -> None:
    play, _ = game_of("koumkan", 3)
    seat = play.prompted
    assert seat is not None
    assert play.view(seat) != play.view(None)
    after = play.apply(Entry(seat, "!forfeit LEFT"))
    assert after.view(seat) == after.view(None)
    assert after.view(seat).hand == ()
    assert after.view(None).counts[seat] == 0
