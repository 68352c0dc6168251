"""A call that is sent n times is as if sent once; two at once are one after the other."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from kafeneio.matchmaking.v1 import tournaments_pb2 as pb
from kafeneio.rules.v1 import game_pb2
from kafeneio_matchmaking.tournaments.storage import Sheet

from tests.harness import new_id
from tests.matchmaking.cashier import elsewhere
from tests.matchmaking.hall import Hall
from tests.matchmaking.tournaments.club import PATIENCE, Club, has_games
from tests.matchmaking.tournaments.test_tournament_refusals import METHODS, good, state, who_may
from tests.matchmaking.tournaments.treasurer import treasurer
from tests.rules.refusal import refusal

CHANGES = [
    name for name, method in METHODS.items() if "request_id" in method.input_type.fields_by_name
]


async def ready(club: Club, method: str) -> Any:
    """A request that is carried out."""
    if method == "CreateTournament":
        return good(method)
    tournament = await club.create()
    if method == "RegisterForTournament":
        return good(method, tournament)
    board = await club.entered(tournament, "eleni", "nikos", "maria", "kostas")
    if method in ("StartTournament", "WithdrawFromTournament", "CancelTournament"):
        return good(method, tournament)
    await club.operate("Start", tournament)
    board = await club.until(tournament, has_games(2))
    entry_id = board.entry_of("kostas").entry_id
    if method == "DisqualifyEntry":
        return good(method, tournament, entry_id=entry_id)
    if method == "ResumeTournament":
        await club.operate("Pause", tournament)
    if method == "CorrectTournament":
        board = await club.play_on(tournament)
        first = pb.EntryPlace(place=1, entry_ids=[*board.entries])
        return good(method, tournament, places=[first])
    return good(method, tournament)


@pytest.mark.parametrize("method", CHANGES)
async def test_n_times_is_once(club: Club, method: str) -> None:
    request = await ready(club, method)
    call = getattr(club.stub, method)
    answers = await asyncio.gather(*(club.ask(call, request, who_may(method)) for _ in range(5)))
    assert all(answer == answers[0] for answer in answers)
    kept = await club.database.fetchval(
        "SELECT count(*) FROM requests WHERE method = $1 AND request_id = $2::text::uuid",
        method,
        request.request_id,
    )
    assert kept == 1
    assert await club.ask(call, request, who_may(method)) == answers[0]
    if method == "CreateTournament":
        assert await club.database.fetchval("SELECT count(*) FROM tournaments") == 1
    # The same id for something else is refused.
    if "tournament_id" in METHODS[method].input_type.fields_by_name:
        request.tournament_id = new_id()
    else:
        request.terms.name = "Friday"
    before = await state(club)
    found = await refusal(club.ask(call, request, who_may(method)))
    assert found.what == ("ALREADY_EXISTS", "REQUEST_ID_REUSED")
    if method == "CorrectTournament":  # nothing else moves there
        assert await state(club) == before


async def test_a_correction_is_proposed_once(club: Club) -> None:
    request = await ready(club, "CorrectTournament")
    for _ in range(3):
        answer = await club.ask(club.stub.CorrectTournament, request)
    assert [each.number for each in answer.tournament.corrections] == [1]
    assert len(club.treasurer.proposed_by) == 1


async def test_many_register_at_once_for_the_last_place(database_url: str, keys: Path) -> None:
    async with Club.serve(database_url, keys) as club:
        tournament = await club.create(max_entries=3)
        players = [f"player-{number}" for number in range(8)]
        answers = await asyncio.gather(
            *(club.register(tournament, player) for player in players), return_exceptions=True
        )
        taken = [answer for answer in answers if isinstance(answer, pb.Entry)]
        assert len(taken) == 3
        board = await club.until(
            tournament,
            lambda b: [e.status for e in b.entries.values()] == [pb.ENTRY_STATUS_ENTERED] * 3,
        )
        assert board.tournament.entries == 3


async def test_two_name_each_other_at_once(club: Club) -> None:
    tournament = await club.create(game=game_pb2.Terms(variant="pilotta"))
    one, two = await asyncio.gather(
        club.register(tournament, "eleni", "nikos"), club.register(tournament, "nikos", "eleni")
    )
    assert one.entry_id == two.entry_id
    statuses = {one.status, two.status}
    assert statuses == {pb.ENTRY_STATUS_WAITING_FOR_PARTNER, pb.ENTRY_STATUS_PAYING}


async def test_who_leaves_while_he_pays(club: Club) -> None:
    """Whatever comes first, nothing is held in the end."""
    tournament = await club.create()
    for number in range(6):
        player = f"player-{number}"
        await club.register(tournament, player)
        left = await club.withdraw(tournament, player)
        await club.until(
            tournament,
            lambda b, e=left.entry_id: b.entries[e].status == pb.ENTRY_STATUS_ENDED,  # type: ignore[misc]
        )
    assert club.treasurer.held == {}
    assert club.treasurer.same_calls()


async def test_two_replicas_run_one_tournament(database_url: str, keys: Path) -> None:
    """Whoever gets to a step does it, once; whoever is asked shows the same."""
    async with (
        treasurer() as treasury,
        Club.serve(database_url, keys, treasury) as first,
        Hall.beside(first.rules, elsewhere(treasury.address)) as hall,
    ):
        second = Club(first.rules, treasury, hall.channel, hall.database)
        tournament = await first.create()
        players = [f"player-{number}" for number in range(8)]
        await asyncio.gather(
            *((first, second)[n % 2].register(tournament, who) for n, who in enumerate(players))
        )
        await second.until(tournament, lambda b: sum(map(is_in, b.entries.values())) == 8)
        await first.operate("Start", tournament)
        one, two = await asyncio.gather(first.play_on(tournament), second.over(tournament))
        assert one.status == two.status == pb.TOURNAMENT_STATUS_FINISHED
        assert one.places() == two.places()
        games = await first.database.fetchval(
            "SELECT count(*) FROM matches WHERE source = 'tournament'"
        )
        assert games == 7
        assert treasury.same_calls()
        paid = [call for call, _, _ in treasury.calls if call == "SettleTournament"]
        assert len(paid) == 1


def is_in(entry: pb.Entry) -> bool:
    """Whether it has paid."""
    return entry.status == pb.ENTRY_STATUS_ENTERED


async def test_steps_that_nobody_answers_are_counted(club: Club) -> None:
    tournament = await club.create()
    club.treasurer.away = 1_000
    await club.register(tournament, "eleni")
    async with asyncio.timeout(PATIENCE):
        while True:
            tries = await club.database.fetchval("SELECT max(tries) FROM tournament_entries")
            if tries >= 5:
                break
    assert await Sheet(club.database).stuck() == 1
    club.treasurer.away = 0
    await club.until(tournament, lambda b: all(map(is_in, b.entries.values())))
    assert await Sheet(club.database).stuck() == 0
