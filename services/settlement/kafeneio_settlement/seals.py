"""The chain of seals: what each is made of, and what a page of the chain tells. Pure.

Seal n is the SHA-256 of seal n-1 and of all that its transaction says. So whoever has written down
one seal can tell whether anything before it was changed, even if all seals were made anew.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from hashlib import sha256
from typing import Final
from uuid import UUID

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MOST_FAULTS: Final = 100


@dataclass(frozen=True, slots=True)
class Seal:
    """A place in the chain; the hash is empty where it is not known."""

    number: int
    hash: bytes


START: Final = Seal(0, bytes(32))
"""Before the first."""


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


class Fault(StrEnum):
    """What is wrong."""

    CHANGED = "changed"
    MISSING = "missing"
    UNSEALED = "unsealed"
    ACCOUNT = "account"
    REWRITTEN = "rewritten"


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


def hash_of(previous: bytes, written: Written) -> bytes:
    """The hash of the seal that follows `previous`."""
    text = json.dumps(
        [
            str(written.transaction_id),
            written.kind,
            written.currency,
            None if written.game_id is None else str(written.game_id),
            (written.at - _EPOCH) // timedelta(microseconds=1),
            written.transfers,
        ],
        ensure_ascii=False,
        separators=(",", ":"),
    )
    return sha256(previous + text.encode()).digest()


def chained(last: Seal, transactions: Iterable[Written]) -> list[Seal]:
    """The seals of transactions that follow `last`."""
    made: list[Seal] = []
    for written in transactions:
        last = Seal(last.number + 1, hash_of(last.hash, written))
        made.append(last)
    return made


def verify(start: Seal, rows: Iterable[Sealed]) -> tuple[Seal, Seal, list[Finding]]:
    """(up to where all is well, the last seal, what is wrong) of rows that follow `start`.

    Each is held against the one before it as it stands, so that one that was changed does not spoil
    the rest.
    """
    good, last = start, start
    findings: list[Finding] = []
    for row in rows:
        number = row.seal.number
        if number != last.number + 1:
            findings.append(Finding(Fault.MISSING, last.number + 1))
        if row.written is None:
            findings.append(Finding(Fault.MISSING, number, row.transaction_id))
        elif number == last.number + 1 and hash_of(last.hash, row.written) != row.seal.hash:
            findings.append(Finding(Fault.CHANGED, number, row.transaction_id))
        last = row.seal
        if not findings:
            good = last
    return good, last, findings
