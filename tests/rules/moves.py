"""Moves of Portes, found by the rules instead of asked for."""

from __future__ import annotations

from random import Random

from kafeneio.rules.v1 import actions_pb2
from kafeneio.rules.v1 import game_pb2 as pb
from kafeneio_games import portes
from kafeneio_games.game import Seat


def notation(text: str) -> actions_pb2.Action:
    """An action in its short form only."""
    return actions_pb2.Action(notation=text)


def seen(position: pb.Position) -> portes.State:
    """A position in which a seat is prompted, as the rules know it."""
    table = position.view.tavli
    first, second = (bytes(side.points) for side in table.sides)
    return portes.State(
        (first, second),
        Seat(table.mover),
        tuple(table.dice),
        tuple(table.rolled),
        portes.Stage.MOVE,
        None,
    )


def some_turn(position: pb.Position, random: Random) -> list[actions_pb2.Action]:
    """A whole turn of the prompted seat, found here instead of asked for step by step."""
    game, state, seat = portes.Portes(), seen(position), Seat(position.turn.seat)
    steps: list[actions_pb2.Action] = []
    while not steps or (game.to_act(state) == (seat,) and game.mid_turn(state)):
        step = random.choice(list(game.legal(state, seat)))
        state = game.apply(state, seat, step)
        steps.append(notation(game.write(step)))
    return steps


def latest(answer: pb.ActResponse | pb.ResignResponse) -> pb.Position:
    """The position after everything that a call has set off."""
    update = answer.house if answer.HasField("house") else answer.played
    return update.position
