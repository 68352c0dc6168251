"""What is done to the money of tournaments: entry fees are held and given back, prizes are paid.
Everything is one transaction each."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from functools import partial
from uuid import UUID

from kafeneio.common.v1 import errors_pb2
from kafeneio.settlement.v1 import prizes_pb2 as pb
from kafeneio_runtime.errors import exists, failed, malformed
from kafeneio_runtime.failpoints import failpoint
from kafeneio_runtime.ids import new_id, parse_id
from kafeneio_runtime.interceptors.current import caller, request_digest
from kafeneio_runtime.outbox import Announcement, announce
from kafeneio_runtime.requests import once
from kafeneio_runtime.store import Connection, Store

from kafeneio_settlement import ledger, pool_wire, pools
from kafeneio_settlement.domain import Account, Movement
from kafeneio_settlement.guards import (
    check_pool_open,
    check_wallets,
    complete,
    payable,
    pool_settled,
    pool_unknown,
    refused,
    storable,
)
from kafeneio_settlement.pool_rows import Pool
from kafeneio_settlement.pool_storage import Pools
from kafeneio_settlement.pools import (
    FIRST_VERSION,
    MOST_ENTRIES,
    Award,
    Entry,
    Standings,
    State,
    Terms,
)
from kafeneio_settlement.storage import Work


async def once_in(
    store: Store, method: str, request_id: str, effect: Callable[[Pools], Awaitable[bytes]]
) -> bytes:
    """The answer of `effect`, in a transaction of its own; done once for this request."""
    async with store.transaction() as connection:
        return await once(
            connection,
            caller().subject,
            method,
            parse_id(request_id, "request_id"),
            request_digest(),
            partial(effect, Pools(connection)),
        )


@dataclass(frozen=True, slots=True)
class Pooling:
    """`changed` is told of the accounts that moved, after each commit."""

    store: Store
    changed: Callable[[Iterable[Account]], None]

    async def open(self, request: pb.OpenPrizePoolRequest) -> pb.OpenPrizePoolResponse:
        """Write the terms of a tournament down."""
        tournament_id = parse_id(request.tournament_id, "tournament_id")
        terms = pool_wire.terms_of(request.terms)

        async def effect(work: Pools) -> bytes:
            await work.open(tournament_id, terms)
            pool = await known_pool(work, tournament_id)
            if pool.terms != terms:
                raise exists(errors_pb2.ERROR_REASON_POOL_EXISTS, "the tournament has other terms")
            failpoint("settlement.open_pool.before_commit")
            return pb.OpenPrizePoolResponse(pool=pool_wire.pool(pool)).SerializeToString()

        kept = await once_in(self.store, "OpenPrizePool", request.request_id, effect)
        failpoint("settlement.open_pool.committed")
        return pb.OpenPrizePoolResponse.FromString(kept)

    async def hold(self, request: pb.HoldEntryFeesRequest) -> pb.HoldEntryFeesResponse:
        """Move the fee of every player of an entry into escrow, or none."""
        tournament_id = parse_id(request.tournament_id, "tournament_id")
        players = tuple(
            storable(player, f"player_ids[{seat}]")
            for seat, player in enumerate(request.player_ids)
        )
        wanted = Entry(parse_id(request.entry_id, "entry_id"), players)
        moved: set[Account] = set()

        async def effect(work: Pools) -> bytes:
            terms = await _open_terms(work, tournament_id)
            known = await work.entry(tournament_id, wanted.entry_id)
            if known is None:
                await _check_room(work, tournament_id, terms, players)
                movement = pools.hold_movement(tournament_id, terms, wanted)
                if movement is not None:
                    wallets = await Work(work.connection).wallets(players)
                    check_wallets(players, wallets)
                    with refused(players):
                        await ledger.post(work.connection, [movement])
                    moved.update(movement.accounts)
                await work.hold(tournament_id, wanted, movement)
            else:
                _check_same(known, wanted)
            failpoint("settlement.hold_fees.before_commit")
            answer = pb.HoldEntryFeesResponse(
                entry=await _entry(work, tournament_id, wanted.entry_id)
            )
            return answer.SerializeToString()

        kept = await once_in(self.store, "HoldEntryFees", request.request_id, effect)
        failpoint("settlement.hold_fees.committed")
        self.changed(moved)
        return pb.HoldEntryFeesResponse.FromString(kept)

    async def release(self, request: pb.ReleaseEntryFeesRequest) -> pb.ReleaseEntryFeesResponse:
        """Give the fees of an entry back, or mark that it will never be held."""
        tournament_id = parse_id(request.tournament_id, "tournament_id")
        entry_id = parse_id(request.entry_id, "entry_id")
        moved: set[Account] = set()

        async def effect(work: Pools) -> bytes:
            terms = await _terms(work, tournament_id)
            known = await work.entry(tournament_id, entry_id)
            if known is None or known.is_held:
                check_pool_open(await work.state(tournament_id))
                entry = known or Entry(entry_id)
                movement = pools.release_movement(tournament_id, terms, entry)
                if movement is not None:
                    await ledger.post(work.connection, [movement])
                    moved.update(movement.accounts)
                await work.release(tournament_id, entry_id, movement)
            failpoint("settlement.release_fees.before_commit")
            answer = pb.ReleaseEntryFeesResponse(entry=await _entry(work, tournament_id, entry_id))
            return answer.SerializeToString()

        kept = await once_in(self.store, "ReleaseEntryFees", request.request_id, effect)
        failpoint("settlement.release_fees.committed")
        self.changed(moved)
        return pb.ReleaseEntryFeesResponse.FromString(kept)

    async def settle(self, request: pb.SettleTournamentRequest) -> pb.SettleTournamentResponse:
        """Pay the prizes."""
        tournament_id = parse_id(request.tournament_id, "tournament_id")
        standings = pool_wire.standings_of(request.standings)
        moved: set[Account] = set()

        async def effect(work: Pools) -> bytes:
            await work.lock(tournament_id)
            pool = await known_pool(work, tournament_id)
            if pool.state is State.OPEN:
                with payable(), complete():
                    award = pools.awarded(pool.terms, pool.held, standings)
                moved.update(await _pay(work, pool, award, ""))
            elif not _settled_so(pool, standings):
                raise pool_settled(pool.state)
            failpoint("settlement.settle_tournament.before_commit")
            paid = await known_pool(work, tournament_id)
            return pb.SettleTournamentResponse(pool=pool_wire.pool(paid)).SerializeToString()

        kept = await once_in(self.store, "SettleTournament", request.request_id, effect)
        failpoint("settlement.settle_tournament.committed")
        self.changed(moved)
        return pb.SettleTournamentResponse.FromString(kept)

    async def void(self, request: pb.VoidTournamentRequest) -> pb.VoidTournamentResponse:
        """Give every fee back."""
        tournament_id = parse_id(request.tournament_id, "tournament_id")
        reason = storable(request.reason, "reason")
        moved: set[Account] = set()

        async def effect(work: Pools) -> bytes:
            await work.lock(tournament_id)
            pool = await known_pool(work, tournament_id)
            if pool.state is State.OPEN:
                award = pools.everything_back(pool.terms, pool.held)
                moved.update(await _pay(work, pool, award, reason))
            elif pool.state is not State.VOID:
                raise pool_settled(pool.state)
            failpoint("settlement.void_tournament.before_commit")
            paid = await known_pool(work, tournament_id)
            return pb.VoidTournamentResponse(pool=pool_wire.pool(paid)).SerializeToString()

        kept = await once_in(self.store, "VoidTournament", request.request_id, effect)
        failpoint("settlement.void_tournament.committed")
        self.changed(moved)
        return pb.VoidTournamentResponse.FromString(kept)


async def _pay(work: Pools, pool: Pool, award: Award, reason: str) -> set[Account]:
    """Pay a locked pool for the first time, and announce it; the accounts that moved."""
    name = pool.tournament_id
    payment = pools.payout_movement(name, pool.terms, pool.held, award)
    moved = await posted(work.connection, payment)
    await work.settle(name, FIRST_VERSION, award, (None, payment), caller().subject, reason)
    payload = pool_wire.tournament_settled(name, pool.terms, pool.held, award)
    await announce(
        work.connection,
        [Announcement(new_id(), name, FIRST_VERSION, "tournament_settled", payload)],
    )
    return moved


async def posted(connection: Connection, *movements: Movement | None) -> set[Account]:
    """Do the movements that there are; the accounts that moved."""
    done = [movement for movement in movements if movement is not None]
    if done:
        with refused():
            await ledger.post(connection, done)
    return set().union(*(movement.accounts for movement in done))


async def _terms(work: Pools, tournament_id: UUID) -> Terms:
    """The terms of a pool, which is locked; raises POOL_UNKNOWN."""
    await work.lock(tournament_id)
    terms = await work.terms(tournament_id)
    if terms is None:
        raise pool_unknown(tournament_id)
    return terms


async def _open_terms(work: Pools, tournament_id: UUID) -> Terms:
    """The same; raises POOL_SETTLED too."""
    terms = await _terms(work, tournament_id)
    check_pool_open(await work.state(tournament_id))
    return terms


async def known_pool(work: Pools, tournament_id: UUID) -> Pool:
    """All about a tournament's money; raises POOL_UNKNOWN."""
    pool = await work.pool(tournament_id)
    if pool is None:
        raise pool_unknown(tournament_id)
    return pool


