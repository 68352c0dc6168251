"""What nobody may know before the end leaves the process nowhere: no answer, event, log, metric.

`rules` runs in a process of its own here, with its real logs and metrics.
"""

from __future__ import annotations

import asyncio
import base64
from pathlib import Path

from kafeneio.rules.v1 import game_pb2 as pb
from kafeneio_runtime.settings import Settings

from tests.harness import OPERATOR, SEATS, SERVICE, STRANGER, Rules, new_id
from tests.rules.apart import Ear, apart, written
from tests.rules.moves import latest, notation
from tests.rules.refusal import refusal

WORDS = {SEATS[0]: b"a word that she keeps", SEATS[1]: b"a word that he keeps"}


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
        logged = await house.logged(b"ILLEGAL_ACTION")
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
