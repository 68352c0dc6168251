"""An operator of a running house: he calls any method by its path, and looks at the audits."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

import grpc
import pytest
from google.protobuf import descriptor_pool, message_factory
from google.protobuf.message import Message
from kafeneio.common.v1 import audit_pb2 as pb
from kafeneio.common.v1 import audit_pb2_grpc
from kafeneio_client.channel import new_id
from kafeneio_runtime.auth import Role, development_key

from tests.journeys.evening import Evening

SERVICES: Final = ("rules", "clock", "settlement", "matchmaking")
SECONDS: Final = 20.0
AUDIT: Final = "/kafeneio.common.v1.AuditService/NoteAction"


def service_of(path: str) -> str:
    """Which service offers a method."""
    return path.split(".")[1]


def request_class(path: str) -> type[Message]:
    """The request of a method."""
    service, _, name = path.lstrip("/").partition("/")
    found = descriptor_pool.Default().FindServiceByName(service).methods_by_name[name]
    return message_factory.GetMessageClass(found.input_type)


def response_class(path: str) -> type[Message]:
    """Its response."""
    service, _, name = path.lstrip("/").partition("/")
    found = descriptor_pool.Default().FindServiceByName(service).methods_by_name[name]
    return message_factory.GetMessageClass(found.output_type)


@dataclass
class Office:
    """Operators, and what they have done so far."""

    house: Evening
    channels: Mapping[str, grpc.aio.Channel]
    done: set[str] = field(default_factory=set)

    @classmethod
    @asynccontextmanager
    async def opened(cls, house: Evening) -> AsyncIterator[Office]:
        """In front of a house."""
        async with AsyncExitStack() as stack:
            channels = {
                name: await stack.enter_async_context(
                    grpc.aio.insecure_channel(house.addresses(name)[0])
                )
                for name in SERVICES
            }
            yield cls(house, channels)

    def token(self, name: str, role: Role) -> tuple[tuple[str, str], ...]:
        """The header of somebody."""
        key = development_key(self.house.settings)
        return (("authorization", f"Bearer {key.sign(name, role, timedelta(hours=1))}"),)

    async def call(
        self,
        path: str,
        request: Message,
        name: str = "olga",
        role: Role = Role.OPERATOR,
        service: str = "",
    ) -> Any:
        """The answer to a call."""
        method: grpc.aio.UnaryUnaryMultiCallable[Message, Message] = self.channels[
            service or service_of(path)
        ].unary_unary(path, type(request).SerializeToString, response_class(path).FromString)
        return await method(request, timeout=SECONDS, metadata=self.token(name, role))

    async def entries(self, service: str) -> list[pb.AuditEntry]:
        """The audit of a service, the newest first."""
        stub = audit_pb2_grpc.AuditServiceStub(self.channels[service])
        answer = await stub.ListAudit(
            pb.ListAuditRequest(page_size=200),
            metadata=self.token("olga", Role.OPERATOR),
            timeout=SECONDS,
        )
        return list(answer.entries)

    async def operate(self, path: str, name: str = "olga", service: str = "", **fields: Any) -> Any:
        """The answer to a call that changes something; asserts that the audit has it exactly once,
        however often it is sent, and nothing of what is refused.
        """
        service, made = service or service_of(path), request_class(path)
        request = made(request_id=new_id(), **fields)
        before = await self.entries(service)
        answer = await self.call(path, request, name, service=service)
        entries = await self.entries(service)
        assert entries[1:] == before, path
        entry = entries[0]
        assert (entry.number, entry.operator, entry.method) == (len(before) + 1, name, path)
        assert entry.request_id == getattr(request, "request_id")  # noqa: B009 (made at run time)
        words = [fields[field] for field in ("reason", "outcome") if field in fields]
        assert entry.reason == (words[0] if words else "")
        ids = [str(value) for field, value in fields.items() if field.endswith("_id")]
        assert entry.target == (ids[0] if ids else "")
        for _ in range(2):
            assert await self.call(path, request, name, service=service) == answer
        await self._refused(path, made(**{**fields, "request_id": entry.request_id}), name, service)
        assert await self.entries(service) == entries, path
        self.done.add(path)
        return answer

    async def _refused(self, path: str, request: Any, name: str, service: str) -> None:
        """The same id with another request, and calls of those for whom it is not."""
        words = "outcome" if "outcome" in request.DESCRIPTOR.fields_by_name else "reason"
        setattr(request, words, "another one")
        for who, role, code in (
            (name, Role.OPERATOR, grpc.StatusCode.ALREADY_EXISTS),
            ("eleni", Role.PLAYER, grpc.StatusCode.PERMISSION_DENIED),
        ):
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await self.call(path, request, who, role, service)
            assert caught.value.code() is code, (path, caught.value.details())
