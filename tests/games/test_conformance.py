"""What every game must hold, whatever its rules; it runs over the whole registry.

A new game brings its conceivable actions and what it conserves (the two tables below).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest
from kafeneio_games import portes, tavli
from kafeneio_games.game import CHANCE, TABLE, Entry, Illegal, Seat, Unreadable, digest, replay
from kafeneio_games.play import Play
from kafeneio_games.record import verify
from kafeneio_games.registry import Variant, editions

from tests.games.boards import told
from tests.games.plays import TURNS_MAX, log_of, random_act, record_of

CONCEIVABLE: dict[str, tuple[Any, ...]] = {
    "portes@1": (
        *tavli.ACTIONS,
        tavli.Roll(0, 7),
        tavli.MoveChecker(0, 1),
        tavli.MoveChecker(26, 1),
        tavli.MoveChecker(-1, 6),
        tavli.MoveChecker(13, 0),
        tavli.MoveChecker(13, 7),
    ),
}


def fifteen_checkers(state: portes.State) -> None:
    for mine in state.boards:
        assert len(mine) == 26
        assert sum(mine) == 15
    for point in range(1, 25):
        assert not (state.boards[0][point] and state.boards[1][25 - point])


CONSERVED: dict[str, Callable[[Any], None]] = {"portes@1": fifteen_checkers}

SEEDS = range(4)
variants = pytest.mark.parametrize(
    "variant", editions(), ids=[f"{v.id}@{v.edition}" for v in editions()]
)
seeds = pytest.mark.parametrize("seed", SEEDS)


def plays_of(variant: Variant, seed: int) -> Iterator[Play]:
    """Every play of one random game, in order."""
    play = Play.begin(variant.build({}, None))
    done: list[Entry] = []
    with told(seed, done):
        yield play
        for entry in log_of(record_of(variant, seed)):
            play = play.apply(entry)
            done.append(entry)
            yield play


@variants
@seeds
def test_random_play_ends(variant: Variant, seed: int) -> None:
    *_, last = plays_of(variant, seed)
    assert last.over
    assert last.turn < TURNS_MAX
    assert last.outcome is not None
    assert last.outcome.winners
    assert last.to_act == ()
    assert last.prompted is None


@variants
@seeds
def test_states_are_values(variant: Variant, seed: int) -> None:
    """Hashable, equal when replayed, digestible."""
    for play, again in zip(plays_of(variant, seed), plays_of(variant, seed), strict=True):
        assert hash(play) == hash(again)
        assert play == again
        assert play.digest() == again.digest()
        assert len(digest(play.state)) == 32


@variants
@seeds
def test_replay_equals_play(variant: Variant, seed: int) -> None:
    """The lines of each round alone, from its first seat, give the state of the play."""
    log: list[Entry] = []
    opened: Play | None = None
    for before, after, entry in steps(variant, seed):
        if before.game is None or after.round != before.round:
            opened, log = after, []
            continue
        assert opened is not None
        log.append(entry)
        following = opened.match.next()
        assert following is not None
        if after.game is before.game:
            state = replay(following.game, following.first, following.live, log)
            assert state == after.state


def steps(variant: Variant, seed: int) -> Iterator[tuple[Play, Play, Entry]]:
    entries = log_of(record_of(variant, seed))
    plays = list(plays_of(variant, seed))
    yield from zip(plays, plays[1:], entries, strict=False)


@variants
@seeds
def test_prompted_is_one_who_may_act(variant: Variant, seed: int) -> None:
    for play in plays_of(variant, seed):
        assert play.prompted is None or play.prompted in play.to_act
        if play.prompted is None and not play.over:
            assert len(play.to_act) == 1
            assert play.chance_due or len(list(play.legal(play.to_act[0]))) == 1
        for seat in play.seats:
            if seat not in play.to_act:
                assert list(play.legal(seat)) == []


@variants
@seeds
def test_turns_are_counted_by_prompts(variant: Variant, seed: int) -> None:
    for before, after, _ in steps(variant, seed):
        assert after.turn - before.turn in (0, 1)
        if after.turn > before.turn:
            assert after.prompted is not None
        if after.prompted is not None and after.prompted != before.prompted:
            assert after.turn == before.turn + 1


@variants
def test_legal_is_what_apply_accepts(variant: Variant) -> None:
    """Against all conceivable actions by everybody, in the positions of a random game."""
    checked = 0
    for play in plays_of(variant, 11):
        if play.game is None or play.over or checked > 150:
            continue
        conceivable = CONCEIVABLE[play.game.name]
        for seat in (*play.seats, CHANCE, TABLE, Seat(99)):
            legal = list(play.legal(seat))
            assert len(set(legal)) == len(legal)
            assert set(legal) <= set(conceivable)
            assert {action for action in conceivable if accepts(play, seat, action)} == set(legal)
        checked += 1
    assert checked > 50


def accepts(play: Play, seat: Seat, action: Any) -> bool:
    assert play.game is not None
    try:
        play.game.apply(play.state, seat, action)
    except Illegal as refusal:
        if not refusal.rule:
            raise
        return False
    return True


@variants
def test_apply_refuses_what_is_no_action(variant: Variant) -> None:
    play = next(play for play in plays_of(variant, 1) if play.prompted is not None)
    assert play.game is not None
    assert play.prompted is not None
    with pytest.raises(Illegal):
        play.game.apply(play.state, play.prompted, "13/8")
    with pytest.raises(Unreadable):
        play.apply(Entry(play.prompted, "no such thing"))


@variants
@seeds
def test_notation_is_exact(variant: Variant, seed: int) -> None:
    for play in plays_of(variant, seed):
        if play.game is not None:
            for seat in play.to_act:
                for action in play.legal(seat):
                    text = play.game.write(action)
                    assert play.game.read(text) == action
                    assert play.game.write(play.game.read(text)) == text
                    assert not text.startswith("!")


@variants
@seeds
def test_nothing_is_lost(variant: Variant, seed: int) -> None:
    """Checkers, cards and points are conserved; a result is there exactly when it is over."""
    for play in plays_of(variant, seed):
        if play.game is not None:
            CONSERVED[play.game.name](play.state)
            over = play.game.to_act(play.state) == ()
            assert (play.game.result(play.state) is not None) == over


@variants
@seeds
def test_views(variant: Variant, seed: int) -> None:
    """Every seat and a spectator have a view that can be hashed; alike where nothing is hidden."""
    for play in plays_of(variant, seed):
        views = [play.view(seat) for seat in (*play.seats, None)]
        assert all(len(digest(view)) == 32 for view in views)
        if play.game is not None and not play.game.hidden:
            assert all(view == views[0] for view in views)
            assert len({play.view_digest(seat) for seat in (*play.seats, None)}) == 1


@variants
@seeds
def test_a_record_verifies(variant: Variant, seed: int) -> None:
    assert verify(record_of(variant, seed)) == ()


@variants
@seeds
def test_a_forfeit_is_taken_at_any_moment(variant: Variant, seed: int) -> None:
    random = Random(seed)
    plays = [play for play in plays_of(variant, seed) if not play.over]
    for play in random.sample(plays, 20):
        for seat in play.seats:
            after = play.apply(Entry(seat, "!forfeit LEFT"))
            assert [f.seat for f in after.forfeits] == [seat]
            assert after.view(seat) == after.view(None)


def test_a_random_act_is_one_turn() -> None:
    """The generator of these tests sends what a client would: one turn, one seat."""
    for play in plays_of(editions()[0], 3):
        if play.prompted is not None:
            entries = random_act(play, Random(1))
            assert {entry.seat for entry in entries} == {play.prompted}
            break
