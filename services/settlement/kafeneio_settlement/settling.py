"""What is done to the money of games: held, given back, and paid when both witnesses have spoken.

Everything here is one transaction each. What events say and what follows from it are kept together,
so that an event counts once however often it comes, and a crash loses neither or both.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final
from uuid import UUID

from kafeneio.common.v1 import errors_pb2
from kafeneio.settlement.v1 import settlement_pb2
from kafeneio_runtime import logs
from kafeneio_runtime.bus import Event, first_time
from kafeneio_runtime.errors import Refusal, exists, failed
from kafeneio_runtime.failpoints import failpoint
from kafeneio_runtime.ids import new_id, parse_id
from kafeneio_runtime.interceptors.current import caller, request_digest
from kafeneio_runtime.outbox import Announcement, announce
from kafeneio_runtime.requests import once
from kafeneio_runtime.store import Store
from prometheus_client import Counter

from kafeneio_settlement import domain, dossiers, ledger, wire
from kafeneio_settlement.domain import Account, Game, Hold, Movement, Problem, State, Verdict
from kafeneio_settlement.guards import (
    check_before_start,
    check_wallets,
    game_unknown,
    refused,
    storable,
)
from kafeneio_settlement.storage import Work
from kafeneio_settlement.witnesses import Witness, heard, judged

MISMATCHES: Final = Counter(
    "kafeneio_settlement_mismatch_total",
    "Games that nobody was paid for, because the witnesses differ or the rule can't pay them.",
)
RULES_CONSUMER: Final = "settlement.rules"
CLOCK_CONSUMER: Final = "settlement.clock"

_log: Final = logs.logger(__name__)


class _UnknownGamesError(Exception):
    """Games of which nothing was ever heard. Nothing is done."""

    def __init__(self, games: list[UUID]) -> None:
        self.games = games
        super().__init__(f"{len(games)} unknown games")


@dataclass(slots=True)
class Changed:
    """What a transaction has changed, to be told once it is committed."""

    accounts: set[Account] = field(default_factory=set)
    mismatches: int = 0


@dataclass(frozen=True, slots=True)
class Settling:
    """`changed` is told of the accounts that moved, after each commit."""

    store: Store
    changed: Callable[[Iterable[Account]], None]

    # --- calls -------------------------------------------------------------------------------

    async def hold(
        self, request: settlement_pb2.HoldStakesRequest
    ) -> settlement_pb2.HoldStakesResponse:
        """Move every seat's stake into escrow, or none."""
        game_id = parse_id(request.game_id, "game_id")
        players = tuple(
            storable(player, f"player_ids[{seat}]")
            for seat, player in enumerate(request.player_ids)
        )
        stake = request.stake
        hold = Hold(players, stake.currency_code, stake.minor_units, request.fee_basis_points)
        changed = Changed()

        async def effect(work: Work) -> bytes:
            if await work.hold(game_id, hold) is None:
                await _check_same(work, game_id, hold)
            else:
                check_wallets(players, await work.wallets(players))
                movement = domain.hold_movement(game_id, hold)
                with refused(players):
                    await ledger.post(work.connection, [movement])
                payload = wire.stakes_held(game_id, 1, hold)
                await announce(
                    work.connection,
                    [Announcement(new_id(), game_id, 1, "stakes_held", payload)],
                )
                changed.accounts |= movement.accounts
                failpoint("settlement.hold.before_commit")
            answer = settlement_pb2.HoldStakesResponse(settlement=await _settlement(work, game_id))
            return answer.SerializeToString()

        kept = await self._once("HoldStakes", request.request_id, effect)
        failpoint("settlement.hold.committed")
        self._tell(changed)
        return settlement_pb2.HoldStakesResponse.FromString(kept)

    async def release(
        self, request: settlement_pb2.ReleaseStakesRequest
    ) -> settlement_pb2.ReleaseStakesResponse:
        """Give every stake back, before the start."""
        game_id = parse_id(request.game_id, "game_id")
        changed = Changed()

        async def effect(work: Work) -> bytes:
            game = await work.game(game_id)
            if game is None:
                raise game_unknown(game_id)
            check_before_start(game.state)
            if game.state is State.HELD and game.hold is not None:
                movement = domain.release_movement(game_id, game.hold)
                await ledger.post(work.connection, [movement])
                await work.release(game_id)
                changed.accounts |= movement.accounts
                failpoint("settlement.release.before_commit")
            answer = settlement_pb2.ReleaseStakesResponse(
                settlement=await _settlement(work, game_id)
            )
            return answer.SerializeToString()

        kept = await self._once("ReleaseStakes", request.request_id, effect)
        failpoint("settlement.release.committed")
        self._tell(changed)
        return settlement_pb2.ReleaseStakesResponse.FromString(kept)

    async def resolve(
        self, request: settlement_pb2.ResolveMismatchRequest
    ) -> settlement_pb2.ResolveMismatchResponse:
        """An operator decides a game that could not be paid."""
        game_id = parse_id(request.game_id, "game_id")
        reason = storable(request.reason, "reason")
        changed = Changed()

        async def effect(work: Work) -> bytes:
            game = await work.game(game_id)
            if game is None:
                raise game_unknown(game_id)
            if game.state is not State.MISMATCH:
                raise failed(errors_pb2.ERROR_REASON_NO_MISMATCH, "there is nothing to resolve")
            verdict = _decided(game, request.resolution)
            unsaid = Witness(game_id)
            await _pay(work, [(game, unsaid, verdict)], changed, caller().subject, reason)
            failpoint("settlement.resolve.before_commit")
            answer = settlement_pb2.ResolveMismatchResponse(
                settlement=await _settlement(work, game_id)
            )
            return answer.SerializeToString()

        kept = await self._once("ResolveMismatch", request.request_id, effect)
        failpoint("settlement.resolve.committed")
        self._tell(changed)
        return settlement_pb2.ResolveMismatchResponse.FromString(kept)

    async def _once(
        self, method: str, request_id: str, effect: Callable[[Work], Awaitable[bytes]]
    ) -> bytes:
        async with self.store.transaction() as connection:
            return await once(
                connection,
                caller().subject,
                method,
                parse_id(request_id, "request_id"),
                request_digest(),
                partial(effect, Work(connection)),
            )

    # --- events ------------------------------------------------------------------------------

    async def hear_rules(self, events: Sequence[Event]) -> None:
        """Events of `rules`, in any order and any number of times."""
        await self._hear(RULES_CONSUMER, events, wire.rules_event)

    async def hear_clock(self, events: Sequence[Event]) -> None:
        """Events of `clock`, in any order and any number of times."""
        await self._hear(CLOCK_CONSUMER, events, wire.clock_event)

    async def _hear(
        self, consumer: str, events: Sequence[Event], read: Callable[[Event], Witness | None]
    ) -> None:
        said = {event.id: told for event in events if (told := read(event)) is not None}
        if said:
            await self._take_in(consumer, said, [*said.values()])

    async def take_in(self, witnesses: Sequence[Witness]) -> None:
        """What was asked for, because the events did not come. If they come yet, they change
        nothing."""
        await self._take_in("", {}, witnesses)

    async def _take_in(
        self, consumer: str, events: Mapping[UUID, Witness], said: Sequence[Witness]
    ) -> None:
        """Write down what was said, and pay every game of which both witnesses have spoken; what
        was said by `events` only if they come for the first time.

        All that came since the last commit of this consumer is one transaction; the other consumer
        has its own at the same time, and the rows of the games keep them apart.
        """
        changed = Changed()
        try:
            await self._try_to_take_in(consumer, events, said, changed)
        except _UnknownGamesError as unknown:
            # In a transaction of its own: whoever makes the same game meanwhile is waited for here,
            # and nobody waits for somebody who waits.
            async with self.store.transaction() as connection:
                await Work(connection).meet(unknown.games)
            await self._try_to_take_in(consumer, events, said, changed)
        failpoint("settlement.settle.committed")
        self._tell(changed)

    async def _try_to_take_in(
        self,
        consumer: str,
        events: Mapping[UUID, Witness],
        said: Sequence[Witness],
        changed: Changed,
    ) -> None:
        async with self.store.transaction() as connection:
            if events:
                new = await first_time(connection, consumer, sorted(events))
                said = [told for name, told in events.items() if name in new]
            if said:
                await _judge(Work(connection), _one_each(said), changed)

    def _tell(self, changed: Changed) -> None:
        """After the commit."""
        if changed.mismatches:
            MISMATCHES.inc(changed.mismatches)
        self.changed(changed.accounts)


