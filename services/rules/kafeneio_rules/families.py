"""Families of games: how their actions and views are told. Everything else is the same for all."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Any, Final, Protocol

from kafeneio.rules.v1 import actions_pb2, views_pb2
from kafeneio_games.game import AnyGame, Seat

from kafeneio_rules import rummy_wire, tavli_wire, trick_wire


class Codec(Protocol):
    """What a family's module can do."""

    def fill(self, message: actions_pb2.Action, text: str) -> None:
        """An action's text as a message; `Unreadable` where it is none."""

    def written(self, action: actions_pb2.Action) -> str | None:
        """The notation of a message; None where it is no action of the family."""

    def settled(self, text: str) -> str:
        """An action's text as the log has it, where it may be written in several ways."""

    def candidates(self, game: AnyGame, state: Any, seat: Seat, kind: str) -> Iterator[Any]:
        """Legal actions, among them all of a kind (a field of Action; empty for all), lazily."""

    def put_view(self, message: views_pb2.View, game: str, seen: Any) -> None:
        """What `Game.view` shows, as a message; `game` is the game's id without its edition."""


class Family(StrEnum):
    """The families; the value is the name of the view's field."""

    TAVLI = "tavli"
    TRICKS = "tricks"
    RUMMY = "rummy"


CODECS: Final[dict[Family, Codec]] = {
    Family.TAVLI: tavli_wire,
    Family.TRICKS: trick_wire,
    Family.RUMMY: rummy_wire,
}
_GAMES: Final = {
    Family.TAVLI: ("portes", "plakoto", "fevga", "gulbara"),
    Family.TRICKS: (
        *("pilotta", "pilotta-classic", "pilotta-classic-2"),
        *("belote", "belote-no-trump", "coinche"),
    ),
    Family.RUMMY: ("koumkan", "thanasis", "dynamitis"),
}
_FAMILIES: Final = {game: family for family, games in _GAMES.items() for game in games}


def family(game: AnyGame) -> Family:
    """The family of a game."""
    return _FAMILIES[game_id(game)]


def game_id(game: AnyGame) -> str:
    """A game's name without its edition: "portes"."""
    return game.name.partition("@")[0]
