"""Enqueue, Cancel and WatchTicket over sockets."""

from __future__ import annotations

import asyncio
from pathlib import Path

import grpc
import pytest
from kafeneio.matchmaking.v1 import quick_match_pb2 as pb
from kafeneio_matchmaking.names import SCHEMA
from kafeneio_matchmaking.storage import Matchmaking
from kafeneio_runtime.store import Store
from prometheus_client import REGISTRY

from tests.harness import PATIENCE
from tests.matchmaking.cashier import cashier
from tests.matchmaking.hall import STAKE, Hall, Watch, terms


async def next_message(stream: Watch) -> pb.WatchTicketResponse:
    """What comes next; fails where the stream has ended."""
    async with asyncio.timeout(PATIENCE):
        message = await stream.read()
    assert isinstance(message, pb.WatchTicketResponse), "the stream has ended"
    return message


async def rest(stream: Watch) -> list[pb.WatchTicketResponse]:
    """What comes until the stream ends, which it does well."""
    found = []
    async with asyncio.timeout(PATIENCE):
        while (message := await stream.read()) is not grpc.aio.EOF:
            assert isinstance(message, pb.WatchTicketResponse)
            found.append(message)
        assert await stream.code() is grpc.StatusCode.OK
    return found


async def test_two_queue_are_matched_and_play(hall: Hall) -> None:
    before = REGISTRY.get_sample_value("kafeneio_queue_wait_seconds_count", {"variant": "portes"})
    eleni = await hall.enqueue("eleni")
    assert (eleni.status, eleni.version) == (pb.TICKET_STATUS_QUEUED, 1)
    assert eleni.terms.options["disconnect_points"] == "formula"
    assert (eleni.terms.edition, eleni.terms.target) == (1, 1)
    assert (eleni.terms.stake.minor_units, eleni.terms.stake.currency_code) == (STAKE, "EUR")
    assert (eleni.expires_at.ToDatetime() - eleni.queued_at.ToDatetime()).total_seconds() == 600
    nikos = await hall.enqueue("nikos")
    seen = await asyncio.gather(
        *(hall.seen(ticket, pb.TICKET_STATUS_MATCHED) for ticket in (eleni, nikos))
    )
    game_id = seen[0][-1].game_id
    assert game_id == seen[1][-1].game_id != ""
    for tickets in seen:
        versions = [ticket.version for ticket in tickets]
        assert versions == sorted(set(versions))
        assert versions[-1] == 3
        assert all(not ticket.game_id for ticket in tickets[:-1])
    held = hall.cashier.terms[game_id]
    assert (held.stake.minor_units, held.stake.currency_code) == (STAKE, "EUR")
    assert hall.cashier.holds == {game_id: ("eleni", "nikos")}
    assert await hall.plays(game_id) == ("eleni", "nikos")
    assert await hall.unfinished() == 0
    after = REGISTRY.get_sample_value("kafeneio_queue_wait_seconds_count", {"variant": "portes"})
    assert after == (before or 0) + 2


async def test_a_game_for_nothing_holds_nothing(hall: Hall) -> None:
    # Nothing of one currency is nothing of another.
    free = terms(0)
    free.stake.currency_code = "USD"
    tickets = [
        await hall.enqueue("eleni", asked=free),
        await hall.enqueue("nikos", asked=terms(0)),
    ]
    assert not tickets[0].terms.HasField("stake")
    first, second = await hall.over(*tickets)
    assert first.game_id == second.game_id
    assert hall.cashier.calls == []
    assert await hall.plays(first.game_id) == ("eleni", "nikos")


async def test_only_equal_terms_meet(hall: Hall) -> None:
    asked = {
        "stake": terms(STAKE + 1),
        "currency": terms(currency="USD"),
        "nothing": terms(0),
        "target": terms(target=3),
        "options": terms(options={"disconnect_points": "two"}),
        "usual": terms(),
    }
    tickets = {name: await hall.enqueue(name, asked=each) for name, each in asked.items()}
    for name, each in reversed(asked.items()):
        partner = await hall.enqueue(f"other {name}", asked=each)
        one, other = await hall.over(tickets[name], partner)
        assert one.game_id == other.game_id
        game = await hall.rules.get(one.game_id)
        assert [seat.player_id for seat in game.seats] == [name, f"other {name}"]
        assert game.terms.target == one.terms.target
        assert game.terms.options == one.terms.options
    assert len(await hall.games()) == len(asked)


async def test_defaults_spelt_out_are_defaults(hall: Hall) -> None:
    spelt = terms(
        options={"disconnect_points": "formula", "rule_set": "zarclub"}, target=1, edition=1
    )
    first, second = await hall.over(
        await hall.enqueue("eleni", asked=spelt), await hall.enqueue("nikos")
    )
    assert first.game_id == second.game_id != ""


