"""Whatever an operator changes is in the audit of its service exactly once. Which calls these are
say the contracts; so a new one that is not operated here fails the test.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from typing import Final

import pytest
from kafeneio.clock.v1 import events_pb2 as clock_events
from kafeneio.common.v1 import audit_pb2
from kafeneio.matchmaking.v1 import players_pb2
from kafeneio.matchmaking.v1 import tournaments_pb2 as pb
from kafeneio.rules.v1 import game_pb2
from kafeneio.settlement.v1 import corrections_pb2, prizes_pb2, settlement_pb2, wallet_pb2
from kafeneio_client.channel import new_id
from kafeneio_client.money import Money
from kafeneio_client.tournaments import Board, terms
from kafeneio_runtime.auth import Role
from kafeneio_runtime.bus import Event

from tests.journeys.evening import PLAYERS, Evening
from tests.journeys.guests import PATIENCE
from tests.security.office import AUDIT, SERVICES, Office, request_class
from tests.security.protos import documented_roles

RULES: Final = "/kafeneio.rules.v1.GameService"
CLOCK: Final = "/kafeneio.clock.v1.ClockService"
WALLETS: Final = "/kafeneio.settlement.v1.WalletService"
SETTLEMENT: Final = "/kafeneio.settlement.v1.SettlementService"
PRIZES: Final = "/kafeneio.settlement.v1.PrizeService"
PEOPLE: Final = "/kafeneio.matchmaking.v1.PlayerService"
TOURNAMENTS: Final = "/kafeneio.matchmaking.v1.TournamentService"
VERIFY: Final = "/kafeneio.common.v1.AuditService/VerifyAudit"
WHY: Final = "a stranger sat in"


@pytest.fixture
async def office(house: Evening) -> AsyncIterator[Office]:
    async with Office.opened(house) as opened:
        yield opened


def changing() -> set[str]:
    """The calls with which operators change something: those that carry the id of a request."""
    return {
        path
        for path, roles in documented_roles().items()
        if Role.OPERATOR in roles and "request_id" in request_class(path).DESCRIPTOR.fields_by_name
    }


async def given_up(house: Evening, one: str, two: str) -> str:
    """A game that was played for a stake, and left by one; its id. Two who have not played yet:
    nobody can queue before matchmaking has heard of his last game's start.
    """
    game_id = await house.matched(players=(one, two))
    await house.join(game_id)
    await house.client(one).clock.leave(game_id)
    await house.service.settlement.settled(game_id, PATIENCE)
    return game_id


async def games(house: Evening, office: Office) -> None:
    """One that waits is ended; another one is paused, goes on, and is ended."""
    waiting = await house.matched(players=("anna", "aris"))
    await office.operate(f"{RULES}/AbortGame", game_id=waiting, reason=WHY)
    running = await house.matched(players=("vera", "vasos"))
    await house.join(running)
    await office.operate(f"{CLOCK}/PauseGame", game_id=running, reason=WHY)
    await office.operate(f"{CLOCK}/ResumeGame", game_id=running, reason="he is gone")
    await office.operate(f"{RULES}/AbortGame", game_id=running, reason=WHY)
    log = await office.entries("rules")
    assert [entry.target for entry in log] == [running, waiting]


async def corrections(house: Evening, office: Office) -> None:
    """A settled game is voided by two operators, and corrected by one."""
    game_id = await given_up(house, "gina", "giannis")
    await office.operate(f"{SETTLEMENT}/VoidSettlement", game_id=game_id, reason=WHY)
    await office.operate(
        f"{SETTLEMENT}/ApproveCorrection", "pavlos", game_id=game_id, number=1, reason="so it was"
    )
    await office.operate(
        f"{SETTLEMENT}/CorrectResult",
        game_id=game_id,
        decided=corrections_pb2.CorrectedResult(winners=[0]),
        reason=WHY,
    )


def no_forfeits(events: Sequence[Event]) -> Sequence[Event]:
    """Events of the clock, which is not said to have announced a forfeit."""
    told = []
    for event in events:
        if event.type == "clock_closed":
            message = clock_events.ClockEvent.FromString(event.payload)
            del message.clock_closed.forfeits[:]
            event = event._replace(payload=message.SerializeToString())
        told.append(event)
    return told


async def mismatch(house: Evening, office: Office) -> None:
    """Two witnesses differ, and an operator decides."""
    house.bus.mangle = no_forfeits
    game_id = await given_up(house, "dora", "dimos")
    house.bus.mangle = lambda events: events
    await office.operate(
        f"{SETTLEMENT}/ResolveMismatch",
        game_id=game_id,
        resolution=settlement_pb2.RESOLUTION_BY_RULES,
        reason=WHY,
    )


async def people(house: Evening, office: Office) -> None:
    """A wallet is shut; a player is kept out, and let in again; a report is closed."""
    one, two = "efi", "evris"
    game_id = await given_up(house, one, two)
    await office.operate(
        f"{WALLETS}/SetWalletStatus",
        player_id=one,
        status=wallet_pb2.WALLET_STATUS_SUSPENDED,
        reason=WHY,
    )
    await office.operate(
        f"{WALLETS}/SetWalletStatus",
        player_id=one,
        status=wallet_pb2.WALLET_STATUS_ACTIVE,
        reason=WHY,
    )
    suspended = await office.operate(f"{PEOPLE}/SuspendPlayer", player_id=two, reason=WHY)
    await office.operate(
        f"{PEOPLE}/LiftSuspension",
        suspension_id=suspended.suspension.suspension_id,
        reason="it was another one",
    )
    told = players_pb2.ReportPlayerRequest(
        request_id=new_id(),
        player_id=two,
        game_id=game_id,
        category=players_pb2.REPORT_CATEGORY_DISTURBANCE,
    )
    reported = await office.call(f"{PEOPLE}/ReportPlayer", told, one, Role.PLAYER)
    await office.operate(
        f"{PEOPLE}/CloseReport", report_id=reported.report.report_id, outcome="they have made up"
    )


def pool_terms() -> prizes_pb2.PoolTerms:
    """Of a tournament of two."""
    return prizes_pb2.PoolTerms(
        entry_fee=Money("EUR", 100).message(),
        prize_shares=[10_000],
        players_per_entry=1,
    )


async def pools(house: Evening, office: Office) -> None:
    """The money of a tournament is corrected, that of another one goes back."""
    prizes = house.service.prizes
    for player in PLAYERS:
        await house.service.wallet.deposit(player, Money("EUR", 1000))
    played, entries = new_id(), [new_id(), new_id()]
    await prizes.open(played, pool_terms())
    for entry, player in zip(entries, PLAYERS, strict=True):
        await prizes.hold(played, entry, [player])
    await prizes.settle(played, [[entry] for entry in entries])
    await office.operate(f"{PRIZES}/CorrectTournament", tournament_id=played, void=True, reason=WHY)
    cancelled = new_id()
    await prizes.open(cancelled, pool_terms())
    await office.operate(f"{PRIZES}/VoidTournament", tournament_id=cancelled, reason=WHY)


async def until(house: Evening, tournament_id: str, fine: Callable[[Board], bool]) -> Board:
    """A tournament once it is `fine`."""
    board = Board()
    watched = house.operator.tournaments.watch(tournament_id)
    async with asyncio.timeout(PATIENCE), aclosing(watched) as changes:
        async for change in changes:
            board.take(change)
            if not change.more and fine(board):
                return board
    raise AssertionError("the stream has ended")


def entry_of(board: Board, player: str) -> str:
    """The entry of a player."""
    (found,) = [entry for entry in board.entries.values() if player in entry.player_ids]
    return found.entry_id


async def published(house: Evening, office: Office, reason: str) -> str:
    """A new tournament, open; its id."""
    made = await office.operate(
        f"{TOURNAMENTS}/CreateTournament",
        terms=terms(
            "Thursday",
            pb.TOURNAMENT_FORMAT_SINGLE_ELIMINATION,
            game_pb2.Terms(variant="portes"),
            datetime.now(UTC) + timedelta(hours=1),
        ),
        reason=reason,
    )
    tournament_id: str = made.tournament.tournament_id
    opened = pb.TOURNAMENT_STATUS_OPEN
    await until(house, tournament_id, lambda board: board.tournament.status == opened)
    return tournament_id


async def entered(house: Evening, office: Office, tournament_id: str) -> Board:
    """Both players are in."""
    for player in PLAYERS:
        asked = pb.RegisterForTournamentRequest(request_id=new_id(), tournament_id=tournament_id)
        await office.call(f"{TOURNAMENTS}/RegisterForTournament", asked, player, Role.PLAYER)
    status = pb.ENTRY_STATUS_ENTERED

    def both(board: Board) -> bool:
        return [entry.status for entry in board.entries.values()] == [status, status]

    return await until(house, tournament_id, both)


async def tournaments(house: Evening, office: Office) -> None:
    """One is called off after somebody was put out; another one is played, and corrected."""
    off = await published(house, office, "it is Thursday")
    board = await entered(house, office, off)
    await office.operate(
        f"{TOURNAMENTS}/DisqualifyEntry",
        tournament_id=off,
        entry_id=entry_of(board, PLAYERS[0]),
        reason=WHY,
    )
    await office.operate(f"{TOURNAMENTS}/CancelTournament", tournament_id=off, reason=WHY)
    played = await published(house, office, "again")
    await entered(house, office, played)
    await office.operate(
        f"{TOURNAMENTS}/StartTournament", tournament_id=played, reason="all are here"
    )
    board = await until(house, played, lambda board: bool(board.playing()))
    (match,) = board.playing()
    await house.join(match.game_id)
    await office.operate(f"{TOURNAMENTS}/PauseTournament", tournament_id=played, reason="no light")
    await office.operate(f"{TOURNAMENTS}/ResumeTournament", tournament_id=played, reason="light")
    await house.client(PLAYERS[0]).clock.leave(match.game_id)
    finished = pb.TOURNAMENT_STATUS_FINISHED
    board = await until(house, played, lambda board: board.tournament.status == finished)
    winner, loser = (entry_of(board, player) for player in PLAYERS)
    await office.operate(
        f"{TOURNAMENTS}/CorrectTournament",
        tournament_id=played,
        places=[
            pb.EntryPlace(place=1, entry_ids=[winner]),
            pb.EntryPlace(place=2, entry_ids=[loser]),
        ],
        reason=WHY,
    )


async def notes(house: Evening, office: Office) -> None:
    """What is done by other means is noted."""
    for service in SERVICES:
        await office.operate(
            AUDIT, service=service, action="bus dead replay 7", target_id=new_id(), reason=WHY
        )


async def test_whatever_an_operator_changes_is_in_the_audit_once(
    house: Evening, office: Office
) -> None:
    for deeds in (games, corrections, mismatch, people, pools, tournaments, notes):
        await deeds(house, office)
    assert office.done == changing()
    for service in SERVICES:
        answer = await office.call(VERIFY, audit_pb2.VerifyAuditRequest(), service=service)
        assert not answer.faults
        assert answer.verified_to == len(await office.entries(service)) > 0


async def test_who_only_plays_or_looks_leaves_nothing(house: Evening, office: Office) -> None:
    game_id = await given_up(house, *PLAYERS)
    operator = house.operator
    await operator.games.get(game_id)
    await operator.clock.get(game_id)
    await operator.settlement.get(game_id)
    await operator.settlement.report()
    await operator.settlement.verify()
    for service in SERVICES:
        assert not await office.entries(service)


def test_every_change_takes_a_reason() -> None:
    """In the operator's own words: the outcome of a report is one."""
    for path in changing():
        fields = request_class(path).DESCRIPTOR.fields_by_name
        assert "reason" in fields or "outcome" in fields, path
