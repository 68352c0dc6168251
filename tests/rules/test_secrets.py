"""What nobody may know before the end leaves the process nowhere: no answer, event, log, metric.

`rules` runs in a process of its own here, with its real logs and metrics.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import socket
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import grpc
from google.protobuf.message import Message
from kafeneio.rules.v1 import game_pb2 as pb
from kafeneio_runtime.settings import Settings

from tests.harness import OPERATOR, PATIENCE, SEATS, SERVICE, STRANGER, Rules, new_id
from tests.rules.moves import latest, notation
from tests.rules.refusal import refusal

WORDS = {SEATS[0]: b"a word that she keeps", SEATS[1]: b"a word that he keeps"}


@dataclass
class Ear(grpc.aio.UnaryUnaryClientInterceptor):
    """Hears every answer of a channel, and every refusal with all its trailers."""

    heard: list[bytes] = field(default_factory=list)

    async def intercept_unary_unary(
        self,
        continuation: Callable[[Any, Any], Awaitable[Any]],
        client_call_details: Any,
        request: Any,
    ) -> Any:
        call = await continuation(client_call_details, request)
        try:
            answer = await call
        except grpc.aio.AioRpcError as error:
            self.heard.append(repr((error.details(), error.trailing_metadata())).encode())
            raise
        assert isinstance(answer, Message)
        self.heard.append(answer.SerializeToString())
        return answer


@dataclass
class Apart:
    """A process, with all that it has written so far."""

    process: Process
    metrics_port: int
    lines: list[bytes] = field(default_factory=list)
    address: str = ""

    async def listen(self, open_now: asyncio.Event) -> None:
        """Keeps its lines until it ends."""
        assert self.process.stderr is not None
        async for line in self.process.stderr:
            self.lines.append(line)
            told = json.loads(line)
            if told["event"] == "serving":
                self.address = told["address"]
                open_now.set()

    def metrics(self) -> bytes:
        """What Prometheus is told. Blocks."""
        with urlopen(f"http://127.0.0.1:{self.metrics_port}/metrics", timeout=PATIENCE) as page:
            return bytes(page.read())


def free_port() -> int:
    """A port that nobody uses."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


@asynccontextmanager
async def apart(url: str, folder: Path) -> AsyncIterator[Apart]:
    """`rules` in a process of its own, which tells its log all that it ever would."""
    port = free_port()
    told = {
        "KAFENEIO_DATABASE_URL": url,
        "KAFENEIO_DATA_DIR": str(folder),
        "KAFENEIO_RULES_PORT": "0",
        "KAFENEIO_METRICS_PORT": str(port),
        "KAFENEIO_LOG_LEVEL": "debug",
        "KAFENEIO_DRAIN_SECONDS": "0",
    }
    ours = {name: value for name, value in os.environ.items() if "KAFENEIO" not in name}
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        "from kafeneio_rules.main import main; main()",
        stderr=PIPE,
        env=ours | told,
    )
    found, open_now = Apart(process, port), asyncio.Event()
    listening = asyncio.create_task(found.listen(open_now))
    try:
        async with asyncio.timeout(PATIENCE):
            await open_now.wait()
        yield found
    finally:
        process.terminate()
        await process.wait()
        await listening
    assert process.returncode == 0


def written(secret: bytes) -> list[bytes]:
    """The ways in which bytes may stand in a text."""
    return [
        secret,
        secret.hex().encode(),
        secret.hex().upper().encode(),
        base64.b64encode(secret).rstrip(b"="),
        base64.urlsafe_b64encode(secret).rstrip(b"="),
        repr(secret)[2:-1].encode(),
    ]


