"""Games without a result: ended by an operator, cancelled, or never joined."""

from __future__ import annotations

import asyncio

import pytest
from kafeneio.rules.v1 import actions_pb2, events_pb2
from kafeneio.rules.v1 import game_pb2 as pb

from tests.harness import SEATS, Rules, new_id
from tests.rules.moves import notation
from tests.rules.referee import TABLE, check_events, check_rows, texts
from tests.rules.refusal import refusal
from tests.rules.streams import next_update

VOID_OPERATOR = pb.Outcome(void_reason=actions_pb2.VOID_REASON_OPERATOR)
VOID_NO_SHOW = pb.Outcome(void_reason=actions_pb2.VOID_REASON_NO_SHOW)


async def test_an_operator_ends_a_running_game(rules: Rules) -> None:
    game = await rules.start(target=3)
    position = await rules.play_turns(game, 4)
    version = await rules.abort(game.game_id, "the roof leaks")
    assert version == position.version + 1
    after = await rules.get(game.game_id)
    assert after.position.version == version
    assert after.position.outcome == VOID_OPERATOR
    assert after.position.status == pb.GAME_STATUS_FINISHED
    assert after.position.view == position.view, "the table stays as it was"
    events = await rules.events(game.game_id)
    assert [event.WhichOneof("event") for event in events[-2:]] == ["turn_ended", "game_finished"]
    assert events[-1].game_finished == events_pb2.GameFinished(
        void_reason=actions_pb2.VOID_REASON_OPERATOR, variant="portes", payout_rule="S4"
    )
    updates = await rules.updates(game.game_id)
    assert texts(updates[-1]) == [(TABLE, "!void OPERATOR")]
    check_rows(game, updates)
    check_events(game, updates, events)
    record = await rules.record(game.game_id)
    assert record.reason == "the roof leaks"
    assert record.outcome == VOID_OPERATOR
    assert (await rules.verify(game.game_id)).valid


@pytest.mark.parametrize("joined", [0, 1])
async def test_an_operator_ends_a_game_that_waits(rules: Rules, joined: int) -> None:
    game = await rules.create()
    for player in SEATS[:joined]:
        await rules.join(game, player)
    assert await rules.abort(game.game_id) == 1
    after = await rules.get(game.game_id)
    assert (after.position.version, after.position.status) == (1, pb.GAME_STATUS_FINISHED)
    assert after.position.outcome == VOID_OPERATOR
    (event,) = await rules.events(game.game_id)
    assert event.game_finished.void_reason == actions_pb2.VOID_REASON_OPERATOR
    assert list(event.game_finished.absent_seats) == [0, 1][joined:]
    refused = await refusal(rules.join(game, SEATS[1]))
    assert refused.what == ("FAILED_PRECONDITION", "GAME_OVER")
    assert (await rules.verify(game.game_id)).valid


@pytest.mark.parametrize("joined", [0, 1])
async def test_cancelling_a_game_that_waits(rules: Rules, joined: int) -> None:
    game = await rules.create()
    for player in SEATS[:joined]:
        await rules.join(game, player)
    await rules.cancel(game.game_id)
    after = await rules.get(game.game_id)
    assert after.position.status == pb.GAME_STATUS_CANCELLED
    assert after.position.outcome == pb.Outcome()
    assert await rules.events(game.game_id) == [], "whoever cancels knows"
    before = await rules.snapshot()
    for call in (rules.create(game_id=game.game_id), rules.join(game, SEATS[1])):
        assert (await refusal(call)).what == ("FAILED_PRECONDITION", "GAME_CANCELLED")
    assert await rules.snapshot() == before
    assert (await rules.verify(game.game_id)).valid


async def test_cancelling_a_game_that_was_never_made(rules: Rules) -> None:
    game_id = new_id()
    await rules.cancel(game_id)
    before = await rules.snapshot()
    refused = await refusal(rules.create(game_id=game_id))
    assert refused.what == ("FAILED_PRECONDITION", "GAME_CANCELLED")
    assert await rules.snapshot() == before
    assert before["games"][0] == 1


