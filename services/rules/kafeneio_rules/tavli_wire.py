"""Tavli between messages and values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from kafeneio.rules.v1 import actions_pb2, views_pb2
from kafeneio_games import fevga, gulbara, plakoto, portes, tavli
from kafeneio_games.game import AnyGame, Seat

State: TypeAlias = portes.State | plakoto.State | fevga.State | gulbara.State


def fill(message: actions_pb2.Action, text: str) -> None:
    """An action's text as a message; `Unreadable` where it is none."""
    match tavli.read(text):
        case tavli.Roll(first, second):
            message.roll_dice.dice.extend((first, second))
        case tavli.MoveChecker(start, die):
            message.move_checker.start = start
            message.move_checker.die = die
        case tavli.Pass():
            message.pass_turn.SetInParent()


def written(action: actions_pb2.Action) -> str | None:
    """The notation of a message; None where it is no action of tavli."""
    match action.WhichOneof("action"):
        case "roll_dice":
            return "".join(map(str, action.roll_dice.dice))
        case "move_checker":
            move = action.move_checker
            return tavli.write(tavli.MoveChecker(move.start, move.die))
        case "pass_turn":
            return tavli.write(tavli.PASS)
    return None


def settled(text: str) -> str:
    """There is one way to write an action."""
    return text


def candidates(game: AnyGame, state: Any, seat: Seat, kind: str) -> Iterator[Any]:
    """Every legal action: there are few, so none is left out for its kind."""
    return game.legal(state, seat)


def put_view(message: views_pb2.View, game: str, seen: State) -> None:
    """A board. Everybody sees everything, so the state is its own view."""
    table = message.tavli
    table.game = game
    table.mover = seen.mover
    table.rolled.extend(seen.rolled)
    table.dice.extend(seen.dice)
    for board in seen.boards:
        table.sides.add().points.extend(board)
    match seen:
        case plakoto.State():
            for side, points in zip(table.sides, seen.pinned, strict=True):
                side.pinned.extend(points)
        case gulbara.State():
            table.received.extend(seen.received)
            table.throws.extend(seen.throws)
