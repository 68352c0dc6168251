"""Bad input: every refusal is typed, and has changed nothing."""

from __future__ import annotations

from typing import Any, Final

import grpc
import pytest
from google.protobuf.message import Message
from kafeneio.common.v1 import errors_pb2
from kafeneio.matchmaking.v1 import tournaments_pb2 as pb
from kafeneio.rules.v1 import game_pb2
from kafeneio_matchmaking.tournaments.roles import TOURNAMENT_ROLES, TOURNAMENTS

from tests.harness import OPERATOR, PATIENCE, SERVICE, new_id
from tests.matchmaking.tournaments.club import Club, has_games, terms
from tests.rules.refusal import Refused, refusal
from tests.snapshots import Snapshot, snapshot

METHODS: Final = {
    method.name: method for method in pb.DESCRIPTOR.services_by_name["TournamentService"].methods
}
every_method = pytest.mark.parametrize("method", METHODS)

OPERATORS: Final = (
    *(f"{what}Tournament" for what in ("Create", "Start", "Pause", "Resume", "Cancel", "Correct")),
    "DisqualifyEntry",
)
PLAYERS: Final = ("RegisterForTournament", "WithdrawFromTournament")
TABLES: Final = {
    # Not what drives it: that goes on.
    "tournaments": "tournament_id, status, cancel_reason, started_at, ended_at",
    "tournament_entries": "*",
    "tournament_players": "*",
    "tournament_matches": "*",
    "tournament_corrections": "*",
    "requests": "*",
    "audit": "*",
    "outbox": "*",
}


def who_may(method: str) -> str:
    """Somebody who may make a call."""
    return OPERATOR if method in OPERATORS else "eleni"


def good(method: str, tournament: pb.Tournament | None = None, **changes: Any) -> Any:
    """A request that can be read."""
    kind = METHODS[method].input_type.name
    asked: dict[str, Any] = {}
    fields = METHODS[method].input_type.fields_by_name
    if "request_id" in fields:
        asked["request_id"] = new_id()
    if "tournament_id" in fields:
        asked["tournament_id"] = tournament.tournament_id if tournament else new_id()
    if "reason" in fields:
        asked["reason"] = "no light"
    if "entry_id" in fields:
        asked["entry_id"] = new_id()
    if "places" in fields:
        asked["places"] = [pb.EntryPlace(place=1, entry_ids=[new_id()])]
    if method == "CreateTournament":
        asked["terms"] = terms()
    return getattr(pb, kind)(**{**asked, **changes})


async def state(club: Club) -> Snapshot:
    """What there is of tournaments."""
    return await snapshot(club.database, TABLES)


async def refused(
    club: Club,
    method: str,
    body: bytes | Message,
    who: str = "",
    metadata: tuple[tuple[str, str], ...] | None = None,
    within: float | None = PATIENCE,
) -> Refused:
    """How a call is refused; it has changed nothing."""
    before = await state(club)
    sent = body if isinstance(body, bytes) else body.SerializeToString()
    headers = metadata
    if headers is None:
        headers = club.rules.credentials(who or who_may(method))
    path = f"/{TOURNAMENTS}/{method}"
    if METHODS[method].server_streaming:
        many: grpc.aio.UnaryStreamMultiCallable[bytes, bytes] = club.channel.unary_stream(path)
        found = await refusal(many(sent, metadata=headers, timeout=within).read())
    else:
        unary: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = club.channel.unary_unary(path)
        found = await refusal(unary(sent, metadata=headers, timeout=within))
    assert await state(club) == before
    return found


def test_every_call_has_its_roles() -> None:
    assert {path.rpartition("/")[2] for path in TOURNAMENT_ROLES} == set(METHODS)


