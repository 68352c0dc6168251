"""A server starts, says how it is, and drains without cutting anybody off."""

import asyncio
import dataclasses
import importlib
import json
import signal
import sys
import urllib.request
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import grpc
import pytest
from google.protobuf.message import Message
from grpc_health.v1 import health_pb2
from grpc_reflection.v1alpha import reflection_pb2
from kafeneio_runtime.auth import Role, development_key
from kafeneio_runtime.clock import ManualTime
from kafeneio_runtime.directory import _OPTIONS
from kafeneio_runtime.serve import LIVE, Server, _options, serve

from tests.runtime import echo
from tests.runtime.house import (
    House,
    answering,
    nothing,
    open_house,
    service,
    settings,
    verifier,
    watching,
)

HEALTH = "/grpc.health.v1.Health"
SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
ROOT = Path(__file__).parents[2]


async def _health(channel: grpc.aio.Channel, name: str = echo.SERVICE) -> int:
    call: grpc.aio.UnaryUnaryMultiCallable[bytes, health_pb2.HealthCheckResponse] = (
        channel.unary_unary(f"{HEALTH}/Check", None, health_pb2.HealthCheckResponse.FromString)
    )
    body = health_pb2.HealthCheckRequest(service=name).SerializeToString()
    return (await call(body, timeout=5)).status


# health and reflection


@pytest.mark.parametrize("name", ["", echo.SERVICE, LIVE])
async def test_a_server_that_runs_says_so_to_anybody(house: House, name: str) -> None:
    assert await _health(house.channel, name) == SERVING


async def test_health_follows_the_store() -> None:
    well = True

    async def ready() -> None:
        if not well:
            raise ConnectionRefusedError

    async with open_house(service(echo.Servicer(), ready=ready)) as house:
        call: grpc.aio.UnaryStreamMultiCallable[bytes, health_pb2.HealthCheckResponse] = (
            house.channel.unary_stream(
                f"{HEALTH}/Watch", None, health_pb2.HealthCheckResponse.FromString
            )
        )
        body = health_pb2.HealthCheckRequest(service=echo.SERVICE).SerializeToString()
        watch = call(body, timeout=10)
        statuses = aiter(watch)
        assert (await anext(statuses)).status == SERVING
        for well, status in ((False, NOT_SERVING), (True, SERVING)):  # noqa: B007 (`ready` reads it)
            await house.time.until_sleeping()
            house.time.advance(2)
            assert (await anext(statuses)).status == status
            assert await _health(house.channel, LIVE) == SERVING, "no restart brings a store back"
        watch.cancel()


async def test_a_server_whose_store_is_away_does_not_start() -> None:
    async def ready() -> None:
        raise ConnectionRefusedError

    server = Server(service(echo.Servicer(), ready=ready), settings(), verifier(), ManualTime())
    with pytest.raises(ConnectionRefusedError):
        await server.start()


async def test_what_the_health_library_leaves_out_is_unimplemented(house: House) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await answering(house.channel, f"{HEALTH}/List")(b"", timeout=5)
    assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED


async def _services(channel: grpc.aio.Channel) -> set[str]:
    call: grpc.aio.StreamStreamMultiCallable[bytes, reflection_pb2.ServerReflectionResponse] = (
        channel.stream_stream(
            "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
            None,
            reflection_pb2.ServerReflectionResponse.FromString,
        )
    )
    request = reflection_pb2.ServerReflectionRequest(list_services="").SerializeToString()
    answers = [answer async for answer in call(iter([request]), timeout=5)]
    return {each.name for each in answers[0].list_services_response.service}


async def test_reflection_lists_the_services(house: House) -> None:
    assert await _services(house.channel) >= {echo.SERVICE, "grpc.health.v1.Health"}


async def test_reflection_may_be_switched_off() -> None:
    async with open_house(chosen=settings(reflection=False)) as house:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await _services(house.channel)
        assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED


async def test_a_port_that_is_taken_is_an_error(house: House) -> None:
    made = service(echo.Servicer())
    taken = int(house.server.address.rpartition(":")[2])
    second = Server(dataclasses.replace(made, port=taken), settings(), verifier(), ManualTime())
    with pytest.raises(RuntimeError):
        await second.start()


