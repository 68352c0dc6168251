"""The queue of the fake house: two who want the same are paired at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import grpc
from kafeneio.matchmaking.v1 import quick_match_pb2 as pb
from kafeneio.matchmaking.v1 import quick_match_pb2_grpc
from kafeneio_client import new_id

from tests.client.fake_calls import Call, Desk, refuse
from tests.client.fake_money import FakeSettlements


@dataclass
class FakeQueue(quick_match_pb2_grpc.QuickMatchServiceServicer):
    """The servicer of QuickMatchService."""

    desk: Desk
    settlements: FakeSettlements
    tickets: dict[str, pb.Ticket] = field(default_factory=dict)
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def _move(self, ticket: pb.Ticket, status: pb.TicketStatus.ValueType) -> None:
        ticket.status = status
        ticket.version += 1
        self.changed.set()
        self.changed = asyncio.Event()

    async def Enqueue(self, request: pb.EnqueueRequest, context: Call) -> pb.EnqueueResponse:
        name = await self.desk.called("Enqueue", request, context)
        ticket = pb.Ticket(ticket_id=request.ticket_id, player_id=name, terms=request.terms)
        waiting = [
            one
            for one in self.tickets.values()
            if one.status == pb.TICKET_STATUS_QUEUED and one.terms == ticket.terms
        ]
        self.tickets[ticket.ticket_id] = ticket
        self._move(ticket, pb.TICKET_STATUS_QUEUED)
        shown = pb.Ticket()
        shown.CopyFrom(ticket)
        stake = ticket.terms.stake
        if self.settlements.ledger.balance(name) < stake.minor_units:
            ticket.end = pb.TICKET_END_INSUFFICIENT_FUNDS
            self._move(ticket, pb.TICKET_STATUS_ENDED)
        elif waiting:
            self._pair(waiting[0], ticket)
        return pb.EnqueueResponse(ticket=shown)

    async def PlayHouse(self, request: pb.PlayHouseRequest, context: Call) -> pb.PlayHouseResponse:
        """A table with nobody but the player, whose computers do not move."""
        name = await self.desk.called("PlayHouse", request, context)
        ticket = pb.Ticket(
            ticket_id=request.ticket_id,
            player_id=name,
            terms=request.terms,
            game_id=new_id(),
            house=True,
        )
        self.tickets[ticket.ticket_id] = ticket
        names = (name, "computer-1")
        self.desk.open_table(ticket.game_id, ticket.terms.variant, ticket.terms.target, names)
        self._move(ticket, pb.TICKET_STATUS_MATCHED)
        return pb.PlayHouseResponse(ticket=ticket)

    def _pair(self, first: pb.Ticket, second: pb.Ticket) -> None:
        game_id, names = new_id(), (first.player_id, second.player_id)
        self.desk.open_table(game_id, first.terms.variant, first.terms.target, names)
        if first.terms.stake.minor_units:
            self.settlements.hold(game_id, names, first.terms.stake)
        for ticket in (first, second):
            ticket.game_id = game_id
            self._move(ticket, pb.TICKET_STATUS_MATCHED)

    async def Cancel(self, request: pb.CancelRequest, context: Call) -> pb.CancelResponse:
        await self.desk.called("Cancel", request, context)
        ticket = self.tickets[request.ticket_id]
        ticket.end = pb.TICKET_END_CANCELLED
        self._move(ticket, pb.TICKET_STATUS_ENDED)
        return pb.CancelResponse(ticket=ticket)

    async def WatchTicket(
        self, request: pb.WatchTicketRequest, context: Call
    ) -> AsyncIterator[pb.WatchTicketResponse]:
        name = await self.desk.called("WatchTicket", request, context)
        ticket, sent = self.tickets[request.ticket_id], request.after_version
        if ticket.player_id != name:
            code = grpc.StatusCode.PERMISSION_DENIED
            await refuse(context, code, "NOT_YOUR_TICKET", "it is another player's")
        while True:
            changed = self.changed
            if ticket.version > sent:
                yield pb.WatchTicketResponse(ticket=ticket)
                sent = ticket.version
            if ticket.status in (pb.TICKET_STATUS_MATCHED, pb.TICKET_STATUS_ENDED):
                return
            await changed.wait()
