"""Between messages and values: prize pools, standings, and what is announced about tournaments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC
from typing import Final
from uuid import UUID

from kafeneio.settlement.v1 import events_pb2
from kafeneio.settlement.v1 import prizes_pb2 as pb
from kafeneio_runtime.errors import malformed
from kafeneio_runtime.ids import parse_id

from kafeneio_settlement import pools, prizes
from kafeneio_settlement.payouts import WHOLE
from kafeneio_settlement.pool_rows import Correction, Pool, Settled
from kafeneio_settlement.pools import Award, Entry, Standings, State, Terms
from kafeneio_settlement.prizes import Prizes
from kafeneio_settlement.wire import money, timestamp

STATES: Final = {
    State.OPEN: pb.POOL_STATE_OPEN,
    State.SETTLED: pb.POOL_STATE_SETTLED,
    State.VOID: pb.POOL_STATE_VOID,
}


# --- what clients send -----------------------------------------------------------------------


def terms_of(message: pb.PoolTerms) -> Terms:
    """The terms of a tournament; raises MALFORMED."""
    shares = tuple(message.prize_shares)
    if sum(shares) != WHOLE:
        raise malformed("terms.prize_shares", f"must be {WHOLE} together")
    try:
        offered = Prizes(shares)
    except ValueError as error:
        raise malformed("terms.prize_shares", "must not grow towards the last place") from error
    return Terms(
        message.entry_fee.currency_code,
        message.entry_fee.minor_units,
        message.fee_basis_points,
        offered,
        message.players_per_entry,
        message.starts_at.ToDatetime(UTC) if message.HasField("starts_at") else None,
    )


def standings_of(message: pb.Standings) -> Standings:
    """How a tournament ended; raises MALFORMED where a place does not follow from those before."""
    found: list[tuple[UUID, ...]] = []
    place = 1
    for number, each in enumerate(message.places):
        if each.place != place:
            raise malformed(f"standings.places[{number}].place", f"must be {place}")
        found.append(tuple(parse_id(entry, "entry_ids") for entry in each.entry_ids))
        place += len(each.entry_ids)
    return tuple(found)


# --- what clients get ------------------------------------------------------------------------


def terms(value: Terms) -> pb.PoolTerms:
    """What was published."""
    message = pb.PoolTerms(
        entry_fee=money(value.currency, value.entry_fee),
        fee_basis_points=value.fee_basis_points,
        prize_shares=value.offered.shares,
        players_per_entry=value.players_per_entry,
    )
    if value.starts_at is not None:
        message.starts_at.FromDatetime(value.starts_at)
    return message


def entry(value: Entry) -> pb.PoolEntry:
    """An entry as it stands."""
    message = pb.PoolEntry(
        entry_id=str(value.entry_id),
        player_ids=value.players,
        released=value.released_at is not None,
    )
    if value.held_at is not None:
        message.held_at.FromDatetime(value.held_at)
    if value.released_at is not None:
        message.released_at.FromDatetime(value.released_at)
    return message


def standings(value: Standings) -> pb.Standings:
    """Who has finished where."""
    message = pb.Standings()
    place = 1
    for tied in value:
        message.places.add(place=place, entry_ids=map(str, tied))
        place += len(tied)
    return message


def pool(value: Pool, *, corrections: bool = True) -> pb.PrizePool:
    """Everything about a tournament's money, or all but what operators have proposed."""
    now = 0 if value.newest else pools.pool_of(value.terms, len(value.held))
    message = pb.PrizePool(
        tournament_id=str(value.tournament_id),
        state=STATES[value.state],
        terms=terms(value.terms),
        opened_at=timestamp(value.opened_at),
        entries=map(entry, value.entries),
        escrow=money(value.terms.currency, now),
    )
    if value.newest is not None:
        message.settled.CopyFrom(_settled(value, value.newest))
    message.corrected.extend(_settled(value, each) for each in value.settlements[:-1])
    if corrections:
        message.corrections.extend(
            correction(value.tournament_id, each) for each in value.corrections
        )
    return message


def _settled(value: Pool, settled: Settled) -> pb.PoolSettlement:
    award, currency = settled.award, value.terms.currency
    message = pb.PoolSettlement(
        settlement_version=settled.version,
        void=award.void,
        prize_rule=prizes.RULE,
        rule_version=settled.rule_version,
        pool=money(currency, award.pool),
        fee=money(currency, award.fee),
        transaction_id=_id(settled.transaction_id),
        reversal_transaction_id=_id(settled.reversal_id),
        settled_at=timestamp(settled.at),
        reason=settled.reason,
        settled_by=settled.settled_by,
        approved_by=settled.approved_by,
    )
    for prize in award.prizes:
        message.prizes.add(
            entry_id=str(prize.entry_id),
            place=prize.place,
            amount=prize.amount,
            shares=pools.split(prize.amount, value.terms.players_per_entry),
        )
    if settled.terms is not None:
        message.corrected_terms.CopyFrom(terms(settled.terms))
    return message


def _id(value: UUID | None) -> str:
    return "" if value is None else str(value)


def correction(tournament_id: UUID, value: Correction) -> pb.TournamentCorrection:
    """What an operator has proposed."""
    message = pb.TournamentCorrection(
        tournament_id=str(tournament_id),
        number=value.number,
        corrects_version=value.corrects,
        reason=value.reason,
        proposed_by=value.proposed_by,
        proposed_at=timestamp(value.proposed_at),
        approved_by=value.approved_by,
        settlement_version=value.version,
    )
    if value.standings is not None:
        message.standings.CopyFrom(standings(value.standings))
    if value.terms is not None:
        message.terms.CopyFrom(terms(value.terms))
    if value.approved_at is not None:
        message.approved_at.FromDatetime(value.approved_at)
    return message


# --- what we announce ------------------------------------------------------------------------


def tournament_settled(
    tournament_id: UUID, terms: Terms, held: Sequence[Entry], award: Award
) -> bytes:
    """An event of the outbox, without its id and its time, which the database gives. A settlement
    has one event, so its version is the sequence."""
    told = events_pb2.TournamentSettled(
        settlement_version=pools.FIRST_VERSION,
        void=award.void,
        nets=_nets(terms, held, award),
        fee=money(terms.currency, award.fee),
    )
    return events_pb2.SettlementEvent(
        tournament_id=str(tournament_id),
        sequence=pools.FIRST_VERSION,
        tournament_settled=told,
    ).SerializeToString()


def tournament_corrected(
    tournament_id: UUID, right: Terms, held: Sequence[Entry], award: Award, version: int
) -> bytes:
    """The same, for a tournament of which two operators have replaced what it paid."""
    told = events_pb2.TournamentCorrected(
        settlement_version=version,
        corrects_version=version - 1,
        void=award.void,
        nets=_nets(right, held, award),
        fee=money(right.currency, award.fee),
    )
    return events_pb2.SettlementEvent(
        tournament_id=str(tournament_id), sequence=version, tournament_corrected=told
    ).SerializeToString()


def _nets(terms: Terms, held: Sequence[Entry], award: Award) -> Iterable[events_pb2.Net]:
    return (
        events_pb2.Net(player_id=player, amount=money(terms.currency, net))
        for player, net in pools.nets(terms, held, award)
    )
