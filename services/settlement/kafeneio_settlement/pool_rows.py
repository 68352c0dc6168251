"""Between rows and values: prize pools, what they have paid and what operators have proposed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from asyncpg import Record

from kafeneio_settlement.pools import (
    Award,
    Entry,
    Prize,
    Standings,
    State,
    Terms,
    standings_of,
)
from kafeneio_settlement.prizes import Prizes


@dataclass(frozen=True, slots=True)
class Correction:
    """What one operator has proposed for a tournament that was paid; `approved_by` is the second
    one, who has done it. None of `standings` where it is void, of `terms` where they were right."""

    number: int
    corrects: int
    standings: Standings | None
    terms: Terms | None
    reason: str
    proposed_by: str
    proposed_at: datetime
    approved_by: str = ""
    approved_at: datetime | None = None
    version: int = 0


@dataclass(frozen=True, slots=True)
class Settled:
    """What a tournament has paid; `terms` are those of the correction that it is, if it has any."""

    version: int
    award: Award
    rule_version: int
    transaction_id: UUID | None
    reversal_id: UUID | None
    settled_by: str
    reason: str
    approved_by: str
    at: datetime
    terms: Terms | None = None


@dataclass(frozen=True, slots=True)
class Pool:
    """All that is known of a tournament's money: entries in the order in which they were heard of,
    settlements and corrections from the first to the newest."""

    tournament_id: UUID
    terms: Terms
    opened_at: datetime
    entries: tuple[Entry, ...] = ()
    settlements: tuple[Settled, ...] = ()
    corrections: tuple[Correction, ...] = ()

    @property
    def newest(self) -> Settled | None:
        """The settlement that counts."""
        return self.settlements[-1] if self.settlements else None

    @property
    def state(self) -> State:
        """Where it stands."""
        if self.newest is None:
            return State.OPEN
        return State.VOID if self.newest.award.void else State.SETTLED

    @property
    def held(self) -> tuple[Entry, ...]:
        """The entries that take part."""
        return tuple(entry for entry in self.entries if entry.is_held)


def terms_of(row: Record) -> Terms:
    """A row of `prize_pools`."""
    return Terms(
        row["currency"],
        row["entry_fee"],
        row["fee_basis_points"],
        Prizes(tuple(row["prize_shares"])),
        row["players_per_entry"],
        row["starts_at"],
    )


def entry_of(row: Record) -> Entry:
    """A row of `pool_entries` joined with its release, or that alone."""
    return Entry(row["entry_id"], tuple(row["players"] or ()), row["held_at"], row["released_at"])


def correction_of(row: Record, terms: Terms) -> Correction:
    """A row of `pool_corrections` joined with its approval, if there is one, of a pool with those
    terms."""
    return Correction(
        number=row["number"],
        corrects=row["corrects"],
        standings=None if row["entries"] is None else standings_of(row["entries"], row["places"]),
        terms=None
        if row["entry_fee"] is None
        else Terms(
            terms.currency,
            row["entry_fee"],
            row["fee_basis_points"],
            Prizes(tuple(row["prize_shares"])),
            terms.players_per_entry,
            row["starts_at"],
        ),
        reason=row["reason"],
        proposed_by=row["proposed_by"],
        proposed_at=row["at"],
        approved_by=row["approved_by"] or "",
        approved_at=row["approved_at"],
        version=row["version"] or 0,
    )


def settled_of(row: Record, corrections: tuple[Correction, ...]) -> Settled:
    """A row of `pool_settlements`."""
    paid = zip(row["entries"], row["places"], row["amounts"], strict=True)
    terms = [each.terms for each in corrections if each.version == row["version"]]
    return Settled(
        version=row["version"],
        award=Award(
            sum(row["amounts"]) + row["fee"],
            tuple(Prize(*each) for each in paid),
            row["fee"],
            row["void"],
        ),
        rule_version=row["rule_version"],
        transaction_id=row["transaction_id"],
        reversal_id=row["reversal_id"],
        settled_by=row["settled_by"],
        reason=row["reason"],
        approved_by=row["approved_by"] or "",
        at=row["at"],
        terms=terms[0] if terms else None,
    )
