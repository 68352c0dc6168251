"""The calls of `kafeneio.rules.v1.GameService`; each says what it is, the protos say the rest."""

from __future__ import annotations

from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Mapping,
    Sequence,
)
from contextlib import aclosing
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, TypeAlias

import grpc
from google.protobuf.duration_pb2 import Duration
from kafeneio.rules.v1 import actions_pb2, events_pb2, game_pb2_grpc
from kafeneio.rules.v1 import game_pb2 as pb

from kafeneio_client.channel import Caller, new_id
from kafeneio_client.time import Time
from kafeneio_client.watch import Source, Stream, Watcher

_OVER: Final = frozenset({pb.GAME_STATUS_FINISHED, pb.GAME_STATUS_CANCELLED})

Step: TypeAlias = actions_pb2.Action | str
"""An action as a message, or in its short notation ("13/8")."""


@dataclass(frozen=True, slots=True)
class Legal:
    """What `seat` may do at `version`; `complete` when what was chosen is a whole turn."""

    version: int
    seat: int
    actions: tuple[actions_pb2.Action, ...]
    complete: bool


def _actions(steps: Iterable[Step]) -> list[actions_pb2.Action]:
    return [actions_pb2.Action(notation=s) if isinstance(s, str) else s for s in steps]


def is_over(position: pb.Position) -> bool:
    """Whether nothing can happen any more."""
    return position.status in _OVER


class _Log(Source[pb.WatchGameResponse, pb.GameUpdate]):
    """The rows of a game's log, by their versions."""

    def __init__(
        self,
        open_stream: Callable[[int], Stream[pb.WatchGameResponse]],
        get_position: Callable[[], Awaitable[pb.Position]],
        version: int,
    ) -> None:
        self._open_stream = open_stream
        self._get_position = get_position
        self._version = version

    def open(self) -> Stream[pb.WatchGameResponse]:
        return self._open_stream(self._version)

    def take(self, message: pb.WatchGameResponse) -> pb.GameUpdate | None:
        update = message.update
        if not (message.HasField("update") and update.position.version > self._version):
            return None
        self._version = update.position.version
        self.finished = is_over(update.position)
        return update

    async def ended(self) -> None:
        """It ends without a word when the game was over before: then there is no more."""
        position = await self._get_position()
        self.finished = is_over(position) and position.version <= self._version


class _ComputerTurns(Source[pb.WatchComputerTurnsResponse, pb.ComputerTurn]):
    """Turns of computers: what is not answered is told again, so nothing is to be resumed."""

    def __init__(self, open_stream: Callable[[], Stream[pb.WatchComputerTurnsResponse]]) -> None:
        self._open_stream = open_stream

    def open(self) -> Stream[pb.WatchComputerTurnsResponse]:
        return self._open_stream()

    def take(self, message: pb.WatchComputerTurnsResponse) -> pb.ComputerTurn | None:
        return message.turn if message.HasField("turn") else None


