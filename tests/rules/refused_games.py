"""Refused calls about whole games: making, joining, cancelling, looking."""

from __future__ import annotations

from typing import Final

from kafeneio.rules.v1 import game_pb2 as pb
from kafeneio.rules.v1 import rulebook_pb2

from tests.harness import OPERATOR, SEATS, SERVICE, STRANGER
from tests.rules.calls import (
    NOT_A_COMPUTER,
    VERSION,
    Case,
    about,
    book,
    create,
    join,
    option,
    reused,
)
from tests.rules.stage import COMPUTER

GAMES: Final[tuple[Case, ...]] = (
    Case(
        "CreateGame", "no such variant", "VARIANT_UNKNOWN", create(terms=pb.Terms(variant="chess"))
    ),
    Case(
        "CreateGame",
        "no such edition",
        "VARIANT_UNKNOWN",
        create(terms=pb.Terms(variant="portes", edition=99)),
    ),
    Case(
        "CreateGame",
        "no such option",
        "OPTION_INVALID",
        create(terms=pb.Terms(variant="portes", options={"colour": "red"})),
        option("colour"),
    ),
    Case(
        "CreateGame",
        "no such value",
        "OPTION_INVALID",
        create(terms=pb.Terms(variant="portes", options={"rule_set": "ours"})),
        option("rule_set"),
    ),
    Case(
        "CreateGame",
        "too many points",
        "OPTION_INVALID",
        create(terms=pb.Terms(variant="portes", target=16)),
        option("target"),
    ),
    Case(
        "CreateGame",
        "far too many points",
        "OPTION_INVALID",
        create(terms=pb.Terms(variant="portes", target=2**32 - 1)),
        option("target"),
    ),
    Case(
        "CreateGame",
        "a game of other players",
        "GAME_EXISTS",
        create(game_id=lambda stage: stage.waiting.game_id, player_ids=SEATS[::-1]),
    ),
    Case(
        "CreateGame",
        "a game to another target",
        "GAME_EXISTS",
        create(
            game_id=lambda stage: stage.running.game_id,
            terms=pb.Terms(variant="portes", target=4),
        ),
    ),
    Case(
        "CreateGame",
        "a finished game with other options",
        "GAME_EXISTS",
        create(
            game_id=lambda stage: stage.over.game_id,
            terms=pb.Terms(variant="portes", options={"disconnect_points": "two"}),
        ),
    ),
    Case(
        "CreateGame",
        "a game without computers, with one",
        "GAME_EXISTS",
        create(game_id=lambda stage: stage.waiting.game_id, computer_seats=[1]),
    ),
    Case(
        "CreateGame",
        "a game with a computer, without one",
        "GAME_EXISTS",
        create(game_id=lambda stage: stage.against.game_id, player_ids=(SEATS[0], COMPUTER)),
    ),
    Case(
        "CreateGame",
        "it was cancelled",
        "GAME_CANCELLED",
        create(game_id=lambda stage: stage.cancelled.game_id),
    ),
    Case(
        "CreateGame",
        "it was cancelled before it was made",
        "GAME_CANCELLED",
        create(game_id=lambda stage: stage.tombstone),
    ),
    reused("CreateGame", player_ids=SEATS[::-1]),
    reused("CreateGame", computer_seats=[1]),
    Case("CancelGame", "it runs", "GAME_STARTED", about("running", pb.CancelGameRequest, SERVICE)),
    Case("CancelGame", "it is over", "GAME_OVER", about("over", pb.CancelGameRequest, SERVICE)),
    reused("CancelGame", game_id=lambda stage: stage.idle.game_id),
    Case(
        "JoinGame",
        "no such game",
        "GAME_UNKNOWN",
        join("unknown", SEATS[0], commitment=b"x" * 32),
    ),
    Case("JoinGame", "a stranger", "NOT_YOUR_SEAT", join("waiting", STRANGER)),
    Case("JoinGame", "a stranger, too late", "NOT_YOUR_SEAT", join("running", STRANGER)),
    Case("JoinGame", "a person called like a computer", "NOT_YOUR_SEAT", join("against", COMPUTER)),
    Case(
        "JoinGame",
        "another commitment",
        "COMMITMENT_MISMATCH",
        join("waiting", SEATS[1], commitment=lambda stage: stage.idle.commitment),
    ),
    Case("JoinGame", "another word", "ALREADY_JOINED", join("waiting", SEATS[0])),
    Case("JoinGame", "another word, too late", "ALREADY_JOINED", join("running", SEATS[0])),
    Case("JoinGame", "it is over", "GAME_OVER", join("over", SEATS[0])),
    Case("JoinGame", "it was cancelled", "GAME_CANCELLED", join("cancelled", SEATS[0])),
    Case(
        "JoinGame",
        "it was cancelled before it was made",
        "GAME_CANCELLED",
        join("tombstone", SEATS[0], commitment=b"x" * 32),
    ),
    reused("JoinGame", word=b"another"),
    Case("GetGame", "no such game", "GAME_UNKNOWN", about("unknown", pb.GetGameRequest, STRANGER)),
    Case(
        "GetGame",
        "as a seat of a game that there is not",
        "GAME_UNKNOWN",
        about("unknown", pb.GetGameRequest, SERVICE, as_seat=1),
    ),
    *(
        Case("GetGame", why, "NOT_YOUR_SEAT", about(game, pb.GetGameRequest, who, as_seat=seat))
        for why, game, who, seat in NOT_A_COMPUTER
    ),
    Case(
        "WatchGame", "no such game", "GAME_UNKNOWN", about("unknown", pb.WatchGameRequest, STRANGER)
    ),
    Case(
        "WatchGame",
        "a row of the future",
        "NOT_YET",
        about(
            "running", pb.WatchGameRequest, STRANGER, after_version=lambda stage: stage.version + 1
        ),
        VERSION,
    ),
    Case(
        "WatchGame",
        "a row after the end",
        "NOT_YET",
        about("over", pb.WatchGameRequest, STRANGER, after_version=2**32 - 1),
        {"version": lambda stage: str(stage.over.position.version)},
    ),
)

