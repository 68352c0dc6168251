"""Traces go to a collector over a real socket, and say nothing that is secret or about a person."""

import io
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import grpc
import pytest
import structlog
from google.protobuf.message import Message
from kafeneio.common.v1 import errors_pb2
from kafeneio.rules.v1 import game_pb2, game_pb2_grpc
from kafeneio_runtime import logs, tracing
from kafeneio_runtime.auth import Role
from kafeneio_runtime.bus import Event, InProcessBus
from kafeneio_runtime.calls import Call, Kind, Method
from kafeneio_runtime.directory import Directory
from kafeneio_runtime.errors import failed
from kafeneio_runtime.ids import new_id
from kafeneio_runtime.interceptors.trace import Trace
from kafeneio_runtime.serve import Service

from tests.fixtures.collector import CLIENT, CONSUMER, SERVER, Collector, Span, collecting
from tests.runtime import echo
from tests.runtime.house import House, nothing, open_house, refused, settings, token

CALLERS_TRACE = "0af7651916cd43dd8448eb211c80319c"
CALLERS_SPAN = "b7ad6b7169203331"
PARENT = f"00-{CALLERS_TRACE}-{CALLERS_SPAN}-01"
ECHO = echo.ECHO.lstrip("/")
GET_GAME = "kafeneio.rules.v1.GameService/GetGame"


@asynccontextmanager
async def traced(ratio: float = 1) -> AsyncIterator[Collector]:
    """A process whose traces are sent; they are all there when the block has ended."""
    async with collecting() as collector:
        chosen = settings(otlp_endpoint=collector.endpoint, otlp_ratio=ratio)
        async with tracing.exporting(chosen, "echo"):
            yield collector


async def echoed(*metadata: tuple[str, str], ratio: float = 1, times: int = 1) -> list[Span]:
    """What calls of the test service leave."""
    body = echo.EchoRequest(text="kalimera").SerializeToString()
    async with traced(ratio) as collector, open_house() as house:
        for _ in range(times):
            await house.raw(body, metadata=metadata)
    return collector.spans


class Games:
    """Of `rules`, what a peer asks for here."""

    async def GetGame(
        self, request: game_pb2.GetGameRequest, context: object
    ) -> game_pb2.GetGameResponse:
        return game_pb2.GetGameResponse()


def _only_get_game(games: Games, server: object) -> None:
    handlers = {
        "GetGame": grpc.unary_unary_rpc_method_handler(
            games.GetGame,
            game_pb2.GetGameRequest.FromString,
            game_pb2.GetGameResponse.SerializeToString,
        )
    }
    server.add_registered_method_handlers("kafeneio.rules.v1.GameService", handlers)  # type: ignore[attr-defined]


RULES = Service(
    name="rules",
    port=0,
    servicers=((_only_get_game, Games()),),
    service_names=("kafeneio.rules.v1.GameService",),
    roles={f"/{GET_GAME}": frozenset(Role)},
    ready=nothing,
)


async def asked(directory: Directory, game_id: str) -> None:
    """A service asks a peer for a game."""
    stub = game_pb2_grpc.GameServiceStub(directory.channel("rules"))
    request = game_pb2.GetGameRequest(game_id=game_id)
    await stub.GetGame(request, metadata=(("authorization", f"Bearer {token()}"),), timeout=5)


def event(game_id: UUID, payload: bytes = b"") -> Event:
    return Event(new_id(), "rules.events", game_id, 1, "game_started", payload, datetime.now(UTC))


async def test_without_an_endpoint_nothing_is_traced(house: House) -> None:
    async def inner(call: Call) -> Message | None:
        return None

    async def handler(events: Sequence[Event]) -> None:
        """Hears."""

    method = Method(echo.SERVICE, "Echo", Kind.UNARY, echo.EchoRequest.FromString)
    assert await house.say() == "kalimera"
    assert tracing.trace_id() is None
    assert tracing.interceptors() == ()
    assert tracing.traced("clock", handler) is handler
    assert Trace().wrap(inner, method) is inner


async def test_an_answered_call_is_a_span() -> None:
    (span,) = await echoed()
    assert (span.name, span.kind, span.process) == (ECHO, SERVER, "kafeneio-echo")
    assert (span.failed, span.parent_id) == (False, "")
    assert span.attributes == {
        "rpc.system": "grpc",
        "rpc.service": echo.SERVICE,
        "rpc.method": "Echo",
        "rpc.grpc.status_code": 0,
    }


