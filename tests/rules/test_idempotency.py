"""A call that is sent n times is as if sent once, and gets the same answer each time."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from pathlib import Path
from typing import Any, Final

import grpc
import pytest
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from kafeneio.rules.v1 import game_pb2 as pb

from tests.harness import OPERATOR, SEATS, SERVICE, Rules, new_id
from tests.rules.moves import latest, notation
from tests.rules.refusal import refusal
from tests.rules.stage import METHODS, MUTATING, Said, Stage, path_of

# What a call of each method writes in the games of the stage: rows of the log, and events.
EFFECTS: Final[dict[str, tuple[int, list[str]]]] = {
    "CreateGame": (0, []),
    "CancelGame": (1, []),
    "JoinGame": (1, ["game_started", "turn_started"]),
    # Turn after turn: the dice of the stage are known, and leave nobody without a move.
    "Act": (2, ["turn_ended", "turn_started"]),
    "Resign": (2, ["turn_ended", "turn_started"]),
    "ForfeitSeat": (1, ["turn_ended", "seat_forfeit_recorded", "game_finished"]),
    "AbortGame": (1, ["turn_ended", "game_finished"]),
}


async def answer(rules: Rules, path: str, said: Said) -> Message:
    """What comes back."""
    body, credentials = said.request.SerializeToString(), rules.credentials(said.who)
    return GetMessageClass(METHODS[path].output_type).FromString(
        await rules.send(path, body, credentials)
    )


async def effects(rules: Rules) -> tuple[int, Counter[str], Counter[tuple[str, str]]]:
    """How many rows all logs have, how many events of each type there are, and how often each
    request id of a caller stands anywhere."""
    rows = await rules.database.fetchval("SELECT count(*) FROM log")
    events = await rules.database.fetch("SELECT type FROM outbox")
    ids = await rules.database.fetch(
        "SELECT caller, request_id::text FROM log WHERE request_id IS NOT NULL"
        " UNION ALL SELECT caller, request_id::text FROM requests"
    )
    return rows, Counter(row[0] for row in events), Counter((row[0], row[1]) for row in ids)


async def test_one_after_the_other(pair: tuple[Rules, Rules]) -> None:
    first, second = pair
    stage = await Stage.set(first)
    for path, said in stage.accepted().items():
        if path not in MUTATING:
            continue
        once = await answer(first, path, said)
        before = await first.snapshot()
        for rules in (first, second, first, second):
            assert await answer(rules, path, said) == once, path
        assert await first.snapshot() == before, path


async def test_all_at_once_to_two_replicas(pair: tuple[Rules, Rules]) -> None:
    stage = await Stage.set(pair[0])
    tried = set()
    for path, said in stage.accepted().items():
        if path not in MUTATING:
            continue
        name = METHODS[path].name
        request: Any = said.request
        rows, events, _ = await effects(pair[0])
        answers = await asyncio.gather(*(answer(pair[n % 2], path, said) for n in range(12)))
        rows_after, events_after, ids = await effects(pair[1])
        assert all(each == answers[0] for each in answers), name
        assert (rows_after - rows, sorted((events_after - events).elements())) == (
            EFFECTS[name][0],
            sorted(EFFECTS[name][1]),
        ), name
        assert ids[said.who, request.request_id] == 1, name
        tried.add(path)
    assert tried == set(MUTATING)


async def test_what_was_carried_out_long_ago(rules: Rules) -> None:
    stage = await Stage.set(rules)
    before = await rules.snapshot()
    for path, said in stage.sent.items():
        assert await answer(rules, path, said) == await answer(rules, path, said)
    assert await rules.snapshot() == before


async def test_every_call_of_a_match_is_answered_again_also_by_a_new_process(
    database_url: str, keys: Path
) -> None:
    said: list[tuple[str, Said, Message]] = []

    async def carry_out(rules: Rules, name: str, who: str, request: Message) -> Any:
        given = await answer(rules, path_of(name), Said(who, request))
        said.append((path_of(name), Said(who, request), given))
        return given

    async with Rules.serve(database_url, keys) as rules:
        create = pb.CreateGameRequest(
            request_id=new_id(),
            game_id=new_id(),
            terms=pb.Terms(variant="portes", target=2),
            player_ids=SEATS,
        )
        game = (await carry_out(rules, "CreateGame", SERVICE, create)).game
        for player in SEATS:
            join = pb.JoinGameRequest(
                request_id=new_id(),
                game_id=game.game_id,
                commitment=game.commitment,
                word=player.encode(),
            )
            game = (await carry_out(rules, "JoinGame", player, join)).game
        position = game.position
        while position.status == pb.GAME_STATUS_RUNNING and len(said) < 60:
            who = SEATS[position.turn.seat]
            act = pb.ActRequest(
                request_id=new_id(),
                game_id=game.game_id,
                expected_version=position.version,
                actions=await rules.whole_turn(game.game_id, who),
            )
            position = latest(await carry_out(rules, "Act", who, act))
        if position.status == pb.GAME_STATUS_RUNNING:
            abort = pb.AbortGameRequest(
                request_id=new_id(), game_id=game.game_id, reason="closing time"
            )
            await carry_out(rules, "AbortGame", OPERATOR, abort)
        assert len(said) > 40, "more rows than a process keeps at hand"
        before = await rules.snapshot()
        for path, call, given in said:
            assert await answer(rules, path, call) == given
    async with Rules.serve(database_url, keys) as rules:
        for path, call, given in reversed(said):
            assert await answer(rules, path, call) == given
        assert await rules.snapshot() == before


async def test_a_refusal_is_not_kept(rules: Rules) -> None:
    request_id = new_id()
    unknown = pb.CreateGameRequest(
        request_id=request_id,
        game_id=new_id(),
        terms=pb.Terms(variant="chess"),
        player_ids=SEATS,
    )
    assert (await refusal(rules.ask(rules.games.CreateGame, unknown))).reason == "VARIANT_UNKNOWN"
    game = await rules.create(game_id=unknown.game_id, request_id=request_id)

    other = await rules.create()
    wrong = pb.Game(game_id=game.game_id, commitment=other.commitment)
    refused = await refusal(rules.join(wrong, SEATS[0], request_id=request_id))
    assert refused.reason == "COMMITMENT_MISMATCH"
    await rules.join(game, SEATS[0], request_id=request_id)
    game = await rules.join(game, SEATS[1], request_id=request_id)

    version, who = game.position.version, SEATS[game.position.turn.seat]
    for actions in ([notation("64")], [notation("bar/20")]):
        refused = await refusal(rules.act(game.game_id, version, who, actions, request_id))
        assert refused.reason == "ILLEGAL_ACTION"
    turn = await rules.whole_turn(game.game_id, who)
    assert (await rules.act(game.game_id, version, who, turn, request_id)).HasField("played")


async def test_the_same_game_made_again_under_another_request_id(rules: Rules) -> None:
    game = await rules.create(target=3, options={"disconnect_points": "two"})
    await rules.join(game, SEATS[0])
    before = await rules.snapshot()
    request = pb.CreateGameRequest(
        request_id=new_id(), game_id=game.game_id, terms=game.terms, player_ids=SEATS
    )
    assert request.terms.edition == 1, "said out loud what was meant before"
    again = (await rules.ask(rules.games.CreateGame, request)).game
    assert again == await rules.get(game.game_id)
    assert again.commitment == game.commitment
    after = await rules.snapshot()
    assert {name for name in before if before[name] != after[name]} == {"requests"}


async def test_a_seat_joined_again_with_the_same_word(rules: Rules) -> None:
    game = await rules.create()
    for _ in range(3):
        joined = await rules.join(game, SEATS[0], b"my word")
        assert [seat.joined for seat in joined.seats] == [True, False]
    started = await rules.join(game, SEATS[1])
    before = await rules.snapshot()
    assert await rules.join(game, SEATS[0], b"my word") == started
    after = await rules.snapshot()
    assert {name for name in before if before[name] != after[name]} == {"requests"}


async def test_request_ids_are_those_of_a_caller(rules: Rules) -> None:
    game = await rules.start()
    request_id, position = new_id(), game.position
    answers = []
    for _ in SEATS:
        who = SEATS[position.turn.seat]
        turn = await rules.whole_turn(game.game_id, who)
        answers.append(await rules.act(game.game_id, position.version, who, turn, request_id))
        position = latest(answers[-1])
    assert answers[0] != answers[1]
    ids = [row["request_id"] for row in await rules.log_rows(game.game_id)]
    assert sum(str(each) == request_id for each in ids) == 2


@pytest.mark.parametrize("turns", [0, 1, 5])
async def test_a_caller_who_goes_away_may_ask_again(rules: Rules, turns: int) -> None:
    game = await rules.start()
    for _ in range(turns):
        await rules.play_turn(game.game_id, (await rules.get(game.game_id)).position)
    position = (await rules.get(game.game_id)).position
    who = SEATS[position.turn.seat]
    request = pb.ActRequest(
        request_id=new_id(),
        game_id=game.game_id,
        expected_version=position.version,
        actions=await rules.whole_turn(game.game_id, who),
    )
    for seconds in (0.0001, 0.001, 0.003):
        with contextlib.suppress(grpc.aio.AioRpcError):
            await rules.games.Act(request, metadata=rules.credentials(who), timeout=seconds)
    again = await rules.ask(rules.games.Act, request, who)
    assert again == await rules.ask(rules.games.Act, request, who)
    assert again.played.entries[0].seat == position.turn.seat
    ids = [row["request_id"] for row in await rules.log_rows(game.game_id)]
    assert sum(str(each) == request.request_id for each in ids) == 1
