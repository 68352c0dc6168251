"""From a message to a turn: legal in every position, and the same for the same message."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from random import Random
from typing import Final

import pytest
from kafeneio.rules.v1 import game_pb2 as pb
from kafeneio_client import seen
from kafeneio_computers.mind import decide
from kafeneio_games import registry
from kafeneio_games.game import AnyGame, Entry, Seat
from kafeneio_games.play import Play
from kafeneio_games.registry import Variant
from kafeneio_players import PLAYERS
from kafeneio_rules import wire

from tests.games.plays import random_act
from tests.games.positions import RandomDraw

POSITIONS: Final = 12
SINCE: Final = datetime(2026, 1, 1, tzinfo=UTC)


def _id(game: AnyGame) -> str:
    return game.name.partition("@")[0]


def plays(variant: Variant, seed: int) -> Iterator[Play]:
    """Positions of a random game in which somebody is prompted."""
    random = Random(seed)
    draw = RandomDraw(random)
    play = Play.begin(variant.build({}, None))
    while not play.over:
        play, _ = play.advance(draw)
        if play.over:
            return
        yield play
        play = play.apply_all(random_act(play, random))


def shown(variant: Variant, play: Play, seat: Seat) -> pb.Game:
    """The game as the computer in a seat gets it."""
    terms = pb.Terms(
        variant=variant.id,
        edition=variant.edition,
        options=variant.settled_options({}),
        target=variant.settled_target(None),
    )
    return pb.Game(terms=terms, position=wire.position(play, 1, SINCE, seat, computer=True))


PLAYED: Final = [
    variant
    for variant in registry.variants()
    if all(_id(game) in PLAYERS for game in seen.games_of(variant.build({}, None)))
]


@pytest.mark.matrix
@pytest.mark.parametrize("variant", PLAYED, ids=lambda variant: variant.id)
def test_whatever_is_decided_is_legal(variant: Variant) -> None:
    looked = 0
    for play in plays(variant, 1):
        seat = play.prompted
        assert seat is not None
        game = shown(variant, play, seat)
        steps = decide(game, seat)
        assert steps == decide(pb.Game.FromString(game.SerializeToString()), seat)
        after = play.apply_all(tuple(Entry(seat, step) for step in steps))
        assert after != play
        looked += 1
        if looked == POSITIONS:
            break
    assert looked
