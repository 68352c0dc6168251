"""Arrays as PostgreSQL reads them from one text: that costs a fraction of an array of values, of
which each is looked at before it is sent. A statement says `$1::text::uuid[]`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from uuid import UUID

_NULL = "NULL"


def texts(values: Iterable[str | None]) -> str:
    """Any texts; they come in quotes, so nothing in them is read but quotes and backslashes."""
    listed = list(values)
    if None in listed:
        return "{" + ",".join(_NULL if each is None else _quoted(each) for each in listed) + "}"
    if not listed:
        return "{}"
    joined = '","'.join(listed)  # type: ignore[arg-type] # there is no None
    if "\\" in joined or joined.count('"') != 2 * (len(listed) - 1):
        return "{" + ",".join(map(_quoted, listed)) + "}"  # type: ignore[arg-type]
    return '{"' + joined + '"}'


def _quoted(value: str) -> str:
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def uuids(values: Iterable[UUID | None]) -> str:
    """Ids."""
    return "{" + ",".join([_NULL if each is None else each.hex for each in values]) + "}"


def numbers(values: Iterable[int | None]) -> str:
    """Whole numbers."""
    return "{" + ",".join([_NULL if each is None else str(each) for each in values]) + "}"


def flags(values: Iterable[bool]) -> str:
    """Truth values."""
    return "{" + ",".join(["t" if each else "f" for each in values]) + "}"


def moments(values: Sequence[datetime | None]) -> str:
    """Times with their zone."""
    return "{" + ",".join([_NULL if each is None else each.isoformat() for each in values]) + "}"