async def _entry(work: Pools, tournament_id: UUID, entry_id: UUID) -> pb.PoolEntry:
    entry = await work.entry(tournament_id, entry_id)
    assert entry is not None, "it has just been written"
    return pool_wire.entry(entry)


async def _check_room(
    work: Pools, tournament_id: UUID, terms: Terms, players: tuple[str, ...]
) -> None:
    """Raises MALFORMED or POOL_FULL."""
    if len(players) != terms.players_per_entry:
        raise malformed("player_ids", f"an entry has {terms.players_per_entry} players")
    if await work.count_held(tournament_id) >= MOST_ENTRIES:
        raise failed(errors_pb2.ERROR_REASON_POOL_FULL, f"{MOST_ENTRIES} entries are held")


def _check_same(known: Entry, wanted: Entry) -> None:
    """Raises ENTRY_RELEASED or ENTRY_EXISTS."""
    if not known.is_held:
        raise failed(errors_pb2.ERROR_REASON_ENTRY_RELEASED, "the entry was released")
    if known.players != wanted.players:
        raise exists(errors_pb2.ERROR_REASON_ENTRY_EXISTS, "the entry is held for others")


def _settled_so(pool: Pool, standings: Standings) -> bool:
    """Whether those are the standings by which a pool was paid at first."""
    first = pool.settlements[0].award
    entries = [prize.entry_id for prize in first.prizes]
    places = [prize.place for prize in first.prizes]
    return not first.void and (entries, places) == pools.placed(standings)
