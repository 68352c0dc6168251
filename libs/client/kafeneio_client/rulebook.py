"""The calls of `kafeneio.rules.v1.RuleBookService`."""

from __future__ import annotations

import grpc
from kafeneio.rules.v1 import rulebook_pb2 as pb
from kafeneio.rules.v1 import rulebook_pb2_grpc

from kafeneio_client.channel import Caller


class RuleBook:
    """What the house plays, and by which rules."""

    def __init__(self, channel: grpc.aio.Channel, caller: Caller) -> None:
        self._stub = rulebook_pb2_grpc.RuleBookServiceStub(channel)
        self._caller = caller

    async def variants(self) -> tuple[pb.Variant, ...]:
        """ListVariants: everything that can be played."""
        answer = await self._caller.call(self._stub.ListVariants, pb.ListVariantsRequest())
        return tuple(answer.variants)

    async def variant(self, variant: str) -> pb.Variant:
        """GetVariant: one of them."""
        request = pb.GetVariantRequest(variant=variant)
        return (await self._caller.call(self._stub.GetVariant, request)).variant

    async def rules(
        self, variant: str, language: pb.Language.ValueType = pb.LANGUAGE_EN, edition: int = 0
    ) -> pb.GetRulesResponse:
        """GetRules: the rules of one variant as text, rule by rule; edition 0 is the newest."""
        request = pb.GetRulesRequest(variant=variant, language=language, edition=edition)
        return await self._caller.call(self._stub.GetRules, request)
