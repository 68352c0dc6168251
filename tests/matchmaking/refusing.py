"""What every call refuses, whatever it is for; and that a refusal changes nothing."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta

import grpc
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import Message

from tests.harness import OPERATOR, PATIENCE, SERVICE
from tests.matchmaking.hall import Hall
from tests.rules.refusal import Refused, refusal

ROLES = {"eleni": "player", OPERATOR: "operator", SERVICE: "service"}


@dataclass(frozen=True)
class Refusing:
    """A method of one replica."""

    hall: Hall
    method: MethodDescriptor

    async def __call__(
        self,
        body: bytes | Message,
        who: str = "eleni",
        metadata: tuple[tuple[str, str], ...] | None = None,
        within: float | None = PATIENCE,
    ) -> Refused:
        """How a call is refused; it has changed nothing."""
        hall, before = self.hall, await self.hall.snapshot()
        path = f"/{self.method.containing_service.full_name}/{self.method.name}"
        sent = body if isinstance(body, bytes) else body.SerializeToString()
        headers = hall.rules.credentials(who) if metadata is None else metadata
        if self.method.server_streaming:
            many: grpc.aio.UnaryStreamMultiCallable[bytes, bytes] = hall.channel.unary_stream(path)
            found = await refusal(many(sent, metadata=headers, timeout=within).read())
        else:
            one: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = hall.channel.unary_unary(path)
            found = await refusal(one(sent, metadata=headers, timeout=within))
        assert await hall.snapshot() == before
        return found

    async def at_the_door(self, request: Message, roles: Collection[str] = ("player",)) -> None:
        """What can't be read, and who may not call it."""
        for body in (b"\xff", b"\x0a\x7f", b"\x0a\x02\xff\xfe"):
            assert (await self(body)).what == ("INVALID_ARGUMENT", "MALFORMED")
        for who, role in ROLES.items():
            if role not in roles:
                found = await self(request, who)
                assert found.what == ("PERMISSION_DENIED", "ROLE_REQUIRED")
                assert found.metadata == {"roles": ", ".join(sorted(roles))}
        found = await self(request, metadata=())
        assert found.what == ("UNAUTHENTICATED", "TOKEN_MISSING")
        garbage = (("authorization", "Bearer garbage"),)
        found = await self(request, metadata=garbage)
        assert found.what == ("UNAUTHENTICATED", "TOKEN_INVALID")
        old = self.hall.rules.token("eleni", timedelta(hours=-1))
        found = await self(request, metadata=(("authorization", f"Bearer {old}"),))
        assert found.what == ("UNAUTHENTICATED", "TOKEN_EXPIRED")
        if not self.method.server_streaming:
            found = await self(request, within=None)
            assert found.what == ("INVALID_ARGUMENT", "DEADLINE_REQUIRED")
