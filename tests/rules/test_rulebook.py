"""RuleBookService: what is played here, and by which rules."""

from __future__ import annotations

import re
from typing import Final

from kafeneio.rules.v1 import rulebook_pb2
from kafeneio.rules.v1.rulebook_pb2 import LANGUAGE_EL, LANGUAGE_EN, LANGUAGE_UNSPECIFIED

from tests.harness import OPERATOR, SEATS, SERVICE, Rules

GREEK: Final = re.compile(r"[\u0370-\u03ff\u1f00-\u1fff]")
CITED: Final = {"V2.1", "V2.3", "VA2", "V2.6", "V2.9", "V3.2", "V3.4", "V3.5", "VA9", "V2.4"}
"""The ids that refusals of Portes may cite."""


async def test_portes_is_played(rules: Rules) -> None:
    request = rulebook_pb2.ListVariantsRequest()
    for who in (SEATS[0], SERVICE, OPERATOR):
        answer = await rules.ask(rules.book.ListVariants, request, who)
        (portes,) = [each for each in answer.variants if each.variant == "portes"]
        wanted = rulebook_pb2.GetVariantRequest(variant="portes")
        assert (await rules.ask(rules.book.GetVariant, wanted, who)).variant == portes
    assert portes.edition == 1
    assert (portes.name.el, portes.name.en) == ("Πόρτες", "Portes")
    assert portes.seats == 2
    assert [list(side.seats) for side in portes.sides] == [[0], [1]]
    assert (portes.target_min, portes.target_max, portes.target_default) == (1, 15, 1)
    assert portes.payout_rule == "S4"
    assert not portes.hidden
    options = {option.name: option for option in portes.options}
    assert list(options["rule_set"].values) == ["zarclub", "betomall"]
    assert options["rule_set"].default_value == "zarclub"
    assert list(options["disconnect_points"].values) == ["formula", "two"]
    for option in portes.options:
        assert option.default_value in option.values
        assert GREEK.search(option.description.el)
        assert option.description.en
        assert not GREEK.search(option.description.en)


async def test_a_game_gets_the_usual_terms(rules: Rules) -> None:
    game = await rules.create()
    assert (game.terms.variant, game.terms.edition, game.terms.target) == ("portes", 1, 1)
    wanted = rulebook_pb2.GetVariantRequest(variant="portes")
    portes = (await rules.ask(rules.book.GetVariant, wanted)).variant
    assert dict(game.terms.options) == {
        option.name: option.default_value for option in portes.options
    }


async def test_the_rules_in_two_languages(rules: Rules) -> None:
    texts = {}
    for language in (LANGUAGE_UNSPECIFIED, LANGUAGE_EL, LANGUAGE_EN):
        for edition in (0, 1):
            request = rulebook_pb2.GetRulesRequest(
                variant="portes", language=language, edition=edition
            )
            answer = await rules.ask(rules.book.GetRules, request, SEATS[0])
            assert (answer.variant, answer.edition) == ("portes", 1)
            texts[language, edition] = {rule.rule: rule.text for rule in answer.rules}
            assert len(texts[language, edition]) == len(answer.rules), "each id once"
    english, greek = texts[LANGUAGE_EN, 0], texts[LANGUAGE_EL, 0]
    assert texts[LANGUAGE_UNSPECIFIED, 1] == english
    assert list(english) == list(greek), "the same rules in the same order"
    assert set(english) >= CITED
    assert all(GREEK.search(text) for text in greek.values())
    assert all(text.strip() and not GREEK.search(text) for text in english.values())
