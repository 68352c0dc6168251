"""The audit: what operators have done, written in the transaction of what they did.

`requests.once` does so for every call that goes through it; whatever keeps its calls elsewhere (the
log of a game) takes `entry_of_call` and calls `write`. The rows are linked into a chain as they are
written, one after the other under a lock: operators are few.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final, NamedTuple, cast
from uuid import UUID

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.json_format import MessageToJson
from google.protobuf.message import Message

from kafeneio_runtime import chain
from kafeneio_runtime.auth import Role
from kafeneio_runtime.calls import current_call

if TYPE_CHECKING:
    from asyncpg import Record

    from kafeneio_runtime.store import Connection

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_OWN_ID: Final = "request_id"

_LOCK: Final = "SELECT pg_advisory_xact_lock(hashtext('kafeneio audit ' || current_schema()))"
_LAST: Final = "SELECT number, hash FROM audit ORDER BY number DESC LIMIT 1"
_WRITE: Final = """
    INSERT INTO audit (number, at, operator, method, target, reason, request_id, request, hash)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
"""
_COLUMNS: Final = "number, at, operator, method, target, reason, request_id, request, hash"
_LIST: Final = f"""
    SELECT {_COLUMNS} FROM audit
    WHERE ($1 = '' OR operator = $1) AND ($2 = '' OR target = $2) AND ($3 = '' OR method = $3)
      AND ($4::bigint IS NULL OR number < $4)
    ORDER BY number DESC LIMIT $5
"""
_PAGE: Final = f"SELECT {_COLUMNS} FROM audit WHERE number > $1 ORDER BY number LIMIT $2"
_FIND: Final = """
    SELECT max(number) FROM audit WHERE operator = $1 AND method = $2 AND request_id = $3
"""
_LINK: Final = "SELECT number, hash FROM audit WHERE number = $1"


class Entry(NamedTuple):
    """What an operator does: `method` is the path of the call, `target` the first id that the
    request names besides its own, `request` the whole of it as JSON.
    """

    operator: str
    method: str
    target: str
    reason: str
    request_id: UUID
    request: str


class Written(NamedTuple):
    """An entry as it is stored, with its link."""

    number: int
    at: datetime
    entry: Entry
    hash: bytes


class Verified(NamedTuple):
    """What a page of the chain tells. Up to `verified` all is as it was written; `end` is the last
    link that was looked at, and `complete` where there is none after it. `rewritten` where the link
    from which it began is not what the caller has seen.
    """

    verified: chain.Link
    end: chain.Link
    broken: tuple[chain.Broken[int], ...]
    rewritten: bool
    complete: bool


def entry_of_call() -> Entry | None:
    """The entry for the call in progress; None where there is none, or no operator calls."""
    call = current_call.get(None)
    if call is None or call.caller is None or call.caller.role is not Role.OPERATOR:
        return None
    request = cast(Message, call.request)  # it was decoded before anybody was let in
    told = json.loads(MessageToJson(request, preserving_proto_field_name=True))
    return Entry(
        operator=call.caller.subject,
        method=call.method.full,
        target=_storable(_target(request)),
        reason=_storable(_text(request, "reason") or _text(request, "outcome")),
        request_id=UUID(_text(request, _OWN_ID)),
        request=json.dumps(told, ensure_ascii=True, separators=(",", ":")),
    )


def _target(request: Message) -> str:
    for field in request.DESCRIPTOR.fields:
        if field.name.endswith("_id") and field.name != _OWN_ID:
            return _text(request, field.name)
    return ""


def _text(request: Message, name: str) -> str:
    field = request.DESCRIPTOR.fields_by_name.get(name)
    if field is None or field.type != FieldDescriptor.TYPE_STRING:
        return ""
    text: str = getattr(request, name)
    return text


def _storable(text: str) -> str:
    # PostgreSQL keeps no NUL. A call with one is refused anyway where it matters.
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}")


async def write(connection: Connection, entry: Entry) -> None:
    """Writes the entry down. The last thing that a transaction does: it makes others wait until the
    commit. At READ COMMITTED. Raises RuntimeError outside of a transaction.
    """
    if not connection.is_in_transaction():
        raise RuntimeError("an entry is written with what it tells, or not at all")
    await connection.execute(_LOCK)
    last = await connection.fetchrow(_LAST)
    at: datetime = await connection.fetchval("SELECT clock_timestamp()")
    before = chain.START if last is None else chain.Link(*last)
    link = chain.follow(before, _said(at, entry))
    await connection.execute(_WRITE, link.number, at, *entry, link.hash)


async def write_call(connection: Connection) -> None:
    """Writes the call in progress down where it is an operator's."""
    entry = entry_of_call()
    if entry is not None:
        await write(connection, entry)


def _said(at: datetime, entry: Entry) -> str:
    said = [(at - _EPOCH) // timedelta(microseconds=1), *entry[:4], str(entry[4]), entry[5]]
    return json.dumps(said, ensure_ascii=False, separators=(",", ":"))


async def listed(
    connection: Connection,
    operator: str = "",
    target: str = "",
    method: str = "",
    before: int | None = None,
    limit: int = 50,
) -> list[Written]:
    """Entries before a number, the newest first; an empty filter takes all."""
    rows = await connection.fetch(_LIST, operator, target, method, before, limit)
    return [_written(row) for row in rows]


async def number_of(
    connection: Connection, operator: str, method: str, request_id: UUID
) -> int | None:
    """Where a call is written down; None where it is not."""
    number: int | None = await connection.fetchval(_FIND, operator, method, request_id)
    return number


async def verify_page(connection: Connection, start: chain.Link, size: int) -> Verified:
    """Looks at up to `size` entries after `start`, whose hash is what the caller has seen; empty to
    trust what is there.
    """
    stored: chain.Link | None = chain.START
    if start.number != chain.START.number:
        row = await connection.fetchrow(_LINK, start.number)
        stored = None if row is None else chain.Link(*row)
    rewritten = stored is None or bool(start.hash and start.hash != stored.hash)
    rows = [_written(row) for row in await connection.fetch(_PAGE, start.number, size)]
    good, end, broken = chain.verify(
        stored or start,
        (
            chain.Linked(chain.Link(row.number, row.hash), row.number, _said(row.at, row.entry))
            for row in rows
        ),
    )
    verified = chain.Link(0, b"") if rewritten else good
    return Verified(verified, end, tuple(broken), rewritten, len(rows) < size)


def _written(row: Record) -> Written:
    number, at, *entry, link = row  # as in _COLUMNS
    return Written(number, at, Entry(*entry), link)
