"""Games with computers in seats: made, joined by one person, played by whoever plays for them."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from kafeneio.rules.v1 import actions_pb2, events_pb2
from kafeneio.rules.v1 import game_pb2 as pb

from tests.harness import OPERATOR, SEATS, SERVICE, STRANGER, Rules, new_id
from tests.rules.computers import (
    PLAYERS,
    Worker,
    against_computer,
    answer_turn,
    next_turn,
    play_person,
    watch_turns,
    whole_turn,
    working,
)
from tests.rules.moves import latest
from tests.rules.referee import check_events, check_rows, texts
from tests.rules.refusal import Refused, outcome_of, refusal
from tests.rules.stage import COMPUTER


async def check_whole(rules: Rules, game: pb.Game) -> pb.Record:
    """The rows, the events and the record of a game that is over agree; the record."""
    rows = await rules.updates(game.game_id)
    check_rows(game, rows)
    check_events(game, rows, await rules.events(game.game_id))
    record = await rules.record(game.game_id)
    assert record.outcome == rows[-1].position.outcome
    assert await rules.verify(record) == pb.VerifyRecordResponse(valid=True)
    return record


@pytest.mark.parametrize("seat", [0, 1])
async def test_a_computer_has_joined_from_the_start(rules: Rules, seat: int) -> None:
    players = PLAYERS if seat == 1 else PLAYERS[::-1]
    game = await rules.create(players=players, computers=[seat])
    assert [each.player_id for each in game.seats] == list(players)
    assert [each.computer for each in game.seats] == [seat == 0, seat == 1]
    assert [each.joined for each in game.seats] == [seat == 0, seat == 1]
    assert game.position.status == pb.GAME_STATUS_WAITING
    assert await rules.events(game.game_id) == []

    started = await rules.join(game, SEATS[0])
    assert started.position.status == pb.GAME_STATUS_RUNNING
    assert [each.computer for each in started.seats] == [seat == 0, seat == 1]
    assert [each.joined for each in started.seats] == [True, True]
    assert not any(each.forfeit for each in started.seats)
    event, *_ = await rules.events(game.game_id)
    assert event.game_started == events_pb2.GameStarted(
        variant="portes", player_ids=players, payout_rule="S4", computer_seats=[seat]
    )


async def test_a_game_of_people_names_no_computers(rules: Rules) -> None:
    game = await rules.start()
    event, *_ = await rules.events(game.game_id)
    assert list(event.game_started.computer_seats) == []
    assert not any(each.computer for each in game.seats)
    await rules.resign(game.game_id, SEATS[0])
    assert list((await rules.record(game.game_id)).computer_seats) == []


async def test_a_whole_match_against_a_computer(rules: Rules) -> None:
    game = await against_computer(rules, target=2)
    async with working(rules) as (worker,):
        position = await play_person(rules, game.game_id)
    assert position.status == pb.GAME_STATUS_FINISHED
    assert position.outcome.HasField("decided")
    record = await check_whole(rules, game)
    assert list(record.computer_seats) == [1]
    assert list(record.words) == [SEATS[0].encode(), b""], "a computer says no word"
    assert list(record.player_ids) == list(PLAYERS)

    begun = [
        (event.turn_started.turn, event.version)
        for event in await rules.events(game.game_id)
        if event.HasField("turn_started") and event.turn_started.seat == 1
    ]
    assert [(turn.turn, turn.version) for turn in worker.told] == begun, "each once, no other"
    assert {(turn.game_id, turn.seat) for turn in worker.told} == {(game.game_id, 1)}
    assert len(worker.played) == len(begun) > 10
    callers = {row["caller"] for row in await rules.log_rows(game.game_id)}
    assert callers == {SEATS[0], SERVICE, None}


async def test_two_workers_at_once(rules: Rules) -> None:
    """Both are told of every turn; one of them plays it, the other learns that it is played."""
    game = await against_computer(rules)
    async with working(rules, rules) as (first, second):
        await play_person(rules, game.game_id)
    await check_whole(rules, game)
    turns = sum(
        event.HasField("turn_started") and event.turn_started.seat == 1
        for event in await rules.events(game.game_id)
    )
    assert len(first.played) + len(second.played) == turns
    assert first.refused | second.refused <= {
        ("ABORTED", "STALE_VERSION"),
        ("FAILED_PRECONDITION", "NOT_YOUR_TURN"),
        ("FAILED_PRECONDITION", "GAME_OVER"),
        ("FAILED_PRECONDITION", "ILLEGAL_ACTION"),  # a step thought of in a turn that is over
    }


async def test_workers_at_two_replicas(pair: tuple[Rules, Rules]) -> None:
    games = [await against_computer(rules) for rules in pair]
    async with working(*pair) as workers, asyncio.TaskGroup() as group:
        for number, game in enumerate(games):
            group.create_task(play_person(pair[1 - number], game.game_id))
    for number, game in enumerate(games):
        await check_whole(pair[number], game)
        assert await pair[0].record(game.game_id) == await pair[1].record(game.game_id)
    assert all(worker.told for worker in workers)


async def test_one_replica_tells_what_was_written_at_the_other(pair: tuple[Rules, Rules]) -> None:
    first, second = pair
    stream = watch_turns(second)
    game = await against_computer(first)
    if game.position.turn.seat == 0:
        await first.play_turn(game.game_id, game.position)
    turn = await next_turn(stream)
    here = await first.turn(game.game_id)
    assert (turn.game_id, turn.seat) == (game.game_id, 1)
    assert (turn.turn, turn.version) == (here.turn.turn, here.version)
    answer = await answer_turn(second, turn)
    assert {seat for seat, _ in texts(answer.played)} == {1}
    stream.cancel()


async def test_a_new_house_goes_on(database_url: str, keys: Path) -> None:
    async with Rules.serve(database_url, keys) as rules:
        game = await against_computer(rules)
        async with working(rules):
            await play_person(rules, game.game_id, most=4)
        position = (await rules.get(game.game_id)).position
        answer = await rules.play_turn(game.game_id, position)
        waiting = latest(answer)
        assert waiting.turn.seat == 1
    async with Rules.serve(database_url, keys) as rules:
        stream = watch_turns(rules)
        assert await next_turn(stream) == pb.ComputerTurn(
            game_id=game.game_id, seat=1, turn=waiting.turn.turn, version=waiting.version
        )
        stream.cancel()
        async with working(rules):
            position = await play_person(rules, game.game_id)
        assert position.status == pb.GAME_STATUS_FINISHED
        await check_whole(rules, game)


# --- a call that is sent n times -------------------------------------------------------------


async def test_a_computers_move_sent_again_is_the_same_move(pair: tuple[Rules, Rules]) -> None:
    game = await against_computer(pair[0])
    if game.position.turn.seat == 0:
        await pair[0].play_turn(game.game_id, game.position)
    position = (await pair[0].get(game.game_id)).position
    steps, request_id = await whole_turn(pair[1], game.game_id, 1), new_id()
    answers = await asyncio.gather(
        *(
            pair[n % 2].act(game.game_id, position.version, SERVICE, steps, request_id, as_seat=1)
            for n in range(10)
        )
    )
    assert all(each == answers[0] for each in answers)
    ids = [str(row["request_id"]) for row in await pair[0].log_rows(game.game_id)]
    assert ids.count(request_id) == 1
    before = await pair[0].snapshot()
    again = await pair[1].act(game.game_id, position.version, SERVICE, steps, request_id, as_seat=1)
    assert again == answers[0]
    other = await refusal(
        pair[1].act(game.game_id, position.version + 1, SERVICE, steps, request_id, as_seat=1)
    )
    assert other.what == ("ALREADY_EXISTS", "REQUEST_ID_REUSED")
    assert await pair[0].snapshot() == before


async def test_a_game_with_a_computer_made_again_is_the_same_game(
    pair: tuple[Rules, Rules],
) -> None:
    request = pb.CreateGameRequest(
        request_id=new_id(),
        game_id=new_id(),
        terms=pb.Terms(variant="portes"),
        player_ids=PLAYERS,
        computer_seats=[1],
    )
    answers = await asyncio.gather(
        *(pair[n % 2].ask(pair[n % 2].games.CreateGame, request) for n in range(8))
    )
    assert all(each == answers[0] for each in answers)
    before = await pair[0].snapshot()
    assert before["games"][0] == 1
    request.request_id = new_id()
    again = await pair[1].ask(pair[1].games.CreateGame, request)
    assert again == answers[0]
    after = await pair[0].snapshot()
    assert {name for name in before if before[name] != after[name]} == {"requests"}


# --- looking, and acting, as a computer ------------------------------------------------------


async def test_who_plays_for_a_computer_sees_what_its_seat_sees(rules: Rules) -> None:
    game = await against_computer(rules)
    if game.position.turn.seat == 0:
        await rules.play_turn(game.game_id, game.position)
    seen = await rules.get(game.game_id, SERVICE, as_seat=1)
    assert seen == await rules.get(game.game_id, STRANGER), "tavli hides nothing"
    own = await rules.legal(game.game_id, SERVICE, as_seat=1)
    assert (own.seat, own.version) == (1, seen.position.version)
    assert own == await rules.legal(game.game_id, STRANGER)
    turn = await whole_turn(rules, game.game_id, 1)
    answer = await rules.act(game.game_id, seen.position.version, SERVICE, turn, as_seat=1)
    assert texts(answer.played) == [(1, step.notation) for step in turn]

    # Now it is hers: a computer waits like anybody else.
    while latest(answer).turn.seat == 1:
        answer = await answer_turn(
            rules,
            pb.ComputerTurn(game_id=game.game_id, seat=1, version=latest(answer).version),
        )
    for call in (
        rules.legal(game.game_id, SERVICE, as_seat=1),
        rules.act(game.game_id, latest(answer).version, SERVICE, turn, as_seat=1),
    ):
        refused = await refusal(call)
        assert refused.what == ("FAILED_PRECONDITION", "NOT_YOUR_TURN")


@pytest.mark.parametrize("who", [SEATS[0], COMPUTER, STRANGER, OPERATOR])
async def test_nobody_but_a_service_lists_as_a_computer(rules: Rules, who: str) -> None:
    game = await against_computer(rules)
    before = await rules.snapshot()
    refused = await refusal(rules.legal(game.game_id, who, as_seat=1))
    assert refused.what == ("PERMISSION_DENIED", "NOT_YOUR_SEAT")
    refused = await refusal(rules.legal(game.game_id, SERVICE, as_seat=0))
    assert refused.what == ("PERMISSION_DENIED", "NOT_YOUR_SEAT")
    assert await rules.snapshot() == before


async def test_before_the_start_and_after_the_end(rules: Rules) -> None:
    game = await rules.create(players=PLAYERS, computers=[1])
    assert await rules.get(game.game_id, SERVICE, as_seat=1) == game
    acting = rules.act(game.game_id, 0, SERVICE, [actions_pb2.Action(notation="13/8")], as_seat=1)
    for call in (rules.legal(game.game_id, SERVICE, as_seat=1), acting):
        assert (await refusal(call)).what == ("FAILED_PRECONDITION", "GAME_NOT_STARTED")
    await rules.join(game, SEATS[0])
    await rules.resign(game.game_id, SEATS[0])
    over = await rules.get(game.game_id, SERVICE, as_seat=1)
    assert over.position.outcome.decided.winners == [1]
    acting = rules.act(game.game_id, 2, SERVICE, [actions_pb2.Action(notation="13/8")], as_seat=1)
    for call in (rules.legal(game.game_id, SERVICE, as_seat=1), acting):
        assert (await refusal(call)).what == ("FAILED_PRECONDITION", "GAME_OVER")


async def test_who_is_called_like_a_computer_is_not_one(rules: Rules) -> None:
    game = await against_computer(rules)
    if game.position.turn.seat == 0:
        await rules.play_turn(game.game_id, game.position)
    assert await rules.get(game.game_id, COMPUTER) == await rules.get(game.game_id, STRANGER)
    legal = await rules.legal(game.game_id, COMPUTER)
    assert legal == await rules.legal(game.game_id, STRANGER), "as anybody who looks on"
    position = (await rules.get(game.game_id)).position
    before = await rules.snapshot()
    for call in (
        rules.act(game.game_id, position.version, COMPUTER, legal.actions[:1]),
        rules.resign(game.game_id, COMPUTER),
        rules.join(game, COMPUTER),
    ):
        assert (await refusal(call)).what == ("PERMISSION_DENIED", "NOT_YOUR_SEAT")
    assert await rules.snapshot() == before


@pytest.mark.parametrize("kind", ["move_checker", "pass_turn", "nothing"])
async def test_only_actions_of_a_kind(rules: Rules, kind: str) -> None:
    game = await against_computer(rules)
    if game.position.turn.seat == 0:
        await rules.play_turn(game.game_id, game.position)
    everything = await rules.legal(game.game_id, SERVICE, as_seat=1)
    some = await rules.legal(game.game_id, SERVICE, as_seat=1, kind=kind)
    assert list(some.actions) == (list(everything.actions) if kind == "move_checker" else [])
    assert not some.complete
    assert some.next_page_token == ""


# --- how such a game ends --------------------------------------------------------------------


async def test_a_person_who_does_not_come(rules: Rules) -> None:
    game = await rules.create(players=PLAYERS, computers=[1], join_timeout=1)
    (row,) = await rules.updates(game.game_id)
    assert row.position.outcome.void_reason == actions_pb2.VOID_REASON_NO_SHOW
    assert (await rules.verify(game.game_id)).valid


async def test_a_computer_never_leaves(rules: Rules) -> None:
    game = await against_computer(rules)
    before = await rules.snapshot()
    for reason in ("LEFT", "CONNECTION_LOST", "TIMEOUTS_EXCEEDED"):
        turn = 0 if reason == "LEFT" else game.position.turn.turn
        refused = await outcome_of(rules.forfeit(game.game_id, 1, reason, turn))
        assert isinstance(refused, Refused), reason
        assert refused.reason in {"NOT_YOUR_SEAT", "TURN_PASSED"}
    assert await rules.snapshot() == before


async def test_f2_who_leaves_a_computer_loses_to_it(rules: Rules) -> None:
    game = await against_computer(rules, target=3)
    await rules.forfeit(game.game_id, 0, "LEFT")
    after = await rules.get(game.game_id)
    assert after.position.outcome.decided.winners == [1]
    assert [each.computer for each in after.seats] == [False, True], "no computer plays on"
    last = (await rules.events(game.game_id))[-1].game_finished
    assert [(each.seat, each.computer) for each in last.forfeits] == [(0, False)]
    await check_whole(rules, game)


async def test_a_round_resigned_against_a_computer(rules: Rules) -> None:
    game = await against_computer(rules, target=3)
    answer = await rules.resign(game.game_id, SEATS[0])
    position = latest(answer)
    assert (position.round, list(position.score)) == (2, [0, 2])
    assert position.last_round == pb.LastRound(round=1, points=[0, 2], ending="resigned")
    assert position.turn.seat == 1, "VA9: the winner opens"
    worker = Worker(rules)
    running = asyncio.create_task(worker.run())
    stream = rules.watch(game.game_id, after=position.version)
    async for message in stream:
        if message.update.entries:
            break
    stream.cancel()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert worker.told[0].turn == position.turn.turn
    await rules.abort(game.game_id)
    await check_whole(rules, game)