async def test_a_process_that_cannot_start_all_closes_all(
    house: House, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    closed: list[str] = []

    def closing(name: str) -> Callable[[], Awaitable[None]]:
        async def close() -> None:
            closed.append(name)

        return close

    taken = int(house.server.address.rpartition(":")[2])
    starts = service(echo.Servicer(), closing=closing("starts"))
    cannot = dataclasses.replace(service(echo.Servicer(), closing=closing("cannot")), port=taken)
    chosen = settings(data_dir=tmp_path, metrics_port=0)
    with pytest.raises(RuntimeError):
        await serve([starts, cannot], chosen)
    assert closed == ["starts", "cannot"]


async def test_a_process_whose_metrics_cannot_be_shown_closes_all(
    house: House, tmp_path: Path
) -> None:
    closed = asyncio.Event()

    async def close() -> None:
        closed.set()

    taken = int(house.server.address.rpartition(":")[2])
    with pytest.raises(OSError, match="in use"):
        await serve(
            [service(echo.Servicer(), closing=close)],
            settings(data_dir=tmp_path, metrics_port=taken),
        )
    assert closed.is_set()


# drain


async def test_health_says_no_before_anything_ends() -> None:
    async with open_house(chosen=settings(drain_seconds=2)) as house:
        await house.time.until_sleeping()
        drain = asyncio.create_task(house.server.drain())
        await house.time.until_sleeping(2)
        assert await _health(house.channel) == NOT_SERVING
        assert await house.say() == "kalimera"
        assert not house.server.service.draining.is_set()
        house.time.advance(2)
        await drain
        assert house.server.service.draining.is_set()


async def test_a_stream_ends_by_its_own_message() -> None:
    servicer = echo.Servicer()
    made = service(servicer)

    async def until_drained(_request: Message) -> AsyncIterator[Message]:
        yield echo.response("hello")
        await made.draining.wait()
        yield echo.response("goodbye")

    servicer.watch = until_drained
    async with open_house(made, servicer=servicer) as house:
        call = house.watch()
        assert echo.text_of(await call.read()) == "hello"  # type: ignore[arg-type]
        drain = asyncio.create_task(house.server.drain())
        assert echo.text_of(await call.read()) == "goodbye"  # type: ignore[arg-type]
        assert await call.read() is grpc.aio.EOF
        assert await call.code() is grpc.StatusCode.OK
        await drain


async def test_a_call_that_runs_may_finish() -> None:
    servicer = echo.Servicer()
    made = service(servicer)
    entered = asyncio.Event()

    async def late(request: Message) -> Message:
        entered.set()
        await made.draining.wait()
        return await echo.echo(request)

    servicer.echo = late
    async with open_house(made, servicer=servicer) as house:
        call = asyncio.create_task(house.say("late"))
        await entered.wait()
        await house.server.drain()
        assert await call == "late"


async def test_a_call_that_does_not_finish_is_cut_off_after_the_grace() -> None:
    servicer = echo.Servicer()
    entered = asyncio.Event()

    async def never(_request: Message) -> Message:
        entered.set()
        await asyncio.Event().wait()
        raise AssertionError("nothing sets that event")

    servicer.echo = never
    chosen = settings(drain_grace_seconds=0.05)
    async with open_house(service(servicer), chosen, servicer) as house:
        call = asyncio.create_task(house.say())
        await entered.wait()
        await house.server.drain()
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call
        assert caught.value.code() in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED)


async def test_the_end_comes_in_order() -> None:
    steps: list[str] = []

    async def background() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            steps.append("background cancelled")

    async def flush() -> None:
        steps.append("flushed")
        raise RuntimeError("a failure here must not keep the rest from closing")

    async def close() -> None:
        steps.append("closed")

    made = service(echo.Servicer(), background=(background,), flushing=flush, closing=close)
    async with open_house(made) as house:
        assert await house.say() == "kalimera"
    assert steps == ["background cancelled", "flushed", "closed"]


