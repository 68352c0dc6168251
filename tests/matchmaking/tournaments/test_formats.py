"""What each format does, by examples that are worked out by hand."""

from __future__ import annotations

from random import Random

import pytest
from kafeneio_matchmaking.tournaments import double_elimination, swiss
from kafeneio_matchmaking.tournaments.course import (
    Absent,
    NoSuchMatchError,
    Voided,
    Won,
    begin,
    leave,
    places,
    report,
    start,
    to_start,
)
from kafeneio_matchmaking.tournaments.domain import (
    LARGEST,
    Bracket,
    Course,
    Format,
    How,
    Match,
    bracket_order,
)

from tests.matchmaking.tournaments.chances import FORMATS, by_chance

SINGLE, DOUBLE = Format.SINGLE_ELIMINATION, Format.DOUBLE_ELIMINATION
SWISS, ROBIN = Format.SWISS, Format.ROUND_ROBIN


def pairs(course: Course, turn: int = -1) -> list[tuple[int | None, int | None]]:
    """Who meets whom in a round."""
    return [(match.one, match.two) for match in course.rounds[turn]]


def waiting(course: Course) -> list[tuple[int, ...]]:
    """The sides of the matches that wait for a game."""
    return [course.rounds[-1][number].sides for number in to_start(course)]


def play(course: Course, *winners: int | None) -> Course:
    """The round once these have won its games, in order; None where neither came."""
    for winner in winners:
        (number, *_) = to_start(course)
        told = Absent(frozenset()) if winner is None else Won(winner)
        course = report(start(course, number), number, told)
    return course


def test_the_best_two_meet_in_the_final() -> None:
    assert bracket_order(8) == [1, 8, 4, 5, 2, 7, 3, 6]
    for slots in (2, 4, 8, 16, 32, 64, 128, 256):
        order = bracket_order(slots)
        assert sorted(order) == list(range(1, slots + 1))
        left = slots
        while left > 1:  # the better one of each two goes on: the best half of all
            assert sorted(order) == list(range(1, left + 1))
            order = [min(two) for two in zip(order[::2], order[1::2], strict=True)]
            left //= 2


def test_who_has_no_opponent_is_one_of_the_best() -> None:
    for size in range(2, LARGEST + 1):
        first = begin(SINGLE, size).rounds[0]
        resting = [match.winner for match in first if match.how is How.BYE]
        assert sorted(seed for seed in resting if seed) == list(range(1, len(first) * 2 - size + 1))


def test_single_elimination() -> None:
    course = begin(SINGLE, 6)
    assert pairs(course) == [(1, None), (4, 5), (2, None), (3, 6)]
    course = play(course, 5, 3)
    assert pairs(course) == [(1, 5), (2, 3)]
    course = play(course, 5, 2)
    assert pairs(course) == [(5, 2)]
    course = play(course, 2)
    assert course.finished
    assert places(course) == ((2,), (5,), (1, 3), (4, 6))


def test_where_neither_comes_the_next_one_has_no_opponent() -> None:
    course = play(begin(SINGLE, 4), None, 2)
    assert course.finished
    assert pairs(course) == [(None, 2)]
    assert places(course) == ((2,), (1, 3, 4))


def test_nobody_comes_to_the_final() -> None:
    course = play(begin(SINGLE, 4), 1, 2, None)
    assert course.finished
    assert places(course) == ((1, 2), (3, 4))


def test_a_void_game_is_played_again_once() -> None:
    course = start(begin(SINGLE, 2), 0)
    course = report(course, 0, Voided())
    assert to_start(course) == (0,)
    course = report(start(course, 0), 0, Voided())
    assert course.finished
    assert course.matches[0] == Match(1, 2, voids=2, how=How.VOID, winner=1)


def test_who_has_left_does_not_go_on_by_a_void_game() -> None:
    course = report(start(begin(SINGLE, 2), 0), 0, Voided())
    course = leave(start(course, 0), 1)
    assert not course.finished, "the game is played on"
    course = report(course, 0, Voided())
    assert course.matches[0].winner == 2
    assert course.matches[0].how is How.WALKOVER


def test_who_joined_goes_on() -> None:
    course = report(start(begin(SINGLE, 2), 0), 0, Absent(frozenset({2})))
    assert course.matches[0] == Match(1, 2, how=How.NO_SHOW, winner=2)


def test_a_game_that_runs_counts_although_its_winner_has_left() -> None:
    course = start(begin(SINGLE, 4), 0)
    course = leave(course, 1)
    course = report(course, 0, Won(1))
    assert course.matches[0].winner == 1
    course = play(course, 2)
    assert course.finished
    assert course.matches[-1].how is How.WALKOVER
    assert places(course) == ((2,), (1,), (3, 4))


def test_who_is_disqualified_loses_at_once_and_comes_last() -> None:
    course = play(begin(SINGLE, 4), 1, 2)
    course = leave(start(course, 0), 1, disqualified=True)
    assert course.finished
    assert course.matches[-1] == Match(1, 2, how=How.WALKOVER, winner=2)
    assert places(course) == ((2,), (3, 4), (1,))
    with pytest.raises(NoSuchMatchError):
        report(course, 0, Won(1))


