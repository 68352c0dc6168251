"""A browser's calls through the edge: gRPC-Web, its streams, CORS, and the page."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from google.protobuf.message import Message
from google.rpc import status_pb2
from kafeneio.rules.v1 import game_pb2, rulebook_pb2
from kafeneio_up import edge

from tests.edge.browser import PROTO, TEXT, Answer, Call, ask, call
from tests.harness import Rules, new_id

GAMES = "/kafeneio.rules.v1.GameService"
VARIANT = "/kafeneio.rules.v1.RuleBookService/GetVariant"
PAGE = "<!doctype html><title>Kafeneio</title>"

kinds = pytest.mark.parametrize("kind", [PROTO, TEXT])


@dataclass
class Edge:
    """The edge before one real replica of `rules`."""

    address: str
    rules: Rules

    async def call(self, path: str, request: Message, kind: str, who: str = "eleni") -> Answer:
        """As a browser calls."""
        (_, token) = self.rules.credentials(who)[0]
        return await call(self.address, path, request, kind, authorization=str(token))


@pytest.fixture
async def web(database_url: str, tmp_path: Path) -> AsyncIterator[Edge]:
    """With a page."""
    page = tmp_path / "page"
    page.mkdir()
    (page / "index.html").write_text(PAGE, "utf-8")
    async with Rules.serve(database_url, tmp_path) as rules:
        assert rules.server is not None
        backends = {"rules": [rules.server.address]}
        async with edge.opened(backends, tmp_path, page=page) as address:
            yield Edge(address, rules)


@kinds
async def test_a_call_of_a_browser(web: Edge, kind: str) -> None:
    request = rulebook_pb2.GetVariantRequest(variant="portes")
    answer = await web.call(VARIANT, request, kind)
    assert (answer.status, answer.grpc_status) == (200, 0)
    assert answer.headers["content-type"].startswith(kind)
    (message,) = answer.messages
    assert rulebook_pb2.GetVariantResponse.FromString(message).variant.variant == "portes"


@kinds
async def test_a_refusal_has_its_reason(web: Edge, kind: str) -> None:
    answer = await web.call(f"{GAMES}/GetGame", game_pb2.GetGameRequest(game_id=new_id()), kind)
    assert answer.grpc_status == 5
    told = {**answer.headers, **answer.trailers}["grpc-status-details-bin"]
    status = status_pb2.Status.FromString(base64.b64decode(told + "=" * (-len(told) % 4)))
    assert b"GAME_UNKNOWN" in status.details[0].value


@kinds
async def test_a_stream_brings_each_message_when_it_happens(web: Edge, kind: str) -> None:
    game = await web.rules.start()
    (_, token) = web.rules.credentials("stranger")[0]
    request = game_pb2.WatchGameRequest(
        game_id=game.game_id, after_version=game.position.version - 1
    )
    watching = await asyncio.to_thread(
        lambda: Call(web.address, f"{GAMES}/WatchGame", request, kind, authorization=str(token))
    )

    async def version() -> int:
        flags, content = await asyncio.to_thread(watching.next)
        assert flags == 0
        return game_pb2.WatchGameResponse.FromString(content).update.position.version

    assert await version() == game.position.version
    await web.rules.play_turn(game.game_id, game.position)
    assert await version() == game.position.version + 1
    watching.close()


async def test_a_page_of_another_origin_may_ask_and_call(web: Edge) -> None:
    origin = "https://example.org"
    wanted = "authorization,content-type,grpc-timeout,x-game-id,x-grpc-web"
    preflight = await ask(
        web.address,
        f"{GAMES}/Act",
        "OPTIONS",
        origin=origin,
        access_control_request_method="POST",
        access_control_request_headers=wanted,
    )
    assert preflight.status == 200
    assert preflight.headers["access-control-allow-origin"] == origin
    assert "POST" in preflight.headers["access-control-allow-methods"]
    allowed = preflight.headers["access-control-allow-headers"].replace(" ", "").split(",")
    assert set(wanted.split(",")) <= set(allowed)
    assert "access-control-allow-credentials" not in preflight.headers

    request = rulebook_pb2.GetVariantRequest(variant="portes")
    (_, token) = web.rules.credentials("eleni")[0]
    answer = await call(web.address, VARIANT, request, origin=origin, authorization=str(token))
    assert answer.grpc_status == 0
    assert answer.headers["access-control-allow-origin"] == origin
    exposed = answer.headers["access-control-expose-headers"]
    for header in ("grpc-status", "grpc-message", "grpc-status-details-bin"):
        assert header in exposed


async def test_without_a_token_nobody_is_let_in_by_the_edge_either(web: Edge) -> None:
    answer = await call(web.address, VARIANT, rulebook_pb2.GetVariantRequest(variant="portes"))
    assert answer.grpc_status == 16


async def test_the_page_and_what_is_none(web: Edge) -> None:
    page = await ask(web.address, "/")
    assert (page.status, page.body.decode()) == (200, PAGE)
    assert page.headers["x-content-type-options"] == "nosniff"
    assert (await ask(web.address, "/nothing.js")).status == 404
    assert (await ask(web.address, "/healthz")).status == 200
    # Probes and the mirror of the API are for those inside.
    for inside in ("grpc.health.v1.Health/Check", "grpc.reflection.v1alpha.ServerReflection/Info"):
        assert (await ask(web.address, f"/{inside}", "POST")).status == 404


@pytest.mark.parametrize("told", ["rubbish", "0n", "5", "-1S", "999999999S", ""])
async def test_a_deadline_that_is_none_breaks_nobody_s_calls(web: Edge, told: str) -> None:
    request = rulebook_pb2.GetVariantRequest(variant="portes")
    for _ in range(3):  # without a token: a stranger
        answer = await call(web.address, VARIANT, request, PROTO, grpc_timeout=told)
        assert answer.status == 400 or answer.grpc_status not in (0, -1)
    for _ in range(12):  # on the same connection to the service
        answer = await web.call(VARIANT, request, PROTO)
        assert (answer.status, answer.grpc_status) == (200, 0)
