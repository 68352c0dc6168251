"""`kafeneio.common.v1.AuditService`, which every service has of its own audit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from google.protobuf.timestamp_pb2 import Timestamp
from kafeneio.common.v1 import audit_pb2 as pb
from kafeneio.common.v1 import audit_pb2_grpc

from kafeneio_runtime import audit, chain
from kafeneio_runtime.auth import Role
from kafeneio_runtime.ids import parse_id
from kafeneio_runtime.interceptors.current import caller, request_digest
from kafeneio_runtime.requests import once

if TYPE_CHECKING:
    from kafeneio_runtime.serve import Servicer
    from kafeneio_runtime.store import Store

AUDIT: Final = "kafeneio.common.v1.AuditService"
AUDIT_ROLES: Final = {
    f"/{AUDIT}/{call}": frozenset({Role.OPERATOR})
    for call in ("ListAudit", "VerifyAudit", "NoteAction")
}
PAGE: Final = 50
VERIFIED_AT_ONCE: Final = 2000
MOST_FAULTS: Final = 100
MOST_ENTRIES: Final = 2**63 - 1
"""No audit is longer: the database counts no further."""

_FAULTS: Final = {
    chain.Break.CHANGED: pb.AUDIT_FAULT_KIND_CHANGED,
    chain.Break.MISSING: pb.AUDIT_FAULT_KIND_MISSING,
}


def auditing(store: Store) -> Servicer:
    """The service, for the `servicers` of a `Service` whose schema has the table `audit`."""
    return audit_pb2_grpc.add_AuditServiceServicer_to_server, AuditServicer(store)


@dataclass(frozen=True, slots=True)
class AuditServicer(audit_pb2_grpc.AuditServiceServicer):
    """The calls; their meaning stands in the contract."""

    store: Store

    async def ListAudit(
        self, request: pb.ListAuditRequest, context: object
    ) -> pb.ListAuditResponse:
        """What was done, the newest first."""
        size = request.page_size or PAGE
        before = min(int(request.page_token), MOST_ENTRIES) if request.page_token else None
        filters = (request.operator, request.target, request.method)
        if any("\0" in text for text in filters):
            return pb.ListAuditResponse()  # nobody and nothing is called so
        async with self.store.acquire() as connection:
            found = await audit.listed(connection, *filters, before, size + 1)
        more = len(found) > size
        return pb.ListAuditResponse(
            entries=map(_entry, found[:size]),
            next_page_token=str(found[size - 1].number) if more else "",
        )

    async def VerifyAudit(
        self, request: pb.VerifyAuditRequest, context: object
    ) -> pb.VerifyAuditResponse:
        """Whether everything is as it was written."""
        start = chain.Link(min(request.after_number, MOST_ENTRIES), request.after_hash)
        async with self.store.acquire() as connection:
            found = await audit.verify_page(
                connection, start, request.page_size or VERIFIED_AT_ONCE
            )
        faults = [
            pb.AuditFault(kind=_FAULTS[each.what], number=each.number) for each in found.broken
        ]
        if found.rewritten:
            rewritten = pb.AUDIT_FAULT_KIND_REWRITTEN
            faults.insert(0, pb.AuditFault(kind=rewritten, number=start.number))
        return pb.VerifyAuditResponse(
            verified_to=found.verified.number,
            hash=found.verified.hash,
            faults=faults[:MOST_FAULTS],
            page_end=found.end.number,
            page_hash=found.end.hash,
            complete=found.complete,
        )

    async def NoteAction(
        self, request: pb.NoteActionRequest, context: object
    ) -> pb.NoteActionResponse:
        """What is done by other means. The note is the entry that every operator's call leaves."""
        request_id, who = parse_id(request.request_id, "request_id"), caller().subject

        async def effect() -> bytes:
            return b""

        async with self.store.transaction() as connection:
            await once(connection, who, "NoteAction", request_id, request_digest(), effect)
            number = await audit.number_of(connection, who, f"/{AUDIT}/NoteAction", request_id)
        assert number is not None, "it was written now, or when the call came first"
        return pb.NoteActionResponse(number=number)


def _entry(written: audit.Written) -> pb.AuditEntry:
    at = Timestamp()
    at.FromDatetime(written.at)
    entry = written.entry
    return pb.AuditEntry(
        number=written.number,
        at=at,
        operator=entry.operator,
        method=entry.method,
        target=entry.target,
        reason=entry.reason,
        request_id=str(entry.request_id),
        request_json=entry.request,
        hash=written.hash,
    )
