"""`kafeneio admin` on a running house: an operator's day, and what the audit says of it."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from functools import partial

import pytest
from kafeneio.clock.v1 import clock_pb2
from kafeneio.rules.v1 import game_pb2
from kafeneio_client.cli.app import app
from kafeneio_runtime.auth import Role, development_key
from typer.testing import CliRunner

from tests.journeys.evening import PLAYERS, Evening
from tests.journeys.guests import PATIENCE
from tests.security.test_operators import given_up

WHY = ("--reason", "a stranger sat in")


async def admin(house: Evening, *words: str, name: str = "olga") -> tuple[int, str]:
    """The exit code and the output of a command of an operator."""
    environment = {
        "KAFENEIO_ADDRESS": house.addresses("rules")[0],
        "KAFENEIO_CLOCK_ADDRESS": house.addresses("clock")[0],
        "KAFENEIO_SETTLEMENT_ADDRESS": house.addresses("settlement")[0],
        "KAFENEIO_MATCHMAKING_ADDRESS": house.addresses("matchmaking")[0],
        # Of the house, because that has another data folder than this computer's.
        "KAFENEIO_DATA_DIR": str(house.settings.data_dir),
        "COLUMNS": "100",
        "NO_COLOR": "1",
    }
    command = partial(CliRunner().invoke, app, ["admin", *words, "--as", name], env=environment)
    done = await asyncio.to_thread(command)
    return done.exit_code, done.output


async def test_an_operators_day(house: Evening) -> None:
    game_id = await house.matched()
    await house.join(game_id)
    code, text = await admin(house, "games")
    assert (code, game_id in text, "turn 1, seat" in text) == (0, True, True), text
    code, text = await admin(house, "pause", game_id, *WHY)
    assert code == 0, text
    assert (await house.operator.clock.get(game_id)).HasField("paused_since")
    code, text = await admin(house, "resume", game_id, *WHY)
    assert code == 0, text
    clock: clock_pb2.Clock = await house.operator.clock.get(game_id)
    assert not clock.HasField("paused_since")
    code, text = await admin(house, "game", game_id)
    assert (code, "running" in text, "stake 5.00 EUR each" in text) == (0, True, True), text
    code, text = await admin(house, "void", game_id, *WHY)
    assert code == 0, text
    await house.service.settlement.settled(game_id, PATIENCE)
    assert (await house.position(game_id)).status == game_pb2.GAME_STATUS_FINISHED
    code, text = await admin(house, "game", game_id)
    assert (code, "ended by an operator: a stranger sat in" in text) == (0, True), text
    assert await house.paid(game_id) == dict.fromkeys(PLAYERS, 0)
    code, text = await admin(house, "audit", "--target", game_id)
    done = [line.split("  ")[3].split(" ")[0] for line in text.splitlines()]
    assert (code, done) == (0, ["AbortGame", "ResumeGame", "PauseGame"]), text
    assert text.count("olga") == 3


async def test_two_operators_correct_what_was_paid(house: Evening) -> None:
    game_id = await given_up(house, *PLAYERS)
    code, text = await admin(house, "void", game_id, *WHY)
    assert (code, "Proposed as correction 1" in text) == (0, True), text
    code, text = await admin(house, "approve", game_id, "1", *WHY)
    assert (code, "Another operator must approve it." in text) == (2, True), text
    code, text = await admin(house, "approve", game_id, "1", *WHY, name="pavlos")
    assert (code, "settlement 2 counts now" in text) == (0, True), text
    code, text = await admin(house, "audit")
    lines = [line.split("  ", 2)[2] for line in text.splitlines()]
    assert lines == [
        f"pavlos  ApproveCorrection {game_id}: {WHY[1]}",
        f"olga  VoidSettlement {game_id}: {WHY[1]}",
    ]


async def test_a_player_is_kept_out(house: Evening) -> None:
    code, text = await admin(house, "players", "suspend", "eleni", *WHY)
    assert code == 0, text
    code, text = await admin(house, "audit", "--target", "eleni")
    assert (code, "olga  SuspendPlayer eleni: a stranger sat in" in text) == (0, True), text


async def test_everything_is_verified(house: Evening) -> None:
    await given_up(house, *PLAYERS)
    for number in range(3):
        await admin(house, "note", f"restart node {number}", *WHY)
    code, text = await admin(house, "verify")
    assert (code, "Everything is as it was written." in text) == (0, True), text
    (link,) = [line.split(": ")[3] for line in text.splitlines() if line.startswith("audit: rules")]
    assert link.startswith("rules:3:")
    code, text = await admin(house, "verify", "--known", link)
    assert code == 0, text
    forged = f"{link[:-1]}{'0' if link[-1] != '0' else '1'}"
    code, text = await admin(house, "verify", "--known", forged)
    assert (code, "rewritten entry 3" in text) == (1, True), text


async def test_a_player_is_no_operator(house: Evening, monkeypatch: pytest.MonkeyPatch) -> None:
    token = development_key(house.settings).sign("eleni", Role.PLAYER, timedelta(hours=1))
    monkeypatch.setenv("KAFENEIO_TOKEN", token)
    for words in (("pause", "0193f7a0-5c1e-7000-8000-000000000001", *WHY), ("audit",), ("verify",)):
        code, text = await admin(house, *words, name="eleni")
        assert (code, "This call is for: operator" in text) == (2, True), text