async def test_the_way_in(club: Club) -> None:
    for method in METHODS:
        request = good(method)
        for body in (b"\xff", b"\x0a\x7f"):
            assert (await refused(club, method, body)).what == ("INVALID_ARGUMENT", "MALFORMED")
        found = await refused(club, method, request, metadata=())
        assert found.what == ("UNAUTHENTICATED", "TOKEN_MISSING")
        garbage = (("authorization", "Bearer garbage"),)
        found = await refused(club, method, request, metadata=garbage)
        assert found.what == ("UNAUTHENTICATED", "TOKEN_INVALID")
        if not METHODS[method].server_streaming:
            found = await refused(club, method, request, within=None)
            assert found.what == ("INVALID_ARGUMENT", "DEADLINE_REQUIRED")
        strangers = {"operator": ("eleni", SERVICE), "player": (OPERATOR, SERVICE)}
        role = "operator" if method in OPERATORS else "player" if method in PLAYERS else ""
        for who in strangers.get(role, ()):
            found = await refused(club, method, request, who)
            assert found.what == ("PERMISSION_DENIED", "ROLE_REQUIRED")
            assert found.metadata == {"roles": role}


async def test_a_tournament_that_is_not_there(club: Club) -> None:
    for method in set(METHODS) - {"CreateTournament", "ListTournaments"}:
        found = await refused(club, method, good(method))
        assert found.what == ("NOT_FOUND", "TOURNAMENT_UNKNOWN")


async def test_ids_are_uuids(club: Club) -> None:
    for method, meta in METHODS.items():
        for name in ("request_id", "tournament_id", "entry_id"):
            if name in meta.input_type.fields_by_name:
                for text in ("", "7", new_id().upper(), f"{{{new_id()}}}"):
                    changes: dict[str, Any] = {name: text}
                    found = await refused(club, method, good(method, **changes))
                    assert found.what == ("INVALID_ARGUMENT", "MALFORMED")
                    assert found.fields == (name,)


async def test_registering(club: Club) -> None:
    open_for_all = await club.create(max_entries=2)
    method = "RegisterForTournament"
    await club.entered(open_for_all, "eleni")
    found = await refused(club, method, good(method, open_for_all))
    assert found.what == ("ALREADY_EXISTS", "ALREADY_REGISTERED")
    own = (await club.get(open_for_all, "eleni")).own_entry
    assert found.metadata == {"entry_id": own.entry_id}
    found = await refused(club, method, good(method, open_for_all, partner_player_id="nikos"))
    assert found.what == ("FAILED_PRECONDITION", "PARTNER_WRONG")
    for text in ("computer-1", "Computer-1", "x" * 65, "eleni", "a\0b"):
        found = await refused(club, method, good(method, open_for_all, partner_player_id=text))
        assert found.what == ("INVALID_ARGUMENT", "MALFORMED")
        assert found.fields == ("partner_player_id",)
    for name in ("computer-1", "COMPUTER-1"):
        found = await refused(club, method, good(method, open_for_all), name)
        assert found.what == ("UNAUTHENTICATED", "TOKEN_INVALID")
    await club.entered(open_for_all, "nikos")
    found = await refused(club, method, good(method, open_for_all), "maria")
    assert found.what == ("FAILED_PRECONDITION", "TOURNAMENT_FULL")
    pairs = await club.create(game=game_pb2.Terms(variant="pilotta"))
    found = await refused(club, method, good(method, pairs))
    assert found.what == ("FAILED_PRECONDITION", "PARTNER_WRONG")
    await club.operate("Cancel", pairs, reason="no light")
    await club.over(pairs)
    found = await refused(club, method, good(method, pairs, partner_player_id="nikos"))
    assert found.what == ("FAILED_PRECONDITION", "REGISTRATION_CLOSED")
    assert found.metadata == {"status": "CANCELLED"}


async def test_only_some_ratings_may_enter(club: Club) -> None:
    method = "RegisterForTournament"
    wrong: tuple[dict[str, Any], ...] = ({"min_rating": 1_501}, {"max_rating": 1_499})
    for limits in wrong:
        tournament = await club.create(**limits)
        found = await refused(club, method, good(method, tournament))
        assert found.what == ("FAILED_PRECONDITION", "RATING_OUT_OF_RANGE")
        assert found.metadata == {"player_id": "eleni", "rating": "1500"}
    just = await club.create(min_rating=1_500, max_rating=1_500)
    assert just.terms.HasField("min_rating")
    await club.entered(just, "eleni")


