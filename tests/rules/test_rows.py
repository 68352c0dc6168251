"""A row that ends a round is told in the words of that round, also where the next is not open."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from kafeneio.rules.v1 import game_pb2 as pb
from kafeneio_games.game import Entry, Result, Seat
from kafeneio_games.plakoto import Plakoto
from kafeneio_games.play import LastRound, Play
from kafeneio_games.registry import build
from kafeneio_rules.domain import Step
from kafeneio_rules.table import DatedStep


def test_the_row_of_a_drawn_round() -> None:
    game = Plakoto()
    state = game.start(Seat(0), (Seat(0), Seat(1)))
    drawn = LastRound(1, game, state, Result((0, 0), "drawn"))
    play = replace(Play.begin(build("plakoto", 1, {}, 3)), last=drawn, round=2)
    assert play.game is None
    entries = (Entry(Seat(0), "13/8"), Entry(Seat(0), "pass"))
    step = DatedStep(Step(7, entries, play), datetime(2026, 1, 1, tzinfo=UTC), None, False, b"")
    told = pb.GameUpdate.FromString(step.update(None))
    assert [entry.action.WhichOneof("action") for entry in told.entries] == [
        "move_checker",
        "pass_turn",
    ]
    assert (told.position.round, told.position.last_round.ending) == (2, "drawn")
