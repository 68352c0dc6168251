"""Tournaments from their publication to the prizes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Final

import pytest
from kafeneio.matchmaking.v1 import tournaments_pb2 as pb
from kafeneio.settlement.v1 import prizes_pb2

from tests.matchmaking.tournaments.club import (
    Board,
    Club,
    has_games,
    running,
)

FOUR: Final = ("eleni", "nikos", "maria", "kostas")
FINISHED, CANCELLED = pb.TOURNAMENT_STATUS_FINISHED, pb.TOURNAMENT_STATUS_CANCELLED


def paid(club: Club, tournament: pb.Tournament, board: Board) -> list[list[str]]:
    """Who shares which place, as the treasurer was told."""
    told = club.treasurer.standings[tournament.tournament_id]
    return [[board.who(entry) for entry in shared] for shared in told]


async def test_four_players(club: Club) -> None:
    tournament = await running(club, *FOUR)
    board = await club.until(tournament, has_games(2))
    # Nobody has a rating: seeds go by registration.
    assert [board.entry_of(who).seed for who in FOUR] == [1, 2, 3, 4]
    one, two = sorted(board.playing(), key=lambda match: match.number)
    assert [*one.player_ids, *two.player_ids] == ["eleni", "kostas", "nikos", "maria"]
    assert one.join_by.ToDatetime(UTC) - datetime.now(UTC) <= timedelta(seconds=30)
    board = await club.play_on(tournament)
    assert board.status == FINISHED
    assert board.tournament.HasField("ended_at")
    assert board.places() == {"eleni": 1, "nikos": 2, "maria": 3, "kostas": 3}
    assert paid(club, tournament, board) == [["eleni"], ["nikos"], ["maria", "kostas"]]
    assert club.treasurer.same_calls()
    pool = club.treasurer.pools[tournament.tournament_id].terms
    assert (pool.entry_fee.minor_units, pool.entry_fee.currency_code) == (500, "EUR")
    assert (pool.fee_basis_points, list(pool.prize_shares)) == (500, [7_000, 3_000])
    assert pool.players_per_entry == 1
    assert pool.starts_at == tournament.terms.starts_at


@pytest.mark.parametrize(
    ("kind", "games", "places"),
    [
        (pb.TOURNAMENT_FORMAT_DOUBLE_ELIMINATION, 6, [1, 2, 3, 4]),
        (pb.TOURNAMENT_FORMAT_SWISS, 4, [1, 2, 2, 4]),
        (pb.TOURNAMENT_FORMAT_ROUND_ROBIN, 6, [1, 2, 3, 4]),
    ],
)
async def test_the_other_formats(
    club: Club, kind: pb.TournamentFormat.ValueType, games: int, places: list[int]
) -> None:
    tournament = await running(club, *FOUR, format=kind)
    board = await club.play_on(tournament)
    assert board.status == FINISHED
    assert [board.entry_of(who).place for who in FOUR] == places
    assert len({m.game_id for m in board.matches.values()}) == games


async def test_who_does_not_come(club: Club) -> None:
    tournament = await running(club, *FOUR)
    board = await club.until(tournament, has_games(2))
    one, two = sorted(board.playing(), key=lambda match: match.number)
    await club.miss(one, ["kostas"])
    await club.miss(two)
    board = await club.over(tournament)
    assert board.status == FINISHED
    assert board.places() == {"kostas": 1, "eleni": 2, "nikos": 2, "maria": 2}
    ends = {key: match.end for key, match in board.matches.items()}
    assert ends == {
        (1, 1): pb.MATCH_END_NO_SHOW,
        (1, 2): pb.MATCH_END_NO_SHOW,
        (2, 1): pb.MATCH_END_BYE,
    }
    assert board.matches[1, 2].winner_entry_id == ""


async def test_a_void_game_is_played_again_once(club: Club) -> None:
    tournament = await running(club, "eleni", "nikos")
    games = []
    for voids in (0, 1):
        board = await club.until(tournament, is_playing_again(voids))
        (match,) = board.playing()
        games.append(match.game_id)
        await club.plays(match.game_id)
        await club.rules.abort(match.game_id)
    board = await club.over(tournament)
    assert len(set(games)) == 2
    assert board.places() == {"eleni": 1, "nikos": 2}, "the better seed goes on"
    assert board.matches[1, 1].end == pb.MATCH_END_VOID
    assert board.matches[1, 1].voids == 2


def is_playing_again(voids: int) -> Callable[[Board], bool]:
    """Whether there is a match whose game was void so often."""
    return lambda board: any(match.voids == voids for match in board.playing())


async def test_pause_and_resume(club: Club) -> None:
    tournament = await running(club, *FOUR)
    board = await club.until(tournament, has_games(2))
    paused = await club.operate("Pause", tournament)
    assert paused.status == pb.TOURNAMENT_STATUS_PAUSED
    for match in board.playing():
        await club.play(match, match.player_ids[1])
    board = await club.until(tournament, lambda b: (2, 1) in b.matches)
    assert board.status == pb.TOURNAMENT_STATUS_PAUSED
    assert board.matches[2, 1].state == pb.MATCH_STATE_WAITING
    assert not board.matches[2, 1].game_id, "no further game is made"
    resumed = await club.operate("Resume", tournament)
    assert resumed.status == pb.TOURNAMENT_STATUS_RUNNING
    board = await club.play_on(tournament)
    assert board.places() == {"eleni": 1, "nikos": 2, "maria": 3, "kostas": 3}


async def test_a_paused_tournament_does_not_end(club: Club) -> None:
    tournament = await running(club, "eleni", "nikos")
    board = await club.until(tournament, has_games(1))
    await club.operate("Pause", tournament)
    await club.play(board.playing()[0], "eleni")
    board = await club.until(tournament, lambda b: b.matches[1, 1].state == pb.MATCH_STATE_OVER)
    assert board.status == pb.TOURNAMENT_STATUS_PAUSED
    assert club.treasurer.standings == {}
    resumed = await club.operate("Resume", tournament)
    assert resumed.status == pb.TOURNAMENT_STATUS_SETTLING
    assert (await club.over(tournament)).places() == {"nikos": 1, "eleni": 2}


async def test_too_few(club: Club) -> None:
    tournament = await club.create(min_entries=3)
    await club.entered(tournament, "eleni", "nikos")
    await club.its_time(tournament)
    board = await club.over(tournament)
    assert board.status == CANCELLED
    assert board.tournament.cancel_reason == "TOO_FEW_ENTRIES"
    assert board.entry_of("eleni").status == pb.ENTRY_STATUS_ENDED
    assert board.entry_of("eleni").end == pb.ENTRY_END_TOURNAMENT_CANCELLED
    assert club.treasurer.held == {}


async def test_it_starts_by_itself(club: Club) -> None:
    """At the time that was published, and not before."""
    soon = datetime.now(UTC) + timedelta(seconds=3)
    tournament = await club.create(starts=soon, min_entries=2)
    due = await club.database.fetchval("SELECT due_at FROM tournaments")
    assert due == soon
    board = await club.over(tournament)
    assert board.tournament.ended_at.ToDatetime(UTC) >= soon
    assert board.tournament.cancel_reason == "TOO_FEW_ENTRIES"
    other = await club.create()
    await club.entered(other, "eleni", "nikos")
    await club.its_time(other)
    board = await club.until(other, has_games(1))
    assert board.tournament.HasField("started_at")
    assert board.tournament.round == 1


@pytest.mark.parametrize("turn", ["open", "running", "paused"])
async def test_cancelling(club: Club, turn: str) -> None:
    tournament = await club.create()
    await club.entered(tournament, *FOUR)
    if turn != "open":
        await club.operate("Start", tournament)
        board = await club.until(tournament, has_games(2))
    if turn == "paused":
        await club.operate("Pause", tournament)
    called_off = await club.operate("Cancel", tournament, reason="no light")
    assert called_off.status == pb.TOURNAMENT_STATUS_CANCELLING
    assert (await club.over(tournament)).status == CANCELLED
    assert club.treasurer.held == {}
    assert club.treasurer.standings == {}
    if turn != "open":  # the games are played on, without effect
        await club.play(board.playing()[0], board.playing()[0].player_ids[0])
    board = await club.over(tournament)
    assert board.tournament.cancel_reason == "no light"
    assert board.places() == {}


async def test_who_is_still_in_another_game_is_waited_for(club: Club) -> None:
    first = await running(club, "eleni", "nikos", name="first")
    board = await club.until(first, has_games(1))
    second = await running(club, "eleni", "maria", name="second")
    waiting = await club.until(second, lambda b: (1, 1) in b.matches)
    assert waiting.matches[1, 1].state == pb.MATCH_STATE_WAITING
    await club.play(board.playing()[0], "nikos")
    await club.until(second, has_games(1))


async def test_but_not_for_ever(club: Club) -> None:
    first = await running(club, "eleni", "nikos", name="first")
    await club.until(first, has_games(1))
    second = await running(club, "eleni", "maria", name="second")
    await club.until(second, lambda b: (1, 1) in b.matches)
    await club.database.execute(
        "UPDATE tournament_matches SET drawn_at = drawn_at - interval '2 minutes'"
        " WHERE tournament_id = $1::text::uuid",
        second.tournament_id,
    )
    await club.until(second, has_games(1))


async def test_a_game_that_never_came_to_be_is_followed_by_another(club: Club) -> None:
    tournament = await club.create()
    await club.entered(tournament, "eleni", "nikos")
    seen: list[int] = []
    await club.database.execute(
        "CREATE FUNCTION late() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        " NEW.join_by := clock_timestamp(); RETURN NEW; END $$"
    )
    await club.database.execute(
        "CREATE TRIGGER late BEFORE UPDATE ON matches FOR EACH ROW"
        " WHEN (NEW.status = 'created') EXECUTE FUNCTION late()"
    )
    await club.operate("Start", tournament)

    def undone(board: Board) -> bool:
        # It is seen to be made, and then to be waited for again.
        seen.append(board.matches[1, 1].state if board.matches else pb.MATCH_STATE_UNSPECIFIED)
        return seen[-1] == pb.MATCH_STATE_WAITING and pb.MATCH_STATE_STARTING in seen

    await club.until(tournament, undone)
    await club.database.execute("DROP TRIGGER late ON matches")
    board = await club.until(tournament, has_games(1))
    assert board.matches[1, 1].voids == 0


async def test_answers_that_are_lost(club: Club) -> None:
    """Whatever is not answered is asked again, and counts once."""
    club.treasurer.deaf = 1
    tournament = await club.create()
    for deaf, away, player in ((1, 0, "eleni"), (0, 2, "nikos")):
        club.treasurer.deaf, club.treasurer.away = deaf, away
        await club.entered(tournament, player)
    club.treasurer.deaf = 1
    left = await club.withdraw(tournament, "nikos")
    await club.until(tournament, lambda b: b.entries[left.entry_id].status == pb.ENTRY_STATUS_ENDED)
    await club.entered(tournament, "maria")
    await club.operate("Start", tournament)
    board = await club.until(tournament, has_games(1))
    club.treasurer.deaf, club.treasurer.away = 1, 1
    await club.play(board.playing()[0], "maria")
    assert (await club.over(tournament)).places() == {"eleni": 1, "maria": 2}
    assert club.treasurer.same_calls()
    assert sorted(club.treasurer.held.values()) == [("eleni",), ("maria",)]


async def test_the_fees_were_given_back_elsewhere(club: Club) -> None:
    tournament = await running(club, "eleni", "nikos")
    board = await club.until(tournament, has_games(1))
    club.treasurer.pools[tournament.tournament_id].state = prizes_pb2.POOL_STATE_VOID
    await club.play(board.playing()[0], "nikos")
    assert (await club.over(tournament)).status == CANCELLED
