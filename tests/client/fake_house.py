"""A small house in this process: all contracts over one real socket, in memory, no store.

Tokens are names: `Bearer eleni`, or `Bearer token.eleni.made`, is eleni. What a test wants to go
wrong it puts into `faults`.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

import grpc
from google.rpc import error_details_pb2
from kafeneio.clock.v1 import clock_pb2_grpc
from kafeneio.common.v1 import audit_pb2_grpc
from kafeneio.matchmaking.v1 import (
    players_pb2_grpc,
    quick_match_pb2_grpc,
    tables_pb2_grpc,
    tournaments_pb2_grpc,
)
from kafeneio.rules.v1 import (
    actions_pb2,
    events_pb2,
    game_pb2_grpc,
    rulebook_pb2,
    rulebook_pb2_grpc,
)
from kafeneio.rules.v1 import game_pb2 as pb
from kafeneio.settlement.v1 import settlement_pb2_grpc, wallet_pb2_grpc
from kafeneio_client import House, records
from kafeneio_games.game import Entry, Illegal, Refusal, Seat
from kafeneio_games.play import Play

from tests.client.fake_audit import FakeAudit
from tests.client.fake_calls import Call, Desk, refuse
from tests.client.fake_clock import FakeClock
from tests.client.fake_money import FakeLedger, FakeSettlements
from tests.client.fake_players import FakePlayers
from tests.client.fake_queue import FakeQueue
from tests.client.fake_tables import FakeTables
from tests.client.fake_tournaments import FakeTournaments
from tests.client.tables import Table, move_of

Played = TypeVar("Played", pb.ActResponse, pb.ResignResponse)


@dataclass
class FakeHouse(Desk, game_pb2_grpc.GameServiceServicer, rulebook_pb2_grpc.RuleBookServiceServicer):
    """The servicer of both services of `rules`, and the desk of all the others."""

    ledger: FakeLedger = field(init=False)
    settlements: FakeSettlements = field(init=False)
    clocks: FakeClock = field(init=False)
    queue: FakeQueue = field(init=False)
    seating: FakeTables = field(init=False)
    players: FakePlayers = field(init=False)
    audits: FakeAudit = field(init=False)
    tournaments: FakeTournaments = field(init=False)

    def __post_init__(self) -> None:
        self.ledger = FakeLedger(self)
        self.settlements = FakeSettlements(self, self.ledger)
        self.clocks = FakeClock(self, self.settlements)
        self.queue = FakeQueue(self, self.settlements)
        self.seating = FakeTables(self)
        self.players = FakePlayers(self)
        self.audits = FakeAudit(self)
        self.tournaments = FakeTournaments(self)

    async def CreateGame(
        self, request: pb.CreateGameRequest, context: Call
    ) -> pb.CreateGameResponse:
        await self.called("CreateGame", request, context)
        terms, names = request.terms, tuple(request.player_ids)
        table = self.open_table(request.game_id, terms.variant, terms.target, names)
        return pb.CreateGameResponse(game=table.message())

    async def JoinGame(self, request: pb.JoinGameRequest, context: Call) -> pb.JoinGameResponse:
        name = await self.called("JoinGame", request, context)
        table = await self.table(request.game_id, context)
        table.words[table.names.index(name)] = request.word
        if len(table.words) == len(table.names):
            table.begin()
        return pb.JoinGameResponse(game=table.message())

    async def GetGame(self, request: pb.GetGameRequest, context: Call) -> pb.GetGameResponse:
        await self.called("GetGame", request, context)
        return pb.GetGameResponse(game=(await self.table(request.game_id, context)).message())

    async def WatchGame(
        self, request: pb.WatchGameRequest, context: Call
    ) -> AsyncIterator[pb.WatchGameResponse]:
        await self.called("WatchGame", request, context)
        table = await self.table(request.game_id, context)
        sent = request.after_version
        while True:
            changed = table.changed
            for update in table.updates[sent:]:
                yield pb.WatchGameResponse(update=update)
                sent += 1
            if table.play is not None and table.play.over:
                return
            await changed.wait()

    async def ListLegalActions(
        self, request: pb.ListLegalActionsRequest, context: Call
    ) -> pb.ListLegalActionsResponse:
        await self.called("ListLegalActions", request, context)
        table = await self.table(request.game_id, context)
        assert table.play is not None
        before = table.play
        seat = before.prompted
        if seat is None:
            code = grpc.StatusCode.FAILED_PRECONDITION
            await refuse(context, code, "GAME_OVER", "the game is over")
        play = await self._judged(table, seat, request.after, context)
        answer = pb.ListLegalActionsResponse(version=len(table.rows), seat=seat)
        answer.complete = bool(request.after) and (
            play.prompted != seat or play.turn != before.turn
        )
        if not answer.complete:
            assert play.game is not None
            for action in play.legal(seat):
                text = play.game.write(action)
                one = answer.actions.add(notation=text)
                one.move_checker.CopyFrom(move_of(text, text.partition("/")[0]))
        return answer

    async def _judged(
        self, table: Table, seat: int, actions: Iterable[actions_pb2.Action], call: Call
    ) -> Play:
        assert table.play is not None
        entries = tuple(Entry(Seat(seat), action.notation) for action in actions)
        try:
            return table.play.apply_all(entries)
        except Illegal as error:
            code = grpc.StatusCode.FAILED_PRECONDITION
            await refuse(call, code, "ILLEGAL_ACTION", str(error), rule=error.rule)
        except Refusal as error:
            bad = error_details_pb2.BadRequest()
            bad.field_violations.add(field="actions[0]", description=str(error))
            code = grpc.StatusCode.INVALID_ARGUMENT
            await refuse(call, code, "MALFORMED", "the request can't be read", bad)

    async def Act(self, request: pb.ActRequest, context: Call) -> pb.ActResponse:
        name = await self.called("Act", request, context)
        table = await self.table(request.game_id, context)
        seat, version = table.names.index(name), str(len(table.rows))
        if request.expected_version != len(table.rows):
            code = grpc.StatusCode.ABORTED
            await refuse(context, code, "STALE_VERSION", "it moved on", version=version)
        if table.play is None or table.play.prompted != seat:
            code = grpc.StatusCode.FAILED_PRECONDITION
            await refuse(context, code, "NOT_YOUR_TURN", "not your turn", version=version)
        play = await self._judged(table, seat, request.actions, context)
        table.append(play, [Entry(Seat(seat), action.notation) for action in request.actions])
        return self._answer(pb.ActResponse(), table)

    async def Resign(self, request: pb.ResignRequest, context: Call) -> pb.ResignResponse:
        name = await self.called("Resign", request, context)
        table = await self.table(request.game_id, context)
        entry = Entry(Seat(table.names.index(name)), "!resign")
        assert table.play is not None
        table.append(table.play.apply(entry), [entry])
        return self._answer(pb.ResignResponse(), table)

    def _answer(self, answer: Played, table: Table) -> Played:
        answer.played.CopyFrom(table.updates[-1])
        before = len(table.updates)
        table.house()
        if len(table.updates) > before:
            answer.house.CopyFrom(table.updates[-1])
        self.settlements.settle(table)
        return answer

    async def GetRecord(self, request: pb.GetRecordRequest, context: Call) -> pb.GetRecordResponse:
        await self.called("GetRecord", request, context)
        table = await self.table(request.game_id, context)
        return pb.GetRecordResponse(record=table.record())

    async def VerifyRecord(
        self, request: pb.VerifyRecordRequest, context: Call
    ) -> pb.VerifyRecordResponse:
        await self.called("VerifyRecord", request, context)
        record = request.record if request.HasField("record") else None
        problems = records.verify(record or self.tables[request.game_id].record())
        answer = pb.VerifyRecordResponse(valid=not problems)
        for problem in problems:
            answer.findings.add(version=problem.version or 0, text=problem.detail)
        return answer

    async def ListGames(self, request: pb.ListGamesRequest, context: Call) -> pb.ListGamesResponse:
        """Pages of one, so that a client has to turn them."""
        await self.called("ListGames", request, context)
        tables = [t for t in self.tables.values() if request.player_id in ("", *t.names)]
        start = int(request.page_token or 0)
        answer = pb.ListGamesResponse()
        for table in tables[start : start + 1]:
            game = table.message()
            one = answer.games.add(
                game_id=game.game_id, terms=game.terms, status=game.position.status
            )
            one.player_ids.extend(table.names)
            one.outcome.CopyFrom(game.position.outcome)
        if start + 1 < len(tables):
            answer.next_page_token = str(start + 1)
        return answer

    async def WatchComputerTurns(
        self, request: pb.WatchComputerTurnsRequest, context: Call
    ) -> AsyncIterator[pb.WatchComputerTurnsResponse]:
        """One turn, a heartbeat, and the same turn again."""
        await self.called("WatchComputerTurns", request, context)
        turn = pb.ComputerTurn(game_id="1", seat=1, turn=2, version=3)
        yield pb.WatchComputerTurnsResponse(turn=turn)
        yield pb.WatchComputerTurnsResponse(heartbeat=pb.Heartbeat())
        yield pb.WatchComputerTurnsResponse(turn=turn)
        await asyncio.Event().wait()

    async def ListEvents(
        self, request: pb.ListEventsRequest, context: Call
    ) -> pb.ListEventsResponse:
        """Seven events, three a page."""
        await self.called("ListEvents", request, context)
        after = request.after_sequence
        numbers = range(after + 1, min(after + 3, 7) + 1)
        events = [events_pb2.GameEvent(sequence=number) for number in numbers]
        return pb.ListEventsResponse(events=events)

    async def CancelGame(
        self, request: pb.CancelGameRequest, context: Call
    ) -> pb.CancelGameResponse:
        await self.called("CancelGame", request, context)
        return pb.CancelGameResponse()

    async def GetTurn(self, request: pb.GetTurnRequest, context: Call) -> pb.GetTurnResponse:
        await self.called("GetTurn", request, context)
        return pb.GetTurnResponse(version=4)

    async def ForfeitSeat(
        self, request: pb.ForfeitSeatRequest, context: Call
    ) -> pb.ForfeitSeatResponse:
        await self.called("ForfeitSeat", request, context)
        return pb.ForfeitSeatResponse(version=5)

    async def AbortGame(self, request: pb.AbortGameRequest, context: Call) -> pb.AbortGameResponse:
        await self.called("AbortGame", request, context)
        return pb.AbortGameResponse(version=6)

    async def ListVariants(
        self, request: rulebook_pb2.ListVariantsRequest, context: Call
    ) -> rulebook_pb2.ListVariantsResponse:
        await self.called("ListVariants", request, context)
        return rulebook_pb2.ListVariantsResponse(variants=[_portes()])

    async def GetVariant(
        self, request: rulebook_pb2.GetVariantRequest, context: Call
    ) -> rulebook_pb2.GetVariantResponse:
        await self.called("GetVariant", request, context)
        if request.variant != "portes":
            message = f"the house does not play {request.variant}"
            await refuse(context, grpc.StatusCode.NOT_FOUND, "VARIANT_UNKNOWN", message)
        return rulebook_pb2.GetVariantResponse(variant=_portes())

    async def GetRules(
        self, request: rulebook_pb2.GetRulesRequest, context: Call
    ) -> rulebook_pb2.GetRulesResponse:
        await self.called("GetRules", request, context)
        greek = request.language == rulebook_pb2.LANGUAGE_EL
        return rulebook_pb2.GetRulesResponse(
            variant=request.variant,
            edition=1,
            rules=[
                rulebook_pb2.Rule(rule="V2.2", text="Διπλές." if greek else "Doubles are four."),
                rulebook_pb2.Rule(rule="V2.3", text="Και τα δύο." if greek else "Both dice."),
            ],
        )


def _portes() -> rulebook_pb2.Variant:
    option = rulebook_pb2.Option(
        name="rule_set", values=["zarclub", "betomall"], default_value="zarclub"
    )
    return rulebook_pb2.Variant(
        variant="portes",
        edition=1,
        name=rulebook_pb2.Text(el="Πόρτες", en="Portes"),
        seats=2,
        target_min=1,
        target_max=15,
        target_default=1,
        options=[option],
    )


@contextlib.asynccontextmanager
async def serving(house: FakeHouse, port: int = 0) -> AsyncIterator[str]:
    """The fake on a port; its address."""
    server = grpc.aio.server()
    game_pb2_grpc.add_GameServiceServicer_to_server(house, server)
    rulebook_pb2_grpc.add_RuleBookServiceServicer_to_server(house, server)
    wallet_pb2_grpc.add_WalletServiceServicer_to_server(house.ledger, server)
    settlement_pb2_grpc.add_SettlementServiceServicer_to_server(house.settlements, server)
    clock_pb2_grpc.add_ClockServiceServicer_to_server(house.clocks, server)
    quick_match_pb2_grpc.add_QuickMatchServiceServicer_to_server(house.queue, server)
    tables_pb2_grpc.add_TableServiceServicer_to_server(house.seating, server)
    players_pb2_grpc.add_PlayerServiceServicer_to_server(house.players, server)
    audit_pb2_grpc.add_AuditServiceServicer_to_server(house.audits, server)
    tournaments_pb2_grpc.add_TournamentServiceServicer_to_server(house.tournaments, server)
    bound = server.add_insecure_port(f"127.0.0.1:{port}")
    await server.start()
    try:
        yield f"127.0.0.1:{bound}"
    finally:
        await server.stop(None)


def everywhere(address: str) -> House:
    """A client's house whose services are all at one address."""
    return House(address, clock=address, settlement=address, matchmaking=address)


@contextlib.contextmanager
def in_thread(house: FakeHouse) -> Iterator[str]:
    """The fake in a loop of its own, for commands that run their own loop; its address."""
    addresses: list[str] = []
    started, loop = threading.Event(), asyncio.new_event_loop()
    stop = asyncio.Event()

    async def run() -> None:
        async with serving(house) as address:
            addresses.append(address)
            started.set()
            await stop.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(run(),))
    thread.start()
    started.wait(10)
    try:
        yield addresses[0]
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(10)
        loop.close()
