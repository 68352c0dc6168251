"""The worker against `rules`, over gRPC: it plays, and whatever happens the game goes on."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest
from kafeneio.rules.v1 import game_pb2 as pb
from kafeneio_client.errors import Unreachable
from kafeneio_computers import peer, worker
from kafeneio_computers.mind import decide
from kafeneio_computers.worker import FAILURES, NO_DECISION, NOT_LEGAL
from kafeneio_runtime import logs
from kafeneio_runtime.clock import ManualTime, SystemTime
from kafeneio_runtime.directory import Directory
from kafeneio_runtime.metrics import forbidden_labels
from kafeneio_runtime.settings import Settings
from prometheus_client import REGISTRY

from tests.computers.table import FOUR, awaited, play, working
from tests.fixtures.waiting import until
from tests.harness import PATIENCE, Rules


def sample(name: str, **labels: str) -> float:
    """A metric as it is now."""
    return REGISTRY.get_sample_value(name, labels) or 0.0


def failures(reason: str) -> float:
    """How many there were."""
    return sample("kafeneio_computer_failures_total", reason=reason)


def streams() -> float:
    """How many streams of turns were opened."""
    return sample(
        "grpc_server_started_total",
        grpc_type="server_stream",
        grpc_service="kafeneio.rules.v1.GameService",
        grpc_method="WatchComputerTurns",
    )


@pytest.mark.parametrize("variant", ["portes", "plakoto", "fevga", "gulbara"])
async def test_a_game_against_a_computer(rules: Rules, variant: str) -> None:
    decided = sample("kafeneio_computer_decisions_total", variant=variant)
    thought = sample("kafeneio_computer_decision_seconds_count")
    game = await rules.start(variant=variant, computers=(1,))
    async with working(rules):
        position = await play(rules, game, people=(0,))
    assert position.status == pb.GAME_STATUS_FINISHED
    assert position.outcome.HasField("decided")
    record = await rules.record(game.game_id)
    assert (await rules.verify(record)).valid
    turns = [row for row in record.rows if row.entries[0].startswith("1 ")]
    assert len(turns) > 5
    # Numbers that are received in Gul Bara are a turn of their own.
    assert sample("kafeneio_computer_decisions_total", variant=variant) >= decided + len(turns)
    assert sample("kafeneio_computer_decision_seconds_count") >= thought + len(turns)
    assert (failures(NO_DECISION), failures(NOT_LEGAL)) == (0, 0)


async def test_the_turns_that_run_are_played_first(rules: Rules) -> None:
    """Also those of before the worker came."""
    games = [await rules.start(computers=(seat,)) for seat in (0, 1, 0, 1)]
    async with working(rules):
        for game in games:
            (person,) = (seat.seat for seat in game.seats if not seat.computer)
            position = await awaited(rules, game.game_id, (person,))
            assert position.turn.seat == person


async def test_two_workers_are_one(rules: Rules) -> None:
    """What one has played the other forgets, or plays as the same call."""
    games = [await rules.start(computers=(1,)) for _ in range(3)]
    async with working(rules), working(rules):
        ends = await asyncio.gather(*(play(rules, game, people=(0,)) for game in games))
    assert all(end.status == pb.GAME_STATUS_FINISHED for end in ends)
    for game in games:
        assert (await rules.verify(game.game_id)).valid
    assert (failures(NO_DECISION), failures(NOT_LEGAL)) == (0, 0)


async def test_streams_end_and_are_opened_again(
    database_url: str, tmp_path: Path, quiet: None
) -> None:
    async with Rules.serve(database_url, tmp_path, max_connection_age_seconds=1) as rules:
        game = await rules.start(computers=(1,), target=15)
        before = streams()
        async with working(rules):
            while streams() < before + 3:
                position = await play(rules, game, people=(0,), turns=1)
                assert position.status == pb.GAME_STATUS_RUNNING


async def test_playing_a_turn_again_is_the_same_call(rules: Rules) -> None:
    """A worker that died before it heard the answer has lost nothing."""
    game = await rules.start(variant="pilotta", players=FOUR)
    seat = game.position.turn.seat
    await rules.forfeit(game.game_id, seat, "LEFT")
    assert rules.server is not None
    directory = Directory(rules.settings, "computers")
    directory.tell({"rules": rules.server.address})
    asked = peer.Rules(directory, SystemTime())
    seen = await asked.game(game.game_id, seat)
    first = await asked.first_legal(game.game_id, seat)
    await asked.act(seen, seat, first, "thought")
    before = await rules.snapshot()
    for _ in range(3):
        await asked.act(seen, seat, first, "thought")
    assert await rules.snapshot() == before
    await directory.close()


async def test_somebody_leaves_while_a_computer_thinks(
    rules: Rules, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then it thinks again, and does not wait until the turn is told again."""
    monkeypatch.setattr("kafeneio_rules.computers.AGAIN_SECONDS", 1e6)
    thinking, told = asyncio.Event(), threading.Event()
    versions: list[int] = []
    loop = asyncio.get_running_loop()

    def slowly(game: pb.Game, seat: int) -> list[str]:
        versions.append(game.position.version)
        if len(versions) == 1:
            loop.call_soon_threadsafe(thinking.set)
            assert told.wait(PATIENCE)
        return decide(game, seat)

    monkeypatch.setattr(worker, "decide", slowly)
    game = await rules.start(variant="pilotta", players=FOUR)
    first = game.position.turn.seat
    await rules.forfeit(game.game_id, first, "LEFT")
    async with working(rules):
        await thinking.wait()
        await rules.forfeit(game.game_id, (first + 2) % 4, "LEFT")
        told.set()
        people = [seat for seat in range(4) if (seat - first) % 2]
        position = await awaited(rules, game.game_id, people)
        assert position.turn.seat in people
    assert versions[:2] == [2, 3]