async def test_cancelling_again_under_another_request_id(rules: Rules) -> None:
    game, unknown = await rules.create(), new_id()
    for game_id in (game.game_id, unknown):
        await rules.cancel(game_id)
        before = await rules.snapshot()
        await rules.cancel(game_id)
        after = await rules.snapshot()
        assert {name for name in before if before[name] != after[name]} == {"requests"}


async def test_nobody_comes(rules: Rules) -> None:
    """F6: not joined in time, by the database's time, never early; then void, and announced."""
    nobody = await rules.create(join_timeout=1)
    assert (nobody.join_by.ToDatetime() - nobody.created_at.ToDatetime()).total_seconds() == 1
    one = await rules.create()
    await rules.join(one, SEATS[1])
    one = await rules.join_within(one.game_id, 0.5)
    waited = await asyncio.gather(*(rules.updates(game.game_id) for game in (nobody, one)))
    for game, absent, rows in zip((nobody, one), ([0, 1], [0]), waited, strict=True):
        (row,) = rows
        assert texts(row) == [(TABLE, "!void NO_SHOW")]
        assert row.at.ToDatetime() >= game.join_by.ToDatetime()
        assert row.position.outcome == VOID_NO_SHOW
        assert row.position.status == pb.GAME_STATUS_FINISHED
        (event,) = await rules.events(game.game_id)
        assert event.version == 1
        assert event.game_finished == events_pb2.GameFinished(
            void_reason=actions_pb2.VOID_REASON_NO_SHOW,
            variant="portes",
            payout_rule="S4",
            absent_seats=absent,
        )
        for who in SEATS:
            refused = await refusal(rules.join(game, who))
            assert refused.what == ("FAILED_PRECONDITION", "GAME_OVER")
        assert (await rules.verify(game.game_id)).valid


async def test_who_comes_in_time_plays(rules: Rules) -> None:
    """When a game that was made later is ended, one that was joined goes on."""
    game = await rules.create(join_timeout=3)
    for player in SEATS:
        game = await rules.join(game, player)
    late = await rules.create(join_timeout=3)
    ended = await next_update(rules.watch(late.game_id))
    assert ended.at.ToDatetime() >= late.join_by.ToDatetime() > game.join_by.ToDatetime()
    answer = await rules.play_turn(game.game_id, game.position)
    assert answer.house.position.status == pb.GAME_STATUS_RUNNING


async def test_one_game_that_cannot_be_ended_keeps_no_other_waiting(rules: Rules) -> None:
    broken = await rules.create(join_timeout=1)
    await rules.database.execute(
        "UPDATE games SET variant = 'of another house' WHERE game_id = $1::text::uuid",
        broken.game_id,
    )
    game = await rules.create(join_timeout=1)
    (row,) = await rules.updates(game.game_id)
    assert row.position.outcome == VOID_NO_SHOW


async def test_what_was_never_made_can_only_be_known_as_cancelled(rules: Rules) -> None:
    game_id = new_id()
    await rules.cancel(game_id)
    before = await rules.snapshot()
    for call in (
        rules.get(game_id),
        rules.updates(game_id),
        rules.legal(game_id, SEATS[0]),
        rules.act(game_id, 0, SEATS[0], [notation("13/7")]),
        rules.resign(game_id, SEATS[0]),
        rules.forfeit(game_id, 0, "LEFT"),
        rules.abort(game_id),
        rules.turn(game_id),
        rules.events(game_id),
        rules.record(game_id),
        rules.verify(game_id),
    ):
        assert (await refusal(call)).what == ("FAILED_PRECONDITION", "GAME_CANCELLED")
    assert await rules.snapshot() == before


async def test_thirty_seconds_unless_said(rules: Rules) -> None:
    game = await rules.create()
    assert (game.join_by.ToDatetime() - game.created_at.ToDatetime()).total_seconds() == 30
