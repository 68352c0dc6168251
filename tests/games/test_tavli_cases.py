"""The worked cases of Plakoto, Fevga and Gul Bara, each for both seats; named after their ids."""

from __future__ import annotations

import pytest
from kafeneio_games.game import Seat
from kafeneio_games.gulbara import Gulbara
from kafeneio_games.tavli import Stage, other

from tests.games import simple_tavli
from tests.games.boards import SEATS
from tests.games.case_files import Case, End, read_cases
from tests.games.tavli_tables import GAMES, AnyState, ends, plain_of, rules_of, table_of

CASES = tuple(case for name in GAMES for case in read_cases(name))
cases = pytest.mark.parametrize("case", CASES, ids=[f"tavli-{case.name}" for case in CASES])
seats = pytest.mark.parametrize("seat", SEATS, ids=["straight", "mirrored"])


def state_of(case: Case, seat: Seat) -> AnyState:
    if case.received:
        return case.table.receiving(case.received, seat)
    return case.table.thrown(case.game, case.roll, seat)


def end_of(state: AnyState, seat: Seat) -> End:
    """What the engine says of a state after the turn, as the files say it."""
    table = table_of(state, seat)
    won = state.result.points[seat] if state.result else 0
    drawn = state.result is not None and state.result.ending == "drawn"
    handed_over = getattr(state, "received", ())
    return End(table.__class__(table.mine, table.theirs, table.pinned), won, drawn, handed_over)


@cases
@seats
def test_case(case: Case, seat: Seat) -> None:
    found = {end_of(state, seat) for state in ends(case.game, state_of(case, seat))}
    assert len(found) == case.count
    if case.results:
        assert found == case.results


@cases
@seats
def test_whole_turns_of_a_case(case: Case, seat: Seat) -> None:
    """`turns` lists the same ends, once each, with a path that leads there."""
    state = state_of(case, seat)
    found = case.game.turns(state)
    boards = [turn[1] for turn in found]
    assert len(set(boards)) == len(boards)
    for path, reached, *_ in found:
        after = state
        for step in path:
            after = case.game.apply(after, seat, step)
        assert after.boards == reached
    if not isinstance(case.game, Gulbara):  # which lists them number by number
        assert set(boards) == {end.boards for end in ends(case.game, state)}


@cases
def test_case_by_the_second_generator(case: Case) -> None:
    rules, position = rules_of(case.game), case.table.plain()
    if isinstance(case.game, Gulbara) and not case.received:
        thrown = case.table.throws[0] + 1
        given = simple_tavli.numbers(rules, int(case.roll[0]), int(case.roll[1]), thrown)
        outcomes = simple_tavli.thrown(rules, position, given)
        assert len(outcomes) == case.count
        if case.results:
            assert outcomes == {(end.table.plain(), end.passed) for end in case.results}
        return
    if case.received:
        finals = simple_tavli.received(rules, position, case.received)
    else:
        dice = case.table.thrown(case.game, case.roll, SEATS[0]).dice
        finals = simple_tavli.legal_finals(rules, position, dice)
    assert len(finals) == case.count
    if case.results:
        assert finals == {end.table.plain() for end in case.results}


@seats
def test_who_is_on_turn_after_a_case(seat: Seat) -> None:
    """The other throws; only a receiver throws himself, and numbers left over come first."""
    for case in CASES:
        for state in ends(case.game, state_of(case, seat)):
            if state.stage is Stage.OVER:
                assert state.dice == ()
            elif case.received:
                assert (state.mover, state.stage) == (seat, Stage.ROLL)
            else:
                handed_over = getattr(state, "received", ())
                assert state.mover == other(seat)
                assert state.stage is (Stage.MOVE if handed_over else Stage.ROLL)
                assert state.dice == handed_over


def test_every_case_is_there() -> None:
    given = {case.name for case in CASES if not case.name.startswith("own-")}
    rolls = [f"{a}{b}" for a in range(1, 7) for b in range(1, a + 1)]
    starts = {f"{game}-start-{roll}" for game in "LFG" for roll in rolls}
    named = "L02 L04 L05 L06 L07 L10 L11 L13 F04 F05 F07b F08 F09 F10 F11b F11c"
    named += " F11d F14 G03 GB02 GB04 GB05 GB06 GB07b GB08 GB09 GB10"
    assert given == starts | set(named.split())


def test_a_case_knows_its_options() -> None:
    by_name = {case.name: case for case in CASES}
    assert by_name["L07"].game != by_name["L06"].game
    assert plain_of(state_of(by_name["L06"], SEATS[1]), SEATS[1]) == by_name["L06"].table.plain()