async def play(rules: Rules, watched: list[pb.WatchGameResponse]) -> pb.Game:
    """A game up to the last call before its end, with everything asked by everybody, and with
    refused calls of every kind."""
    game = await rules.create()
    stream = rules.watch(game.game_id)

    async def watch() -> None:
        async for message in stream:
            watched.append(message)

    watching = asyncio.create_task(watch())
    for player, word in WORDS.items():
        refused = await refusal(rules.join(pb.Game(game_id=game.game_id), player))
        assert refused.code == "INVALID_ARGUMENT"
        game = await rules.join(game, player, word)
        again = await refusal(rules.join(game, player, b"another word"))
        assert again.reason == "ALREADY_JOINED"
    position = game.position
    for _ in range(6):
        for who in (*SEATS, STRANGER, OPERATOR, SERVICE):
            await rules.get(game.game_id, who)
        await rules.turn(game.game_id)
        await rules.events(game.game_id)
        who = SEATS[position.turn.seat]
        for action in ("64", "pass", "!resign"):
            await refusal(rules.act(game.game_id, position.version, who, [notation(action)]))
        await refusal(rules.act(game.game_id, position.version - 1, who, [notation("13/7")]))
        await refusal(rules.record(game.game_id))
        turn = await rules.whole_turn(game.game_id, who)
        request_id = new_id()
        for _ in range(2):
            answer = await rules.act(game.game_id, position.version, who, turn, request_id)
        position = latest(answer)
    await rules.ask(rules.games.ListGames, pb.ListGamesRequest())
    while not watched or watched[-1].update.position != position:
        await rules.get(game.game_id)
    stream.cancel()
    await asyncio.gather(watching, return_exceptions=True)
    return game


async def test_nothing_tells_the_secret_before_the_end(database_url: str, tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path)
    ear, watched = Ear(), list[pb.WatchGameResponse]()
    async with (
        apart(database_url, tmp_path) as house,
        Rules.connected(database_url, settings, house.address, [ear]) as rules,
    ):
        game = await play(rules, watched)
        stored = await rules.database.fetch(
            "SELECT row_to_json(r)::text FROM (SELECT * FROM games) AS r"
            " UNION ALL SELECT row_to_json(o)::text FROM (SELECT * FROM outbox) AS o"
            " UNION ALL SELECT row_to_json(q)::text FROM (SELECT * FROM requests) AS q"
        )
        digests = [row["digest"] for row in await rules.log_rows(game.game_id)]
        metrics = await asyncio.to_thread(house.metrics)
        logged = b"".join(house.lines)
        answers = b"\n".join([*ear.heard, *(each.SerializeToString() for each in watched)])
        kept = "\n".join(row[0] for row in stored).encode()
        sealed = await rules.database.fetchval("SELECT secret FROM games")

        await rules.resign(game.game_id, SEATS[0])
        record = await rules.record(game.game_id)
        assert list(record.words) == list(WORDS.values())
        assert await rules.verify(record) == pb.VerifyRecordResponse(valid=True)

    said = {"answers": answers, "logs": logged, "metrics": metrics}
    assert b"call answered" in logged, "so the log was told everything"
    assert b"ILLEGAL_ACTION" in logged
    assert b"grpc_server_handled_total" in metrics
    assert game.game_id.encode() in answers
    assert record.commitment in answers
    chance_key = base64.b64decode((tmp_path / "keys" / "chance.key").read_bytes())
    hidden = [record.secret, sealed, chance_key, *WORDS.values(), *digests]
    for place, text in said.items():
        for form in (form for secret in hidden for form in written(secret)):
            assert form not in text, (place, form)
    # At rest it is sealed: whoever reads the tables knows no dice.
    assert not any(form in kept for form in written(record.secret) + written(chance_key))
    assert sealed.hex().encode() in kept
    for token in (rules.credentials(who)[0][1] for who in (*SEATS, SERVICE)):
        assert token.removeprefix("Bearer ").encode() not in logged


async def test_no_two_games_have_one_secret(database_url: str, tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path)
    async with (
        apart(database_url, tmp_path) as house,
        Rules.connected(database_url, settings, house.address) as rules,
    ):
        games = [await rules.create() for _ in range(20)]
        assert len({game.commitment for game in games}) == 20
        assert all(len(game.commitment) == 32 for game in games)
        sealed = await rules.database.fetch("SELECT secret FROM games")
        assert len({row[0] for row in sealed}) == 20


async def test_metrics_name_no_player_and_no_game(database_url: str, tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path)
    async with (
        apart(database_url, tmp_path) as house,
        Rules.connected(database_url, settings, house.address) as rules,
    ):
        game = await rules.start()
        await rules.play_turns(game, 2)
        text = (await asyncio.to_thread(house.metrics)).decode()
    assert "kafeneio_games_active" in text
    assert 'grpc_method="Act"' in text
    for name in (*SEATS, SERVICE, game.game_id):
        assert name not in text
