"""The audits of the fake house: all services share an address, so the header says which one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from google.protobuf.json_format import MessageToJson
from google.protobuf.timestamp_pb2 import Timestamp
from kafeneio.common.v1 import audit_pb2 as pb
from kafeneio.common.v1 import audit_pb2_grpc

from tests.client.fake_calls import Call, Desk

PAGE = 3


@dataclass
class FakeAudit(audit_pb2_grpc.AuditServiceServicer):
    """The servicer of AuditService of every service; `faults` are what is wrong in one."""

    desk: Desk
    written: dict[str, list[pb.AuditEntry]] = field(default_factory=dict)
    faults: dict[str, list[pb.AuditFault]] = field(default_factory=dict)

    def write(self, service: str, second: int, operator: str, method: str, **more: Any) -> None:
        """Add an entry."""
        entries = self.written.setdefault(service, [])
        entries.append(
            pb.AuditEntry(
                number=len(entries) + 1,
                at=Timestamp(seconds=second),
                operator=operator,
                method=method,
                **more,
            )
        )

    def _asked(self, context: Call) -> str:
        return str(dict(context.invocation_metadata() or ())["x-kafeneio-service"])

    async def ListAudit(self, request: pb.ListAuditRequest, context: Call) -> pb.ListAuditResponse:
        """Three a page, the newest first."""
        await self.desk.called("ListAudit", request, context)
        before = int(request.page_token or 2**31)
        found = [
            entry
            for entry in reversed(self.written.get(self._asked(context), []))
            if entry.number < before
            and request.operator in ("", entry.operator)
            and request.target in ("", entry.target)
        ]
        more = str(found[PAGE - 1].number) if len(found) > PAGE else ""
        return pb.ListAuditResponse(entries=found[:PAGE], next_page_token=more)

    async def VerifyAudit(
        self, request: pb.VerifyAuditRequest, context: Call
    ) -> pb.VerifyAuditResponse:
        """In pages of three."""
        await self.desk.called("VerifyAudit", request, context)
        service = self._asked(context)
        end = min(request.after_number + PAGE, len(self.written.get(service, [])))
        faults = [each for each in self.faults.get(service, ()) if each.number <= end]
        return pb.VerifyAuditResponse(
            verified_to=faults[0].number - 1 if faults else end,
            hash=bytes([end]) * 32,
            faults=faults,
            page_end=end,
            page_hash=bytes([end]) * 32,
            complete=end == len(self.written.get(service, [])),
        )

    async def NoteAction(
        self, request: pb.NoteActionRequest, context: Call
    ) -> pb.NoteActionResponse:
        """It is written down."""
        name = await self.desk.called("NoteAction", request, context)
        service = self._asked(context)
        path = "/kafeneio.common.v1.AuditService/NoteAction"
        told = MessageToJson(request, preserving_proto_field_name=True, indent=None)
        words = {"target": request.target_id, "reason": request.reason, "request_json": told}
        self.write(service, 60, name, path, **words)
        return pb.NoteActionResponse(number=len(self.written[service]))
