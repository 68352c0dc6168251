"""The list of variants, how a match is built, and the rule text for players."""

from __future__ import annotations

import pytest
from kafeneio_games import registry
from kafeneio_games.match import PointsMatch
from kafeneio_games.portes import Portes
from kafeneio_games.rulebook import LANGUAGES, UnknownLanguageError, rules_text

# Every rule of the rule book that concerns a variant; V4.12 is a count for testers.
COMMON = [
    *(f"V2.{n}" for n in range(1, 11)),
    *(f"VA{n}" for n in range(1, 20) if n not in (6, 10)),  # which are about pinned checkers
    "F2",
]
PORTES = [*(f"V3.{n}" for n in range(1, 8)), *(f"VB{n}" for n in range(1, 6))]
PLAKOTO = [*(f"V4.{n}" for n in range(1, 12)), *(f"VP{n}" for n in range(18)), "VA6", "VA10"]
SAME_WAY = ["V5.1", "V5.6"]
FEVGA = [*(f"V5.{n}" for n in range(2, 6)), *(f"VF{n}" for n in range(1, 16))]
GULBARA = [*(f"V6.{n}" for n in range(1, 4)), *(f"VG{n}" for n in range(1, 16))]
MACEDONIAN = [*COMMON, *PORTES, *SAME_WAY, *GULBARA, *PLAKOTO, "V7"]
PILOTTA = [
    *("P1", "P11", "P52", *(f"P{n}" for n in range(58, 66))),
    *(f"P{n}" for n in (*range(20, 49), 50)),
]
PAIRS = ["P2", "P3", "P4b", "P5", "F1"]
BIDDING = ["P4", *(f"P{n}" for n in (*range(6, 11), *range(12, 17), 51, *range(53, 58)))]
CLASSIC = [*(f"C{n}" for n in range(2, 14) if n != 11)]
RUMMY = [*(f"K{n}" for n in (1, 2, 3, *range(5, 10), *range(22, 32), *range(33, 38), 39, 40)), "F3"]
KOUMKAN = [*(f"K{n}" for n in (4, *range(10, 22), 32, 38))]
THANASIS = [*(f"H{n}" for n in range(1, 15)), "H5b"]
BELOTE = [
    *(f"B{n}" for n in (1, 2, 3, 5, 6, 13, 14, 15, 30)),
    *(f"A{n}" for n in (7, 8, 9, 10, 18, 22, 23, 24)),
    *("N5", "N6", "N7", "F1"),
]
TRUMPS = ["B4", *(f"B{n}" for n in range(7, 13)), "A2", "A17"]
TAKING = [*(f"B{n}" for n in range(19, 24)), "A19", "A20"]
COINCHE = [
    *(f"B{n}" for n in range(26, 30)),
    *(f"A{n}" for n in (1, 3, 4, 6, *range(11, 17), 21)),
    *("N1", "N2", "N8", "N9"),
]
IDS = {
    "portes": [*COMMON, *PORTES],
    "plakoto": [*COMMON, *PLAKOTO],
    "fevga": [*COMMON, *SAME_WAY, *FEVGA],
    "gulbara": [*COMMON, *SAME_WAY, *GULBARA],
    "tavli-greek": [*COMMON, *PORTES, *PLAKOTO, *SAME_WAY, *FEVGA, "V7"],
    "tavli-macedonian": MACEDONIAN,
    "tavli-bulgarian": MACEDONIAN,
    "tavli-turkish": [*COMMON, *PORTES, "V7"],
    "tavli": [*COMMON, *PORTES, *PLAKOTO, *SAME_WAY, *FEVGA, *GULBARA, "V7"],
    "pilotta": [*PILOTTA, *PAIRS, *BIDDING],
    "pilotta-classic": [*PILOTTA, *PAIRS, *CLASSIC, "C1", "C11"],
    "pilotta-classic-2": [*PILOTTA, *CLASSIC, *(f"T{n}" for n in range(1, 11)), "F4"],
    "belote": [*BELOTE, *TRUMPS, *TAKING, "B16", "B17", "B18"],
    "belote-no-trump": [*BELOTE, *TAKING, "B24", "B25", "N3", "N4", "A5"],
    "coinche": [*BELOTE, *TRUMPS, *COINCHE],
    "koumkan": [*RUMMY, *KOUMKAN],
    "thanasis": [*RUMMY, *THANASIS],
    "dynamitis": [*RUMMY, *THANASIS, *(f"D{n}" for n in range(1, 6))],
}


