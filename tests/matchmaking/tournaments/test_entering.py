"""Who enters a tournament, and who leaves it."""

from __future__ import annotations

import asyncio
from typing import Final

import pytest
from kafeneio.matchmaking.v1 import tournaments_pb2 as pb
from kafeneio.rules.v1 import game_pb2

from tests.matchmaking.tournaments.club import (
    PATIENCE,
    Club,
    has_entered,
    has_games,
    is_status,
    running,
)

FOUR: Final = ("eleni", "nikos", "maria", "kostas")
FINISHED: Final = pb.TOURNAMENT_STATUS_FINISHED


async def test_pairs(club: Club) -> None:
    tournament = await club.create(game=game_pb2.Terms(variant="pilotta"))
    assert tournament.players_per_entry == 2
    first = await club.register(tournament, "eleni", "nikos")
    assert first.status == pb.ENTRY_STATUS_WAITING_FOR_PARTNER
    assert (list(first.player_ids), first.waits_for_player_id) == (["eleni"], "nikos")
    same = await club.register(tournament, "nikos", "eleni")
    assert same.entry_id == first.entry_id
    assert same.status == pb.ENTRY_STATUS_PAYING
    assert list(same.player_ids) == ["eleni", "nikos"]
    other = await club.register(tournament, "maria", "kostas")
    await club.register(tournament, "kostas", "maria")
    alone = await club.register(tournament, "spyros", "petros")
    await club.until(tournament, has_entered(other))
    await club.until(tournament, has_entered(first))
    await club.operate("Start", tournament)
    board = await club.until(tournament, has_games(1))
    assert board.entries[alone.entry_id].end == pb.ENTRY_END_PARTNER_MISSING
    (match,) = board.playing()
    seated = [("eleni", "maria", "nikos", "kostas"), ("maria", "eleni", "kostas", "nikos")]
    assert tuple(match.player_ids) in seated
    # One of a side is missing: the side was not there.
    await club.miss(match, [player for player in match.player_ids if player != "kostas"])
    board = await club.over(tournament)
    assert board.places() == {"eleni+nikos": 1, "maria+kostas": 2}
    assert sorted(club.treasurer.held.values()) == [("eleni", "nikos"), ("maria", "kostas")]


async def test_it_waits_for_the_last_fee(club: Club) -> None:
    """Who was registered in time is in, however long `settlement` needs."""
    tournament = await club.create()
    await club.entered(tournament, "eleni", "nikos")
    let, asked = asyncio.Event(), asyncio.Event()

    async def slowly(call: str) -> None:
        if call == "HoldEntryFees":
            asked.set()
            await let.wait()

    club.treasurer.before = slowly
    await club.register(tournament, "maria")
    async with asyncio.timeout(PATIENCE):
        await asked.wait()
    started = await club.operate("Start", tournament)
    assert started.status == pb.TOURNAMENT_STATUS_STARTING
    let.set()
    board = await club.until(tournament, is_status(pb.TOURNAMENT_STATUS_RUNNING))
    assert [board.entry_of(who).seed for who in FOUR[:3]] == [1, 2, 3]


@pytest.mark.parametrize(
    ("trouble", "end"),
    [
        ("poor", pb.ENTRY_END_INSUFFICIENT_FUNDS),
        ("suspended", pb.ENTRY_END_SUSPENDED),
        ("unknown", pb.ENTRY_END_PLAYER_UNKNOWN),
    ],
)
async def test_who_can_not_pay(club: Club, trouble: str, end: pb.EntryEnd.ValueType) -> None:
    tournament = await club.create()
    getattr(club.treasurer, trouble).add("eleni")
    made = await club.register(tournament, "eleni")
    board = await club.until(
        tournament, lambda b: b.entries[made.entry_id].status == pb.ENTRY_STATUS_ENDED
    )
    assert board.entries[made.entry_id].end == end
    assert board.tournament.entries == 0
    getattr(club.treasurer, trouble).clear()
    again = await club.register(tournament, "eleni")
    assert again.entry_id != made.entry_id
    await club.until(tournament, has_entered(again))


