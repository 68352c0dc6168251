"""What rows a call makes, and what is announced of them: cases, then properties of any game."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from random import Random
from typing import Final, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kafeneio_games.chance import ProvableDraw
from kafeneio_games.game import CHANCE, TABLE, Entry, Illegal, OutOfOrder, Refusal, Seat, Unreadable
from kafeneio_games.match import Outcome
from kafeneio_games.play import FORFEIT_REASONS, Forfeit, Play
from kafeneio_games.registry import build
from kafeneio_rules import domain
from kafeneio_rules.domain import (
    Change,
    Finished,
    ForfeitRecorded,
    Started,
    Status,
    TurnEnded,
    TurnStarted,
)

A, B = Seat(0), Seat(1)
T = TypeVar("T")


class Dice:
    """Chance that throws what the test wants."""

    def __init__(self, *dice: int) -> None:
        self.left = list(dice)

    def below(self, n: int) -> int:
        assert n == 6
        return self.left.pop(0) - 1

    def shuffled(self, cards: Sequence[T]) -> tuple[T, ...]:
        raise AssertionError("there are no cards in tavli")


def fresh(target: int = 1, **options: str) -> Play:
    """A game of Portes before anything has happened."""
    return Play.begin(build("portes", 1, options, target))


def started(target: int = 1, *, opening: tuple[int, int] = (6, 3)) -> Play:
    """A game in which the opener has 4-3 to play."""
    return domain.start(fresh(target), Dice(*opening, 4, 3)).play


def texts(change: Change) -> list[list[tuple[int, str]]]:
    """Who did what in each row."""
    return [[(entry.seat, entry.text) for entry in step.entries] for step in change.steps]


def test_the_start_is_one_row() -> None:
    change = domain.start(fresh(), Dice(6, 3, 4, 3))
    assert texts(change) == [[(CHANCE, "opening 63"), (CHANCE, "43")]]
    assert [step.version for step in change.steps] == [1]
    assert change.happenings == ((1, Started()), (1, TurnStarted(1, A)))
    assert Status.of(change.play, 1) is Status.RUNNING


def test_v2_4_equal_opening_dice_are_thrown_again_and_the_opener_throws_afresh() -> None:
    dice = Dice(4, 4, 2, 2, 2, 5, 1, 1)
    change = domain.start(fresh(), dice)
    assert texts(change) == [
        [(CHANCE, "opening 44"), (CHANCE, "opening 22"), (CHANCE, "opening 25"), (CHANCE, "11")]
    ]
    assert change.happenings == ((1, Started()), (1, TurnStarted(1, B)))
    assert dice.left == []


def test_a_turn_is_a_row_and_the_throw_after_it_another() -> None:
    change = domain.act(started(), 1, A, ["24/20", "13/10"], Dice(6, 6))
    assert texts(change) == [[(A, "24/20"), (A, "13/10")], [(CHANCE, "66")]]
    assert [step.version for step in change.steps] == [2, 3]
    assert change.happenings == ((2, TurnEnded(1, A)), (3, TurnStarted(2, B)))


def test_a_part_of_a_turn_is_a_row_of_which_nothing_is_announced() -> None:
    dice = Dice(6, 6)
    change = domain.act(started(), 7, A, ["24/20"], dice)
    assert texts(change) == [[(A, "24/20")]]
    assert [step.version for step in change.steps] == [8]
    assert change.happenings == ()
    assert dice.left == [6, 6], "nothing is thrown before the turn is over"
    rest = domain.act(change.play, 8, A, ["13/10"], dice)
    assert rest.happenings == ((9, TurnEnded(1, A)), (10, TurnStarted(2, B)))


@pytest.mark.parametrize(
    ("actions", "refusal"),
    [
        (["24/20", "24/20"], Illegal("V2.1")),
        (["24/20", "13/10", "13/10"], OutOfOrder("TURN_OVER")),
        (["pass"], Illegal("V2.3")),
        (["64"], Illegal("V2.9")),
        (["24/20", "hello"], Unreadable()),
        (["24/20", "!void OPERATOR"], OutOfOrder("NOT_THE_HOUSE")),
        (["!cancel"], OutOfOrder("NOT_THE_HOUSE")),
    ],
)
def test_a_batch_is_refused_whole(actions: list[str], refusal: Refusal) -> None:
    dice, play = Dice(6, 6), started()
    with pytest.raises(type(refusal)) as refused:
        domain.act(play, 1, A, actions, dice)
    if isinstance(refusal, Illegal):
        assert isinstance(refused.value, Illegal)
        assert refused.value.rule == refusal.rule
    assert dice.left == [6, 6]
    assert play == started()


def test_the_other_seat_may_not_act() -> None:
    with pytest.raises(Illegal):
        domain.act(started(), 1, B, ["24/20"], Dice(6, 6))


def test_va9_resigning_a_single_game_ends_it() -> None:
    change = domain.resign(started(), 1, B, Dice())
    assert texts(change) == [[(B, "!resign")]]
    outcome = Outcome((A,), (2, 0), "resigned")
    assert change.happenings == ((2, TurnEnded(1, A)), (2, Finished(outcome, (), ())))
    assert Status.of(change.play, 2) is Status.FINISHED


def test_va9_resigning_a_round_of_a_match_lets_the_other_open_the_next() -> None:
    change = domain.resign(started(5), 1, A, Dice(5, 5))
    assert texts(change) == [[(A, "!resign")], [(CHANCE, "55")]]
    assert change.happenings == ((2, TurnEnded(1, A)), (3, TurnStarted(2, B)))
    assert (change.play.round, change.play.score) == (2, (0, 2))


@pytest.mark.parametrize("reason", FORFEIT_REASONS)
@pytest.mark.parametrize("seat", [A, B])
def test_f2_a_forfeit_ends_the_match_at_any_score(seat: Seat, reason: str) -> None:
    play = domain.resign(started(7), 1, B, Dice(4, 3)).play
    change = domain.forfeit(play, 3, seat, reason, Dice())
    gone = Forfeit(seat, reason)
    score = (2, 2) if seat == A else (4, 0)
    outcome = Outcome((Seat(1 - seat),), score, "forfeit")
    assert texts(change) == [[(seat, f"!forfeit {reason}")]]
    assert change.happenings == (
        (4, TurnEnded(2, A)),
        (4, ForfeitRecorded(gone, computer=False)),
        (4, Finished(outcome, (gone,), ())),
    )


def test_an_unknown_reason_is_none() -> None:
    with pytest.raises(ValueError, match="no reason to forfeit"):
        domain.forfeit(started(), 1, A, "BORED", Dice())


def test_what_ends_a_game_before_its_start() -> None:
    void = {
        "NO_SHOW": domain.no_show(fresh()),
        "OPERATOR": domain.abort(fresh(), 0),
    }
    for reason, change in void.items():
        assert texts(change) == [[(TABLE, f"!void {reason}")]]
        assert [step.version for step in change.steps] == [1]
        assert change.happenings == ((1, Finished(Outcome((), (0, 0), "void", reason), (), ())),)
        assert Status.of(change.play, 1) is Status.FINISHED
    cancelled = domain.cancel(fresh())
    assert texts(cancelled) == [[(TABLE, "!cancel")]]
    assert cancelled.happenings == ()
    assert Status.of(cancelled.play, 1) is Status.CANCELLED
    assert Status.of(fresh(), 0) is Status.WAITING


def test_an_operator_ends_a_running_game() -> None:
    change = domain.abort(started(3), 1)
    assert texts(change) == [[(TABLE, "!void OPERATOR")]]
    outcome = Outcome((), (0, 0), "void", "OPERATOR")
    assert change.happenings == ((2, TurnEnded(1, A)), (2, Finished(outcome, (), ())))


ENDED: Final[list[Callable[[Play], object]]] = [
    lambda play: domain.act(play, 2, B, ["24/20"], Dice(1, 1)),
    lambda play: domain.resign(play, 2, A, Dice()),
    lambda play: domain.forfeit(play, 2, A, "LEFT", Dice()),
    lambda play: domain.abort(play, 2),
    domain.no_show,
    domain.cancel,
    lambda play: domain.tried(play, A, ["24/20"]),
]


@pytest.mark.parametrize("call", ENDED)
def test_nothing_comes_after_the_end(call: Callable[[Play], object]) -> None:
    over = domain.resign(started(), 1, A, Dice()).play
    with pytest.raises(OutOfOrder) as refused:
        call(over)
    assert refused.value.reason == "OVER"


# --- properties of any game ------------------------------------------------------------------

WHOLE, PART, RESIGN, LEAVE, ABORT = "whole", "part", "resign", "leave", "abort"
deeds = st.lists(
    st.sampled_from([WHOLE] * 60 + [PART] * 30 + [RESIGN] * 3 + [LEAVE, ABORT]), min_size=20
)


def some_steps(play: Play, random: Random, whole: bool) -> list[str]:
    """A turn of the prompted seat, or the beginning of one."""
    seat, turn, chosen = play.prompted, play.turn, list[str]()
    assert seat is not None
    assert play.game is not None
    while play.prompted == seat and play.turn == turn:
        if chosen and not whole:
            break
        chosen.append(play.game.write(random.choice(list(play.legal(seat)))))
        play = play.apply(Entry(seat, chosen[-1]))
    return chosen


def done(play: Play, version: int, deed: str, random: Random, draw: ProvableDraw) -> Change:
    """One call upon a running game."""
    seat = play.prompted
    assert seat is not None
    if deed == RESIGN:
        return domain.resign(play, version, random.choice((A, B)), draw)
    if deed == LEAVE:
        return domain.forfeit(
            play, version, random.choice((A, B)), random.choice(FORFEIT_REASONS), draw
        )
    if deed == ABORT:
        return domain.abort(play, version)
    steps = some_steps(play, random, deed == WHOLE)
    change = domain.act(play, version, seat, steps, draw)
    assert change.steps[0].play == domain.tried(play, seat, steps)
    return change


def played(seed: int, target: int, deeds: Sequence[str]) -> list[Change]:
    """A game in which these things are done, as far as it goes."""
    random = Random(seed)
    draw = ProvableDraw(hashlib.sha256(b"%d" % seed).digest(), b"context")
    changes = [domain.start(fresh(target), draw)]
    for deed in deeds:
        play, version = changes[-1].play, changes[-1].steps[-1].version
        if play.over:
            break
        changes.append(done(play, version, deed, random, draw))
    return changes


games = st.builds(played, st.integers(0, 10_000), st.sampled_from([1, 2, 5, 15]), deeds)
thorough = settings(max_examples=80, deadline=None)


@thorough
@given(games)
def test_rows_are_numbered_and_are_the_whole_game(changes: list[Change]) -> None:
    steps = [step for change in changes for step in change.steps]
    assert [step.version for step in steps] == list(range(1, len(steps) + 1))
    play = fresh(changes[0].play.match.target)  # type: ignore[attr-defined]
    for step in steps:
        play = play.apply_all(step.entries)
        assert step.entries
        assert step.play == play
    for change in changes[1:]:
        own, *house = change.steps
        assert len({entry.seat for entry in own.entries}) == 1
        assert own.entries[0].seat != CHANCE
        assert len(house) <= 1
        for step in house:
            assert {entry.text for entry in step.entries if entry.seat >= 0} <= {"pass"}
        assert change.play.over or change.play.prompted is not None, "somebody is awaited"


@thorough
@given(games)
def test_what_is_announced_tells_the_turns(changes: list[Change]) -> None:
    told = [happening for change in changes for happening in change.happenings]
    versions = [version for version, _ in told]
    assert versions == sorted(versions)
    happenings = [happening for _, happening in told]
    assert [type(each) for each in happenings].count(Started) == 1
    assert happenings[0] == Started()
    running: TurnStarted | None = None
    count = 0
    for happening in happenings:
        if isinstance(happening, TurnStarted):
            assert running is None, "one prompt at a time"
            count += 1
            assert happening.turn == count, "numbered from 1 without a gap"
            running = happening
        elif isinstance(happening, TurnEnded):
            assert running is not None
            assert (happening.turn, happening.seat) == (running.turn, running.seat)
            running = None
    last = changes[-1].play
    if last.over:
        assert running is None, "every turn that began has ended"
    else:
        assert running == TurnStarted(last.turn, last.prompted or A)


@thorough
@given(games)
def test_the_end_is_announced_last_and_once(changes: list[Change]) -> None:
    told = [happening for change in changes for happening in change.happenings]
    finished = [(place, each) for place, (_, each) in enumerate(told) if isinstance(each, Finished)]
    last = changes[-1].play
    forfeits = tuple(each.forfeit for _, each in told if isinstance(each, ForfeitRecorded))
    assert forfeits == last.forfeits
    if not last.over:
        assert finished == []
        return
    ((place, end),) = finished
    assert place == len(told) - 1
    assert told[-1][0] == changes[-1].steps[-1].version
    assert end.outcome == last.outcome
    assert end.forfeits == forfeits


@thorough
@given(games, st.integers(0, 10_000))
def test_a_refused_call_draws_nothing(changes: list[Change], seed: int) -> None:
    play, draw = changes[-1].play, ProvableDraw(bytes(32), b"context")
    if play.over:
        with pytest.raises(OutOfOrder):
            domain.resign(play, 9, A, draw)
    else:
        seat = play.prompted
        assert seat is not None
        steps = some_steps(play, Random(seed), whole=True)
        for bad in ([*steps, steps[0]], ["pass"], ["11"], [*steps[:-1], "pass"]):
            with pytest.raises((Illegal, OutOfOrder)):
                domain.act(play, 9, seat, bad, draw)
    assert draw.position == 0


def test_the_games_of_these_properties_have_everything_in_them() -> None:
    """Or they would show nothing: passes, whole matches, forfeits, resignations."""
    random, seen, rounds = Random(1), set[str](), 0
    for seed in range(60):
        deeds = random.choices([WHOLE, PART, RESIGN, LEAVE, ABORT], [300, 30, 3, 1, 1], k=400)
        changes = played(seed, random.choice([1, 3]), deeds)
        rounds = max(rounds, changes[-1].play.round)
        for change in changes:
            seen |= {entry.text for step in change.steps for entry in step.entries}
        outcome = changes[-1].play.outcome
        seen.add(outcome.ending if outcome else "running")
    assert seen >= {"pass", "!resign", "!forfeit LEFT", "!void OPERATOR", "single", "double"}
    assert rounds > 1
