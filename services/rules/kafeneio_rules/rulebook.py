"""RuleBookService: what the house plays, and by which rules."""

from __future__ import annotations

from dataclasses import dataclass

from kafeneio.common.v1 import errors_pb2
from kafeneio.rules.v1 import rulebook_pb2, rulebook_pb2_grpc
from kafeneio_games import registry
from kafeneio_games.rulebook import rules_text
from kafeneio_runtime.errors import not_found


@dataclass(frozen=True, slots=True)
class RuleBookServicer(rulebook_pb2_grpc.RuleBookServiceServicer):
    """The calls of `kafeneio.rules.v1.RuleBookService`."""

    async def ListVariants(
        self, request: rulebook_pb2.ListVariantsRequest, context: object
    ) -> rulebook_pb2.ListVariantsResponse:
        """Every variant that can be played."""
        return rulebook_pb2.ListVariantsResponse(variants=map(_message, registry.variants()))

    async def GetVariant(
        self, request: rulebook_pb2.GetVariantRequest, context: object
    ) -> rulebook_pb2.GetVariantResponse:
        """One variant."""
        return rulebook_pb2.GetVariantResponse(variant=_message(_variant(request.variant, 0)))

    async def GetRules(
        self, request: rulebook_pb2.GetRulesRequest, context: object
    ) -> rulebook_pb2.GetRulesResponse:
        """The rules of one variant as text for players."""
        variant = _variant(request.variant, request.edition)
        language = "el" if request.language == rulebook_pb2.LANGUAGE_EL else "en"
        rules = [
            rulebook_pb2.Rule(rule=rule.id, text=rule.text)
            for rule in rules_text(variant.id, language, variant.edition)
        ]
        return rulebook_pb2.GetRulesResponse(
            variant=variant.id, edition=variant.edition, rules=rules
        )


def _variant(name: str, edition: int) -> registry.Variant:
    try:
        return registry.variant(name, edition or None)
    except registry.BuildError as error:
        raise not_found(errors_pb2.ERROR_REASON_VARIANT_UNKNOWN, str(error)) from error


def _text(words: registry.Words) -> rulebook_pb2.Text:
    return rulebook_pb2.Text(el=words.el, en=words.en)


def _message(variant: registry.Variant) -> rulebook_pb2.Variant:
    options = [
        rulebook_pb2.Option(
            name=option.name,
            values=option.values,
            default_value=option.default,
            description=_text(option.description),
            many=option.many,
        )
        for option in variant.options
    ]
    return rulebook_pb2.Variant(
        variant=variant.id,
        edition=variant.edition,
        name=_text(variant.names),
        seats=variant.seats,
        sides=[rulebook_pb2.Side(seats=side) for side in variant.sides],
        target_min=variant.targets.least,
        target_max=variant.targets.most,
        target_default=variant.targets.default,
        payout_rule=variant.payout,
        options=options,
        hidden=variant.hidden,
        targets=variant.targets.allowed,
    )
