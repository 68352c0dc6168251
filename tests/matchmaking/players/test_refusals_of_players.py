"""The way into PlayerService: every call is authorised, readable and has a deadline, or is refused
and changes nothing."""

from __future__ import annotations

from typing import Any, Final

import grpc
import pytest
from google.protobuf.message import Message
from kafeneio.matchmaking.v1 import players_pb2 as pb
from kafeneio_matchmaking.players.roles import PLAYER_ROLES
from kafeneio_runtime.auth import Role

from tests.harness import OPERATOR, PATIENCE, SERVICE, new_id
from tests.matchmaking.players.club import Club
from tests.rules.refusal import Refused, refusal

METHODS: Final = pb.DESCRIPTOR.services_by_name["PlayerService"].methods_by_name
PATH: Final = "/kafeneio.matchmaking.v1.PlayerService/"
WHO: Final = {Role.PLAYER: "eleni", Role.SERVICE: SERVICE, Role.OPERATOR: OPERATOR}
MAY: Final = {
    "GetRating": "player service operator",
    "ListLeaderboard": "player service operator",
    "ReportPlayer": "player",
    "BlockPlayer": "player",
    "UnblockPlayer": "player",
    "ListBlocked": "player",
    "GetLimits": "player operator",
    "SetLimits": "player",
    "SuspendPlayer": "operator",
    "LiftSuspension": "operator",
    "ListSuspensions": "operator",
    "ListReports": "operator",
    "CloseReport": "operator",
    "ListPairFlags": "operator",
    "GetPairStatistics": "operator",
}
"""Who may make which call, as the contract says."""


def good(method: str) -> Message:
    """A request that can be read."""
    ids: dict[str, Any] = {"request_id": new_id()}
    requests: dict[str, Message] = {
        "GetRating": pb.GetRatingRequest(player_id="nikos"),
        "ListLeaderboard": pb.ListLeaderboardRequest(variant="portes"),
        "ReportPlayer": pb.ReportPlayerRequest(
            **ids, player_id="nikos", game_id=new_id(), category=pb.REPORT_CATEGORY_OTHER
        ),
        "BlockPlayer": pb.BlockPlayerRequest(**ids, player_id="nikos"),
        "UnblockPlayer": pb.UnblockPlayerRequest(**ids, player_id="nikos"),
        "ListBlocked": pb.ListBlockedRequest(),
        "GetLimits": pb.GetLimitsRequest(player_id="eleni"),
        "SetLimits": pb.SetLimitsRequest(**ids),
        "SuspendPlayer": pb.SuspendPlayerRequest(**ids, player_id="nikos", reason="rude"),
        "LiftSuspension": pb.LiftSuspensionRequest(**ids, suspension_id=new_id(), reason="x"),
        "ListSuspensions": pb.ListSuspensionsRequest(),
        "ListReports": pb.ListReportsRequest(),
        "CloseReport": pb.CloseReportRequest(**ids, report_id=new_id(), outcome="warned"),
        "ListPairFlags": pb.ListPairFlagsRequest(),
        "GetPairStatistics": pb.GetPairStatisticsRequest(player_id="a", other_player_id="b"),
    }
    return requests[method]


async def call(
    club: Club,
    method: str,
    body: bytes,
    headers: tuple[tuple[str, str], ...],
    within: float | None = PATIENCE,
) -> bytes:
    """Sends bytes as they are."""
    unary: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = club.hall.channel.unary_unary(
        PATH + method
    )
    return await unary(body, metadata=headers, timeout=within)


async def refused(club: Club, method: str, body: bytes, who: str) -> Refused:
    """How it is refused."""
    return await refusal(call(club, method, body, club.hall.rules.credentials(who)))


def test_every_call_has_its_roles() -> None:
    assert set(METHODS) == set(MAY)
    assert {path.removeprefix(PATH): roles for path, roles in PLAYER_ROLES.items()} == {
        method: frozenset(map(Role, names.split())) for method, names in MAY.items()
    }