async def test_withdrawing_before_the_start(club: Club) -> None:
    tournament = await club.create()
    await club.entered(tournament, "eleni", "nikos")
    left = await club.withdraw(tournament, "eleni")
    assert left.status == pb.ENTRY_STATUS_LEAVING
    board = await club.until(
        tournament, lambda b: b.entries[left.entry_id].status == pb.ENTRY_STATUS_ENDED
    )
    assert board.entries[left.entry_id].end == pb.ENTRY_END_WITHDRAWN
    assert list(club.treasurer.held.values()) == [("nikos",)]
    again = await club.register(tournament, "eleni")
    board = await club.until(tournament, has_entered(again))
    assert board.tournament.entries == 2


async def test_withdrawing_after_the_start(club: Club) -> None:
    tournament = await running(club, *FOUR)
    board = await club.until(tournament, has_games(2))
    left = await club.withdraw(tournament, "eleni")
    assert left.status == pb.ENTRY_STATUS_WITHDRAWN
    for match in board.playing():  # his game runs on, and he even wins it
        await club.play(match, match.player_ids[1])
    board = await club.over(tournament)
    assert board.places() == {"nikos": 1, "eleni": 2, "maria": 3, "kostas": 3}
    assert board.matches[2, 1].end == pb.MATCH_END_WALKOVER
    assert len(club.treasurer.held) == 4, "his fee stays in the pool"


async def test_one_of_a_pair_takes_both_out(club: Club) -> None:
    tournament = await club.create(game=game_pb2.Terms(variant="pilotta"))
    made = await club.register(tournament, "eleni", "nikos")
    await club.register(tournament, "nikos", "eleni")
    await club.until(tournament, has_entered(made))
    await club.withdraw(tournament, "nikos")
    await club.until(tournament, lambda b: b.entries[made.entry_id].status == pb.ENTRY_STATUS_ENDED)
    waiting = await club.register(tournament, "eleni", "maria")
    assert waiting.status == pb.ENTRY_STATUS_WAITING_FOR_PARTNER
    ended = await club.withdraw(tournament, "eleni")
    assert ended.status == pb.ENTRY_STATUS_ENDED, "nothing was paid"


async def test_disqualifying(club: Club) -> None:
    tournament = await club.create()
    board = await club.entered(tournament, *FOUR, "spyros")
    removed = await club.disqualify(tournament, board.entry_of("spyros"), "a second account")
    assert (removed.status, removed.end) == (pb.ENTRY_STATUS_LEAVING, pb.ENTRY_END_REMOVED)
    assert removed.reason == "a second account"
    await club.operate("Start", tournament)
    board = await club.until(tournament, has_games(2))
    running_game = next(m for m in board.playing() if "eleni" in m.player_ids)
    await club.plays(running_game.game_id)
    out = await club.disqualify(tournament, board.entry_of("eleni"), "a helping hand")
    assert out.status == pb.ENTRY_STATUS_DISQUALIFIED
    board = await club.until(tournament, lambda b: b.matches[1, 1].state == pb.MATCH_STATE_OVER)
    assert board.who(board.matches[1, 1].winner_entry_id) == "kostas"
    await club.rules.resign(running_game.game_id, "kostas")  # without effect
    board = await club.play_on(tournament)
    assert board.places() == {"nikos": 1, "kostas": 2, "maria": 3, "eleni": 4}


async def test_for_nothing(club: Club) -> None:
    tournament = await club.create(fee=0, fee_basis_points=0)
    assert not tournament.terms.HasField("entry_fee")
    await club.entered(tournament, "eleni", "nikos")
    await club.operate("Start", tournament)
    assert (await club.play_on(tournament)).status == FINISHED
    pool = club.treasurer.pools[tournament.tournament_id].terms
    assert (pool.entry_fee.minor_units, pool.entry_fee.currency_code) == (0, "EUR")


async def test_seeds_go_by_rating(club: Club) -> None:
    for player, value in (("maria", 1700), ("nikos", 1600), ("eleni", 1400)):
        await rate(club, player, value)
    tournament = await running(club, "eleni", "nikos", "maria")
    board = await club.until(tournament, has_games(1))
    assert [board.entry_of(who).seed for who in ("maria", "nikos", "eleni")] == [1, 2, 3]
    assert [board.entry_of(who).rating for who in ("maria", "eleni")] == [1700, 1400]
    assert board.matches[1, 1].end == pb.MATCH_END_BYE


async def rate(club: Club, player: str, value: int) -> None:
    """Give a player a rating in portes."""
    await club.database.execute(
        "INSERT INTO ratings (variant, player_id, mu, sigma, value, floor, games)"
        " VALUES ('portes', $1, 25, 8, $2, 0, 20)",
        player,
        value,
    )