def test_who_has_left_can_be_disqualified_still() -> None:
    course = leave(begin(ROBIN, 5), 3)
    assert leave(course, 3) == course
    course = leave(course, 3, disqualified=True)
    assert course.disqualified == course.gone == {3}
    assert places(course)[-1] == (3,)


def test_double_elimination() -> None:
    course = begin(DOUBLE, 8)
    assert pairs(course) == [(1, 8), (4, 5), (2, 7), (3, 6)]
    course = play(course, 1, 4, 2, 3)
    assert pairs(course) == [(1, 4), (2, 3), (8, 5), (7, 6)]
    course = play(course, 1, 2, 5, 6)
    # Those who come from above meet somebody of the other half.
    assert pairs(course) == [(5, 3), (6, 4)]
    course = play(course, 3, 4)
    assert pairs(course) == [(1, 2), (3, 4)]
    course = play(course, 1, 4)
    assert pairs(course) == [(4, 2)]
    course = play(course, 2)
    assert [(m.one, m.two, m.bracket) for m in course.rounds[-1]] == [(1, 2, Bracket.FINAL)]
    lost_once = play(course, 2)
    assert pairs(lost_once) == [(1, 2)], "once more: it was his first loss"
    assert places(play(lost_once, 1)) == ((1,), (2,), (4,), (3,), (5, 6), (7, 8))
    assert places(play(lost_once, 2)) == ((2,), (1,), (4,), (3,), (5, 6), (7, 8))
    assert places(play(course, 1)) == ((1,), (2,), (4,), (3,), (5, 6), (7, 8))


def test_double_elimination_of_two() -> None:
    course = play(begin(DOUBLE, 2), 2)
    assert pairs(course) == [(2, 1)]
    course = play(course, 1)
    assert pairs(course) == [(2, 1)]
    course = play(course, 1)
    assert course.finished
    assert places(course) == ((1,), (2,))


def test_byes_go_through_both_brackets() -> None:
    course = begin(DOUBLE, 3)
    assert pairs(course) == [(1, None), (2, 3)]
    course = play(course, 2)
    assert pairs(course) == [(1, 2), (None, 3)]
    course = play(course, 1)
    assert pairs(course) == [(3, 2)]
    course = play(course, 2, 1)
    assert places(course) == ((1,), (2,), (3,))


def test_nobody_wins_the_main_bracket() -> None:
    """Neither goes on, also not among those who have lost once."""
    course = play(begin(DOUBLE, 4), 1, 2)
    assert pairs(course) == [(1, 2), (4, 3)]
    course = play(course, None, 3)
    assert course.finished, "who has won the other bracket has no opponent left"
    assert places(course) == ((3,), (1, 2, 4))


def test_nobody_comes_to_the_grand_final() -> None:
    course = play(begin(DOUBLE, 2), 1, None)
    assert course.finished
    assert places(course) == ((1, 2),)


@pytest.mark.parametrize("size", [*range(2, 20), 33, 64, 100, LARGEST])
def test_everybody_but_the_winner_loses_twice(size: int) -> None:
    evening = by_chance(f"twice {size}", leaving=0)
    course = begin(DOUBLE, size)
    random = Random(size)
    while not course.finished:
        for number in to_start(course):
            sides = course.rounds[-1][number].sides
            evening.games += 1
            course = report(start(course, number), number, Won(random.choice(sides)))
    lost = dict.fromkeys(course.seeds, 0)
    for match in course.matches:
        for seed in match.losers:
            lost[seed] += 1
    ((winner,), *_) = places(course)
    assert lost.pop(winner) <= 1
    assert set(lost.values()) == {2}
    assert 2 * size - 2 <= evening.games <= double_elimination.most_matches(size, 0)


def test_round_robin() -> None:
    course = begin(ROBIN, 4)
    met: list[tuple[int, ...]] = []
    # 1 beats all, 2 beats 3, 3 beats 4, 4 beats 2.
    beats = {(1, 2): 1, (1, 3): 1, (1, 4): 1, (2, 3): 2, (3, 4): 3, (2, 4): 4}
    while not course.finished:
        playing = [(min(sides), max(sides)) for sides in waiting(course)]
        met += playing
        course = play(course, *(beats[two] for two in playing))
    assert sorted(met) == sorted(beats)
    assert places(course) == ((1,), (2, 3, 4)), "in a circle nobody is better"


@pytest.mark.parametrize("size", [2, 3, 4, 5, 8, 9, 31, LARGEST])
def test_everybody_meets_everybody_once(size: int) -> None:
    course = begin(ROBIN, size)
    while not course.finished:
        sides = [match.sides for match in course.rounds[-1] if len(match.sides) == 2]
        playing = [seed for pair in sides for seed in pair]
        assert len(playing) == len(set(playing)) == size - size % 2
        course = play(course, *map(min, sides))
    met = [frozenset(match.sides) for match in course.matches if match.how is How.PLAYED]
    assert len(met) == len(set(met)) == size * (size - 1) // 2
    assert places(course) == tuple((seed,) for seed in course.seeds)