class Games:
    """Games as one caller sees them.

    Whatever changes something makes a request id of its own. To send a call again whose answer
    got lost, give it the `request_id` of the error that it raised.
    """

    def __init__(self, channel: grpc.aio.Channel, caller: Caller, time: Time) -> None:
        self._stub = game_pb2_grpc.GameServiceStub(channel)
        self._caller = caller
        self._time = time

    async def create(
        self,
        variant: str,
        player_ids: Sequence[str],
        *,
        target: int = 0,
        edition: int = 0,
        options: Mapping[str, str] | None = None,
        join_timeout: timedelta | None = None,
        computer_seats: Iterable[int] = (),
        game_id: str = "",
        request_id: str = "",
    ) -> pb.Game:
        """CreateGame: a game that waits for its seats. Role: service."""
        terms = pb.Terms(variant=variant, edition=edition, options=options or {}, target=target)
        request = pb.CreateGameRequest(
            request_id=request_id or new_id(),
            game_id=game_id or new_id(),
            terms=terms,
            player_ids=player_ids,
            computer_seats=computer_seats,
        )
        if join_timeout is not None:
            duration = Duration()
            duration.FromTimedelta(join_timeout)
            request.join_timeout.CopyFrom(duration)
        answer = await self._caller.call(self._stub.CreateGame, request, request.request_id)
        return answer.game

    async def cancel(self, game_id: str, *, request_id: str = "") -> None:
        """CancelGame: make sure that a game never starts. Role: service."""
        request = pb.CancelGameRequest(request_id=request_id or new_id(), game_id=game_id)
        await self._caller.call(self._stub.CancelGame, request, request.request_id)

    async def join(
        self, game_id: str, commitment: bytes, word: bytes, *, request_id: str = ""
    ) -> pb.Game:
        """JoinGame: take the caller's seat, with the commitment that `get` showed and a word."""
        request = pb.JoinGameRequest(
            request_id=request_id or new_id(), game_id=game_id, commitment=commitment, word=word
        )
        answer = await self._caller.call(self._stub.JoinGame, request, request.request_id)
        return answer.game

    async def get(self, game_id: str, *, as_seat: int | None = None) -> pb.Game:
        """GetGame: a game as the caller may see it; for a service, as a computer's seat does."""
        request = pb.GetGameRequest(game_id=game_id, as_seat=as_seat)
        return (await self._caller.call(self._stub.GetGame, request)).game

    def watch(self, game_id: str, after_version: int = 0) -> AsyncGenerator[pb.GameUpdate, None]:
        """WatchGame: every row of the log after a version, each once, until the game is over.

        A broken, silent or draining stream is opened again where it ended; Unreachable comes only
        after a minute without the house. Who stops before the end closes it: `async with
        contextlib.aclosing(games.watch(game_id)) as updates`.
        """

        def open_stream(version: int) -> Stream[pb.WatchGameResponse]:
            request = pb.WatchGameRequest(game_id=game_id, after_version=version)
            return self._stub.WatchGame(request, metadata=self._caller.about(game_id))

        async def get_position() -> pb.Position:
            return (await self.get(game_id)).position

        source = _Log(open_stream, get_position, after_version)
        return Watcher(source, self._time, self._caller.address).updates()

    def computer_turns(self) -> AsyncGenerator[pb.ComputerTurn, None]:
        """WatchComputerTurns: every turn that a computer is to play, again and again until it is
        answered. It never ends by itself. Role: service."""

        def open_stream() -> Stream[pb.WatchComputerTurnsResponse]:
            request = pb.WatchComputerTurnsRequest()
            return self._stub.WatchComputerTurns(request, metadata=self._caller.metadata)

        source = _ComputerTurns(open_stream)
        return Watcher(source, self._time, self._caller.address).updates()

    async def started(self, game_id: str) -> pb.Position:
        """WatchGame: wait until a game has started, or will never start; its position then."""
        position = (await self.get(game_id)).position
        if position.status == pb.GAME_STATUS_WAITING:
            async with aclosing(self.watch(game_id, position.version)) as updates:
                async for update in updates:
                    return update.position
            position = (await self.get(game_id)).position
        return position

    async def legal_actions(
        self,
        game_id: str,
        after: Iterable[Step] = (),
        *,
        kind: str = "",
        as_seat: int | None = None,
    ) -> Legal:
        """ListLegalActions: what may be done now, or after steps that were chosen but not sent.

        Only of one `kind` (a field of Action) if it is named; for a service, by a computer's seat.
        """
        request = pb.ListLegalActionsRequest(
            game_id=game_id, after=_actions(after), kind=kind, as_seat=as_seat
        )
        actions: list[actions_pb2.Action] = []
        while True:
            page = await self._caller.call(self._stub.ListLegalActions, request)
            actions += page.actions
            if not page.next_page_token:
                return Legal(page.version, page.seat, tuple(actions), page.complete)
            request.page_token = page.next_page_token

    async def act(
        self,
        game_id: str,
        expected_version: int,
        steps: Iterable[Step],
        *,
        as_seat: int | None = None,
        request_id: str = "",
    ) -> pb.ActResponse:
        """Act: play steps, all or none. Role: the seat's player; a service for a computer's seat.

        `expected_version` may be 0 for a lone contra, which carries the bid that it answers.
        """
        request = pb.ActRequest(
            request_id=request_id or new_id(),
            game_id=game_id,
            expected_version=expected_version,
            actions=_actions(steps),
            as_seat=as_seat,
        )
        return await self._caller.call(self._stub.Act, request, request.request_id)

    async def resign(
        self, game_id: str, round_number: int, *, request_id: str = ""
    ) -> pb.ResignResponse:
        """Resign: give the running round up. Role: the seat's player."""
        request = pb.ResignRequest(
            request_id=request_id or new_id(), game_id=game_id, round=round_number
        )
        return await self._caller.call(self._stub.Resign, request, request.request_id)

    async def turn(self, game_id: str) -> pb.GetTurnResponse:
        """GetTurn: which turn is running. Role: service."""
        return await self._caller.call(self._stub.GetTurn, pb.GetTurnRequest(game_id=game_id))

    async def forfeit(
        self,
        game_id: str,
        seat: int,
        reason: actions_pb2.ForfeitReason.ValueType,
        *,
        turn: int = 0,
        request_id: str = "",
    ) -> int:
        """ForfeitSeat: take a seat out; the version of the row. Role: service."""
        request = pb.ForfeitSeatRequest(
            request_id=request_id or new_id(), game_id=game_id, seat=seat, reason=reason, turn=turn
        )
        answer = await self._caller.call(self._stub.ForfeitSeat, request, request.request_id)
        return answer.version

    async def abort(self, game_id: str, reason: str, *, request_id: str = "") -> int:
        """AbortGame: end a game void; the version of the row. Role: operator."""
        request = pb.AbortGameRequest(
            request_id=request_id or new_id(), game_id=game_id, reason=reason
        )
        answer = await self._caller.call(self._stub.AbortGame, request, request.request_id)
        return answer.version

    async def record(self, game_id: str) -> pb.Record:
        """GetRecord: the whole of a finished game, its secret included."""
        request = pb.GetRecordRequest(game_id=game_id)
        return (await self._caller.call(self._stub.GetRecord, request)).record

    async def verify(self, subject: str | pb.Record) -> tuple[pb.Finding, ...]:
        """VerifyRecord: what the house finds wrong in a game (by id) or in a record; () is good."""
        if isinstance(subject, str):
            request = pb.VerifyRecordRequest(game_id=subject)
        else:
            request = pb.VerifyRecordRequest(record=subject)
        answer = await self._caller.call(self._stub.VerifyRecord, request)
        if not answer.valid and not answer.findings:
            return (pb.Finding(text="the house says that it is not valid, and not why"),)
        return tuple(answer.findings)

    async def list(
        self,
        *,
        player_id: str = "",
        variant: str = "",
        status: pb.GameStatus.ValueType = pb.GAME_STATUS_UNSPECIFIED,
        page_size: int = 0,
    ) -> AsyncIterator[pb.GameSummary]:
        """ListGames: the newest first, page after page as the caller goes on."""
        request = pb.ListGamesRequest(
            player_id=player_id, variant=variant, status=status, page_size=page_size
        )
        while True:
            page = await self._caller.call(self._stub.ListGames, request)
            for game in page.games:
                yield game
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    async def events(
        self, game_id: str, after_sequence: int = 0
    ) -> AsyncIterator[events_pb2.GameEvent]:
        """ListEvents: what was announced about a game after a sequence number. Role: service."""
        while True:
            request = pb.ListEventsRequest(game_id=game_id, after_sequence=after_sequence)
            page = await self._caller.call(self._stub.ListEvents, request)
            if not page.events:
                return
            for event in page.events:
                yield event
            after_sequence = page.events[-1].sequence