async def test_the_way_in(club: Club) -> None:
    before = await club.snapshot()
    for method, names in MAY.items():
        allowed = {Role(name) for name in names.split()}
        body = good(method).SerializeToString()
        for role, who in WHO.items():
            if role not in allowed:
                found = await refused(club, method, body, who)
                assert found.what == ("PERMISSION_DENIED", "ROLE_REQUIRED"), (method, who)
        found = await refusal(call(club, method, body, ()))
        assert found.what == ("UNAUTHENTICATED", "TOKEN_MISSING"), method
        caller = WHO[sorted(allowed)[0]]
        for garbage in (b"\xff", b"\x0a\x7f"):
            found = await refused(club, method, garbage, caller)
            assert found.what == ("INVALID_ARGUMENT", "MALFORMED"), method
        headers = club.hall.rules.credentials(caller)
        found = await refusal(call(club, method, body, headers, None))
        assert found.what == ("INVALID_ARGUMENT", "DEADLINE_REQUIRED"), method
    assert await club.snapshot() == before


MALFORMED: Final[list[tuple[str, dict[str, Any], str]]] = [
    ("GetRating", {"player_id": "x" * 65}, "player_id"),
    ("GetRating", {"player_id": "a\0"}, "player_id"),
    ("GetRating", {"variant": "a\0"}, "variant"),
    ("GetRating", {"page_size": 201}, "page_size"),
    ("ListLeaderboard", {"variant": ""}, "variant"),
    ("ListLeaderboard", {"variant": "a\0"}, "variant"),
    ("ReportPlayer", {"request_id": "1"}, "request_id"),
    ("ReportPlayer", {"game_id": "1"}, "game_id"),
    ("ReportPlayer", {"category": 0}, "category"),
    ("ReportPlayer", {"category": 99}, "category"),
    ("ReportPlayer", {"text": "x" * 1001}, "text"),
    ("ReportPlayer", {"text": "a\0"}, "text"),
    ("BlockPlayer", {"player_id": ""}, "player_id"),
    ("ListBlocked", {"page_size": 201}, "page_size"),
    ("GetLimits", {"player_id": "x" * 65}, "player_id"),
    ("SetLimits", {"request_id": ""}, "request_id"),
    ("SuspendPlayer", {"reason": "x" * 501}, "reason"),
    ("LiftSuspension", {"suspension_id": "1"}, "suspension_id"),
    ("LiftSuspension", {"reason": "a\0"}, "reason"),
    ("ListSuspensions", {"player_id": "a\0"}, "player_id"),
    ("ListReports", {"status": 9}, "status"),
    ("ListReports", {"player_id": "a\nb"}, "player_id"),
    ("CloseReport", {"outcome": ""}, "outcome"),
    ("CloseReport", {"outcome": "a\0"}, "outcome"),
    ("ListPairFlags", {"kind": 9}, "kind"),
    ("ListPairFlags", {"page_token": "x" * 201}, "page_token"),
    ("GetPairStatistics", {"player_id": "a\0"}, "player_id"),
    ("GetPairStatistics", {"other_player_id": ""}, "other_player_id"),
]


async def test_fields_that_can_not_be(club: Club) -> None:
    before = await club.snapshot()
    for method, changes, field in MALFORMED:
        request = good(method)
        for name, value in changes.items():
            setattr(request, name, value)
        role = Role(sorted(MAY[method].split())[0])
        found = await refused(club, method, request.SerializeToString(), WHO[role])
        assert found.what == ("INVALID_ARGUMENT", "MALFORMED"), (method, changes)
        assert found.fields == (field,), (method, changes)
    assert await club.snapshot() == before


@pytest.mark.parametrize("method", ["BlockPlayer", "SuspendPlayer", "SetLimits", "UnblockPlayer"])
async def test_a_request_id_is_for_one_request(club: Club, method: str) -> None:
    who = OPERATOR if method == "SuspendPlayer" else "eleni"
    request = good(method)
    answer = await club.ask(method, request, who)
    assert await club.ask(method, request, who) == answer
    before = await club.snapshot()
    if isinstance(request, pb.SetLimitsRequest):
        request.time_per_day.seconds = 7
    else:
        request.player_id = "maria"  # type: ignore[attr-defined] # all the others have it
    found = await refusal(club.ask(method, request, who))
    assert found.what == ("ALREADY_EXISTS", "REQUEST_ID_REUSED")
    assert await club.snapshot() == before


async def test_ids_of_computers_are_no_players(club: Club) -> None:
    for method in ("ReportPlayer", "BlockPlayer", "UnblockPlayer", "SetLimits"):
        found = await refused(club, method, good(method).SerializeToString(), "computer-1")
        assert found.what == ("UNAUTHENTICATED", "TOKEN_INVALID")
