"""How a game ends, beside by its last checker: resigned, forfeited."""

from __future__ import annotations

import pytest
from kafeneio.rules.v1 import actions_pb2, events_pb2
from kafeneio.rules.v1 import game_pb2 as pb

from tests.harness import SEATS, Rules
from tests.rules.moves import latest, notation
from tests.rules.referee import check_events, check_rows, texts
from tests.rules.refusal import refusal

START = [0] * 6 + [5, 0, 3] + [0] * 4 + [5] + [0] * 10 + [2, 0]


async def check_whole(rules: Rules, game: pb.Game) -> None:
    """The rows, events and record of a game that is over agree."""
    updates = await rules.updates(game.game_id)
    check_rows(game, updates)
    events = await rules.events(game.game_id)
    check_events(game, updates, events)
    position = updates[-1].position
    finished = events[-1].game_finished
    assert finished.WhichOneof("end") == position.outcome.WhichOneof("end")
    assert finished.decided == position.outcome.decided
    assert finished.void_reason == position.outcome.void_reason
    assert finished.forfeits == position.forfeits
    assert (await rules.record(game.game_id)).outcome == position.outcome
    assert (await rules.verify(game.game_id)).valid


async def borne_off(rules: Rules, game: pb.Game, seat: int) -> pb.Position:
    """Plays until a seat has borne off its first checker, or the game is over."""
    position = game.position
    while not position.view.tavli.sides[seat].points[0]:
        position = latest(await rules.play_turn(game.game_id, position))
        assert position.status == pb.GAME_STATUS_RUNNING
    return position


@pytest.mark.parametrize("on_turn", [True, False])
async def test_resigning_a_single_game(rules: Rules, on_turn: bool) -> None:
    game = await rules.start()
    turn = game.position.turn
    seat = turn.seat if on_turn else 1 - turn.seat
    answer = await rules.resign(game.game_id, SEATS[seat])
    assert not answer.HasField("house")
    assert texts(answer.played) == [(seat, "!resign")]
    assert answer.played.entries[0].action.HasField("resign_round")
    position = answer.played.position
    assert position.status == pb.GAME_STATUS_FINISHED
    score = [0, 2] if seat == 0 else [2, 0]  # V2.8: none borne off
    decided = events_pb2.Decided(winners=[1 - seat], score=score, ending="resigned")
    assert position.outcome == pb.Outcome(decided=decided)
    assert list(position.to_act) == []
    events = await rules.events(game.game_id, after=2)
    assert [event.WhichOneof("event") for event in events] == ["turn_ended", "game_finished"]
    assert events[-1].game_finished == events_pb2.GameFinished(
        decided=decided, variant="portes", payout_rule="S4"
    )
    await check_whole(rules, game)


async def test_resigning_with_a_checker_borne_off_costs_one(rules: Rules) -> None:
    game = await rules.start(target=15)
    position = await borne_off(rules, game, 0)
    before = list(position.score)
    answer = await rules.resign(game.game_id, SEATS[0], position.round)
    assert list(latest(answer).score) == [before[0], before[1] + 1]


@pytest.mark.parametrize("seat", [0, 1])
async def test_resigning_a_round_of_a_match(rules: Rules, seat: int) -> None:
    game = await rules.start(target=5)
    await rules.play_turns(game, 3)
    version = (await rules.get(game.game_id)).position.version
    answer = await rules.resign(game.game_id, SEATS[seat])
    assert answer.house.position.version == version + 2
    assert texts(answer.played) == [(seat, "!resign")]
    ((chance, roll),) = texts(answer.house)
    assert chance == -1
    assert not roll.startswith("opening"), "who has won the last round opens (V2.5)"
    position = answer.house.position
    assert (position.status, position.round) == (pb.GAME_STATUS_RUNNING, 2)
    assert list(position.score) == ([0, 2] if seat == 0 else [2, 0])
    assert position.turn.seat == position.view.tavli.mover == 1 - seat
    assert all(list(side.points) == START for side in position.view.tavli.sides)
    # Late calls that mean the first round give up nothing.
    refused = await refusal(rules.resign(game.game_id, SEATS[1 - seat], 1))
    assert refused.what == ("ABORTED", "STALE_VERSION")
    await rules.resign(game.game_id, SEATS[seat], 2)
    position = latest(await rules.resign(game.game_id, SEATS[seat], 3))
    assert position.outcome.decided == events_pb2.Decided(
        winners=[1 - seat], score=[0, 6] if seat == 0 else [6, 0], ending="resigned"
    )
    await check_whole(rules, game)


REASONS = ("LEFT", "CONNECTION_LOST", "TIMEOUTS_EXCEEDED")


