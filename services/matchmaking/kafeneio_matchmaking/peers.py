"""What `matchmaking` asks of the other services, and which answers settle a question."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Final, TypeVar
from uuid import UUID

import grpc
from google.protobuf.message import Message
from kafeneio.rules.v1 import events_pb2, game_pb2, rulebook_pb2
from kafeneio.settlement.v1 import events_pb2 as settlement_events_pb2
from kafeneio.settlement.v1 import settlement_pb2
from kafeneio_client.errors import Refused, Unreachable, from_rpc
from kafeneio_runtime.bus import NotNowError
from kafeneio_runtime.directory import Directory, UnknownServiceError
from kafeneio_runtime.events import PAGE, all_after

from kafeneio_matchmaking import wire
from kafeneio_matchmaking.domain import Offer
from kafeneio_matchmaking.matching import Match, MatchMove

Query = TypeVar("Query", bound=Message)
Answer = TypeVar("Answer", bound=Message)

CALL_SECONDS: Final = 5.0
"""A call that takes longer is sent again: it has the same effect, and the same answer."""

DEFINITE: Final = frozenset(
    {
        grpc.StatusCode.INVALID_ARGUMENT,
        grpc.StatusCode.NOT_FOUND,
        grpc.StatusCode.FAILED_PRECONDITION,
        grpc.StatusCode.ALREADY_EXISTS,
    }
)
"""With these a service has judged what was asked. Any other (the peer is away, busy, broken, or
does not let us in) says nothing of what became of the call."""


PLAYERS: Final = "players"
"""The option with which a table chooses how many play."""


class UnansweredError(NotNowError):
    """Nobody has settled the question: whether the call had its effect is unknown."""


@dataclass(frozen=True, slots=True)
class Peers:
    """The other services. Each call raises UnansweredError, or Refused where the answer is no."""

    directory: Directory

    # --- rules -------------------------------------------------------------------------------

    async def offer(self, variant: str, within: float) -> Offer:
        """What `rules` offers."""
        answer = await self._ask(
            "rules",
            "/kafeneio.rules.v1.RuleBookService/GetVariant",
            rulebook_pb2.GetVariantRequest(variant=variant),
            rulebook_pb2.GetVariantResponse,
            within,
        )
        return wire.offer(answer.variant, partial(seats, answer.variant))

    async def create(self, match: Match) -> datetime | None:
        """Make the game; until when it waits for its seats."""
        request = game_pb2.CreateGameRequest(
            request_id=str(match.request_id("CreateGame")),
            game_id=str(match.game_id),
            terms=wire.rules_terms(match.terms),
            player_ids=match.players,
            computer_seats=match.computer_seats,
        )
        path = "/kafeneio.rules.v1.GameService/CreateGame"
        answer = await self._once("rules", path, request, game_pb2.CreateGameResponse)
        return None if answer is None else wire.moment(answer.game.join_by)

    async def cancel(self, match: Match) -> MatchMove:
        """See to it that the game never starts; PLAYED where it is too late for that."""
        request = game_pb2.CancelGameRequest(
            request_id=str(match.request_id("CancelGame")), game_id=str(match.game_id)
        )
        path = "/kafeneio.rules.v1.GameService/CancelGame"
        try:
            await self._once("rules", path, request, game_pb2.CancelGameResponse)
        except Refused as refused:
            if refused.reason == "GAME_STARTED":
                return MatchMove.PLAYED
            if refused.reason == "GAME_OVER" and await self._decided(match):
                return MatchMove.PLAYED
            if refused.reason != "GAME_OVER":
                raise UnansweredError(f"CancelGame: {refused.reason}") from refused
        return MatchMove.CANCEL

    async def _decided(self, match: Match) -> bool:
        """Whether the game, which is over, has a winner; or has it ended void?"""
        answer = await self._ask(
            "rules",
            "/kafeneio.rules.v1.GameService/GetGame",
            game_pb2.GetGameRequest(game_id=str(match.game_id)),
            game_pb2.GetGameResponse,
        )
        return answer.game.position.outcome.HasField("decided")

    async def status(self, game_id: UUID) -> game_pb2.GameStatus.ValueType:
        """Where a game stands; raises Refused where `rules` does not know it."""
        answer = await self._ask(
            "rules",
            "/kafeneio.rules.v1.GameService/GetTurn",
            game_pb2.GetTurnRequest(game_id=str(game_id)),
            game_pb2.GetTurnResponse,
        )
        return answer.status

    async def events(self, game_id: UUID) -> list[events_pb2.GameEvent]:
        """Everything that `rules` has announced about a game."""

        async def page(after: int) -> Sequence[events_pb2.GameEvent]:
            request = game_pb2.ListEventsRequest(
                game_id=str(game_id), after_sequence=after, page_size=PAGE
            )
            path = "/kafeneio.rules.v1.GameService/ListEvents"
            return (await self._ask("rules", path, request, game_pb2.ListEventsResponse)).events

        return await all_after(0, page)

    # --- settlement --------------------------------------------------------------------------

    async def hold(self, match: Match) -> None:
        """Hold everybody's stake, or nobody's."""
        request = settlement_pb2.HoldStakesRequest(
            request_id=str(match.request_id("HoldStakes")),
            game_id=str(match.game_id),
            player_ids=match.players,
            stake=wire.money(match.terms),
            fee_basis_points=match.terms.fee_basis_points,
        )
        path = "/kafeneio.settlement.v1.SettlementService/HoldStakes"
        await self._once("settlement", path, request, settlement_pb2.HoldStakesResponse)

    async def release(self, match: Match) -> str:
        """Give the stakes back; the reason where there was nothing to give back any more."""
        request = settlement_pb2.ReleaseStakesRequest(
            request_id=str(match.request_id("ReleaseStakes")), game_id=str(match.game_id)
        )
        path = "/kafeneio.settlement.v1.SettlementService/ReleaseStakes"
        try:
            await self._once("settlement", path, request, settlement_pb2.ReleaseStakesResponse)
        except Refused as refused:
            return refused.reason
        return ""

    async def settlement_events(self, game_id: UUID) -> list[settlement_events_pb2.SettlementEvent]:
        """Everything that `settlement` has announced about a game."""

        async def page(after: int) -> Sequence[settlement_events_pb2.SettlementEvent]:
            request = settlement_pb2.ListEventsRequest(
                game_id=str(game_id), after_sequence=after, page_size=PAGE
            )
            path = "/kafeneio.settlement.v1.SettlementService/ListEvents"
            answer = settlement_pb2.ListEventsResponse
            return (await self._ask("settlement", path, request, answer)).events

        return await all_after(0, page)

    # --- calling -----------------------------------------------------------------------------

    async def _once(
        self, service: str, path: str, request: Query, answer: type[Answer]
    ) -> Answer | None:
        """The answer to a call that changes something; None where it has been given before and is
        not known here any more."""
        try:
            return await self._ask(service, path, request, answer)
        except Refused as refused:
            # Only a success is kept under a request id, and the id is derived from the match: so it
            # was our own call, written in other bytes by an earlier release of ours.
            if refused.reason == "REQUEST_ID_REUSED":
                return None
            raise

    async def _ask(
        self,
        service: str,
        path: str,
        request: Query,
        answer: type[Answer],
        within: float = CALL_SECONDS,
        metadata: Sequence[tuple[str, str]] = (),
    ) -> Answer:
        """`metadata` is of whom we ask for, where it is not ourselves."""
        try:
            method: grpc.aio.UnaryUnaryMultiCallable[Query, Answer] = self.directory.channel(
                service
            ).unary_unary(path, _written, answer.FromString)
            shown = tuple(metadata) or self.directory.metadata()
            return await method(request, timeout=within, metadata=shown)
        except (UnknownServiceError, OSError) as error:
            raise UnansweredError(str(error)) from error
        except grpc.aio.AioRpcError as error:
            told = from_rpc(error, service)
            if isinstance(told, Refused) and told.reason and told.code in DEFINITE:
                raise told from error
            why = told.why if isinstance(told, Unreachable) else told.message
            call = path.rpartition("/")[2]
            raise UnansweredError(f"{call}: {error.code().name}: {why}") from error


def _written(request: Message) -> bytes:
    # A call that is sent again is known by its bytes, and maps have no order of their own.
    return request.SerializeToString(deterministic=True)


def seats(variant: rulebook_pb2.Variant, options: Mapping[str, str]) -> int:
    """How many sit at a table of a variant with these options, all of them settled.

    Where a variant lets the table choose, its option "players" says how many.
    """
    chosen = options.get(PLAYERS, "")
    return int(chosen) if chosen.isdecimal() else variant.seats


def seats_named(refused: Refused) -> tuple[int, ...]:
    """Which seats a refusal speaks of."""
    return tuple(int(text) for text in re.findall(r"\d+", refused.metadata.get("seats", "")))
