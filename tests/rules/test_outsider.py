"""Faults that an outsider has found once."""

from __future__ import annotations

import asyncio
import threading
import uuid
from pathlib import Path
from random import Random

import grpc
import pytest
from kafeneio.rules.v1 import game_pb2 as pb
from kafeneio_games.record import Problem
from kafeneio_rules import archive

from tests.harness import SEATS, SERVICE, STRANGER, Rules, new_id
from tests.rules.moves import some_turn
from tests.rules.refusal import Refused, outcome_of, refusal


async def over(rules: Rules) -> str:
    """The id of a finished game."""
    game = await rules.start()
    await rules.play_to_end(game)
    return game.game_id


async def test_records_are_judged_one_at_a_time_and_not_without_end(
    rules: Rules, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on, running, most = threading.Event(), 0, 0

    def slow(_record: pb.Record) -> tuple[Problem, ...]:
        nonlocal running, most
        running += 1
        most = max(most, running)
        assert go_on.wait(10)
        running -= 1
        return ()

    monkeypatch.setattr(archive, "_judge", slow)
    record = await rules.ask(
        rules.games.GetRecord, pb.GetRecordRequest(game_id=await over(rules)), STRANGER
    )
    request = pb.VerifyRecordRequest(record=record.record)
    calls = [
        asyncio.create_task(outcome_of(rules.ask(rules.games.VerifyRecord, request, STRANGER)))
        for _ in range(archive.WAITING_MOST + 3)
    ]
    refused, _ = await asyncio.wait(calls, return_when=asyncio.FIRST_COMPLETED)
    for call in refused:
        told = call.result()
        assert isinstance(told, Refused)
        assert told.what == ("RESOURCE_EXHAUSTED", "RATE_LIMITED")
    # Meanwhile everybody else is answered.
    await rules.ask(rules.games.ListGames, pb.ListGamesRequest(), STRANGER)
    go_on.set()
    answers = await asyncio.gather(*calls)
    assert sum(isinstance(answer, pb.VerifyRecordResponse) for answer in answers) == (
        archive.WAITING_MOST
    )
    assert most == 1


async def test_a_stream_says_goodbye_before_its_connection_is_cut(
    database_url: str, keys: Path
) -> None:
    async with Rules.serve(database_url, keys, max_connection_age_seconds=1) as rules:
        game = await rules.start()
        stream = rules.games.WatchGame(
            pb.WatchGameRequest(game_id=game.game_id), metadata=rules.credentials(STRANGER)
        )
        kinds = [message.WhichOneof("message") async for message in stream]
        assert kinds[-1] == "draining"
        assert await stream.code() is grpc.StatusCode.OK


async def test_the_same_request_in_another_call_is_another_request(rules: Rules) -> None:
    game = await rules.start()
    position = (await rules.get(game.game_id)).position
    who = SEATS[position.turn.seat]
    request = pb.ActRequest(
        request_id=new_id(),
        game_id=game.game_id,
        expected_version=1,  # to Resign this field is the round
        actions=some_turn(position, Random(1)),
    )
    await rules.ask(rules.games.Act, request, who)
    resign = pb.ResignRequest.FromString(request.SerializeToString())
    assert resign.SerializeToString() == request.SerializeToString()
    refused = await refusal(rules.ask(rules.games.Resign, resign, who))
    assert refused.what == ("ALREADY_EXISTS", "REQUEST_ID_REUSED")


async def test_ids_of_games_are_of_version_7(rules: Rules) -> None:
    request = pb.CreateGameRequest(
        request_id=new_id(),
        game_id=str(uuid.UUID(int=2**128 - 1, version=4)),
        terms=pb.Terms(variant="portes"),
        player_ids=SEATS,
    )
    refused = await refusal(rules.ask(rules.games.CreateGame, request, SERVICE))
    assert refused.what == ("INVALID_ARGUMENT", "MALFORMED")
    assert refused.fields == ("game_id",)


async def test_a_house_with_another_key_does_not_open(database_url: str, tmp_path: Path) -> None:
    async with Rules.serve(database_url, tmp_path / "one") as rules:
        await rules.start()
    with pytest.raises(SystemExit, match="KAFENEIO_CHANCE_KEY"):
        async with Rules.serve(database_url, tmp_path / "two"):
            raise AssertionError("it opened")


async def test_histories_that_no_house_writes_are_found_bad(rules: Rules) -> None:
    record = (
        await rules.ask(
            rules.games.GetRecord, pb.GetRecordRequest(game_id=await over(rules)), STRANGER
        )
    ).record

    async def verdict(changed: pb.Record) -> list[str]:
        answer = await rules.ask(
            rules.games.VerifyRecord, pb.VerifyRecordRequest(record=changed), STRANGER
        )
        return [finding.text.partition(":")[0] for finding in answer.findings]

    assert await verdict(record) == []
    for version, entry in ((3, "-2 !cancel"), (3, "-2 !void NO_SHOW"), (1, "0 !forfeit LEFT")):
        changed = pb.Record()
        changed.CopyFrom(record)
        del changed.rows[version - 1 :]
        changed.rows.add(version=version, entries=[entry], state_hash=bytes(32))
        assert "ROW" in await verdict(changed), entry
    for spelling in ("00-1 64", "-0 64", "٠ 13/8"):
        changed = pb.Record()
        changed.CopyFrom(record)
        changed.rows[0].entries[0] = spelling
        assert await verdict(changed) == ["MALFORMED"]
