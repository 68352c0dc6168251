"""Corrections of tournaments that were paid: one operator proposes, another approves, and then
money moves (S6)."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from kafeneio.common.v1 import errors_pb2
from kafeneio.settlement.v1 import prizes_pb2 as pb
from kafeneio_runtime.errors import failed, malformed, not_yet, stale
from kafeneio_runtime.failpoints import failpoint
from kafeneio_runtime.ids import new_id, parse_id
from kafeneio_runtime.interceptors.current import caller
from kafeneio_runtime.outbox import Announcement, announce
from kafeneio_runtime.store import Connection, Store

from kafeneio_settlement import dossiers, pool_wire, pools
from kafeneio_settlement.domain import Account
from kafeneio_settlement.guards import check_second, complete, payable, storable
from kafeneio_settlement.pool_rows import Correction, Pool
from kafeneio_settlement.pool_storage import Pools
from kafeneio_settlement.pooling import known_pool, once_in, posted
from kafeneio_settlement.pools import Award, Standings, Terms


@dataclass(frozen=True, slots=True)
class PoolCorrecting:
    """What the first operator does. The second one is `approve`."""

    store: Store

    async def correct(self, request: pb.CorrectTournamentRequest) -> pb.CorrectTournamentResponse:
        """An operator proposes how it should have been."""
        tournament_id = parse_id(request.tournament_id, "tournament_id")
        reason = storable(request.reason, "reason")
        standings = None if request.void else pool_wire.standings_of(request.standings)

        async def effect(work: Pools) -> bytes:
            await work.lock(tournament_id)
            pool = await known_pool(work, tournament_id)
            if pool.newest is None:
                raise failed(errors_pb2.ERROR_REASON_POOL_OPEN, "nothing was paid yet")
            terms = _right_terms(request, pool.terms)
            with payable(), complete():
                corrected(pool, standings, terms)
            operator, corrects = caller().subject, pool.newest.version
            await work.propose(tournament_id, corrects, standings, terms, reason, operator)
            newest = (await known_pool(work, tournament_id)).corrections[-1]
            failpoint("settlement.correct_tournament.before_commit")
            message = pool_wire.correction(tournament_id, newest)
            return pb.CorrectTournamentResponse(correction=message).SerializeToString()

        kept = await once_in(self.store, "CorrectTournament", request.request_id, effect)
        failpoint("settlement.correct_tournament.committed")
        return pb.CorrectTournamentResponse.FromString(kept)


async def approve(
    connection: Connection, tournament_id: UUID, number: int
) -> tuple[pb.PrizePool, set[Account]]:
    """Do what another operator has proposed for a tournament, in the caller's transaction: what was
    paid is reversed, and the tournament paid anew. The pool, and the accounts that moved.

    Raises POOL_UNKNOWN, NOT_YET, ROLE_REQUIRED or STALE_VERSION.
    """
    work = Pools(connection)
    await work.lock(tournament_id)
    pool = await known_pool(work, tournament_id)
    if number > len(pool.corrections):
        raise not_yet(len(pool.corrections))
    correction = pool.corrections[number - 1]
    check_second(correction.proposed_by)
    moved = await _do(work, pool, correction)
    return pool_wire.pool(await known_pool(work, tournament_id)), moved


async def _do(work: Pools, pool: Pool, correction: Correction) -> set[Account]:
    newest, name = pool.newest, pool.tournament_id
    assert newest is not None, "only what was paid is corrected"
    if correction.corrects != newest.version:
        raise stale(newest.version)
    right = correction.terms or pool.terms
    version = newest.version + 1
    with payable():
        award = corrected(pool, correction.standings, correction.terms)
    paid = await dossiers.transfers_of(work.connection, [newest.transaction_id])
    reversal = pools.reversal_movement(
        name, pool.terms, newest.version, paid.get(newest.transaction_id, ())
    )
    payment = pools.correction_movement(name, pool.terms, pool.held, award, right, version)
    if right.entry_fee and not pool.terms.entry_fee:  # so far nobody needed a wallet
        await work.make_wallets([player for entry in pool.held for player in entry.players])
    moved = await posted(work.connection, reversal, payment)
    await work.settle(
        name,
        version,
        award,
        (reversal, payment),
        correction.proposed_by,
        correction.reason,
        caller().subject,
    )
    await work.approve(name, correction, caller().subject)
    payload = pool_wire.tournament_corrected(name, right, pool.held, award, version)
    await announce(
        work.connection,
        [Announcement(new_id(), name, version, "tournament_corrected", payload)],
    )
    return moved


def corrected(pool: Pool, standings: Standings | None, terms: Terms | None) -> Award:
    """What a tournament should have paid. Raises IncompleteError or TooLargeError."""
    right = terms or pool.terms
    if standings is None:
        return pools.everything_back(right, pool.held)
    return pools.awarded(right, pool.held, standings)


def _right_terms(request: pb.CorrectTournamentRequest, published: Terms) -> Terms | None:
    """The terms that should have been; raises MALFORMED where they are of another currency or
    number of players."""
    if not request.HasField("terms"):
        return None
    terms = pool_wire.terms_of(request.terms)
    if terms.currency != published.currency:
        raise malformed("terms.entry_fee.currency_code", f"the pool is in {published.currency}")
    if terms.players_per_entry != published.players_per_entry:
        raise malformed("terms.players_per_entry", "the entries are what they are")
    return terms