async def test_a_callers_trace_goes_on() -> None:
    (span,) = await echoed(("traceparent", PARENT))
    assert (span.trace_id, span.parent_id) == (CALLERS_TRACE, CALLERS_SPAN)


@pytest.mark.parametrize(
    "junk", ["kalimera", "00-0-0-00", f"00-{'0' * 32}-{'0' * 16}-01", "x" * 500]
)
async def test_an_unreadable_trace_is_none(junk: str) -> None:
    (span,) = await echoed(("traceparent", junk))
    assert span.parent_id == ""
    assert int(span.trace_id, 16) != 0


@pytest.mark.parametrize(
    ("role", "code", "fails"),
    [(Role.OPERATOR, grpc.StatusCode.FAILED_PRECONDITION, False), (Role.PLAYER, None, False)],
)
async def test_a_refusal_is_no_failure_of_ours(
    role: Role, code: grpc.StatusCode | None, fails: bool
) -> None:
    servicer = echo.Servicer()

    async def refuse(request: Message) -> Message:
        raise failed(errors_pb2.ERROR_REASON_GAME_OVER, "eleni's secret")

    servicer.echo = refuse
    async with traced() as collector, open_house(servicer=servicer) as house:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await house.raw(b"", path=echo.OPERATE, bearer=token("nikos", role))
    (span,) = collector.spans
    expected = code or grpc.StatusCode.PERMISSION_DENIED
    assert caught.value.code() is expected
    assert span.attributes["rpc.grpc.status_code"] == expected.value[0]
    assert span.failed is fails
    assert b"secret" not in span.raw


async def test_our_own_fault_is_one_and_its_words_are_not_told() -> None:
    servicer = echo.Servicer()

    async def break_down(request: Message) -> Message:
        raise RuntimeError("the hand of nikos is AS KS")

    servicer.echo = break_down
    async with traced() as collector, open_house(servicer=servicer) as house:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await house.say("geia sou")
    (span,) = collector.spans
    assert refused(caught.value).code is grpc.StatusCode.INTERNAL
    assert span.failed
    for secret in (b"nikos", b"AS KS", b"geia", house.token.encode()):
        assert secret not in span.raw


async def test_a_stream_is_one_span() -> None:
    async with traced() as collector, open_house() as house:
        assert len([message async for message in house.watch()]) == 3
    (span,) = collector.spans
    assert (span.name, span.attributes["rpc.grpc.status_code"]) == (f"{echo.SERVICE}/Watch", 0)


async def test_a_call_to_a_peer_goes_on_there(tmp_path: Path) -> None:
    """echo is called, and calls rules: three spans of one trace, each below the other."""
    servicer, game_id = echo.Servicer(), str(new_id())
    async with traced() as collector, open_house(RULES) as rules:
        chosen = settings(rules_address=rules.server.address, data_dir=tmp_path)
        directory = Directory(chosen, "echo")

        async def ask(request: Message) -> Message:
            await asked(directory, game_id)
            return await echo.echo(request)

        servicer.echo = ask
        async with open_house(servicer=servicer) as house:
            body = echo.EchoRequest(text="kalimera").SerializeToString()
            await house.raw(body, metadata=(("traceparent", PARENT),))
        await directory.close()
    (outer,) = collector.named(ECHO)
    (client,) = collector.named(GET_GAME, CLIENT)
    (server,) = collector.named(GET_GAME, SERVER)
    assert {span.trace_id for span in (outer, client, server)} == {CALLERS_TRACE}
    assert [outer.parent_id, client.parent_id, server.parent_id] == [
        CALLERS_SPAN,
        outer.span_id,
        client.span_id,
    ]
    assert client.attributes["kafeneio.game_id"] == game_id
    assert server.attributes["kafeneio.game_id"] == game_id


async def test_what_a_service_does_by_itself_is_in_the_trace_of_the_game(tmp_path: Path) -> None:
    game_id = new_id()
    async with traced() as collector, open_house(RULES) as rules:
        directory = Directory(
            settings(rules_address=rules.server.address, data_dir=tmp_path), "echo"
        )
        await asked(directory, str(game_id))
        await asked(directory, str(game_id))
        await directory.close()
    assert len(collector.spans) == 4
    assert {span.trace_id for span in collector.spans} == {game_id.hex}