def built(options: dict[str, str], target: int | None) -> PointsMatch:
    match = registry.build("portes", 1, options, target)
    assert isinstance(match, PointsMatch)
    return match


def test_portes() -> None:
    portes = registry.variant("portes")
    assert (portes.edition, portes.seats, portes.payout) == (1, 2, "S4")
    assert portes.sides == ((0,), (1,))
    assert portes.names.in_language("el") == "Πόρτες"
    assert (portes.targets.least, portes.targets.most, portes.targets.default) == (1, 15, 1)
    options = {option.name: (option.values, option.default) for option in portes.options}
    assert options == {
        "rule_set": (("zarclub", "betomall"), "zarclub"),
        "disconnect_points": (("formula", "two"), "formula"),
    }


def test_build() -> None:
    assert built({}, None) == PointsMatch((Portes(),), 1)
    assert built({"disconnect_points": "two"}, 15) == PointsMatch((Portes("two"),), 15)
    assert built({"rule_set": "betomall"}, 5) == built({}, 5)


@pytest.mark.parametrize("target", [0, -1, 16, 10**9])
def test_bad_target(target: int) -> None:
    with pytest.raises(registry.BadTargetError):
        registry.build("portes", 1, {}, target)


def test_unknown() -> None:
    with pytest.raises(registry.UnknownVariantError):
        registry.variant("chess")
    with pytest.raises(registry.UnknownEditionError):
        registry.variant("portes", 2)
    with pytest.raises(registry.UnknownOptionError) as option:
        registry.build("portes", 1, {"cube": "yes"}, 1)
    assert option.value.name == "cube"
    with pytest.raises(registry.UnknownValueError) as value:
        registry.build("portes", 1, {"rule_set": "none"}, 1)
    assert value.value.name == "rule_set"


def test_the_list() -> None:
    keys = [(variant.id, variant.edition) for variant in registry.editions()]
    assert len(set(keys)) == len(keys)
    assert [variant.id for variant in registry.variants()] == list(
        dict.fromkeys(k for k, _ in keys)
    )
    for key in keys:
        assert registry.variant(*key).edition == key[1]
    for variant in registry.editions():
        round_or_none = variant.build({}, None).next()
        assert round_or_none is None or round_or_none.game.sides == variant.sides
        assert variant.build({}, None).sides == variant.sides
        for words in (variant.names, *(option.description for option in variant.options)):
            assert words.el
            assert words.en
        with pytest.raises(KeyError):
            variant.names.in_language("de")


@pytest.mark.parametrize("variant", registry.editions(), ids=lambda v: f"{v.id}@{v.edition}")
def test_rule_text(variant: registry.Variant) -> None:
    texts = {language: rules_text(variant.id, language, variant.edition) for language in LANGUAGES}
    ids = {language: [rule.id for rule in rules] for language, rules in texts.items()}
    assert ids["el"] == ids["en"]
    assert sorted(ids["en"]) == sorted(IDS[variant.id])
    for greek, english in zip(texts["el"], texts["en"], strict=True):
        assert len(english.text) > 20
        assert "\n" not in english.text + greek.text
        assert sum("α" <= letter.lower() <= "ω" for letter in greek.text) > len(greek.text) / 2
        assert english.text.isascii()


def test_unknown_language_or_variant() -> None:
    with pytest.raises(UnknownLanguageError):
        rules_text("portes", "de")
    with pytest.raises(registry.UnknownVariantError):
        rules_text("chess", "en")
    assert rules_text("portes", "en") == rules_text("portes", "en", 1)
