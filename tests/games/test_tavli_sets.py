"""The sets: which games, in which order, to how many points; and matches of several games."""

from __future__ import annotations

import pytest
from kafeneio_games import registry, tavli_variants
from kafeneio_games.fevga import Fevga
from kafeneio_games.game import CHANCE, AnyGame, Entry, Result, Seat
from kafeneio_games.gulbara import Gulbara
from kafeneio_games.match import Outcome, PointsMatch
from kafeneio_games.plakoto import Plakoto
from kafeneio_games.play import Play
from kafeneio_games.portes import Portes
from kafeneio_games.registry import BadTargetError, UnknownOptionError, UnknownValueError
from kafeneio_games.variant import MANY_MAX, Option, Targets, Words

A, B = Seat(0), Seat(1)
SINGLE_A, SINGLE_B = Result((1, 0), "single"), Result((0, 1), "single")
DOUBLE_A, DOUBLE_B = Result((2, 0), "double"), Result((0, 2), "double")
DRAW = Result((0, 0), "drawn")
GOES_ON = Plakoto("continues")
BETOMALL = (Portes(), Plakoto("continues", "none"), Fevga("always", wall_front=False))


def match(variant: str, to: int | None = None, /, **options: str) -> PointsMatch:
    made = registry.build(variant, 1, options, to)
    assert isinstance(made, PointsMatch)
    return made


def games(variant: str, **options: str) -> tuple[AnyGame, ...]:
    return match(variant, None, **options).games


# ---------------------------------------------------------------- what is in a set


def test_the_national_sets() -> None:
    assert games("tavli-greek") == (Portes(), Plakoto(), Fevga())
    assert games("tavli-macedonian") == (Portes(), Gulbara(), GOES_ON)
    assert games("tavli-bulgarian") == (Portes(), Gulbara(), GOES_ON)
    assert games("tavli-turkish") == (Portes(),)
    assert games("tavli") == (Portes(), Plakoto(), Fevga())


def test_the_single_games() -> None:
    assert games("plakoto") == (Plakoto("waits"),)
    assert games("fevga") == (Fevga(),)
    assert games("gulbara") == (Gulbara(),)


@pytest.mark.parametrize("variant", tavli_variants.VARIANTS, ids=lambda v: v.id)
def test_betomall_is_an_option_wherever_gul_bara_is_not(variant: registry.Variant) -> None:
    has_gulbara = variant.id in ("gulbara", "tavli-macedonian", "tavli-bulgarian")
    names = {option.name for option in variant.options}
    assert ("rule_set" in names) == (not has_gulbara)
    assert "disconnect_points" in names
    assert variant.payout == "S4"
    if has_gulbara:
        with pytest.raises(UnknownOptionError):
            variant.settled_options({"rule_set": "betomall"})


def test_what_betomall_changes() -> None:
    assert games("tavli-greek", rule_set="betomall") == BETOMALL
    assert games("tavli", rule_set="betomall") == BETOMALL
    assert games("plakoto", rule_set="betomall") == BETOMALL[1:2]
    assert games("fevga", rule_set="betomall") == BETOMALL[2:]
    assert games("tavli-turkish", rule_set="betomall") == BETOMALL[:1]
    kept = games("plakoto", rule_set="betomall", mother="wins", bearoff_while_pinned="waits")
    assert kept == (Plakoto(),)
    with pytest.raises(UnknownValueError) as caught:
        match("tavli", sequence="portes,gulbara", rule_set="betomall")
    assert caught.value.name == "rule_set"


def test_every_switch_of_the_rule_book() -> None:
    assert games("plakoto", pinned_outside_ignored="yes") == (Plakoto(pinned_outside_ignored=True),)
    highest = Plakoto("continues", pinned_counts_as_highest=True)
    assert games("tavli-bulgarian", pinned_counts_as_highest="yes")[2] == highest
    assert games("tavli-macedonian", receiver_stuck="stop")[1] == Gulbara("stop")
    assert games("fevga", wall_start="any_six") == (Fevga("any_six"),)