async def test_a_cancelled_ticket_is_matched_with_nobody(hall: Hall) -> None:
    eleni = await hall.enqueue("eleni")
    gone = await hall.cancel(eleni)
    assert (gone.status, gone.end) == (pb.TICKET_STATUS_ENDED, pb.TICKET_END_CANCELLED)
    assert await hall.seen(eleni, pb.TICKET_STATUS_ENDED) == [gone]
    nikos, maria = await hall.enqueue("nikos"), await hall.enqueue("maria")
    await hall.over(nikos, maria)
    assert list(hall.cashier.holds.values()) == [("nikos", "maria")]
    # Once it is over there is room for the next one.
    again = await hall.enqueue("eleni")
    assert again.status == pb.TICKET_STATUS_QUEUED


async def test_a_ticket_that_finds_nobody_expires(hall: Hall) -> None:
    eleni = await hall.enqueue("eleni", seconds=1)
    ended = await hall.until(eleni, pb.TICKET_STATUS_ENDED, after=1)
    assert (ended.end, ended.version) == (pb.TICKET_END_EXPIRED, 2)
    assert (await hall.enqueue("eleni")).status == pb.TICKET_STATUS_QUEUED


async def test_a_stream_resumes_and_ends(hall: Hall) -> None:
    eleni = await hall.enqueue("eleni")
    stream = hall.watch(eleni)
    assert (await next_message(stream)).ticket == eleni
    late = hall.watch(eleni, after=1)
    await hall.enqueue("nikos")
    (matched,) = await hall.over(eleni)
    assert (matched.status, matched.version) == (pb.TICKET_STATUS_MATCHED, 3)
    await hall.plays(matched.game_id)
    started = (await rest(late))[-1].ticket
    assert (started.status, started.version) == (pb.TICKET_STATUS_STARTED, 4)
    assert started.game_id == matched.game_id
    assert [each.ticket for each in await rest(stream)][-2:] == [matched, started]
    # After the end: the last state, or nothing for who has it.
    for after, count in ((0, 1), (3, 1), (4, 0)):
        again = await rest(hall.watch(eleni, after=after))
        assert len(again) == count
        assert all(message.ticket == started for message in again)


async def test_streams_live_and_say_goodbye(database_url: str, keys: Path) -> None:
    async with Hall.serve(database_url, keys, heartbeat_seconds=0.1) as hall:
        eleni = await hall.enqueue("eleni")
        stream = hall.watch(eleni, after=1)
        beats = [await next_message(stream) for _ in range(3)]
        times = [beat.heartbeat.server_time.ToDatetime() for beat in beats]
        assert times == sorted(set(times))
        await hall.server.drain()
        assert (await rest(stream))[-1].HasField("draining")


async def test_replicas_hear_of_each_other(database_url: str, keys: Path) -> None:
    async with (
        Hall.serve(database_url, keys) as first,
        Hall.beside(first.rules, first.cashier) as second,
    ):
        eleni = await first.enqueue("eleni")
        stream = second.watch(eleni)
        assert (await next_message(stream)).ticket == eleni
        cancelled = await first.cancel(eleni)
        assert (await next_message(stream)).ticket == cancelled
        tickets = [
            await (first, second)[number % 2].enqueue(f"player {number}") for number in range(12)
        ]
        done = await second.over(*tickets)
        assert sorted(first.cashier.holds) == sorted({ticket.game_id for ticket in done})
        assert len(first.cashier.holds) == 6
        players = [player for pair in first.cashier.holds.values() for player in pair]
        assert sorted(players) == sorted(ticket.player_id for ticket in tickets)


async def test_the_oldest_are_matched_first(database_url: str, keys: Path) -> None:
    async with cashier() as settlement, Hall.serve(database_url, keys, settlement) as hall:
        names = [f"player {number}" for number in range(5)]
        tickets = [await hall.enqueue(name) for name in names]
        await hall.over(*tickets[:4])
        assert sorted(settlement.holds.values()) == [tuple(names[:2]), tuple(names[2:4])]
        left = await hall.until(tickets[4], pb.TICKET_STATUS_QUEUED)
        assert left == tickets[4]


async def test_the_oldest_ticket_is_measured(hall: Hall) -> None:
    store = await Store.open(hall.rules.url, SCHEMA, 1)
    try:
        storage = Matchmaking(store)
        assert await storage.oldest_seconds() == 0
        eleni = await hall.enqueue("eleni")
        first = await storage.oldest_seconds()
        assert await storage.oldest_seconds() > first > 0
        await hall.cancel(eleni)
        assert await storage.oldest_seconds() == 0
    finally:
        await store.close()
    assert REGISTRY.get_sample_value("kafeneio_oldest_ticket_seconds") is not None


@pytest.mark.parametrize("count", [40])
async def test_many_at_once(hall: Hall, count: int) -> None:
    tickets = await asyncio.gather(*(hall.enqueue(f"player {n}") for n in range(count)))
    done = await hall.over(*tickets)
    games = {ticket.game_id for ticket in done}
    assert len(games) == count // 2
    assert set(hall.cashier.holds) == games == set(await hall.games())