async def test_background_work_that_fails_is_noticed() -> None:
    async def fail() -> None:
        raise RuntimeError("broken")

    async with open_house(service(echo.Servicer(), background=(fail,))) as house:
        async with asyncio.timeout(5):
            await house.server.failed.wait()
        assert house.server.failed.is_set()


async def test_background_work_that_ends_is_noticed() -> None:
    async with open_house(service(echo.Servicer(), background=(nothing,))) as house:
        async with asyncio.timeout(5):
            await house.server.failed.wait()
        assert house.server.failed.is_set()


# a process of its own


@dataclass
class Process:
    """A process that serves, and what it tells."""

    running: asyncio.subprocess.Process
    addresses: dict[str, str]
    folder: Path

    async def told(self) -> dict[str, str]:
        assert self.running.stdout is not None
        async with asyncio.timeout(20):
            line: dict[str, str] = json.loads(await self.running.stdout.readline())
        return line

    async def ended(self) -> int:
        async with asyncio.timeout(20):
            return await self.running.wait()

    def headers(self) -> tuple[tuple[str, str], ...]:
        key = development_key(settings(data_dir=self.folder))
        return (("authorization", f"Bearer {key.sign('nikos', Role.PLAYER, timedelta(hours=1))}"),)


@asynccontextmanager
async def _process(mode: str, folder: Path) -> AsyncIterator[Process]:
    running = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.runtime.serve_process",
        mode,
        str(folder),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    process = Process(running, {}, folder)
    try:
        process.addresses = await process.told()
        yield process
    finally:
        if running.returncode is None:
            running.kill()
        await running.communicate()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_drains_the_process(tmp_path: Path, number: signal.Signals) -> None:
    async with (
        _process("serve", tmp_path) as process,
        grpc.aio.insecure_channel(process.addresses["echo"]) as channel,
    ):
        unary = answering(channel)
        watch = watching(channel)
        headers = process.headers()
        stream = watch(b"", metadata=headers)
        assert echo.text_of(await stream.read()) == "hello"  # type: ignore[arg-type]
        body = echo.EchoRequest(text="late").SerializeToString()
        call = unary(body, timeout=20, metadata=headers)
        late = asyncio.ensure_future(_answer(call))
        assert await process.told() == {"event": "waiting"}
        process.running.send_signal(number)
        assert echo.text_of(await stream.read()) == "goodbye"  # type: ignore[arg-type]
        assert await stream.read() is grpc.aio.EOF
        assert await late == "late"
        assert await process.told() == {"event": "flushed"}
        assert await process.told() == {"event": "closed"}
        assert await process.ended() == 0


async def _answer(call: "grpc.aio.UnaryUnaryCall[bytes, Message]") -> str:
    return echo.text_of(await call)


async def test_metrics_are_served_over_http(tmp_path: Path) -> None:
    async with _process("serve", tmp_path) as process:
        url = f"http://{process.addresses['metrics']}/metrics"
        text = await asyncio.to_thread(_read, url)
    for family in (
        "grpc_server_started_total",
        "grpc_server_handled_total",
        "grpc_server_handling_seconds",
        "grpc_server_msg_received_total",
        "grpc_server_msg_sent_total",
        "process_resident_memory_bytes",
    ):
        assert f"# TYPE {family.removesuffix('_total')}" in text


def _read(url: str) -> str:
    with urllib.request.urlopen(url, timeout=5) as answer:
        text: str = answer.read().decode()
    return text


async def test_a_process_whose_background_fails_ends_with_an_error(tmp_path: Path) -> None:
    async with (
        _process("fail", tmp_path) as process,
        grpc.aio.insecure_channel(process.addresses["echo"]) as channel,
    ):
        unary = answering(channel)
        body = echo.EchoRequest(text="fail").SerializeToString()
        await unary(body, timeout=5, metadata=process.headers())
        assert await process.told() == {"event": "flushed"}
        assert await process.ended() != 0


@pytest.mark.parametrize("name", [name for name, _ in (*_options(settings()), *_OPTIONS)])
def test_an_option_is_one_that_grpc_knows(name: str) -> None:
    """It says nothing of one that it does not know, and does as if it were not there."""
    library = importlib.import_module("grpc._cython.cygrpc").__file__
    assert name.encode() in Path(str(library)).read_bytes()
