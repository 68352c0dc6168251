"""What is heard of games: each event once, in whatever order it comes; what never comes is asked
for, so that nobody stays in limbo."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from kafeneio.rules.v1.events_pb2 import GameEvent
from kafeneio_matchmaking.domain import End, TicketStatus
from kafeneio_matchmaking.matching import MatchMove, MatchStatus
from kafeneio_matchmaking.storage import Work

from tests.matchmaking.desk import PLAYERS, Desk
from tests.matchmaking.listening import (
    Listening,
    ask,
    hear,
    listening,
    matched,
    no_show,
    started,
)
from tests.matchmaking.money import settled


@pytest.fixture
async def desk(database_url: str, keys: Path) -> AsyncIterator[tuple[Desk, Listening]]:
    """A desk, and somebody who listens."""
    async with listening(database_url, keys) as made:
        yield made


async def test_a_game_that_starts_ends_its_tickets(desk: tuple[Desk, Listening]) -> None:
    house, told = desk
    tickets, game_id = await matched(house)
    assert await house.statuses(tickets) == {TicketStatus.MATCHED}
    await started(house, game_id)
    events = await house.rules.events(game_id)
    await hear(house, events)
    assert await house.statuses(tickets) == {TicketStatus.STARTED}
    assert (await house.match())["status"] == "started"
    await house.rules.resign(game_id, PLAYERS[0])
    later = await house.rules.events(game_id, events[-1].sequence)
    for _ in range(3):
        await hear(house, [*later, *events])
    assert (await house.match())["status"] == "finished"
    assert [kind for kind, _ in told.games] == ["game_started", "game_finished"]
    assert await house.statuses(tickets) == {TicketStatus.STARTED}


async def test_an_end_that_comes_alone_has_the_start_fetched(
    desk: tuple[Desk, Listening],
) -> None:
    house, told = desk
    tickets, game_id = await matched(house)
    await started(house, game_id)
    await house.rules.resign(game_id, PLAYERS[0])
    await hear(house, (await house.rules.events(game_id))[-1:])
    assert [kind for kind, _ in told.games] == ["game_started", "game_finished"]
    assert (await house.match())["status"] == "finished"
    assert await house.statuses(tickets) == {TicketStatus.STARTED}
    await hear(house, await house.rules.events(game_id))
    assert len(told.games) == 2


@pytest.mark.parametrize("steps", [1, 2], ids=["held", "created"])
async def test_players_who_are_faster_than_the_house(
    desk: tuple[Desk, Listening], steps: int
) -> None:
    house, told = desk
    tickets = await house.paired()
    for _ in range(steps):
        await house.step()
    row = await house.match()
    game_id = str(row["game_id"])
    if steps == 1:
        await house.rules.create(game_id=game_id)
    await started(house, game_id)
    await hear(house, await house.rules.events(game_id))
    assert (await house.match())["status"] == "started"
    assert await house.statuses(tickets) == {TicketStatus.STARTED}
    assert not await house.saga.step()
    assert told.games == [("game_started", 1)]


async def test_somebody_elses_game_of_the_same_id_starts_nothing(
    desk: tuple[Desk, Listening],
) -> None:
    house, _ = desk
    tickets = await house.paired()
    assert await house.step() == "held"
    game_id = str((await house.match())["game_id"])
    game = await house.rules.create(game_id=game_id, players=("maria", "petros"))
    for player in ("maria", "petros"):
        await house.rules.join(game, player)
    await hear(house, await house.rules.events(game_id))
    assert (await house.match())["status"] == "held"
    assert await house.statuses(tickets) == {TicketStatus.PAIRED}
    assert [await house.step() for _ in range(2)] == ["releasing", "undone"]


async def test_who_joined_is_in_front_again_and_who_did_not_is_out(
    desk: tuple[Desk, Listening],
) -> None:
    house, told = desk
    tickets, game_id = await matched(house)
    await house.rules.join(await house.rules.get(game_id), PLAYERS[1])
    await no_show(house, game_id)
    (event,) = await house.rules.events(game_id)
    assert list(event.game_finished.absent_seats) == [0]
    await hear(house, [event])
    absent, back = [await house.storage.ticket(each.ticket_id) for each in tickets]
    assert absent is not None
    assert (absent.status, absent.end) == (TicketStatus.ENDED, End.NO_SHOW)
    assert absent.game_id is None
    assert back is not None
    assert (back.status, back.end, back.game_id) == (TicketStatus.QUEUED, None, None)
    assert (back.queued_at, back.expires_at) == (tickets[1].queued_at, tickets[1].expires_at)
    assert told.games == [("game_finished", 1)]
    # The one is free, the other is not; and he is in front of who comes now.
    later = [await house.enqueue(who) for who in ("maria", PLAYERS[0])]
    assert await house.saga.pair() == 1
    assert await house.statuses([back, later[0]]) == {TicketStatus.PAIRED}
    assert await house.statuses([later[1]]) == {TicketStatus.QUEUED}


async def test_nobody_joins(desk: tuple[Desk, Listening]) -> None:
    house, _ = desk
    tickets, game_id = await matched(house)
    await no_show(house, game_id)
    await hear(house, await house.rules.events(game_id))
    found = [await house.storage.ticket(each.ticket_id) for each in tickets]
    assert [each.end for each in found if each is not None] == [End.NO_SHOW] * 2
    async with house.store.acquire() as connection:
        assert await connection.fetchval("SELECT count(*) FROM places") == 0


async def test_a_game_that_an_operator_ends_before_its_start_is_not_tried_again(
    desk: tuple[Desk, Listening],
) -> None:
    house, _ = desk
    tickets, game_id = await matched(house)
    await house.rules.join(await house.rules.get(game_id), PLAYERS[0])
    await house.rules.abort(game_id)
    await hear(house, await house.rules.events(game_id))
    found = [await house.storage.ticket(each.ticket_id) for each in tickets]
    assert [each.end for each in found if each is not None] == [End.CALLED_OFF] * 2


async def test_who_has_expired_meanwhile_is_not_matched_again(
    desk: tuple[Desk, Listening],
) -> None:
    house, _ = desk
    tickets, game_id = await matched(house)
    await house.rules.join(await house.rules.get(game_id), PLAYERS[1])
    async with house.store.acquire() as connection:
        await connection.execute("UPDATE tickets SET expires_at = now() - interval '1 s'")
    await no_show(house, game_id)
    await hear(house, await house.rules.events(game_id))
    await house.enqueue("maria")
    assert await house.saga.pair() == 0
    async with house.storage.work() as work:
        assert await work.expired(10) == [tickets[1].ticket_id]


# --- nothing is heard --------------------------------------------------------------------------


async def test_a_game_that_simply_waits_is_asked_for_ever_less_often(
    desk: tuple[Desk, Listening],
) -> None:
    house, _ = desk
    await matched(house)
    assert not await house.hearing.ask(), "not before its players had the time to join"
    waits = []
    for _ in range(3):
        assert await ask(house) == "matched"
        row = await house.match()
        waits.append(row["due_at"])
    assert waits[2] - waits[1] > waits[1] - waits[0] > timedelta()
    assert row["why"] == "NOTHING_NEW"


async def test_what_the_bus_has_lost_is_asked_for(desk: tuple[Desk, Listening]) -> None:
    house, told = desk
    tickets, game_id = await matched(house)
    await started(house, game_id)
    assert await ask(house) == "started"
    assert await house.statuses(tickets) == {TicketStatus.STARTED}
    assert await ask(house) == "started", "the game simply goes on"
    await house.rules.resign(game_id, PLAYERS[0])
    assert await ask(house) == "finished"
    assert [kind for kind, _ in told.games] == ["game_started", "game_finished"]
    assert await ask(house) == "finished", "settlement does not answer"
    house.cashier.events[game_id] = [settled(game_id, 2)]
    assert await ask(house) == "settled"
    assert told.money == [("game_settled", 2)]
    assert not await house.hearing.ask()


async def test_an_end_that_was_lost_gives_the_place_back(desk: tuple[Desk, Listening]) -> None:
    house, _ = desk
    tickets, game_id = await matched(house)
    await house.rules.join(await house.rules.get(game_id), PLAYERS[1])
    await no_show(house, game_id)
    assert await ask(house) == "finished"
    assert await house.statuses(tickets) == {TicketStatus.ENDED, TicketStatus.QUEUED}


async def test_an_end_that_came_too_early_is_not_forgotten(desk: tuple[Desk, Listening]) -> None:
    """An operator ends the game before its players are told of it."""
    house, told = desk
    tickets = await house.paired()
    assert [await house.step() for _ in range(2)] == ["held", "created"]
    game_id = str((await house.match())["game_id"])
    await house.rules.abort(game_id)
    await hear(house, await house.rules.events(game_id))
    assert await house.step() == "matched"
    assert await ask(house) == "finished"
    assert await house.statuses(tickets) == {TicketStatus.ENDED}
    assert told.games == [("game_finished", 1)], "who listens was told once"


async def test_a_game_that_rules_has_lost_is_taken_back(desk: tuple[Desk, Listening]) -> None:
    house, _ = desk
    tickets, game_id = await matched(house)
    await house.rules.cancel(game_id)
    assert await ask(house) == "releasing"
    assert house.cashier.holds == {game_id: PLAYERS}
    assert await house.statuses(tickets) == {TicketStatus.MATCHED}
    assert await house.step() == "undone"
    assert house.cashier.holds == {}
    assert await house.statuses(tickets) == {TicketStatus.QUEUED}


async def test_while_rules_is_away_nothing_is_concluded(database_url: str, keys: Path) -> None:
    async with listening(database_url, keys) as (house, _):
        tickets, _ = await matched(house)
        await house.rules.drain()
        assert await ask(house) == "matched"
        assert await house.statuses(tickets) == {TicketStatus.MATCHED}


async def test_a_listener_that_fails_undoes_all_of_it(desk: tuple[Desk, Listening]) -> None:
    house, told = desk
    tickets, game_id = await matched(house)
    await started(house, game_id)

    async def fails(_work: Work, _event: GameEvent) -> None:
        raise ConnectionError

    broken = replace(house, hearing=replace(house.hearing, games=(told.game, fails)))
    with pytest.raises(ConnectionError):
        await hear(broken, await house.rules.events(game_id))
    assert await house.statuses(tickets) == {TicketStatus.MATCHED}
    await hear(house, await house.rules.events(game_id))
    assert await house.statuses(tickets) == {TicketStatus.STARTED}


async def test_no_match_is_moved_against_its_table(desk: tuple[Desk, Listening]) -> None:
    house, _ = desk
    await matched(house)
    async with house.storage.work() as work:
        match = await work.match_of((await house.match())["game_id"])
        assert match is not None
        assert match.status is MatchStatus.MATCHED
        with pytest.raises(ValueError, match="can't settle"):
            await work.advance(match, MatchMove.SETTLE)