async def test_who_is_suspended_can_not_enter(club: Club) -> None:
    tournament = await club.create()
    await club.database.execute(
        "INSERT INTO suspensions (suspension_id, player_id, reason, suspended_by)"
        " VALUES ($1::text::uuid, 'eleni', 'a helping hand', 'operator')",
        new_id(),
    )
    method = "RegisterForTournament"
    found = await refused(club, method, good(method, tournament))
    assert found.what == ("FAILED_PRECONDITION", "PLAYER_SUSPENDED")


async def test_leaving(club: Club) -> None:
    tournament = await club.create()
    leave, out = "WithdrawFromTournament", "DisqualifyEntry"
    found = await refused(club, leave, good(leave, tournament))
    assert found.what == ("FAILED_PRECONDITION", "NOT_REGISTERED")
    found = await refused(club, out, good(out, tournament))
    assert found.what == ("NOT_FOUND", "ENTRY_UNKNOWN")
    board = await club.entered(tournament, "eleni", "nikos", "maria")
    other = await club.create()
    found = await refused(club, out, good(out, other, entry_id=board.entry_of("eleni").entry_id))
    assert found.what == ("NOT_FOUND", "ENTRY_UNKNOWN")
    left = await club.withdraw(tournament, "maria")
    await club.until(tournament, lambda b: b.entries[left.entry_id].status == pb.ENTRY_STATUS_ENDED)
    found = await refused(club, out, good(out, tournament, entry_id=left.entry_id))
    assert found.what == ("FAILED_PRECONDITION", "ENTRY_OVER")
    assert found.metadata == {"status": "ENDED"}
    await club.operate("Start", tournament)
    board = await club.until(tournament, has_games(1))
    await club.withdraw(tournament, "eleni")
    found = await refused(club, leave, good(leave, tournament))
    assert found.what == ("FAILED_PRECONDITION", "ENTRY_OVER")
    assert found.metadata == {"status": "WITHDRAWN"}
    await club.play(board.playing()[0], "eleni")
    await club.over(tournament)
    for method in (leave, out):
        entry = {"entry_id": board.entry_of("nikos").entry_id} if method == out else {}
        who = OPERATOR if method == out else "nikos"
        found = await refused(club, method, good(method, tournament, **entry), who)
        assert found.what == ("FAILED_PRECONDITION", "TOURNAMENT_OVER")
        assert found.metadata == {"status": "FINISHED"}


@pytest.mark.parametrize(
    ("method", "reason", "may"),
    [
        ("StartTournament", "TOURNAMENT_NOT_OPEN", {"OPEN"}),
        ("PauseTournament", "TOURNAMENT_NOT_RUNNING", {"RUNNING"}),
        ("ResumeTournament", "TOURNAMENT_NOT_PAUSED", {"PAUSED"}),
        ("CorrectTournament", "TOURNAMENT_NOT_FINISHED", {"FINISHED"}),
        (
            "CancelTournament",
            "TOURNAMENT_OVER",
            {"ANNOUNCED", "OPEN", "STARTING", "RUNNING", "PAUSED"},
        ),
    ],
)
async def test_where_it_stands(club: Club, method: str, reason: str, may: set[str]) -> None:
    """Whatever it may stand at but where the call is for."""
    tournament = await club.create()
    for status in pb.TournamentStatus.DESCRIPTOR.values:
        name = status.name.removeprefix("TOURNAMENT_STATUS_")
        if status.number == 0 or name in may:
            continue
        await club.database.execute(
            "UPDATE tournaments SET status = $2, due_at = NULL,"
            " ended_at = CASE WHEN $2 IN ('finished', 'cancelled') THEN now() END"
            " WHERE tournament_id = $1::text::uuid",
            tournament.tournament_id,
            name.lower(),
        )
        found = await refused(club, method, good(method, tournament))
        assert found.what == ("FAILED_PRECONDITION", reason)
        assert found.metadata == {"status": name}


