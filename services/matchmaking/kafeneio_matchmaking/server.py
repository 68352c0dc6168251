"""QuickMatchService: message -> domain -> message."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from secrets import randbelow
from typing import Final
from uuid import UUID

from kafeneio.common.v1 import errors_pb2
from kafeneio.matchmaking.v1 import quick_match_pb2 as pb
from kafeneio.matchmaking.v1 import quick_match_pb2_grpc
from kafeneio_runtime.auth import is_subject
from kafeneio_runtime.errors import (
    Refusal,
    exists,
    failed,
    forbidden,
    malformed,
    not_found,
    not_yet,
)
from kafeneio_runtime.ids import parse_id
from kafeneio_runtime.interceptors.current import caller
from kafeneio_runtime.streams import Pace

from kafeneio_matchmaking import wire
from kafeneio_matchmaking.domain import (
    LIVE,
    End,
    NewTicket,
    Ticket,
    TicketMove,
    sources,
)
from kafeneio_matchmaking.entrance import Entrance, occupied, person
from kafeneio_matchmaking.replicas import Replicas
from kafeneio_matchmaking.storage import Matchmaking, Work
from kafeneio_matchmaking.tickets import Change
from kafeneio_matchmaking.watching import Sign, follow

TIME_TO_LIVE: Final = timedelta(minutes=10)
"""Unless the request says otherwise."""


@dataclass(frozen=True, slots=True)
class QuickMatchServicer(quick_match_pb2_grpc.QuickMatchServiceServicer):
    """The calls of `kafeneio.matchmaking.v1.QuickMatchService`; their meaning stands in the
    contract. `draw(n)` draws one of 0 to n - 1."""

    storage: Matchmaking
    entrance: Entrance
    replicas: Replicas
    pace: Pace
    draw: Callable[[int], int] = randbelow

    async def Enqueue(self, request: pb.EnqueueRequest, context: object) -> pb.EnqueueResponse:
        """Put the caller into the queue."""
        ticket_id, player = parse_id(request.ticket_id, "ticket_id"), person()
        partner = _partner(request.partner_player_id, player)
        wish = wire.wish(request.terms, partner=bool(partner))
        terms = await self.entrance.terms(request.terms.variant, wish)
        time_to_live = TIME_TO_LIVE
        if request.HasField("time_to_live"):
            time_to_live = request.time_to_live.ToTimedelta()
        new = NewTicket(ticket_id, player, terms, time_to_live, partner)

        async def effect(work: Work) -> bytes:
            ticket = await self._enqueued(work, new)
            return pb.EnqueueResponse(ticket=wire.ticket(ticket)).SerializeToString()

        answer = await self.entrance.enter("Enqueue", request.request_id, effect)
        return pb.EnqueueResponse.FromString(answer)

    async def PlayHouse(
        self, request: pb.PlayHouseRequest, context: object
    ) -> pb.PlayHouseResponse:
        """A table against the computer."""
        ticket_id, player = parse_id(request.ticket_id, "ticket_id"), person()
        terms = await self.entrance.terms(
            request.terms.variant, wire.wish(request.terms, house=True)
        )
        seat = self.draw(terms.seats)
        new = NewTicket(ticket_id, player, terms, TIME_TO_LIVE, house_seat=seat)

        async def effect(work: Work) -> bytes:
            ticket = await self._enqueued(work, new)
            return pb.PlayHouseResponse(ticket=wire.ticket(ticket)).SerializeToString()

        answer = await self.entrance.enter("PlayHouse", request.request_id, effect)
        return pb.PlayHouseResponse.FromString(answer)

    async def Cancel(self, request: pb.CancelRequest, context: object) -> pb.CancelResponse:
        """Take a ticket out of the queue."""
        ticket_id = parse_id(request.ticket_id, "ticket_id")

        async def effect(work: Work) -> bytes:
            # Locked, so that a pairing comes before it or after it.
            found = _own(await work.ticket(ticket_id), ticket_id)
            ticket, partner = await work.locked(found)
            if ticket.status not in sources(TicketMove.CANCEL):
                raise _too_late(ticket)
            changes = [Change(ticket_id, end=End.CANCELLED)]
            if partner is not None:
                changes.append(Change(partner.ticket_id, end=End.PARTNER_LEFT))
            moved = await work.move(TicketMove.CANCEL, changes)
            (cancelled,) = (each for each in moved if each.ticket_id == ticket_id)
            return pb.CancelResponse(ticket=wire.ticket(cancelled)).SerializeToString()

        answer = await self.entrance.once("Cancel", request.request_id, effect)
        return pb.CancelResponse.FromString(answer)

    async def WatchTicket(
        self, request: pb.WatchTicketRequest, context: object
    ) -> AsyncIterator[pb.WatchTicketResponse]:
        """A ticket as it stands, then each change."""
        ticket_id = parse_id(request.ticket_id, "ticket_id")
        sent = request.after_version

        async def look() -> tuple[Sequence[Ticket], bool]:
            nonlocal sent
            ticket = _own(await self.storage.ticket(ticket_id), ticket_id)
            if sent > ticket.version:
                raise not_yet(ticket.version)
            found = [ticket] if ticket.version > sent else []
            sent = ticket.version
            return found, ticket.status not in LIVE

        with self.replicas.bell(ticket_id) as bell:
            async for each in follow(self.pace, bell, look):
                if each is Sign.GOODBYE:
                    yield pb.WatchTicketResponse(draining=pb.Draining())
                elif each is Sign.BEAT:
                    yield pb.WatchTicketResponse(heartbeat=wire.heartbeat(self.pace.time.now()))
                else:
                    yield pb.WatchTicketResponse(ticket=wire.ticket(each))

    async def _enqueued(self, work: Work, new: NewTicket) -> Ticket:
        """The new ticket, or the one that the id stands for. Raises TICKET_EXISTS, TICKET_LIVE,
        SEATED, or what the gate refuses him for."""
        if new.partner:
            await work.lock_partners(new.player_id, new.partner)
        while True:
            made = await work.enqueue(new)
            if made is not None:
                await self.entrance.gate.admit(work.connection, [new.player_id], new.terms)
                return await work.join(made) if new.partner else made
            found = await work.ticket(new.ticket_id)
            if found is not None:
                if found.is_of(new):
                    return found
                reason = errors_pb2.ERROR_REASON_TICKET_EXISTS
                raise exists(reason, "the id is taken by another ticket")
            place = await work.place(new.player_id)
            if place is not None:
                raise occupied(place)
            # What stood in the way has ended meanwhile.


def _partner(named: str, player: str) -> str:
    """With whom a player wants to sit. Raises MALFORMED where nobody can be called so."""
    if named == player or (named and not is_subject(named)):
        raise malformed("partner_player_id", "must be another player")
    return named


def _own(ticket: Ticket | None, ticket_id: UUID) -> Ticket:
    """The caller's ticket. Raises TICKET_UNKNOWN or NOT_YOUR_TICKET."""
    if ticket is None:
        raise not_found(errors_pb2.ERROR_REASON_TICKET_UNKNOWN, f"there is no ticket {ticket_id}")
    if ticket.player_id != caller().subject:
        raise forbidden(errors_pb2.ERROR_REASON_NOT_YOUR_TICKET, "the ticket is another player's")
    return ticket


def _too_late(ticket: Ticket) -> Refusal:
    """Why a ticket can't be cancelled."""
    if ticket.end is not None:
        reason = errors_pb2.ERROR_REASON_TICKET_OVER
        return failed(reason, "the ticket has ended", end=ticket.end.name)
    reason = errors_pb2.ERROR_REASON_TICKET_PAIRED
    if ticket.game_id is not None:
        return failed(reason, "there is a game already", game_id=str(ticket.game_id))
    return failed(reason, "others were found just before")