LOOKING: Final[tuple[Case, ...]] = (
    Case(
        "GetRecord", "no such game", "GAME_UNKNOWN", about("unknown", pb.GetRecordRequest, STRANGER)
    ),
    Case("GetRecord", "it runs", "GAME_NOT_OVER", about("running", pb.GetRecordRequest, SEATS[0])),
    Case("GetRecord", "it waits", "GAME_NOT_OVER", about("waiting", pb.GetRecordRequest, OPERATOR)),
    Case(
        "VerifyRecord",
        "no such game",
        "GAME_UNKNOWN",
        about("unknown", pb.VerifyRecordRequest, STRANGER),
    ),
    Case(
        "VerifyRecord",
        "it runs",
        "GAME_NOT_OVER",
        about("running", pb.VerifyRecordRequest, STRANGER),
    ),
    Case(
        "ListEvents",
        "no such game",
        "GAME_UNKNOWN",
        about("unknown", pb.ListEventsRequest, SERVICE),
    ),
    *(
        Case(
            "ListGames",
            f"a page of another maker: {token[:8]}",
            "MALFORMED",
            book(pb.ListGamesRequest(page_token=token)),
            fields=("page_token",),
        )
        for token in ("next", "3.500", "01980000000070008000000000000000")
    ),
    Case(
        "GetVariant",
        "no such variant",
        "VARIANT_UNKNOWN",
        book(rulebook_pb2.GetVariantRequest(variant="chess")),
    ),
    Case(
        "GetRules",
        "no such variant",
        "VARIANT_UNKNOWN",
        book(rulebook_pb2.GetRulesRequest(variant="chess")),
    ),
    Case(
        "GetRules",
        "no such edition",
        "VARIANT_UNKNOWN",
        book(rulebook_pb2.GetRulesRequest(variant="portes", edition=99)),
    ),
)