async def test_starting_with_too_few(club: Club) -> None:
    tournament = await club.create()
    await club.entered(tournament, "eleni")
    found = await refused(club, "StartTournament", good("StartTournament", tournament))
    assert found.what == ("FAILED_PRECONDITION", "TOO_FEW_ENTRIES")
    assert found.metadata == {"entries": "1"}


async def test_correcting(club: Club) -> None:
    tournament = await club.create()
    await club.entered(tournament, "eleni", "nikos")
    await club.operate("Start", tournament)
    board = await club.play_on(tournament)
    one, two = (board.entry_of(who).entry_id for who in ("eleni", "nikos"))
    method = "CorrectTournament"

    async def judged(*places: tuple[int, list[str]]) -> Refused:
        named = [pb.EntryPlace(place=place, entry_ids=ids) for place, ids in places]
        return await refused(club, method, good(method, tournament, places=named))

    for places in (
        [(1, [one])],
        [(1, [one]), (2, [new_id()])],
        [(1, [one, two]), (3, [new_id()])],
        [(1, [one]), (2, [one])],
    ):
        assert (await judged(*places)).what == ("FAILED_PRECONDITION", "STANDINGS_INCOMPLETE")
    for places, field in (
        ([(1, [one]), (3, [two])], "places[1].place"),
        ([(2, [one, two])], "places[0].place"),
        ([(1, [one.upper(), two])], "places[0].entry_ids"),
        ([(1, [one, one])], "places[0].entry_ids"),
        ([(1, []), (1, [one, two])], "places[0].entry_ids"),
        ([], "places"),
    ):
        found = await judged(*places)
        assert found.what == ("INVALID_ARGUMENT", "MALFORMED")
        assert field in found.fields
    right = [(1, [two]), (2, [one])]
    club.treasurer.refusing = errors_pb2.ERROR_REASON_POOL_OPEN
    assert (await judged(*right)).what == ("FAILED_PRECONDITION", "POOL_OPEN")
    club.treasurer.refusing, club.treasurer.away = None, 9
    assert (await judged(*right)).what == ("UNAVAILABLE", "UNAVAILABLE")


async def test_reasons_are_texts(club: Club) -> None:
    for method in ("DisqualifyEntry", "CancelTournament", "CorrectTournament"):
        for text in ("", "x" * 501, "a\0b"):
            found = await refused(club, method, good(method, reason=text))
            assert found.what == ("INVALID_ARGUMENT", "MALFORMED")
            assert found.fields == ("reason",)


async def test_lists(club: Club) -> None:
    tournament = await club.create()
    for method in ("ListEntries", "ListStandings", "GetBracket"):
        for token in ("x", "-1", "1.5", "٣", "9999999"):
            found = await refused(club, method, good(method, tournament, page_token=token))
            assert found.what == ("INVALID_ARGUMENT", "MALFORMED")
            assert found.fields == ("page_token",)
    for changes in ({"page_token": "x"}, {"variant": "a\0b"}, {"player_id": "a\0b"}):
        found = await refused(club, "ListTournaments", pb.ListTournamentsRequest(**changes))  # type: ignore[arg-type]
        assert found.what == ("INVALID_ARGUMENT", "MALFORMED")
        assert found.fields == tuple(changes)


async def test_a_round_that_nobody_plays_has_no_match(club: Club) -> None:
    tournament = await club.create()
    for number in (1, 2**31, 2**31 + 1, 2**32 - 1):
        request = good("GetBracket", tournament, round=number)
        assert list((await club.ask(club.stub.GetBracket, request, "eleni")).matches) == []


async def test_watching(club: Club) -> None:
    tournament = await club.create()
    found = await refused(
        club, "WatchTournament", good("WatchTournament", tournament, after_version=99)
    )
    assert found.what == ("OUT_OF_RANGE", "NOT_YET")
    assert found.metadata == {"version": str(tournament.version)}