async def test_a_peer_that_is_away_fails_the_call(tmp_path: Path) -> None:
    async with traced() as collector:
        directory = Directory(settings(rules_address="127.0.0.1:1", data_dir=tmp_path), "echo")
        with pytest.raises(grpc.aio.AioRpcError):
            await asked(directory, str(new_id()))
        await directory.close()
    (span,) = collector.spans
    assert span.failed
    assert span.attributes["rpc.grpc.status_code"] == grpc.StatusCode.UNAVAILABLE.value[0]


async def test_an_id_that_is_none_is_not_told(tmp_path: Path) -> None:
    async with traced() as collector, open_house(RULES) as rules:
        directory = Directory(
            settings(rules_address=rules.server.address, data_dir=tmp_path), "echo"
        )
        with pytest.raises(grpc.aio.AioRpcError):
            await asked(directory, "eleni@example.com")
        await directory.close()
    assert len(collector.spans) == 2
    for span in collector.spans:
        assert b"eleni" not in span.raw


async def test_the_events_of_a_game_are_handled_in_its_trace() -> None:
    game_id, heard = new_id(), list[str | None]()

    async def handle(events: Sequence[Event]) -> None:
        heard.append(tracing.trace_id())

    async with traced() as collector:
        bus = InProcessBus()
        await bus.subscribe("rules.events", "clock", handle)
        await bus.publish([event(game_id, b"a hand")])
        await bus.close()
    (span,) = collector.spans
    assert heard == [game_id.hex]
    assert (span.name, span.kind, span.trace_id) == ("process rules.events", CONSUMER, game_id.hex)
    assert span.attributes["messaging.consumer.group.name"] == "clock"
    assert span.attributes["kafeneio.event_types"] == ["game_started"]
    assert b"a hand" not in span.raw


async def test_the_events_of_several_games_are_linked_to_their_traces() -> None:
    games = [new_id(), new_id()]

    async def handle(events: Sequence[Event]) -> None:
        """Hears."""

    async with traced() as collector:
        bus = InProcessBus()
        await bus.subscribe("rules.events", "clock", handle)
        await bus.publish([event(game_id) for game_id in games])
        await bus.close()
    (span,) = collector.spans
    assert span.trace_id not in {game_id.hex for game_id in games}
    assert span.links == tuple(game_id.hex for game_id in games)


@pytest.mark.parametrize(("ratio", "count"), [(0, 0), (1, 20)])
async def test_a_share_of_the_traces_is_sent(ratio: float, count: int) -> None:
    assert len(await echoed(ratio=ratio, times=20)) == count


async def test_of_a_games_trace_all_processes_send_all_or_nothing() -> None:
    games = [new_id() for _ in range(200)]

    async def handle(events: Sequence[Event]) -> None:
        """Hears."""

    sent = []
    for _ in range(2):
        async with traced(0.5) as collector:
            bus = InProcessBus()
            await bus.subscribe("rules.events", "clock", handle)
            for game_id in games:
                await bus.publish([event(game_id)])
            await bus.close()
        sent.append({span.trace_id for span in collector.spans})
    assert sent[0] == sent[1]
    assert 60 < len(sent[0]) < 140, "about the half of 200"


@pytest.fixture
def written() -> io.StringIO:
    """What is logged."""
    stream = io.StringIO()
    logs.configure("debug", "json", stream)
    return stream


async def test_log_lines_name_the_trace(written: io.StringIO) -> None:
    servicer = echo.Servicer()

    async def note(request: Message) -> Message:
        structlog.get_logger().info("noted")
        return await echo.echo(request)

    servicer.echo = note
    body = echo.EchoRequest(text="kalimera").SerializeToString()
    async with traced(), open_house(servicer=servicer) as house:
        await house.raw(body, metadata=(("traceparent", PARENT),))
        structlog.get_logger().info("outside")
    lines = {line["event"]: line for line in map(json.loads, written.getvalue().splitlines())}
    assert lines["noted"]["trace_id"] == CALLERS_TRACE
    assert "trace_id" not in lines["outside"]


async def test_a_collector_that_is_away_holds_up_nobody() -> None:
    chosen = settings(otlp_endpoint="http://127.0.0.1:1")
    async with tracing.exporting(chosen, "echo"), open_house() as house:
        assert await house.say() == "kalimera"