@pytest.mark.parametrize("variant", tavli_variants.VARIANTS, ids=lambda v: v.id)
def test_every_value_of_every_option_builds_and_every_option_matters(
    variant: registry.Variant,
) -> None:
    """But for the rule sets where only Portes is played."""
    for option in variant.options:
        all_four = {"sequence": "portes,plakoto,fevga,gulbara"}
        beside = all_four if option.name == "receiver_stuck" and variant.id == "tavli" else {}
        usual = variant.build(beside, None)
        made = [variant.build({**beside, option.name: value}, None) for value in option.values]
        same = option.name == "rule_set" and variant.id in ("portes", "tavli-turkish")
        assert (set(made) == {usual}) == same
        assert variant.build({**beside, option.name: option.default}, None) == usual


def test_a_sequence_of_ones_own() -> None:
    sequence = games("tavli", sequence="gulbara,portes,gulbara,fevga", receiver_stuck="stop")
    assert sequence == (Gulbara("stop"), Portes(), Gulbara("stop"), Fevga())
    assert games("tavli", sequence="plakoto") == (Plakoto(),)
    assert len(games("tavli", sequence=",".join(["fevga"] * MANY_MAX))) == MANY_MAX


@pytest.mark.parametrize(
    "sequence", ["", ",", "portes,", "portes,,fevga", "chess", "Portes", "portes fevga", "portes;x"]
)
def test_no_sequence(sequence: str) -> None:
    with pytest.raises(UnknownValueError) as caught:
        match("tavli", sequence=sequence)
    assert caught.value.name == "sequence"


def test_a_sequence_has_an_end() -> None:
    with pytest.raises(UnknownValueError):
        match("tavli", sequence=",".join(["fevga"] * (MANY_MAX + 1)))
    with pytest.raises(UnknownValueError):
        match("tavli", sequence="fevga," * 10**6)


def test_targets() -> None:
    for name in ("tavli-greek", "tavli-macedonian", "tavli-bulgarian", "tavli-turkish"):
        targets = registry.variant(name).targets
        assert targets == Targets(3, 7, 5, (3, 5, 7))
        assert str(targets) == "3, 5 or 7"
        assert match(name).target == 5
        for target in (3, 5, 7):
            assert match(name, target).target == target
        for target in (0, 1, 2, 4, 6, 8, 9, 15):
            with pytest.raises(BadTargetError, match="3, 5 or 7"):
                match(name, target)
    for name in ("portes", "plakoto", "fevga", "gulbara"):
        assert registry.variant(name).targets == Targets(1, 15, 1)
    assert registry.variant("tavli").targets == Targets(1, 15, 5)
    for target in (1, 15):
        assert match("tavli", target).target == target
    with pytest.raises(BadTargetError, match="1 to 15"):
        match("tavli", 16)


def test_options_as_data() -> None:
    one = Option("one", ("a", "b"), Words("", ""))
    several = Option("several", ("a", "b"), Words("", ""), usual="a,b", many=True)
    assert (one.default, several.default) == ("a", "a,b")
    assert [one.takes(value) for value in ("a", "b", "a,b", "c", "")] == [True] * 2 + [False] * 3
    assert all(several.takes(value) for value in ("a", "b,a,b"))
    assert not any(several.takes(value) for value in ("", "a,", "a,c", "a b"))
    assert str(Targets(3, 3, 3, (3,))) == "3"


# ---------------------------------------------------------------- matches


def test_mf1_the_flow_of_a_greek_set() -> None:
    now = match("tavli-greek", 5).opened("opening 63")
    openers: list[Seat | None] = []
    names: list[str] = []
    for result in (DOUBLE_A, DRAW, SINGLE_B, DOUBLE_A, SINGLE_A):
        following = now.next()
        openers.append(following.first if following else None)
        if following is None:
            now = now.opened("opening 26")
            following = now.next()
            assert following is not None
            openers[-1] = None
            assert following.first == B
        names.append(following.game.name)
        now = now.after(result)
    assert openers == [A, A, None, B, A]
    assert names == ["portes@1", "plakoto@1", "fevga@1", "portes@1", "plakoto@1"]
    assert now.outcome() == Outcome((A,), (5, 1), "single")


