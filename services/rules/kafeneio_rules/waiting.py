"""A game before its start: made, joined, started by the last seat, or ended without one.

Each call is one transaction that holds the lock of the game, so that of two that exclude each other
one comes first and the other sees it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import Final
from uuid import UUID

from kafeneio.common.v1 import errors_pb2
from kafeneio.rules.v1 import game_pb2
from kafeneio_games.chance import commitment
from kafeneio_games.game import Seat
from kafeneio_games.play import Play
from kafeneio_runtime import logs
from kafeneio_runtime.clock import Time
from kafeneio_runtime.errors import exists, failed, forbidden, malformed, not_found
from kafeneio_runtime.failpoints import failpoint
from kafeneio_runtime.ids import parse_id
from kafeneio_runtime.interceptors.current import caller, request_digest
from kafeneio_runtime.requests import once
from kafeneio_runtime.secrets import Vault, new_secret

from kafeneio_rules import domain
from kafeneio_rules.domain import Change, Status, Terms
from kafeneio_rules.guards import (
    game_cancelled,
    game_over,
    read_computers,
    read_terms,
    storable,
)
from kafeneio_rules.live import LiveGames
from kafeneio_rules.storage import Games, Header, Request, Work
from kafeneio_rules.table import Table

_log: Final = logs.logger(__name__)

JOIN_TIMEOUT: Final = timedelta(seconds=30)
"""F6, unless the table says otherwise."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """What is done to games that have not started; `written` is told of each after a commit."""

    games: Games
    live: LiveGames
    vault: Vault
    time: Time
    written: Callable[[UUID], None]

    async def create(self, request: game_pb2.CreateGameRequest) -> game_pb2.CreateGameResponse:
        """Make a game; the same id on the same terms is the same game."""
        terms = read_terms(request.terms, len(request.player_ids))
        computers = read_computers(request)
        players = tuple(
            storable(player, f"player_ids[{seat}]")
            for seat, player in enumerate(request.player_ids)
        )
        game_id = parse_id(request.game_id, "game_id")
        if game_id.version != 7:  # lists go by the ids: the newest first
            raise malformed("game_id", "must be a UUID of version 7")
        timeout = JOIN_TIMEOUT
        if request.HasField("join_timeout"):
            timeout = request.join_timeout.ToTimedelta()

        async def effect(work: Work) -> bytes:
            header = await work.header()
            if header is None:
                await work.create(self._new(game_id, terms, players, computers), timeout)
                failpoint("rules.create.before_commit")
                header = await work.header()
                assert header is not None, "it has just been made"
            elif header.status is Status.CANCELLED:
                raise game_cancelled()
            elif (header.terms, header.players, header.computers) != (terms, players, computers):
                raise exists(errors_pb2.ERROR_REASON_GAME_EXISTS, "the id is taken by another game")
            game = (await self._table(work)).message(caller().subject)
            return game_pb2.CreateGameResponse(game=game).SerializeToString()

        answer = await self._once(game_id, "CreateGame", request.request_id, effect)
        return game_pb2.CreateGameResponse.FromString(answer)

    async def cancel(self, request: game_pb2.CancelGameRequest) -> game_pb2.CancelGameResponse:
        """Make sure that a game never starts, whether it exists or not."""
        game_id = parse_id(request.game_id, "game_id")

        async def effect(work: Work) -> bytes:
            header = await work.header()
            if header is None:
                await work.tombstone()
            elif header.status is Status.RUNNING:
                raise failed(errors_pb2.ERROR_REASON_GAME_STARTED, "the game has started")
            elif header.status is Status.FINISHED:
                raise game_over()
            elif header.status is Status.WAITING:
                await _write(work, Table.fold(header, ()), domain.cancel)
            return game_pb2.CancelGameResponse().SerializeToString()

        answer = await self._once(game_id, "CancelGame", request.request_id, effect)
        return game_pb2.CancelGameResponse.FromString(answer)

    async def join(self, request: game_pb2.JoinGameRequest) -> game_pb2.JoinGameResponse:
        """Take the caller's seat, with his word; the last one starts the game."""
        game_id = parse_id(request.game_id, "game_id")

        async def effect(work: Work) -> bytes:
            header = await work.header()
            if header is None:
                raise not_found(errors_pb2.ERROR_REASON_GAME_UNKNOWN, f"there is no game {game_id}")
            words = await _seated(work, header, request)
            if header.status is Status.WAITING and None not in words:
                await self._start(work, replace(header, words=words))
            game = (await self._table(work)).message(caller().subject)
            return game_pb2.JoinGameResponse(game=game).SerializeToString()

        answer = await self._once(game_id, "JoinGame", request.request_id, effect)
        table = (await self.live.find(game_id)).table
        if table.play.forfeited(table.seat_of(caller().subject)):  # F5, for a call sent again
            return game_pb2.JoinGameResponse(game=table.message(caller().subject))
        if table.play.computers:  # of whom one may have to move at once
            self.written(game_id)
        return game_pb2.JoinGameResponse.FromString(answer)

    async def no_shows(self) -> int:
        """End the games that not every seat has joined in time (F6); how many there were."""
        due = await self.games.due()
        for game_id in due:
            try:
                await self._no_show(game_id)
            except Exception as error:  # noqa: BLE001 (it must not keep the others waiting)
                _log.error("game not ended", game_id=game_id, exc_info=error)
        return len(due)

    async def _no_show(self, game_id: UUID) -> None:
        async with self.games.locked(game_id) as work:
            header = await work.header()
            if header is not None and header.status is Status.WAITING:
                await _write(work, Table.fold(header, ()), domain.no_show)
                failpoint("rules.no_show.before_commit")
        await self._committed(game_id)

    async def abort(self, game_id: UUID, request: Request, reason: str) -> None:
        """End a game void that waits for its seats; nothing is done to one that does not."""
        async with self.games.locked(game_id) as work:
            header = await work.header()
            if header is not None and header.status is Status.WAITING:
                ending = partial(domain.abort, version=0)
                await _write(work, Table.fold(header, ()), ending, request, reason)
        await self._committed(game_id)

    def _new(
        self,
        game_id: UUID,
        terms: Terms,
        players: tuple[str, ...],
        computers: tuple[Seat, ...],
    ) -> Header:
        secret = new_secret()
        return Header(
            game_id=game_id,
            status=Status.WAITING,
            terms=terms,
            players=players,
            # A computer needs no word: it has nothing to fear from the house it belongs to.
            words=tuple(b"" if seat in computers else None for seat in range(len(players))),
            commitment=commitment(secret),
            secret=self.vault.seal(secret, game_id.bytes),
            created_at=self.time.now(),
            join_by=None,
            outcome=None,
            reason="",
            computers=computers,
        )

    async def _start(self, work: Work, header: Header) -> None:
        table = Table.fold(header, ())
        draw = self.live.draw(table)
        change = domain.start(table.play, draw)
        await work.append(table.append(change, draw.position, None, ""))
        failpoint("rules.start.before_commit")

    async def _table(self, work: Work) -> Table:
        found = await work.load()
        assert found is not None, "its header has just been read"
        return Table.fold(*found)

    async def _once(
        self,
        game_id: UUID,
        method: str,
        request_id: str,
        effect: Callable[[Work], Awaitable[bytes]],
    ) -> bytes:
        """Run a call in one transaction that holds the game's lock, and at most once."""
        async with self.games.locked(game_id) as work:
            answer = await once(
                work.connection,
                caller().subject,
                method,
                parse_id(request_id, "request_id"),
                request_digest(),
                lambda: effect(work),
            )
        await self._committed(game_id)
        return answer

    async def _committed(self, game_id: UUID) -> None:
        await self.live.look(game_id)
        self.written(game_id)


async def _write(
    work: Work,
    table: Table,
    ending: Callable[[Play], Change],
    request: Request | None = None,
    reason: str = "",
) -> None:
    await work.append(table.append(ending(table.play), 0, request, reason))


async def _seated(
    work: Work, header: Header, request: game_pb2.JoinGameRequest
) -> tuple[bytes | None, ...]:
    """Note that the caller has joined; the words of all seats, None for those still awaited."""
    if header.status is Status.CANCELLED:
        raise game_cancelled()
    if header.status is Status.FINISHED:
        raise game_over()
    seat = header.seat_of(caller().subject)
    if seat is None:
        raise forbidden(errors_pb2.ERROR_REASON_NOT_YOUR_SEAT, "you have no seat in this game")
    if request.commitment != header.commitment:
        raise failed(
            errors_pb2.ERROR_REASON_COMMITMENT_MISMATCH,
            "the commitment is not the one of this game",
        )
    word = header.words[seat]
    if word is None:
        await work.join(seat, request.word)
    elif word != request.word:
        raise failed(errors_pb2.ERROR_REASON_ALREADY_JOINED, "you have joined with another word")
    return (*header.words[:seat], request.word, *header.words[seat + 1 :])
