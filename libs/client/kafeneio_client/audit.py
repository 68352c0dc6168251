"""The calls of `kafeneio.common.v1.AuditService`, which every service has."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace

import grpc
from kafeneio.common.v1 import audit_pb2 as pb
from kafeneio.common.v1 import audit_pb2_grpc

from kafeneio_client.channel import Caller, new_id


@dataclass(frozen=True, slots=True)
class AuditVerification:
    """Up to which entry an audit is as it was written, its link, and what is wrong."""

    verified_to: int
    hash: bytes
    faults: tuple[pb.AuditFault, ...]


class Audit:
    """What operators have done in one service. Role: operator."""

    def __init__(self, service: str, channel: grpc.aio.Channel, caller: Caller) -> None:
        self._stub = audit_pb2_grpc.AuditServiceStub(channel)
        # Behind the edge all services share an address, and this name.
        self._caller = replace(caller, headers=(("x-kafeneio-service", service),))

    async def entries(
        self, operator: str = "", target: str = "", method: str = "", *, page_size: int = 0
    ) -> AsyncIterator[pb.AuditEntry]:
        """ListAudit: the newest first, page after page as the caller goes on."""
        request = pb.ListAuditRequest(
            operator=operator, target=target, method=method, page_size=page_size
        )
        while True:
            page = await self._caller.call(self._stub.ListAudit, request)
            for entry in page.entries:
                yield entry
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    async def verify(self, after_number: int = 0, after_hash: bytes = b"") -> AuditVerification:
        """VerifyAudit, page by page to the end of the chain. `after_hash` is what that link was
        when it was written down; empty to trust what is there."""
        verified_to, link = after_number, after_hash
        faults: list[pb.AuditFault] = []
        while True:
            request = pb.VerifyAuditRequest(after_number=after_number, after_hash=after_hash)
            page = await self._caller.call(self._stub.VerifyAudit, request)
            if not faults:
                verified_to, link = page.verified_to, page.hash
            faults += page.faults
            if page.complete:
                return AuditVerification(verified_to, link, tuple(faults))
            after_number, after_hash = page.page_end, page.page_hash

    async def note(
        self, action: str, reason: str, target_id: str = "", *, request_id: str = ""
    ) -> int:
        """NoteAction: write down what is about to be done by other means; its place."""
        request = pb.NoteActionRequest(
            request_id=request_id or new_id(), action=action, target_id=target_id, reason=reason
        )
        answer = await self._caller.call(self._stub.NoteAction, request, request.request_id)
        return answer.number
