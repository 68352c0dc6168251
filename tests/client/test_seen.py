"""What a message shows, read back: the same values as `rules` has, whoever looks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from random import Random
from typing import Any, Final

import pytest
from kafeneio.rules.v1 import game_pb2 as pb
from kafeneio_client import seen
from kafeneio_games import registry
from kafeneio_games.game import Seat
from kafeneio_games.play import Play
from kafeneio_games.registry import Variant
from kafeneio_rules import families, wire

from tests.games.plays import random_act
from tests.games.positions import RandomDraw

TURNS: Final = 150
ROUNDS: Final = 3
SINCE: Final = datetime(2026, 1, 1, tzinfo=UTC)

every_variant = pytest.mark.parametrize(
    "variant", registry.variants(), ids=lambda variant: variant.id
)


def plays(variant: Variant, seed: int) -> Iterator[Play]:
    """Every position in which somebody is prompted in the first rounds of a random game, then the
    last one."""
    random = Random(seed)
    draw = RandomDraw(random)
    play = Play.begin(variant.build({}, None))
    while not play.over and play.round <= ROUNDS and play.turn < TURNS:
        play, _ = play.advance(draw)
        yield play
        if not play.over:
            play = play.apply_all(random_act(play, random))
    if play.over:
        yield play


def terms(variant: Variant) -> pb.Terms:
    """What was agreed, as `rules` tells it."""
    return pb.Terms(
        variant=variant.id,
        edition=variant.edition,
        options=variant.settled_options({}),
        target=variant.settled_target(None),
    )


def sent(play: Play, viewer: Seat | None, computer: bool = False) -> pb.Position:
    """A position that has been over the wire."""
    message = wire.position(play, 1 + play.turn, SINCE, viewer, computer)
    return pb.Position.FromString(message.SerializeToString())


def without_result(view: Any, play: Play) -> Any:
    """A board of a game that is over tells no points."""
    tavli = families.family(play.game) is families.Family.TAVLI if play.game else False
    return replace(view, result=None) if tavli else view


@every_variant
def test_a_view_is_read_as_it_was(variant: Variant) -> None:
    looked = 0
    for play in plays(variant, 1):
        for viewer in (*play.seats, None):
            position = sent(play, viewer)
            game = seen.game_of(terms(variant), position)
            assert game == play.game
            assert seen.view(game, position) == without_result(play.view(viewer), play)
            looked += 1
    assert looked > 30


@pytest.mark.parametrize("game", ["portes", "plakoto", "fevga", "gulbara"])
@pytest.mark.parametrize("seed", range(5))
def test_whoever_looks_at_a_board_has_the_same_turns(game: str, seed: int) -> None:
    """What is read can be played on."""
    variant = registry.variant(game)
    for play in plays(variant, seed):
        if play.over:
            continue
        assert play.game is not None
        assert play.prompted is not None
        position = sent(play, play.prompted)
        rules = seen.game_of(terms(variant), position)
        state: Any = seen.view(rules, position)
        assert rules.prompted(state) == play.prompted
        assert list(rules.legal(state, play.prompted)) == list(play.legal(play.prompted))


@every_variant
def test_a_computer_sees_the_hand_of_the_seat_that_it_took(variant: Variant) -> None:
    if not variant.hidden:
        return
    play = next(plays(variant, 3))
    assert play.game is not None
    own = play.game.view(play.state, Seat(0))
    position = sent(replace(play, computers=(Seat(0),)), Seat(0), computer=True)
    assert seen.view(play.game, position) == own


def test_house_rules_go_with_the_game() -> None:
    variant = registry.variant("portes")
    play = next(plays(variant, 1))
    agreed = terms(variant)
    agreed.options["disconnect_points"] = "two"
    game = seen.game_of(agreed, sent(play, None))
    (expected,) = seen.games_of(variant.build({"disconnect_points": "two"}, None))
    assert game == expected != play.game


@pytest.mark.parametrize(
    "variant", registry.editions(), ids=lambda each: f"{each.id}@{each.edition}"
)
def test_every_match_tells_its_games(variant: Variant) -> None:
    match = variant.build({}, None)
    for game in seen.games_of(match):
        assert game.sides == match.sides


def test_what_is_not_shown_is_not_read() -> None:
    variant = registry.variant("portes")
    play = next(plays(variant, 1))
    assert play.game is not None
    with pytest.raises(seen.NotSeenError, match="no table"):
        seen.view(play.game, pb.Position())
    with pytest.raises(seen.NotSeenError, match="no table"):
        seen.game_of(terms(variant), pb.Position())
    (fevga,) = seen.games_of(registry.variant("fevga").build({}, None))
    with pytest.raises(seen.NotSeenError, match="'portes' is on the table, and not 'fevga'"):
        seen.view(fevga, sent(play, None))
    with pytest.raises(seen.NotSeenError, match="fevga has no game 'portes'"):
        seen.game_of(terms(registry.variant("fevga")), sent(play, None))
    with pytest.raises(registry.BuildError):
        seen.game_of(pb.Terms(variant="chess"), sent(play, None))