def test_who_leaves_a_round_robin_early_counts_for_nobody() -> None:
    course = begin(ROBIN, 4)
    loser = min(waiting(course)[0])
    course = leave(play(course, *map(max, waiting(course))), loser)
    while not course.finished:
        course = play(course, *map(min, waiting(course)))
    assert places(course)[-1] == (loser,)


def test_swiss() -> None:
    course = begin(SWISS, 8)
    assert pairs(course) == [(1, 5), (2, 6), (3, 7), (4, 8)]
    course = play(course, 1, 2, 3, 4)
    assert pairs(course) == [(1, 3), (2, 4), (5, 7), (6, 8)]
    course = play(course, 1, 2, 5, 6)
    # 3 and 4 have met nobody of 5 and 6, who have a point as they do.
    assert pairs(course) == [(1, 2), (3, 5), (4, 6), (7, 8)]
    course = play(course, *map(min, waiting(course)))
    assert course.finished, "three rounds make one of eight the best of all"
    assert places(course)[:2] == ((1,), (2,))


def test_an_odd_number_of_swiss() -> None:
    course = begin(SWISS, 5)
    assert pairs(course) == [(1, 3), (2, 4), (5, None)]
    course = play(course, 1, 2)
    resting = [match.one for match in course.rounds[-1] if match.two is None]
    assert len(resting) == 1
    assert resting[0] in (3, 4), "who has no point, and has not rested"


def test_buchholz() -> None:
    """Who has met the better ones comes first; a round without an opponent counts one's own."""
    course = play(begin(SWISS, 5, 1), 1, 2)
    assert course.finished
    merits = dict(zip(course.seeds, swiss.merits(course), strict=True))
    assert merits == {1: (1, 0, 0), 2: (1, 0, 0), 3: (0, 1, 0), 4: (0, 1, 0), 5: (1, 1, 0)}
    assert places(course) == ((5,), (1, 2), (3, 4))


@pytest.mark.parametrize("size", [2, 3, 5, 6, 7, 8, 9, 16, 21, 64, LARGEST])
def test_nobody_meets_twice_while_it_can_be_helped(size: int) -> None:
    course = begin(SWISS, size)
    random = Random(size)
    met: set[frozenset[int]] = set()
    while not course.finished:
        for match in course.rounds[-1]:
            assert frozenset(match.sides) not in met
            met.add(frozenset(match.sides))
        course = play(course, *map(random.choice, waiting(course)))
    assert len(course.rounds) == (size - 1).bit_length()


def perfect_without_rematch(there: frozenset[int], met: frozenset[frozenset[int]]) -> bool:
    """Whether all can be paired anew, by trying everything; with an odd number one rests anew."""
    if len(there) % 2:
        return any(
            perfect_without_rematch(there - {seed}, met)
            for seed in there
            if frozenset({seed}) not in met
        )
    if not there:
        return True
    first = min(there)
    return any(
        perfect_without_rematch(there - {first, other}, met)
        for other in there - {first}
        if frozenset({first, other}) not in met
    )


@pytest.mark.parametrize("seed", range(40))
def test_a_draw_without_a_rematch_is_found_if_there_is_one(seed: int) -> None:
    """Against all ways to pair, with as many rounds as there can be, and some who leave."""
    random = Random(seed)
    course = begin(SWISS, random.randrange(4, 10), LARGEST)
    draws = 0
    while not course.finished:
        before = course
        if random.random() < 0.2:
            course = leave(course, random.choice(course.seeds))
            continue
        course = play(course, *map(random.choice, waiting(course)))
        if len(course.rounds) == len(before.rounds) + 1:
            draws += 1
            *earlier, last = course.rounds
            met = frozenset(frozenset(match.sides) for each in earlier for match in each)
            there = frozenset(course.seeds) - course.gone
            fresh = all(frozenset(match.sides) not in met for match in last)
            assert fresh == perfect_without_rematch(there, met)
    assert draws


@pytest.mark.parametrize("kind", FORMATS)
def test_what_can_not_happen(kind: Format) -> None:
    for size in (-1, 0, 1, LARGEST + 1):
        with pytest.raises(ValueError, match="2 to 130"):
            begin(kind, size)
    course = begin(kind, 4)
    with pytest.raises(NoSuchMatchError):
        report(course, 0, Won(1))
    with pytest.raises(NoSuchMatchError):
        start(course, 2)
    with pytest.raises(NoSuchMatchError):
        start(start(course, 0), 0)
    with pytest.raises(NoSuchMatchError):
        report(start(course, 0), 0, Won(2))
    with pytest.raises(ValueError, match="no entrant 5"):
        leave(course, 5)
