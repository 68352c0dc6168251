"""Terms that can't be published: each refusal is typed, and has changed nothing."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from kafeneio.common.v1 import errors_pb2, money_pb2
from kafeneio.matchmaking.v1 import tournaments_pb2 as pb
from kafeneio.rules.v1 import game_pb2

from tests.matchmaking.tournaments.club import Club, is_status
from tests.matchmaking.tournaments.test_tournament_refusals import good, refused

Change = Callable[[pb.TournamentTerms], object]


def money(units: int, currency: str = "EUR") -> Change:
    """Another entry fee."""
    fee = money_pb2.Money(currency_code=currency, minor_units=units)
    return lambda asked: asked.entry_fee.CopyFrom(fee)


def shares(*values: int) -> Change:
    """Other prizes."""

    def change(asked: pb.TournamentTerms) -> None:
        del asked.prize_shares[:]
        asked.prize_shares.extend(values)

    return change


def setting(**values: Any) -> Change:
    """Other values."""

    def change(asked: pb.TournamentTerms) -> None:
        for name, value in values.items():
            setattr(asked, name, value)

    return change


def starting(delay: timedelta) -> Change:
    """Another start."""
    return lambda asked: asked.starts_at.FromDatetime(datetime.now(UTC) + delay)


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("terms.name", setting(name="")),
        ("terms.name", setting(name="x" * 81)),
        ("terms.name", setting(name="a\0b")),
        ("terms.format", setting(format=0)),
        ("terms.format", setting(format=9)),
        ("terms.rounds", setting(rounds=130)),
        ("terms.game", lambda asked: asked.ClearField("game")),
        ("terms.game.variant", lambda asked: asked.game.Clear()),
        ("terms.entry_fee", money(-1)),
        ("terms.entry_fee", money(10**12 + 1)),
        ("terms.entry_fee.currency_code", money(5, "euro")),
        ("terms.fee_basis_points", setting(fee_basis_points=5_001)),
        ("terms.prize_shares", shares()),
        ("terms.prize_shares[1]", shares(10_000, 0)),
        ("terms.min_entries", setting(min_entries=1)),
        ("terms.max_entries", setting(max_entries=131)),
        ("terms.starts_at", lambda asked: asked.ClearField("starts_at")),
        ("terms.starts_at", lambda asked: setattr(asked.starts_at, "seconds", 10**15)),
    ],
)
async def test_terms_that_can_not_be_read(club: Club, field: str, change: Change) -> None:
    request = good("CreateTournament")
    change(request.terms)
    found = await refused(club, "CreateTournament", request)
    assert found.what == ("INVALID_ARGUMENT", "MALFORMED")
    assert found.fields == (field,)


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("prize_shares", shares(5_000, 4_999)),
        ("prize_shares", shares(4_000, 6_000)),
        ("max_entries", setting(min_entries=9)),
        ("max_rating", setting(min_rating=1_600, max_rating=1_599)),
        ("rounds", setting(rounds=3)),
        ("starts_at", starting(timedelta(seconds=-1))),
        ("starts_at", starting(timedelta(days=367))),
    ],
)
async def test_terms_that_contradict_each_other(club: Club, field: str, change: Change) -> None:
    request = good("CreateTournament")
    change(request.terms)
    found = await refused(club, "CreateTournament", request)
    assert found.what == ("FAILED_PRECONDITION", "TERMS_INVALID")
    assert found.metadata == {"field": field}


@pytest.mark.parametrize(
    ("game", "code", "reason", "option"),
    [
        (game_pb2.Terms(variant="chess"), "NOT_FOUND", "VARIANT_UNKNOWN", ""),
        (game_pb2.Terms(variant="portes", edition=9), "NOT_FOUND", "VARIANT_UNKNOWN", ""),
        (
            game_pb2.Terms(variant="portes", target=99),
            "FAILED_PRECONDITION",
            "OPTION_INVALID",
            "target",
        ),
        (
            game_pb2.Terms(variant="portes", options={"doors": "shut"}),
            "FAILED_PRECONDITION",
            "OPTION_INVALID",
            "doors",
        ),
        (
            game_pb2.Terms(variant="koumkan", options={"players": "3"}),
            "FAILED_PRECONDITION",
            "OPTION_INVALID",
            "players",
        ),
    ],
)
async def test_what_can_not_be_played(
    club: Club, game: game_pb2.Terms, code: str, reason: str, option: str
) -> None:
    request = good("CreateTournament")
    request.terms.game.CopyFrom(game)
    found = await refused(club, "CreateTournament", request)
    assert found.what == (code, reason)
    assert found.metadata.get("option", "") == option


async def test_the_rules_are_away(club: Club) -> None:
    server = club.rules.server
    assert server is not None
    await server.drain()
    found = await refused(club, "CreateTournament", good("CreateTournament"))
    assert found.what == ("UNAVAILABLE", "UNAVAILABLE")


async def test_terms_that_settlement_does_not_take(club: Club) -> None:
    """It never opens, and nobody has paid anything."""
    club.treasurer.refusing = errors_pb2.ERROR_REASON_POOL_EXISTS
    request = good("CreateTournament")
    made = (await club.ask(club.stub.CreateTournament, request)).tournament
    board = await club.until(made, is_status(pb.TOURNAMENT_STATUS_CANCELLED))
    assert board.tournament.cancel_reason == "POOL_EXISTS"