def test_once_round_more_points_win_whatever_the_target() -> None:
    fresh = match("tavli", 1, sequence="portes,plakoto,fevga", rounds="once").opened("opening 63")
    now = fresh.after(DOUBLE_A).after(SINGLE_B)
    assert now.outcome() is None
    assert now.after(SINGLE_A).outcome() == Outcome((A,), (3, 1), "single")
    assert fresh.after(SINGLE_A).after(DOUBLE_B).after(DOUBLE_B).outcome() == Outcome(
        (B,), (1, 4), "double"
    )


def test_once_round_and_level_one_more_game_after_a_new_opening_throw() -> None:
    now = match("tavli", 5, sequence="portes,plakoto", rounds="once").opened("opening 63")
    now = now.after(DOUBLE_A).after(DOUBLE_B)
    assert now.outcome() is None
    assert now.next() is None, "the opening is thrown anew"
    now = now.opened("opening 25")
    following = now.next()
    assert following is not None
    assert (following.game, following.first) == (Portes(), B)
    assert now.after(SINGLE_B).outcome() == Outcome((B,), (2, 3), "single")
    drawn = now.after(DRAW)
    assert drawn.outcome() is None
    assert drawn.next() is None
    again = drawn.opened("opening 41").next()
    assert again is not None
    assert again.game == Plakoto()


def test_once_round_all_drawn_is_level_too() -> None:
    now = match("tavli", 5, sequence="plakoto", rounds="once").opened("opening 63").after(DRAW)
    assert now.outcome() is None
    assert now.opened("opening 63").after(SINGLE_A).outcome() == Outcome((A,), (1, 0), "single")


@pytest.mark.parametrize("seat", [A, B])
@pytest.mark.parametrize("rounds", ["repeated", "once"])
def test_f2_leaving_loses_the_match_at_any_score(seat: Seat, rounds: str) -> None:
    ahead = match("tavli", 15, rounds=rounds).opened("opening 63")
    ahead = ahead.after(DOUBLE_A if seat == A else DOUBLE_B)
    assert ahead.withdraw(seat).outcome() == Outcome((Seat(1 - seat),), ahead.score, "forfeit")


def test_f2_leaving_in_the_second_game_of_a_set() -> None:
    play = Play.begin(match("tavli-macedonian", 7)).apply(Entry(CHANCE, "opening 63"))
    play = play.apply(Entry(B, "!resign"))
    assert (play.round, play.score) == (2, (2, 0))
    assert play.game == Gulbara()
    after = play.apply(Entry(CHANCE, "44")).apply(Entry(A, "!forfeit LEFT"))
    assert after.outcome == Outcome((B,), (2, 2), "forfeit")


def test_va9_va8_resigning_ends_the_game_and_the_winner_opens_the_next() -> None:
    play = Play.begin(match("tavli-greek", 5)).apply(Entry(CHANCE, "opening 63"))
    play = play.apply(Entry(A, "!resign"))
    assert play.game == Plakoto()
    assert play.state.mover == B
    play = play.apply(Entry(CHANCE, "64")).apply(Entry(B, "!resign"))
    assert play.game == Fevga()
    assert (play.state.mover, play.score, play.round) == (A, (2, 2), 3)


def test_a_drawn_game_of_a_single_variant_is_played_again() -> None:
    """S4: the stakes stay held, a new opening throw, the same game."""
    now = match("plakoto").opened("opening 63").after(DRAW)
    assert now.outcome() is None
    assert now.next() is None
    again = now.opened("opening 14").next()
    assert again is not None
    assert (again.game, again.first) == (Plakoto(), B)
