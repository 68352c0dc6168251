"""What all ways to a seat have in common: who asks, on which terms, whether he is free and may
play, and that a call that is sent twice counts once.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final

import grpc
from kafeneio.common.v1 import errors_pb2
from kafeneio_client.errors import Refused
from kafeneio_runtime.clock import Time
from kafeneio_runtime.errors import (
    Refusal,
    failed,
    malformed,
    not_found,
    unauthenticated,
    unavailable,
)
from kafeneio_runtime.interceptors.current import caller, remaining_time

from kafeneio_matchmaking.domain import COMPUTER, NotOfferedError, Offer, Terms, Wish, settle
from kafeneio_matchmaking.hearing import Hearing
from kafeneio_matchmaking.peers import CALL_SECONDS, Peers, UnansweredError
from kafeneio_matchmaking.players.gate import Gate
from kafeneio_matchmaking.players.guards import at_most_once
from kafeneio_matchmaking.storage import Matchmaking, Work
from kafeneio_matchmaking.tickets import Place, PlaceKind

OFFER_SECONDS: Final = 60.0
"""So long it is not asked again what `rules` offers: variants come and go with releases."""

OCCUPIED: Final = (errors_pb2.ERROR_REASON_TICKET_LIVE, errors_pb2.ERROR_REASON_SEATED)


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

    async def settle(self, variant: str, wish: Wish, fee_basis_points: int) -> Terms:
        """What a wish comes to. Raises VARIANT_UNKNOWN, OPTION_INVALID, MALFORMED or
        UNAVAILABLE."""
        if any("\0" in text for text in (variant, *wish.options, *wish.options.values())):
            raise malformed("terms", "must not have a NUL in it")
        offer = await self.find(variant)
        try:
            return settle(wish, offer, fee_basis_points)
        except NotOfferedError as error:
            if error.name == "edition":
                reason = errors_pb2.ERROR_REASON_VARIANT_UNKNOWN
                raise not_found(reason, str(error)) from error
            reason = errors_pb2.ERROR_REASON_OPTION_INVALID
            raise failed(reason, str(error), option=error.name) from error


@dataclass(frozen=True, slots=True)
class Entrance:
    """The way in. `fee_basis_points` is the house's share of the pot."""

    storage: Matchmaking
    offers: Offers
    gate: Gate
    hearing: Hearing
    fee_basis_points: int

    async def terms(self, variant: str, wish: Wish) -> Terms:
        """What a wish comes to, see `Offers.settle`."""
        return await self.offers.settle(variant, wish, self.fee_basis_points)

    async def once(
        self, method: str, request_id: str, effect: Callable[[Work], Awaitable[bytes]]
    ) -> bytes:
        """Run a call in one transaction, and at most once."""
        return await at_most_once(self.storage, method, request_id, effect)

    async def enter(
        self, method: str, request_id: str, effect: Callable[[Work], Awaitable[bytes]]
    ) -> bytes:
        """The same of a call that gives the caller a place.

        He is free again as soon as his game has started, however slowly the news of that comes: so
        before he is refused for a game that waits for its seats, `rules` is asked for it.
        """
        try:
            return await self.once(method, request_id, effect)
        except Refusal as refusal:
            if refusal.reason not in OCCUPIED:
                raise
            game_id = await self.storage.awaited_game(caller().subject)
            if game_id is None:
                raise
            await self.hearing.catch_up(game_id)
        return await self.once(method, request_id, effect)


def occupied(place: Place) -> Refusal:
    """Why a player who waits or sits somewhere can't have another place."""
    if place.kind is PlaceKind.TABLE:
        reason, text = errors_pb2.ERROR_REASON_SEATED, "you sit at a table already"
    else:
        reason, text = errors_pb2.ERROR_REASON_TICKET_LIVE, "you are in the queue already"
    metadata = {f"{place.kind.value}_id": str(place.id)}
    return Refusal(grpc.StatusCode.ALREADY_EXISTS, reason, text, metadata=metadata)


def person() -> str:
    """The caller, who is no computer. Raises TOKEN_INVALID."""
    player = caller().subject
    if player.casefold().startswith(COMPUTER):
        reason = errors_pb2.ERROR_REASON_TOKEN_INVALID
        raise unauthenticated(reason, "ids of this kind are kept for computers")
    return player
