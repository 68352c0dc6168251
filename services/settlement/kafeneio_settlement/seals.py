"""The chain of seals: what each is made of, and what a page of the chain tells. Pure.

A seal is the link of a transaction (`kafeneio_runtime.chain`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Final, TypeAlias
from uuid import UUID

from kafeneio_runtime import chain

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MOST_FAULTS: Final = 100


Seal: TypeAlias = chain.Link
"""A place in the chain; the hash is empty where it is not known."""

START: Final = chain.START


@dataclass(frozen=True, slots=True)
class Written:
    """A transaction as it stands in the ledger; each of `transfers` is (position, currency, debit,
    credit, amount, debit version, debit balance, credit version, credit balance), in order."""

    transaction_id: UUID
    kind: str
    currency: str
    game_id: UUID | None
    at: datetime
    transfers: tuple[tuple[int | str, ...], ...]
    tournament_id: UUID | None = None


class Fault(StrEnum):
    """What is wrong."""

    CHANGED = "changed"
    MISSING = "missing"
    UNSEALED = "unsealed"
    ACCOUNT = "account"
    REWRITTEN = "rewritten"


_FAULTS: Final = {
    chain.Break.CHANGED: Fault.CHANGED,
    chain.Break.MISSING: Fault.MISSING,
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong, and where."""

    fault: Fault
    number: int = 0
    transaction_id: UUID | None = None
    account: str = ""


@dataclass(frozen=True, slots=True)
class Sealed:
    """A row of the chain, with its transaction if there is one."""

    seal: Seal
    transaction_id: UUID
    written: Written | None


@dataclass(frozen=True, slots=True)
class Verified:
    """What a page of the chain tells. Up to `verified` all is as it was sealed; `end` is the last
    seal that was looked at, and `complete` where there is none after it."""

    verified: Seal
    end: Seal
    findings: tuple[Finding, ...]
    complete: bool


def said_by(written: Written) -> str:
    """All that a transaction says, of which its seal is made."""
    said = [
        str(written.transaction_id),
        written.kind,
        written.currency,
        None if written.game_id is None else str(written.game_id),
        (written.at - _EPOCH) // timedelta(microseconds=1),
        written.transfers,
    ]
    if written.tournament_id is not None:  # most have none, and the oldest could have none
        said.append(str(written.tournament_id))
    return json.dumps(said, ensure_ascii=False, separators=(",", ":"))


def chained(last: Seal, transactions: Iterable[Written]) -> list[Seal]:
    """The seals of transactions that follow `last`."""
    made: list[Seal] = []
    for written in transactions:
        last = chain.follow(last, said_by(written))
        made.append(last)
    return made


def verify(start: Seal, rows: Iterable[Sealed]) -> tuple[Seal, Seal, list[Finding]]:
    """(up to where all is well, the last seal, what is wrong) of rows that follow `start`."""
    good, last, broken = chain.verify(
        start,
        (
            chain.Linked(
                row.seal, row.transaction_id, None if row.written is None else said_by(row.written)
            )
            for row in rows
        ),
    )
    return good, last, [Finding(_FAULTS[each.what], each.number, each.key) for each in broken]