async def _judge(work: Work, witnesses: Sequence[Witness], changed: Changed) -> None:
    named = [witness.game_id for witness in witnesses]
    games = await work.games(named)
    if len(games) < len(named):
        raise _UnknownGamesError([game_id for game_id in named if game_id not in games])
    verdicts: list[tuple[Game, Witness, Verdict]] = []
    known: list[tuple[Game, Witness]] = []
    for witness in witnesses:
        before = games[witness.game_id]
        game = heard(before, witness)
        match judged(game):
            case Problem() as problem:
                known.append((game._replace(state=State.MISMATCH, problem=problem), witness))
                changed.mismatches += 1
                _log.error("mismatch", game_id=str(game.game_id), problem=problem.value)
            case Verdict() as verdict:
                verdicts.append((game, witness, verdict))
            case None if game is not before:
                known.append((game, witness))
    if known:
        await work.note(known)
    if verdicts:
        await _pay(work, verdicts, changed)
    failpoint("settlement.settle.before_commit")


async def _pay(
    work: Work,
    verdicts: Sequence[tuple[Game, Witness, Verdict]],
    changed: Changed,
    resolved_by: str | None = None,
    reason: str | None = None,
) -> None:
    """Pay games whose rows are locked, with what was said of them last, and announce it."""
    movements: list[Movement] = []
    paid: list[tuple[Verdict, UUID | None]] = []
    announcements = []
    for game, _, verdict in verdicts:
        movement = domain.movement_of(verdict, game)
        if movement is not None:
            movements.append(movement)
        paid.append((verdict, None if movement is None else movement.id))
        sequence = game.announced + 1
        payload = wire.game_settled(game.game_id, sequence, game.escrow, verdict)
        announcements.append(
            Announcement(new_id(), game.game_id, sequence, "game_settled", payload)
        )
    at = await ledger.post(work.connection, movements) if movements else await work.now()
    heard_of = [(game, witness) for game, witness, _ in verdicts]
    await work.settle(heard_of, paid, at, resolved_by, reason)
    await announce(work.connection, announcements)
    changed.accounts.update(
        Account(transfer.credit, movement.currency)
        for movement in movements
        for transfer in movement.transfers
    )


