"""Corrections of settled games: one operator proposes, another approves, and then money moves (S6).

The reversal of what was paid, the new payment and the note of both are one transaction.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from functools import partial
from uuid import UUID

from kafeneio.settlement.v1 import corrections_pb2, settlement_pb2
from kafeneio_runtime.errors import malformed, not_yet, stale
from kafeneio_runtime.failpoints import failpoint
from kafeneio_runtime.ids import new_id, parse_id
from kafeneio_runtime.interceptors.current import caller, request_digest
from kafeneio_runtime.outbox import Announcement, announce
from kafeneio_runtime.requests import once
from kafeneio_runtime.store import Connection, Store

from kafeneio_settlement import corrections, dossiers, ledger, pool_correcting, wire
from kafeneio_settlement.corrections import Correction, Terms
from kafeneio_settlement.domain import Account, Game, Movement, Verdict
from kafeneio_settlement.dossiers import Dossier
from kafeneio_settlement.guards import (
    check_second,
    check_settled,
    game_unknown,
    payable,
    refused,
    storable,
)
from kafeneio_settlement.pool_storage import Pools
from kafeneio_settlement.storage import Work

OPERATOR_VOID = "OPERATOR"
"""The reason of VoidSettlement, as `rules` would name it."""


@dataclass(frozen=True, slots=True)
class Correcting:
    """`changed` is told of the accounts that moved, after each commit."""

    store: Store
    changed: Callable[[Iterable[Account]], None]

    async def void(
        self, request: corrections_pb2.VoidSettlementRequest
    ) -> corrections_pb2.VoidSettlementResponse:
        """An operator proposes that a game was void."""
        propose = partial(
            _propose,
            parse_id(request.game_id, "game_id"),
            lambda game: Terms((), OPERATOR_VOID),
            storable(request.reason, "reason"),
        )

        async def effect(connection: Connection) -> bytes:
            proposed = corrections_pb2.VoidSettlementResponse(
                correction=wire.correction(*await propose(connection))
            )
            failpoint("settlement.void.before_commit")
            return proposed.SerializeToString()

        kept = await self._once("VoidSettlement", request.request_id, effect)
        failpoint("settlement.void.committed")
        return corrections_pb2.VoidSettlementResponse.FromString(kept)

    async def correct(
        self, request: corrections_pb2.CorrectResultRequest
    ) -> corrections_pb2.CorrectResultResponse:
        """An operator proposes another result."""
        propose = partial(
            _propose,
            parse_id(request.game_id, "game_id"),
            partial(_terms, request),
            storable(request.reason, "reason"),
        )

        async def effect(connection: Connection) -> bytes:
            proposed = corrections_pb2.CorrectResultResponse(
                correction=wire.correction(*await propose(connection))
            )
            failpoint("settlement.correct.before_commit")
            return proposed.SerializeToString()

        kept = await self._once("CorrectResult", request.request_id, effect)
        failpoint("settlement.correct.committed")
        return corrections_pb2.CorrectResultResponse.FromString(kept)

    async def approve(
        self, request: corrections_pb2.ApproveCorrectionRequest
    ) -> settlement_pb2.ApproveCorrectionResponse:
        """A second operator lets it happen, to a game or a tournament."""
        name = parse_id(request.game_id, "game_id")
        async with self.store.acquire() as connection:
            is_tournament = await Pools(connection).terms(name) is not None
        approve = self._approve_tournament if is_tournament else self._approve_game
        moved: set[Account] = set()
        kept = await self._once(
            "ApproveCorrection", request.request_id, partial(approve, name, request.number, moved)
        )
        if is_tournament:
            failpoint("settlement.approve_tournament.committed")
        else:
            failpoint("settlement.approve.committed")
        self.changed(moved)
        return settlement_pb2.ApproveCorrectionResponse.FromString(kept)

    async def _approve_game(
        self, game_id: UUID, number: int, moved: set[Account], connection: Connection
    ) -> bytes:
        dossier = await _settled(connection, game_id)
        if number > len(dossier.corrections):
            raise not_yet(len(dossier.corrections))
        correction = dossier.corrections[number - 1]
        check_second(correction.proposed_by)
        moved.update(await _do(connection, dossier, correction))
        failpoint("settlement.approve.before_commit")
        after = await dossiers.dossier(connection, game_id)
        assert after is not None, "it has just been seen"
        answer = settlement_pb2.ApproveCorrectionResponse(settlement=wire.settlement(after))
        return answer.SerializeToString()

    async def _approve_tournament(
        self, tournament_id: UUID, number: int, moved: set[Account], connection: Connection
    ) -> bytes:
        pool, accounts = await pool_correcting.approve(connection, tournament_id, number)
        moved.update(accounts)
        failpoint("settlement.approve_tournament.before_commit")
        return settlement_pb2.ApproveCorrectionResponse(prize_pool=pool).SerializeToString()

    async def _once(
        self, method: str, request_id: str, effect: Callable[[Connection], Awaitable[bytes]]
    ) -> bytes:
        async with self.store.transaction() as connection:
            return await once(
                connection,
                caller().subject,
                method,
                parse_id(request_id, "request_id"),
                request_digest(),
                partial(effect, connection),
            )


async def _settled(connection: Connection, game_id: UUID) -> Dossier:
    """All about a game, which is locked; raises GAME_UNKNOWN or GAME_NOT_OVER."""
    game = await Work(connection).game(game_id)
    if game is None:
        raise game_unknown(game_id)
    check_settled(game.state)
    dossier = await dossiers.dossier(connection, game_id)
    assert dossier is not None, "it has just been seen"
    return dossier


async def _propose(
    game_id: UUID, terms_of: Callable[[Game], Terms], reason: str, connection: Connection
) -> tuple[Correction, str]:
    """Write a proposal down, if it can be paid; with the currency of the game."""
    dossier = await _settled(connection, game_id)
    newest = dossier.newest
    assert newest is not None, "a settled game has a settlement"
    game, settled = dossier.game, newest.settled
    terms = terms_of(game)
    with payable():
        corrections.corrected(game, terms, settled.rule_version)
    operator = caller().subject
    await dossiers.propose(connection, game_id, settled.version, terms, reason, operator)
    return (await dossiers.corrections(connection, game_id))[-1], _currency(game)


def _terms(request: corrections_pb2.CorrectResultRequest, game: Game) -> Terms:
    """Raises MALFORMED where the stake is in another currency than the hold."""
    stake = None
    if request.HasField("stake"):
        if request.stake.currency_code != _currency(game):
            raise malformed("stake.currency_code", f"the game is played for {_currency(game)!r}")
        stake = request.stake.minor_units
    void = request.HasField("void_reason")
    return Terms(
        winners=() if void else tuple(request.decided.winners),
        void=wire.void_name(request.void_reason) if void else "",
        forfeited=tuple(sorted(request.forfeited_seats)),
        stake=stake,
        fee_basis_points=request.fee_basis_points if request.HasField("fee_basis_points") else None,
    )


def _currency(game: Game) -> str:
    return game.escrow.currency if game.escrow else ""


async def _do(connection: Connection, dossier: Dossier, correction: Correction) -> set[Account]:
    """Reverse the settlement and make the new one; the accounts that moved.

    Raises STALE_VERSION where it was corrected already.
    """
    game, newest = dossier.game, dossier.newest
    assert newest is not None, "a settled game has a settlement"
    if correction.corrects != newest.settled.version:
        raise stale(newest.settled.version)
    with payable():
        verdict = corrections.corrected(game, correction.terms, newest.settled.rule_version)
    reversal = payment = None
    if game.escrow is not None and verdict.payout is not None:
        hold, version = game.escrow, correction.corrects
        reversal = corrections.reversal_movement(
            game.game_id, hold.currency, version, newest.transfers
        )
        payment = corrections.correction_movement(game.game_id, hold, verdict.payout, version + 1)
        with refused():
            await ledger.post(connection, [reversal, payment])
    await dossiers.correct(connection, correction, verdict, (reversal, payment), caller().subject)
    await announce(connection, [_announcement(game, correction, verdict)])
    return _accounts(reversal, payment)


def _announcement(game: Game, correction: Correction, verdict: Verdict) -> Announcement:
    sequence = game.announced + 1
    payload = wire.settlement_corrected(sequence, game, correction, verdict)
    return Announcement(new_id(), game.game_id, sequence, "settlement_corrected", payload)


def _accounts(*movements: Movement | None) -> set[Account]:
    return set().union(*(each.accounts for each in movements if each is not None))
