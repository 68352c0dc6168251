"""Refused calls in a game: looking for moves, playing, resigning, forfeiting, ending."""

from __future__ import annotations

from typing import Final

from kafeneio.rules.v1 import game_pb2 as pb

from tests.harness import OPERATOR, SEATS, SERVICE, STRANGER
from tests.rules.calls import (
    NOT_A_COMPUTER,
    VERSION,
    Case,
    about,
    act,
    forfeit,
    legal,
    moved,
    resign,
    reused,
    running_seat,
    running_turn,
)
from tests.rules.stage import COMPUTER

PLAY: Final[tuple[Case, ...]] = (
    Case("ListLegalActions", "no such game", "GAME_UNKNOWN", legal("unknown", STRANGER)),
    Case("ListLegalActions", "not all have joined", "GAME_NOT_STARTED", legal("waiting", SEATS[0])),
    Case("ListLegalActions", "it is over", "GAME_OVER", legal("over", SEATS[0])),
    Case("ListLegalActions", "it was cancelled", "GAME_CANCELLED", legal("cancelled", SEATS[0])),
    Case(
        "ListLegalActions",
        "it waits for the other",
        "NOT_YOUR_TURN",
        legal("running", "waiter"),
        VERSION,
    ),
    Case(
        "ListLegalActions",
        "a checker that is not there",
        "ILLEGAL_ACTION",
        legal("running", "mover", after=[moved(25, 1)]),
        {"rule": lambda stage: "V2.1"},
    ),
    Case(
        "ListLegalActions",
        "a page of another version",
        "STALE_VERSION",
        legal("running", "mover", page_token="1.500"),
        VERSION,
    ),
    *(
        Case(
            "ListLegalActions",
            f"a page of another maker: {token[:8]}",
            "MALFORMED",
            legal("running", "mover", page_token=token),
            fields=("page_token",),
        )
        for token in ("next", "01980000-0000-7000-8000-000000000000", "-1.0", "3", "3.", "3.-1")
    ),
    Case(
        "ListLegalActions",
        "a page beyond all numbers",
        "MALFORMED",
        legal("running", "mover", page_token=lambda stage: f"{stage.version}.{'9' * 60}"),
        fields=("page_token",),
    ),
    Case("Act", "no such game", "GAME_UNKNOWN", act("unknown", "mover")),
    Case("Act", "not all have joined", "GAME_NOT_STARTED", act("waiting", SEATS[0])),
    Case("Act", "it is over", "GAME_OVER", act("over", SEATS[0])),
    Case("Act", "it was cancelled", "GAME_CANCELLED", act("cancelled", SEATS[0])),
    Case("Act", "a stranger", "NOT_YOUR_SEAT", act("running", STRANGER)),
    Case("Act", "a service, as nobody", "NOT_YOUR_SEAT", act("against", SERVICE)),
    Case("Act", "a person called like a computer", "NOT_YOUR_SEAT", act("against", COMPUTER)),
    *(
        Case("Act", why, "NOT_YOUR_SEAT", act(game, who, as_seat=seat))
        for why, game, who, seat in NOT_A_COMPUTER
    ),
    Case(
        "Act",
        "a computer, of the past",
        "STALE_VERSION",
        act("against", SERVICE, as_seat=1, expected_version=0),
        {"version": lambda stage: str(stage.against.position.version)},
    ),
    Case(
        "Act",
        "a computer, a checker that is not there",
        "ILLEGAL_ACTION",
        act(
            "against",
            SERVICE,
            as_seat=1,
            expected_version=lambda stage: stage.against.position.version,
            actions=[moved(25, 1)],
        ),
        {"rule": lambda stage: "V2.1"},
    ),
    Case(
        "Act",
        "a version of the past",
        "STALE_VERSION",
        act("running", "mover", expected_version=1),
        VERSION,
    ),
    Case(
        "Act",
        "a version of the future",
        "STALE_VERSION",
        act("running", "mover", expected_version=lambda stage: stage.version + 1),
        VERSION,
    ),
    Case("Act", "it waits for the other", "NOT_YOUR_TURN", act("running", "waiter"), VERSION),
    Case(
        "Act",
        "a checker that is not there",
        "ILLEGAL_ACTION",
        act("running", "mover", actions=[moved(25, 1)]),
        {"rule": lambda stage: "V2.1"},
    ),
    Case(
        "Act",
        "one step too many",
        "NOT_YOUR_TURN",
        act("running", "mover", actions=lambda stage: [*stage.turn, stage.turn[0]]),
        {"version": lambda stage: str(stage.version)},
    ),
    reused("Act", expected_version=99),
    Case("Resign", "no such game", "GAME_UNKNOWN", resign("unknown", SEATS[0])),
    Case("Resign", "not all have joined", "GAME_NOT_STARTED", resign("waiting", SEATS[0])),
    Case("Resign", "it is over", "GAME_OVER", resign("over", SEATS[0])),
    Case("Resign", "it was cancelled", "GAME_CANCELLED", resign("cancelled", SEATS[0])),
    Case("Resign", "a stranger", "NOT_YOUR_SEAT", resign("running", STRANGER)),
    Case("Resign", "a person called like a computer", "NOT_YOUR_SEAT", resign("against", COMPUTER)),
    Case("Resign", "a later round", "STALE_VERSION", resign("running", SEATS[0], 2), VERSION),
    reused("Resign", round=2),
    Case("GetTurn", "no such game", "GAME_UNKNOWN", about("unknown", pb.GetTurnRequest, SERVICE)),
    Case("ForfeitSeat", "no such game", "GAME_UNKNOWN", forfeit("unknown", 0, "LEFT")),
    Case("ForfeitSeat", "not all have joined", "GAME_NOT_STARTED", forfeit("waiting", 0, "LEFT")),
    Case("ForfeitSeat", "it is over", "GAME_OVER", forfeit("over", 1, "LEFT")),
    Case("ForfeitSeat", "it was cancelled", "GAME_CANCELLED", forfeit("cancelled", 0, "LEFT")),
    Case(
        "ForfeitSeat",
        "a turn that has passed",
        "TURN_PASSED",
        forfeit("running", lambda stage: 1 - running_seat(stage), "CONNECTION_LOST", 1),
        {"turn": lambda stage: str(running_turn(stage))},
    ),
    Case(
        "ForfeitSeat",
        "a turn to come",
        "TURN_PASSED",
        forfeit(
            "running", running_seat, "TIMEOUTS_EXCEEDED", lambda stage: running_turn(stage) + 1
        ),
        {"turn": lambda stage: str(running_turn(stage))},
    ),
    Case(
        "ForfeitSeat",
        "the turn of the other seat",
        "TURN_PASSED",
        forfeit(
            "running", lambda stage: 1 - running_seat(stage), "TIMEOUTS_EXCEEDED", running_turn
        ),
        {"turn": lambda stage: str(running_turn(stage))},
    ),
    Case("ForfeitSeat", "a computer", "NOT_YOUR_SEAT", forfeit("against", 1, "LEFT")),
    reused("ForfeitSeat", seat=0),
    Case(
        "AbortGame",
        "no such game",
        "GAME_UNKNOWN",
        about("unknown", pb.AbortGameRequest, OPERATOR, reason="flood"),
    ),
    Case(
        "AbortGame",
        "it is over",
        "GAME_OVER",
        about("over", pb.AbortGameRequest, OPERATOR, reason="flood"),
    ),
    Case(
        "AbortGame",
        "it was cancelled",
        "GAME_CANCELLED",
        about("cancelled", pb.AbortGameRequest, OPERATOR, reason="flood"),
    ),
    reused("AbortGame", reason="fire"),
)
