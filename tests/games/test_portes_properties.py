"""Properties of Portes that hold whatever the position: symmetry, conservation, the forced dice."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from kafeneio_games import lookahead, tavli
from kafeneio_games.portes import State, movable, turn_of, turns
from kafeneio_games.tavli import MoveChecker, Roll, dice_of, other

from tests.games.boards import GAME
from tests.games.positions import tight

states = st.integers(0, 10**9).map(lambda seed: next(tight(seed)))
dice = st.tuples(st.integers(1, 6), st.integers(1, 6)).map(lambda pair: dice_of(Roll(*pair)))


def mirrored(state: State) -> State:
    """The same position with the seats exchanged."""
    return State(
        (state.boards[1], state.boards[0]),
        other(state.mover),
        state.dice,
        state.rolled,
        state.stage,
        state.result,
    )


@settings(max_examples=200, deadline=None)
@given(states)
def test_the_seats_are_alike(state: State) -> None:
    mirror = mirrored(state)
    assert list(GAME.legal(mirror, mirror.mover)) == list(GAME.legal(state, state.mover))
    there = {(path, boards[::-1]) for path, boards in turns(mirror)}
    assert there == set(turns(state))


@settings(max_examples=200, deadline=None)
@given(states)
def test_every_path_uses_dice_of_the_roll_and_as_many_as_any_other(state: State) -> None:
    found = turns(state)
    for path, boards in found:
        left = list(state.dice)
        for step in path:
            left.remove(step.die)
        assert [sum(board) for board in boards] == [15, 15]
    unfinished = [path for path, boards in found if boards[state.mover][0] < 15]
    assert len({len(path) for path in unfinished}) <= 1
    if unfinished and len(unfinished[0]) == 1 and len(set(state.dice)) == 2:
        assert len({path[0].die for path in unfinished}) == 1


@settings(max_examples=100, deadline=None)
@given(states, dice)
def test_packing_is_exact(state: State, dice: tavli.Dice) -> None:
    mine, theirs = state.boards
    assert tavli.unpack(tavli.pack(mine, theirs)) == (mine, theirs)
    turn = turn_of(mine, theirs)
    for found in lookahead.plays(turn, dice, movable).groups.values():
        for position in found:
            assert sum(map(sum, tavli.unpack(position))) == 30


@given(st.dictionaries(st.sampled_from([(6, 4), (6,), (4,), (3, 3), (3,)]), st.integers()))
def test_filters_only_drop(groups: dict[tavli.Dice, int]) -> None:
    longest, larger = lookahead.most_dice(groups), lookahead.larger_die(groups)
    assert longest.items() <= groups.items()
    assert larger.items() <= groups.items()
    assert len({len(used) for used in longest}) <= 1
    assert len([used for used in larger if len(used) == 1]) <= 1
    assert lookahead.most_dice(longest) == longest
    assert lookahead.larger_die(larger) == larger


@given(st.integers(1, 25), st.integers(1, 6))
def test_a_checker_comes_down_where_it_says(start: int, die: int) -> None:
    step = MoveChecker(start, die)
    assert step.target == max(0, start - die)
    assert tavli.read(tavli.write(step)) is tavli.STEPS[die][start]