@pytest.mark.parametrize("reason", REASONS)
async def test_forfeiting_the_seat_on_turn(rules: Rules, reason: str) -> None:
    game = await rules.start(target=7)
    position = await rules.play_turns(game, 5)
    seat = position.turn.seat
    turn = 0 if reason == "LEFT" else position.turn.turn
    version = await rules.forfeit(game.game_id, seat, reason, turn)
    assert version == position.version + 1
    number = actions_pb2.ForfeitReason.Value(f"FORFEIT_REASON_{reason}")
    recorded = events_pb2.SeatForfeitRecorded(seat=seat, reason=number)

    after = await rules.get(game.game_id)
    assert after.position.version == version, "nothing follows it"
    assert list(after.position.forfeits) == [recorded]
    assert [each.forfeit for each in after.seats] == ([number, 0] if seat == 0 else [0, number])
    # F2: the points of a resignation, and the match, at any score.
    score = [0, 2] if seat == 0 else [2, 0]
    decided = events_pb2.Decided(winners=[1 - seat], score=score, ending="forfeit")
    assert after.position.outcome == pb.Outcome(decided=decided)
    events = await rules.events(game.game_id, after=12)
    assert [event.WhichOneof("event") for event in events] == [
        "turn_ended",
        "seat_forfeit_recorded",
        "game_finished",
    ]
    assert events[1].seat_forfeit_recorded == recorded
    assert events[2].game_finished == events_pb2.GameFinished(
        decided=decided, forfeits=[recorded], variant="portes", payout_rule="S4"
    )
    last = (await rules.updates(game.game_id, after=version - 1))[0]
    assert texts(last) == [(seat, f"!forfeit {reason}")]
    assert last.entries[0].action.forfeit.reason == number
    await check_whole(rules, game)


async def test_leaving_when_it_is_the_others_turn(rules: Rules) -> None:
    game = await rules.start(target=7)
    ahead = 1 - game.position.turn.seat
    position = latest(await rules.resign(game.game_id, SEATS[1 - ahead]))
    assert position.score[ahead] == 2
    assert position.turn.seat == ahead
    await rules.play_turn(game.game_id, position)
    await rules.forfeit(game.game_id, ahead, "LEFT")
    outcome = (await rules.get(game.game_id)).position.outcome.decided
    assert list(outcome.winners) == [1 - ahead], "also behind in points"
    assert list(outcome.score) == [2, 2]
    await check_whole(rules, game)


@pytest.mark.parametrize(("option", "points"), [("formula", 1), ("two", 2)])
async def test_what_a_forfeit_concedes(rules: Rules, option: str, points: int) -> None:
    """VA11: as many points as a resignation, or always two."""
    game = await rules.start(target=15, options={"disconnect_points": option})
    assert game.terms.options["disconnect_points"] == option
    position = await borne_off(rules, game, 1)
    before = list(position.score)
    await rules.forfeit(game.game_id, 1, "LEFT")
    after = (await rules.get(game.game_id)).position
    assert list(after.score) == [before[0] + points, before[1]]
    assert list(after.outcome.decided.winners) == [0]


async def test_the_first_to_leave_loses(rules: Rules) -> None:
    game = await rules.start()
    await rules.forfeit(game.game_id, 1, "LEFT")
    before = await rules.snapshot()
    for seat in (0, 1):
        refused = await refusal(rules.forfeit(game.game_id, seat, "LEFT"))
        assert refused.what == ("FAILED_PRECONDITION", "GAME_OVER")
    for who in SEATS:
        refused = await refusal(rules.act(game.game_id, 2, who, [notation("13/7")]))
        assert refused.what == ("FAILED_PRECONDITION", "GAME_OVER")
        refused = await refusal(rules.resign(game.game_id, who))
        assert refused.what == ("FAILED_PRECONDITION", "GAME_OVER")
    assert await rules.snapshot() == before


async def test_a_move_in_time_is_never_lost(rules: Rules) -> None:
    """X11: whether the turn still runs is read from the log when the period is over."""
    game = await rules.start()
    turn = game.position.turn
    await rules.play_turn(game.game_id, game.position)
    before = await rules.snapshot()
    refused = await refusal(rules.forfeit(game.game_id, turn.seat, "TIMEOUTS_EXCEEDED", turn.turn))
    assert refused.what == ("FAILED_PRECONDITION", "TURN_PASSED")
    assert refused.metadata == {"turn": str(turn.turn + 1)}
    assert await rules.snapshot() == before


async def test_a_turn_that_is_half_played_still_runs(rules: Rules) -> None:
    game = await rules.start()
    turn = game.position.turn
    first, *_ = await rules.whole_turn(game.game_id, SEATS[turn.seat])
    await rules.act(game.game_id, game.position.version, SEATS[turn.seat], [first])
    version = await rules.forfeit(game.game_id, turn.seat, "TIMEOUTS_EXCEEDED", turn.turn)
    assert version == 3
    await check_whole(rules, game)
