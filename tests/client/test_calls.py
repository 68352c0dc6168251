"""Every call of rules.v1, and what they have in common."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import AsyncIterator
from datetime import timedelta
from types import ModuleType

import grpc
import pytest
from google.protobuf.descriptor import ServiceDescriptor
from kafeneio.clock.v1 import clock_pb2
from kafeneio.matchmaking.v1 import players_pb2, quick_match_pb2, tables_pb2, tournaments_pb2
from kafeneio.rules.v1 import actions_pb2, rulebook_pb2
from kafeneio.rules.v1 import game_pb2 as pb
from kafeneio.settlement.v1 import prizes_pb2, settlement_pb2, wallet_pb2
from kafeneio_client import (
    Client,
    House,
    Refused,
    channel,
    clock,
    games,
    new_id,
    prizes,
    quickmatch,
    rulebook,
    settlement,
    wallet,
)
from kafeneio_client.programs import GreedyProgram, Player, RandomProgram

from tests.client.fake_calls import Call, refuse
from tests.client.fake_house import FakeHouse, serving


@pytest.fixture
async def fake() -> FakeHouse:
    return FakeHouse()


@pytest.fixture
async def house(fake: FakeHouse) -> AsyncIterator[House]:
    async with serving(fake) as address, House(address) as opened:
        yield opened


@pytest.fixture
async def client(house: House) -> Client:
    return house.client("eleni")


async def started(house: House, names: tuple[str, str] = ("eleni", "nikos")) -> pb.Game:
    """A game that both have joined."""
    game = await house.client("owner").games.create("portes", names)
    for name in names:
        shown = await house.client(name).games.get(game.game_id)
        game = await house.client(name).games.join(game.game_id, shown.commitment, name.encode())
    return game


async def test_a_whole_game_through_the_client(house: House) -> None:
    game = await started(house)
    assert game.position.status == pb.GAME_STATUS_RUNNING
    ends = await asyncio.gather(
        Player(house.client("eleni"), game.game_id, 0, GreedyProgram(1)).play(),
        Player(house.client("nikos"), game.game_id, 1, RandomProgram(1)).play(),
    )
    assert ends[0] == ends[1]
    assert ends[0].outcome.HasField("decided")
    guest = house.client("guest")
    record = await guest.games.record(game.game_id)
    assert await guest.games.verify(record) == ()
    assert await guest.games.verify(game.game_id) == ()
    record.secret = bytes(32)
    assert await guest.games.verify(record) != ()


async def test_a_request_id_is_made_or_taken(fake: FakeHouse, client: Client) -> None:
    await client.games.cancel(new_id())
    await client.games.cancel(new_id(), request_id="mine")
    made, taken = fake.requests
    assert isinstance(made, pb.CancelGameRequest)
    assert isinstance(taken, pb.CancelGameRequest)
    assert len(made.request_id) == 36
    assert taken.request_id == "mine"


async def test_grpc_sends_an_unavailable_call_again_with_the_same_id(
    fake: FakeHouse, client: Client
) -> None:
    async def away(call: Call) -> None:
        await refuse(call, grpc.StatusCode.UNAVAILABLE, "UNAVAILABLE", "in a moment")

    fake.fail("CancelGame", away, away)
    await client.games.cancel(new_id())
    assert fake.calls["CancelGame"] == 3
    ids = {r.request_id for r in fake.requests if isinstance(r, pb.CancelGameRequest)}
    assert len(ids) == 1


async def test_a_refusal_is_not_sent_again(fake: FakeHouse, client: Client) -> None:
    async def no(call: Call) -> None:
        await refuse(call, grpc.StatusCode.FAILED_PRECONDITION, "GAME_OVER", "it is over")

    fake.fail("Resign", no)
    with pytest.raises(Refused):
        await client.games.resign(new_id(), 1)
    assert fake.calls["Resign"] == 1


async def test_calls_carry_a_deadline_and_a_token() -> None:
    seen: list[tuple[float | None, object]] = []

    class Looking(FakeHouse):
        async def GetGame(self, request: pb.GetGameRequest, context: Call) -> pb.GetGameResponse:
            metadata = dict(context.invocation_metadata() or ())
            seen.append((context.time_remaining(), metadata.get("authorization")))
            return pb.GetGameResponse()

    async with serving(Looking()) as address, House(address) as house:
        await house.client("eleni").games.get(new_id())
        await house.client().games.get(new_id())
    (remaining, token), (_, none) = seen
    assert remaining is not None
    assert 0 < remaining < channel.DEADLINE_SECONDS + 1, "the wire rounds it up"
    assert token == "Bearer eleni"
    assert none is None


async def test_lists_turn_their_pages(house: House, client: Client) -> None:
    for _ in range(3):
        await started(house)
    assert [game.player_ids async for game in client.games.list(player_id="nobody")] == []
    listed = [game async for game in client.games.list(player_id="eleni")]
    assert len({game.game_id for game in listed}) == 3
    assert [e.sequence async for e in client.games.events(new_id(), 1)] == [2, 3, 4, 5, 6, 7]


async def test_a_turn_is_put_together_step_by_step(house: House) -> None:
    game = await started(house)
    player = house.client(game.seats[game.position.turn.seat].player_id)
    first = await player.games.legal_actions(game.game_id)
    assert (first.seat, first.version, first.complete) == (game.position.turn.seat, 1, False)
    steps = [first.actions[0]]
    while not (legal := await player.games.legal_actions(game.game_id, steps)).complete:
        steps.append(legal.actions[0])
    answer = await player.games.act(game.game_id, 1, [step.notation for step in steps])
    assert answer.played.position.version == 2
    assert answer.house.position.version == 3


async def test_what_services_and_operators_ask(fake: FakeHouse, client: Client) -> None:
    game_id = new_id()
    assert (await client.games.turn(game_id)).version == 4
    reason = actions_pb2.FORFEIT_REASON_TIMEOUTS_EXCEEDED
    assert await client.games.forfeit(game_id, 1, reason, turn=7) == 5
    assert await client.games.abort(game_id, "a technical fault") == 6
    forfeit = fake.requests[1]
    assert isinstance(forfeit, pb.ForfeitSeatRequest)
    assert (forfeit.seat, forfeit.reason, forfeit.turn) == (1, reason, 7)


async def test_what_is_agreed_goes_with_create(fake: FakeHouse, client: Client) -> None:
    options = {"rule_set": "betomall"}
    timeout = timedelta(minutes=2)
    await client.games.create(
        "portes", ["a", "b"], target=5, options=options, join_timeout=timeout, game_id="g"
    )
    (request,) = fake.requests
    assert isinstance(request, pb.CreateGameRequest)
    assert request.game_id == "g"
    assert dict(request.terms.options) == options
    assert (request.terms.target, request.join_timeout.seconds) == (5, 120)


async def test_the_rule_book(client: Client) -> None:
    (portes,) = await client.rulebook.variants()
    assert await client.rulebook.variant("portes") == portes
    greek = await client.rulebook.rules("portes", rulebook_pb2.LANGUAGE_EL)
    assert [rule.rule for rule in greek.rules] == ["V2.2", "V2.3"]
    assert greek.rules[0].text == "Διπλές."


@pytest.mark.parametrize(
    ("service", "module"),
    [
        (pb.DESCRIPTOR.services_by_name["GameService"], games),
        (rulebook_pb2.DESCRIPTOR.services_by_name["RuleBookService"], rulebook),
        (clock_pb2.DESCRIPTOR.services_by_name["ClockService"], clock),
        (settlement_pb2.DESCRIPTOR.services_by_name["SettlementService"], settlement),
        (wallet_pb2.DESCRIPTOR.services_by_name["WalletService"], wallet),
        (prizes_pb2.DESCRIPTOR.services_by_name["PrizeService"], prizes),
        (quick_match_pb2.DESCRIPTOR.services_by_name["QuickMatchService"], quickmatch),
    ],
)
def test_every_rpc_has_its_call(service: ServiceDescriptor, module: ModuleType) -> None:
    """A call that is added to the contract has to be added to the client too."""
    source = inspect.getsource(module)
    missing = [rpc.name for rpc in service.methods if f"self._stub.{rpc.name}" not in source]
    assert not missing


def test_every_stream_is_left_to_the_watcher() -> None:
    """gRPC sends no stream again by itself: it would begin anew."""
    files = (
        *(pb, rulebook_pb2, clock_pb2, settlement_pb2, wallet_pb2, prizes_pb2),
        *(quick_match_pb2, tables_pb2, players_pb2, tournaments_pb2),
    )
    streams = {
        (service.full_name, rpc.name)
        for file in files
        for service in file.DESCRIPTOR.services_by_name.values()
        for rpc in service.methods
        if rpc.server_streaming
    }
    assert streams == set(channel._STREAMS)


async def test_a_house_of_rules_alone(house: House, client: Client) -> None:
    assert await client.rulebook.variants()
    for service in ("clock", "settlement", "wallet", "queue"):
        with pytest.raises(ValueError, match="knows no address of"):
            getattr(client, service)


async def test_waiting_for_the_start(house: House) -> None:
    owner = house.client("owner").games
    game = await owner.create("portes", ["eleni", "nikos"])
    waiting = asyncio.ensure_future(owner.started(game.game_id))
    for name in ("eleni", "nikos"):
        assert not waiting.done()
        await house.client(name).games.join(game.game_id, game.commitment, b"")
    assert (await waiting).status == pb.GAME_STATUS_RUNNING
    assert (await owner.started(game.game_id)).version == 1


def test_pings_are_slower_than_a_server_minds() -> None:
    assert channel._KEEPALIVE_MS >= 10_000
    assert json.dumps(channel._SERVICE_CONFIG)
