"""Logs are one JSON object a line, and nothing secret gets into them."""

import asyncio
import io
import json
import logging
from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import grpc
import pytest
from google.protobuf.message import Message
from kafeneio_runtime import logs
from kafeneio_runtime.errors import stale

from tests.runtime import echo
from tests.runtime.house import open_house, token


class Stream(io.StringIO):
    """Rings when something is written."""

    def __init__(self) -> None:
        super().__init__()
        self.written = asyncio.Event()

    def write(self, text: str) -> int:
        self.written.set()
        return super().write(text)


class Lines:
    """What has been logged."""

    def __init__(self) -> None:
        self.stream = Stream()

    @property
    def text(self) -> str:
        return self.stream.getvalue()

    @property
    def all(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.text.splitlines()]

    async def of(self, request_id: str, count: int) -> list[dict[str, Any]]:
        """The lines of a call, as soon as there are so many: its last one may be written when the
        client has long had its answer."""
        async with asyncio.timeout(10):
            while True:
                self.stream.written.clear()
                found = [line for line in self.all if line.get("request_id") == request_id]
                if len(found) >= count:
                    return found
                await self.stream.written.wait()


@pytest.fixture
def lines() -> Lines:
    made = Lines()
    logs.configure("debug", "json", made.stream)
    return made


def test_a_line_is_json_with_time_level_and_module(lines: Lines) -> None:
    logs.logger("kafeneio_rules.server").info("dealt", version=3)
    [line] = lines.all
    assert line.pop("timestamp").endswith("Z")
    assert line == {
        "event": "dealt",
        "level": "info",
        "module": "kafeneio_rules.server",
        "version": 3,
    }


@pytest.mark.parametrize(
    "key",
    [
        "secret",
        "token",
        "hand",
        "stock",
        "seed",
        "word",
        "authorization",
        "Authorization",
        "access_token",
        "hands",
        "north_hand",
        "chance_key",
        "password",
        "seeds",
    ],
)
def test_a_telltale_key_is_struck_out(lines: Lines, key: str) -> None:
    logs.logger("m").info("x", **{key: "A♠ K♦"}, nested={key: ["A♠"]})
    [line] = lines.all
    assert line[key] == "[redacted]"
    assert line["nested"] == {key: "[redacted]"}
    assert "A♠" not in lines.text


@pytest.mark.parametrize("key", ["version", "reason", "keyboard", "handler", "stocktaking"])
def test_other_keys_are_left_alone(lines: Lines, key: str) -> None:
    logs.logger("m").info("x", **{key: "plain"})
    assert lines.all[0][key] == "plain"


def test_what_looks_like_a_secret_in_a_text_is_struck_out(lines: Lines) -> None:
    bearer = token()
    logs.logger("m").info(f"sent Bearer {bearer}", url="postgresql://u:geheim@db/x", list=[bearer])
    assert bearer not in lines.text
    assert "geheim" not in lines.text
    assert lines.all[0]["url"] == "postgresql://[redacted]@db/x"


def test_an_object_is_named_and_not_shown(lines: Lines) -> None:
    class State:
        def __repr__(self) -> str:
            return "A♠ K♦"

    logs.logger("m").info("x", state=State(), raw=b"A")
    assert lines.all[0]["state"] == "<State>"
    assert lines.all[0]["raw"] == "<bytes>"


def test_an_error_is_logged_whole_but_for_the_row_that_postgresql_quotes(lines: Lines) -> None:
    error = asyncpg.CheckViolationError("new row violates check")
    error.detail = "Failing row contains (A♠ K♦)."
    try:
        try:
            raise error
        except asyncpg.CheckViolationError as inner:
            raise RuntimeError("could not store") from inner
    except RuntimeError as outer:
        logs.logger("m").error("failed", exc_info=outer)
    [line] = lines.all
    assert "could not store" in line["exception"]
    assert "new row violates check" in line["exception"]
    assert "test_logs.py" in line["exception"]
    assert "A♠" not in lines.text


def test_lines_of_libraries_come_out_in_the_same_way(lines: Lines) -> None:
    logging.getLogger("asyncpg").warning("connected to %s", "postgresql://u:geheim@db/x")
    logging.getLogger("grpc").debug("payload: A♠")
    [line] = lines.all
    assert line["event"] == "connected to postgresql://[redacted]@db/x"
    assert line["logger"] == "asyncpg"


def test_below_the_level_nothing_is_written() -> None:
    made = Lines()
    logs.configure("warning", "json", made.stream)
    logs.logger("m").info("x")
    logs.logger("m").warning("y")
    assert [line["event"] for line in made.all] == ["y"]


async def test_lines_of_a_call_carry_its_id_method_and_caller(lines: Lines) -> None:
    async def refuse(_request: Message) -> Message:
        logs.logger("m").info("looking")
        raise stale(3)

    async with open_house() as house:
        house.servicer.echo = refuse
        with pytest.raises(grpc.aio.AioRpcError):
            await house.raw(b"", metadata=(("x-request-id", "id-1"),))
        looking, ended = await lines.of("id-1", 2)
    for line in (looking, ended):
        assert line["method"] == "/kafeneio.test.v1.EchoService/Echo"
        assert line["caller"] == "nikos"
    assert ended["event"] == "call ended"
    assert (ended["code"], ended["reason"]) == ("ABORTED", "STALE_VERSION")
    assert ended["milliseconds"] > 0


async def test_a_failure_of_ours_is_logged_under_the_id_that_the_caller_is_told(
    lines: Lines,
) -> None:
    async def fail(_request: Message) -> Message:
        raise RuntimeError("broken")

    async with open_house() as house:
        house.servicer.echo = fail
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await house.say("my own words")
        told = dict(caught.value.trailing_metadata() or ())["x-request-id"]
        assert house.token not in lines.text
    failure = next(line for line in lines.all if line["event"] == "unexpected error")
    assert failure["request_id"] == told
    assert "RuntimeError: broken" in failure["exception"]
    assert "my own words" not in lines.text


async def test_a_client_that_goes_makes_no_noise(lines: Lines) -> None:
    logs.configure("info", "json", lines.stream)
    ended = asyncio.Event()

    async def endless(_request: Message) -> AsyncIterator[Message]:
        try:
            yield echo.response("first")
            await asyncio.Event().wait()
        finally:
            ended.set()

    async with open_house() as house:
        house.servicer.watch = endless
        call = house.watch()
        assert echo.text_of(await anext(aiter(call))) == "first"
        call.cancel()
        await ended.wait()
    assert lines.all == []


def test_console_format_is_for_people() -> None:
    made = Lines()
    logs.configure("info", "console", made.stream)
    logs.logger("m").info("dealt", hand="A♠")
    assert "dealt" in made.text
    assert "A♠" not in made.text