# --- failures --------------------------------------------------------------------------------


@pytest.fixture
def log(rules: Rules, monkeypatch: pytest.MonkeyPatch) -> StringIO:
    """What the worker logs, instead of nothing."""
    stream = StringIO()
    logs.configure("info", "json", stream)
    monkeypatch.setattr(worker, "_log", logs.logger("worker"))  # one that knows of it
    return stream


Decide = Callable[[pb.Game, int], list[str]]


def breaking(monkeypatch: pytest.MonkeyPatch, broken: Decide) -> None:
    """The computers decide otherwise."""
    monkeypatch.setattr(worker, "decide", broken)


async def test_a_player_that_fails_does_the_first_thing_that_is_legal(
    rules: Rules, monkeypatch: pytest.MonkeyPatch, log: StringIO
) -> None:
    """The log names the game, and nothing of what is held or was said."""

    def broken(game: pb.Game, seat: int) -> list[str]:
        raise KeyError(f"no idea with {' '.join(game.position.view.tricks.hand)}")

    breaking(monkeypatch, broken)
    before = failures(NO_DECISION)
    game = await rules.start(variant="pilotta", players=FOUR, computers=(1, 2, 3))
    async with working(rules):
        await play(rules, game, people=(0,), turns=4)
    assert failures(NO_DECISION) >= before + 9
    lines = [json.loads(line) for line in log.getvalue().splitlines()]
    failed = [line for line in lines if line["event"] == "a computer failed"]
    assert failed
    for line in failed:
        assert line["game_id"] == game.game_id
        assert (line["variant"], line["reason"], line["error"]) == (
            *("pilotta", NO_DECISION),
            "KeyError",
        )
        assert line["where"].startswith("test_worker.py:")
    assert "no idea" not in log.getvalue()


async def test_a_player_that_plays_against_the_rules(
    rules: Rules, monkeypatch: pytest.MonkeyPatch, log: StringIO
) -> None:
    breaking(monkeypatch, lambda game, seat: ["24/off"])
    before = failures(NOT_LEGAL)
    game = await rules.start(computers=(1,))
    async with working(rules):
        position = await play(rules, game, people=(0,), turns=3)
    assert position.turn.seat == 0
    # Each checker of a turn is a decision of its own then.
    assert failures(NOT_LEGAL) >= before + 2


async def test_what_fails_in_one_game_does_not_stop_the_others(
    rules: Rules, monkeypatch: pytest.MonkeyPatch, log: StringIO
) -> None:
    """Not even in as many as there are lanes."""
    bad = set[str]()
    while len(bad) <= worker.LANES:
        game = await rules.start(computers=(1,))
        if game.position.turn.seat == 1:
            bad.add(game.game_id)
    good = await rules.start(computers=(1,))
    found = peer.Rules.game

    async def lost(self: peer.Rules, game_id: str, seat: int) -> pb.Game:
        if game_id in bad:
            raise RuntimeError("the seven of hearts is lost")
        return await found(self, game_id, seat)

    monkeypatch.setattr(peer.Rules, "game", lost)
    async with working(rules):
        await until(lambda: all(game_id in log.getvalue() for game_id in bad))
        await play(rules, good, people=(0,), turns=3)
    lines = [json.loads(line) for line in log.getvalue().splitlines()]
    missed = {line["game_id"] for line in lines if line["event"] == "a turn was not played"}
    assert missed == bad
    assert "seven" not in log.getvalue()


# --- health ----------------------------------------------------------------------------------


async def test_it_is_not_well_when_rules_is_silent(tmp_path: Path) -> None:
    time = ManualTime()
    directory = Directory(Settings(data_dir=tmp_path), "computers", time)
    asked = peer.Rules(directory, time)
    one = worker.Worker(asked, time)
    await one.ready()
    time.advance(31)
    with pytest.raises(Unreachable, match="nothing was heard for 31 s"):
        await one.ready()
    asked.heard_at = time.monotonic()
    await one.ready()
    await one.close()


def test_the_metrics_name_nobody() -> None:
    assert FAILURES.labels(NO_DECISION) is not FAILURES.labels(NOT_LEGAL)
    assert forbidden_labels() == set()
