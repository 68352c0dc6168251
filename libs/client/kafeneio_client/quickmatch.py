"""The calls of `kafeneio.matchmaking.v1.QuickMatchService`."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from datetime import timedelta
from typing import Final

import grpc
from google.protobuf.duration_pb2 import Duration
from kafeneio.matchmaking.v1 import quick_match_pb2 as pb
from kafeneio.matchmaking.v1 import quick_match_pb2_grpc

from kafeneio_client.channel import Caller, new_id
from kafeneio_client.money import Money
from kafeneio_client.time import Time
from kafeneio_client.versions import Versions
from kafeneio_client.watch import Stream, Watcher

_FINAL: Final = frozenset(
    {pb.TICKET_STATUS_MATCHED, pb.TICKET_STATUS_STARTED, pb.TICKET_STATUS_ENDED}
)


def _ticket(message: pb.WatchTicketResponse) -> pb.Ticket | None:
    return message.ticket if message.HasField("ticket") else None


def quick_terms(
    variant: str,
    edition: int,
    target: int,
    options: Mapping[str, str] | None,
    stake: Money | None,
) -> pb.QuickTerms:
    """What is to be played, and for how much."""
    terms = pb.QuickTerms(variant=variant, edition=edition, options=options or {}, target=target)
    if stake is not None:
        terms.stake.CopyFrom(stake.message())
    return terms


class Queue:
    """The caller's place in the queue.

    Whatever changes something makes a request id of its own. To send a call again whose answer
    got lost, give it the `request_id` of the error that it raised.
    """

    def __init__(self, channel: grpc.aio.Channel, caller: Caller, time: Time) -> None:
        self._stub = quick_match_pb2_grpc.QuickMatchServiceStub(channel)
        self._caller = caller
        self._time = time

    async def enqueue(
        self,
        variant: str,
        *,
        stake: Money | None = None,
        target: int = 0,
        edition: int = 0,
        options: Mapping[str, str] | None = None,
        time_to_live: timedelta | None = None,
        partner: str = "",
        ticket_id: str = "",
        request_id: str = "",
    ) -> pb.Ticket:
        """Enqueue: wait for others who want the same, with `partner` for one's own side once he has
        named the caller on the same terms. Role: player."""
        request = pb.EnqueueRequest(
            request_id=request_id or new_id(),
            ticket_id=ticket_id or new_id(),
            terms=quick_terms(variant, edition, target, options, stake),
            partner_player_id=partner,
        )
        if time_to_live is not None:
            duration = Duration()
            duration.FromTimedelta(time_to_live)
            request.time_to_live.CopyFrom(duration)
        answer = await self._caller.call(self._stub.Enqueue, request, request.request_id)
        return answer.ticket

    async def play_house(
        self,
        variant: str,
        *,
        target: int = 0,
        edition: int = 0,
        options: Mapping[str, str] | None = None,
        ticket_id: str = "",
        request_id: str = "",
    ) -> pb.Ticket:
        """PlayHouse: a table against the computer, for nothing. Role: player."""
        request = pb.PlayHouseRequest(
            request_id=request_id or new_id(),
            ticket_id=ticket_id or new_id(),
            terms=quick_terms(variant, edition, target, options, None),
        )
        answer = await self._caller.call(self._stub.PlayHouse, request, request.request_id)
        return answer.ticket

    async def cancel(self, ticket_id: str, *, request_id: str = "") -> pb.Ticket:
        """Cancel: leave the queue, and with one's partner. Role: the ticket's player."""
        request = pb.CancelRequest(request_id=request_id or new_id(), ticket_id=ticket_id)
        answer = await self._caller.call(self._stub.Cancel, request, request.request_id)
        return answer.ticket

    def watch(self, ticket_id: str, after_version: int = 0) -> AsyncGenerator[pb.Ticket, None]:
        """WatchTicket: the ticket as it stands, then each change, until it is MATCHED or ENDED.

        Not everybody may join the game in time: then the ticket is QUEUED again, or ENDED. What
        becomes of a ticket that is MATCHED is watched with its version as `after_version`; once
        the game has begun it is STARTED. It is resumed like `games.watch`, and closed like it.
        """

        def open_stream(version: int) -> Stream[pb.WatchTicketResponse]:
            request = pb.WatchTicketRequest(ticket_id=ticket_id, after_version=version)
            return self._stub.WatchTicket(request, metadata=self._caller.metadata)

        source = Versions(open_stream, _ticket, lambda each: each.status in _FINAL, after_version)
        return Watcher(source, self._time, self._caller.address).updates()

    async def final(self, ticket_id: str, after_version: int = 0) -> pb.Ticket:
        """WatchTicket: wait until the ticket is MATCHED, STARTED or ENDED, and return it."""
        ticket = pb.Ticket(ticket_id=ticket_id)
        async with aclosing(self.watch(ticket_id, after_version)) as changes:
            async for change in changes:
                ticket = change
        return ticket
