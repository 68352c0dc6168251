"""QuickMatchService: message -> domain -> message."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta
from secrets import randbelow
from typing import Final
from uuid import UUID

import grpc
from kafeneio.common.v1 import errors_pb2
from kafeneio.matchmaking.v1 import quick_match_pb2 as pb
from kafeneio.matchmaking.v1 import quick_match_pb2_grpc
from kafeneio_client.errors import Refused
from kafeneio_runtime.auth import is_subject
from kafeneio_runtime.clock import Time
from kafeneio_runtime.errors import (
    Refusal,
    exists,
    failed,
    forbidden,
    malformed,
    not_found,
    not_yet,
    unauthenticated,
    unavailable,
)
from kafeneio_runtime.ids import parse_id
from kafeneio_runtime.interceptors.current import caller, remaining_time, request_digest
from kafeneio_runtime.requests import once
from kafeneio_runtime.streams import Pace

from kafeneio_matchmaking import wire
from kafeneio_matchmaking.domain import (
    COMPUTER,
    LIVE,
    End,
    NewTicket,
    NotOfferedError,
    Offer,
    Terms,
    Ticket,
    TicketMove,
    Wish,
    settle,
    sources,
)
from kafeneio_matchmaking.peers import CALL_SECONDS, Peers, UnansweredError
from kafeneio_matchmaking.replicas import Replicas
from kafeneio_matchmaking.storage import Change, Matchmaking, Work

TIME_TO_LIVE: Final = timedelta(minutes=10)
"""Unless the request says otherwise."""

OFFER_SECONDS: Final = 60.0
"""So long it is not asked again what `rules` offers: variants come and go with releases."""

LOOK_SECONDS: Final = 2.0
"""So often a watched ticket is looked at although no note of a change has come."""


@dataclass(slots=True)
class Offers:
    """What `rules` offers, asked now and then."""

    peers: Peers
    time: Time
    _known: dict[str, tuple[float, Offer]] = field(default_factory=dict)

    async def find(self, variant: str) -> Offer:
        """The variant. Raises VARIANT_UNKNOWN, or UNAVAILABLE where nobody can be asked."""
        known = self._known.get(variant)
        if known is not None and self.time.monotonic() < known[0]:
            return known[1]
        remaining = remaining_time()
        within = CALL_SECONDS if remaining is None else min(remaining, CALL_SECONDS)
        try:
            offer = await self.peers.offer(variant, within)
        except Refused as refused:
            text = refused.message
            raise not_found(errors_pb2.ERROR_REASON_VARIANT_UNKNOWN, text) from refused
        except UnansweredError as error:
            raise unavailable("`rules` can't be asked now, please try again") from error
        self._known[variant] = (self.time.monotonic() + OFFER_SECONDS, offer)
        return offer


@dataclass(frozen=True, slots=True)
class QuickMatchServicer(quick_match_pb2_grpc.QuickMatchServiceServicer):
    """The calls of `kafeneio.matchmaking.v1.QuickMatchService`; their meaning stands in the
    contract. `draw(n)` draws one of 0 to n - 1."""

    storage: Matchmaking
    offers: Offers
    replicas: Replicas
    pace: Pace
    fee_basis_points: int
    draw: Callable[[int], int] = randbelow

    async def Enqueue(self, request: pb.EnqueueRequest, context: object) -> pb.EnqueueResponse:
        """Put the caller into the queue."""
        ticket_id, player = parse_id(request.ticket_id, "ticket_id"), _person()
        partner = _partner(request.partner_player_id, player)
        wish = wire.wish(request.terms, partner=bool(partner))
        terms = await self._terms(request.terms.variant, wish)
        time_to_live = TIME_TO_LIVE
        if request.HasField("time_to_live"):
            time_to_live = request.time_to_live.ToTimedelta()
        new = NewTicket(ticket_id, player, terms, time_to_live, partner)

        async def effect(work: Work) -> bytes:
            ticket = await _enqueued(work, new)
            return pb.EnqueueResponse(ticket=wire.ticket(ticket)).SerializeToString()

        answer = await self._once("Enqueue", request.request_id, effect)
        return pb.EnqueueResponse.FromString(answer)

    async def PlayHouse(
        self, request: pb.PlayHouseRequest, context: object
    ) -> pb.PlayHouseResponse:
        """A table against the computer."""
        ticket_id, player = parse_id(request.ticket_id, "ticket_id"), _person()
        terms = await self._terms(request.terms.variant, wire.wish(request.terms, house=True))
        seat = self.draw(terms.seats)
        new = NewTicket(ticket_id, player, terms, TIME_TO_LIVE, house_seat=seat)

        async def effect(work: Work) -> bytes:
            ticket = await _enqueued(work, new)
            return pb.PlayHouseResponse(ticket=wire.ticket(ticket)).SerializeToString()

        answer = await self._once("PlayHouse", request.request_id, effect)
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

        answer = await self._once("Cancel", request.request_id, effect)
        return pb.CancelResponse.FromString(answer)

    async def WatchTicket(
        self, request: pb.WatchTicketRequest, context: object
    ) -> AsyncIterator[pb.WatchTicketResponse]:
        """A ticket as it stands, then each change."""
        ticket_id = parse_id(request.ticket_id, "ticket_id")
        sent, pulse = request.after_version, self.pace.begin()
        with self.replicas.bell(ticket_id) as bell:
            ticket = _own(await self.storage.ticket(ticket_id), ticket_id)
            if sent > ticket.version:
                raise not_yet(ticket.version)
            while True:
                if ticket.version > sent:
                    yield pb.WatchTicketResponse(ticket=wire.ticket(ticket))
                    sent = ticket.version
                    pulse.spoke()
                if ticket.status not in LIVE:
                    return
                if pulse.is_over:
                    yield pb.WatchTicketResponse(draining=pb.Draining())
                    return
                if await pulse.beats_before(bell, LOOK_SECONDS):
                    beat = pb.Heartbeat(server_time=wire.timestamp(self.pace.time.now()))
                    yield pb.WatchTicketResponse(heartbeat=beat)
                bell.clear()  # before looking, so that no change is missed
                ticket = _own(await self.storage.ticket(ticket_id), ticket_id)

    async def _terms(self, variant: str, wish: Wish) -> Terms:
        """What a wish comes to. Raises VARIANT_UNKNOWN or OPTION_INVALID."""
        if any("\0" in text for text in (variant, *wish.options, *wish.options.values())):
            raise malformed("terms", "must not have a NUL in it")
        offer = await self.offers.find(variant)
        try:
            return settle(wish, offer, self.fee_basis_points)
        except NotOfferedError as error:
            if error.name == "edition":
                reason = errors_pb2.ERROR_REASON_VARIANT_UNKNOWN
                raise not_found(reason, str(error)) from error
            reason = errors_pb2.ERROR_REASON_OPTION_INVALID
            raise failed(reason, str(error), option=error.name) from error

    async def _once(
        self, method: str, request_id: str, effect: Callable[[Work], Awaitable[bytes]]
    ) -> bytes:
        """Run a call in one transaction, and at most once."""
        async with self.storage.work() as work:
            return await once(
                work.connection,
                caller().subject,
                method,
                parse_id(request_id, "request_id"),
                request_digest(),
                lambda: effect(work),
            )


async def _enqueued(work: Work, new: NewTicket) -> Ticket:
    """The new ticket, or the one that the id stands for. Raises TICKET_EXISTS or TICKET_LIVE."""
    if new.partner:
        await work.lock_partners(new.player_id, new.partner)
    while True:
        made = await work.enqueue(new)
        if made is not None:
            return await work.join(made) if new.partner else made
        found = await work.ticket(new.ticket_id)
        if found is not None:
            if found.is_of(new):
                return found
            raise exists(errors_pb2.ERROR_REASON_TICKET_EXISTS, "the id is taken by another ticket")
        live = await work.live(new.player_id)
        if live is not None:
            raise Refusal(
                grpc.StatusCode.ALREADY_EXISTS,
                errors_pb2.ERROR_REASON_TICKET_LIVE,
                "you are in the queue already",
                metadata={"ticket_id": str(live)},
            )
        # What stood in the way has ended meanwhile.


def _person() -> str:
    """The caller, who is no computer. Raises TOKEN_INVALID."""
    player = caller().subject
    if player.startswith(COMPUTER):
        reason = errors_pb2.ERROR_REASON_TOKEN_INVALID
        raise unauthenticated(reason, "ids of this kind are kept for computers")
    return player


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