def _one_each(witnesses: Iterable[Witness]) -> list[Witness]:
    """What was said of each game, in one. Of two that say the same the first counts."""
    of_game: dict[UUID, Witness] = {}
    for said in witnesses:
        known = of_game.get(said.game_id)
        of_game[said.game_id] = said if known is None else known.joined(said)
    return list(of_game.values())


async def _check_same(work: Work, game_id: UUID, hold: Hold) -> None:
    """A game of which something is known is held on the same terms, or the hold is refused."""
    game = await work.game(game_id)
    assert game is not None, "games are never deleted"
    if game.released:
        raise failed(errors_pb2.ERROR_REASON_HOLD_RELEASED, "the stakes of the game were released")
    if game.hold is None:
        check_before_start(game.state)
    if game.hold != hold:
        raise exists(
            errors_pb2.ERROR_REASON_HOLD_EXISTS, "the game's stakes are held on other terms"
        )


def _decided(game: Game, resolution: settlement_pb2.Resolution.ValueType) -> Verdict:
    """What an operator has chosen; raises PAYOUT_IMPOSSIBLE."""
    if resolution == settlement_pb2.RESOLUTION_VOID:
        return domain.nothing_won(game)
    finish, closing = game.finish, game.closing
    assert finish is not None, "a mismatch is of a finished game"
    if resolution == settlement_pb2.RESOLUTION_BY_CLOCK and closing is not None:
        game = game._replace(finish=replace(finish, forfeits=closing.forfeits))
    verdict = None if game.problem is Problem.PLAYERS_DIFFER else domain.by_rules(game)
    if verdict is None:
        raise _impossible(game)
    return verdict


def _impossible(game: Game) -> Refusal:
    return failed(
        errors_pb2.ERROR_REASON_PAYOUT_IMPOSSIBLE,
        "the result can't be paid",
        problem=game.problem.name if game.problem else "",
    )


async def _settlement(work: Work, game_id: UUID) -> settlement_pb2.Settlement:
    dossier = await dossiers.dossier(work.connection, game_id)
    assert dossier is not None, "it has just been seen"
    return wire.settlement(dossier)
