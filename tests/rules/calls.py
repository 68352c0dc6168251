"""How a call that is well formed and still refused is put together for the tables of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from google.protobuf.message import Message
from kafeneio.rules.v1 import actions_pb2
from kafeneio.rules.v1 import game_pb2 as pb

from tests.harness import SEATS, SERVICE, STRANGER, new_id
from tests.rules.stage import COMPUTER, Said, Stage, path_of

Make: TypeAlias = Callable[[Stage], Said]
Metadata: TypeAlias = Mapping[str, Callable[[Stage], str]]


@dataclass(frozen=True)
class Case:
    """A call, and the reason for which it is refused. `metadata` and `fields` are what a client
    needs to act on it."""

    method: str
    why: str
    reason: str
    make: Make
    metadata: Metadata = field(default_factory=dict)
    fields: tuple[str, ...] = ()


def create(**changes: object) -> Make:
    """A new game, but for what is changed."""

    def make(stage: Stage) -> Said:
        given: dict[str, object] = {
            "request_id": new_id(),
            "game_id": new_id(),
            "terms": pb.Terms(variant="portes"),
            "player_ids": SEATS,
        }
        found = {name: each(stage) if callable(each) else each for name, each in changes.items()}
        return Said(SERVICE, pb.CreateGameRequest(**(given | found)))  # type: ignore[arg-type]

    return make


def about(game: str, request: type[Message], who: str, **fields: object) -> Make:
    """A call about one of the games of the stage; a field may depend on the stage."""

    def make(stage: Stage) -> Said:
        named = getattr(stage, game)
        given = {name: each(stage) if callable(each) else each for name, each in fields.items()}
        given["game_id"] = named if isinstance(named, str) else named.game_id
        if "request_id" in request.DESCRIPTOR.fields_by_name:
            given["request_id"] = new_id()
        caller = {"mover": stage.mover, "waiter": stage.waiter}.get(who, who)
        return Said(caller, request(**given))

    return make


def join(game: str, who: str, **fields: object) -> Make:
    """A seat is taken, with the right commitment unless another is given."""
    given: dict[str, object] = {
        "commitment": lambda stage: getattr(stage, game).commitment,
        "word": b"mine",
    }
    return about(game, pb.JoinGameRequest, who, **(given | fields))


def act(game: str, who: str, **fields: object) -> Make:
    """The turn that the mover of `running` may play."""
    given: dict[str, object] = {
        "expected_version": lambda stage: stage.version,
        "actions": lambda stage: stage.turn,
    }
    return about(game, pb.ActRequest, who, **(given | fields))


def legal(game: str, who: str, **fields: object) -> Make:
    """Asks what may be done."""
    return about(game, pb.ListLegalActionsRequest, who, **fields)


def forfeit(game: str, seat: object, reason: str, turn: object = 0) -> Make:
    """A seat is out."""
    number = actions_pb2.ForfeitReason.Value(f"FORFEIT_REASON_{reason}")
    return about(game, pb.ForfeitSeatRequest, SERVICE, seat=seat, reason=number, turn=turn)


def resign(game: str, who: str, round_number: int = 1) -> Make:
    """The round is given up."""
    return about(game, pb.ResignRequest, who, round=round_number)


def book(request: Message) -> Make:
    """Asks the rule book."""
    return lambda stage: Said(STRANGER, request)


def moved(start: int, die: int) -> actions_pb2.Action:
    """A checker is moved."""
    return actions_pb2.Action(move_checker=actions_pb2.MoveChecker(start=start, die=die))


def running_seat(stage: Stage) -> int:
    """Who is prompted in `running`."""
    return stage.running.position.turn.seat


def running_turn(stage: Stage) -> int:
    """Which turn runs in `running`."""
    return stage.running.position.turn.turn


def current(stage: Stage) -> str:
    """The version of `running`."""
    return str(stage.version)


def reused(name: str, **changes: object) -> Case:
    """The id of a call that was carried out, with another body."""

    def make(stage: Stage) -> Said:
        said = stage.sent[path_of(name)]
        request = type(said.request)()
        request.CopyFrom(said.request)
        for key, value in changes.items():
            request.ClearField(key)
            part = {key: value(stage) if callable(value) else value}
            request.MergeFrom(type(said.request)(**part))
        return Said(said.who, request)

    return Case(name, "an old request id with another body", "REQUEST_ID_REUSED", make)


def option(name: str) -> Metadata:
    return {"option": lambda stage: name}


VERSION: Final[Metadata] = {"version": current}

NOT_A_COMPUTER: Final = (
    ("a service, as a person", "against", SERVICE, 0),
    ("a service, as a seat that there is not", "against", SERVICE, 7),
    ("a service, in a game without computers", "running", SERVICE, 1),
    ("the other player, as the computer", "against", SEATS[0], 1),
    ("a stranger, as the computer", "against", STRANGER, 1),
    ("a person called like the computer", "against", COMPUTER, 1),
    ("a player, as himself", "running", SEATS[0], 0),
)
"""Who may not speak as a seat: why, in which game, who, as which seat."""
