"""Tournaments from their publication to the prizes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest
from kafeneio.matchmaking.v1 import tournaments_pb2 as pb
from kafeneio.rules.v1 import game_pb2
from kafeneio.settlement.v1 import prizes_pb2

from tests.harness import PATIENCE
from tests.matchmaking.tournaments.club import Board, Club, has_entered, has_games, is_status, sides

FOUR: Final = ("eleni", "nikos", "maria", "kostas")
FINISHED, CANCELLED = pb.TOURNAMENT_STATUS_FINISHED, pb.TOURNAMENT_STATUS_CANCELLED


async def running(club: Club, *players: str, **changes: Any) -> pb.Tournament:
    """A tournament that has started, its seeds in the order of the players."""
    tournament = await club.create(**changes)
    await club.entered(tournament, *players)
    await club.operate("Start", tournament)
    return tournament


def paid(club: Club, tournament: pb.Tournament, board: Board) -> list[list[str]]:
    """Who shares which place, as the treasurer was told."""
    told = club.treasurer.standings[tournament.tournament_id]
    return [[board.who(entry) for entry in shared] for shared in told]


async def test_four_players(club: Club) -> None:
    tournament = await running(club, *FOUR)
    board = await club.until(tournament, has_games(2))
    # Nobody has a rating: seeds go by registration.
    assert [board.entry_of(who).seed for who in FOUR] == [1, 2, 3, 4]
    one, two = sorted(board.playing, key=lambda match: match.number)
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
    (match,) = board.playing
    seated = [("eleni", "maria", "nikos", "kostas"), ("maria", "eleni", "kostas", "nikos")]
    assert tuple(match.player_ids) in seated
    # One of a side is missing: the side was not there.
    await club.miss(match, [player for player in match.player_ids if player != "kostas"])
    board = await club.over(tournament)
    assert board.places() == {"eleni+nikos": 1, "maria+kostas": 2}
    assert sorted(club.treasurer.held.values()) == [("eleni", "nikos"), ("maria", "kostas")]


async def test_who_does_not_come(club: Club) -> None:
    tournament = await running(club, *FOUR)
    board = await club.until(tournament, has_games(2))
    one, two = sorted(board.playing, key=lambda match: match.number)
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
        (match,) = board.playing
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
    return lambda board: any(match.voids == voids for match in board.playing)


async def test_pause_and_resume(club: Club) -> None:
    tournament = await running(club, *FOUR)
    board = await club.until(tournament, has_games(2))
    paused = await club.operate("Pause", tournament)
    assert paused.status == pb.TOURNAMENT_STATUS_PAUSED
    for match in board.playing:
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
    await club.play(board.playing[0], "eleni")
    board = await club.until(tournament, lambda b: b.matches[1, 1].state == pb.MATCH_STATE_OVER)
    assert board.status == pb.TOURNAMENT_STATUS_PAUSED
    assert club.treasurer.standings == {}
    resumed = await club.operate("Resume", tournament)
    assert resumed.status == pb.TOURNAMENT_STATUS_SETTLING
    assert (await club.over(tournament)).places() == {"nikos": 1, "eleni": 2}


async def test_too_few(club: Club) -> None:
    soon = datetime.now(UTC) + timedelta(seconds=1)
    tournament = await club.create(min_entries=3, starts=soon)
    await club.entered(tournament, "eleni", "nikos")
    board = await club.over(tournament)
    assert board.status == CANCELLED
    assert board.tournament.cancel_reason == "TOO_FEW_ENTRIES"
    assert board.entry_of("eleni").status == pb.ENTRY_STATUS_ENDED
    assert board.entry_of("eleni").end == pb.ENTRY_END_TOURNAMENT_CANCELLED
    assert club.treasurer.held == {}


async def test_it_starts_by_itself(club: Club) -> None:
    soon = datetime.now(UTC) + timedelta(seconds=1)
    tournament = await club.create(starts=soon)
    await club.entered(tournament, "eleni", "nikos")
    board = await club.until(tournament, has_games(1))
    assert board.tournament.started_at.ToDatetime(UTC) >= soon
    assert board.tournament.round == 1


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
    for match in board.playing:  # his game runs on, and he even wins it
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
    running_game = next(m for m in board.playing if "eleni" in m.player_ids)
    await club.plays(running_game.game_id)
    out = await club.disqualify(tournament, board.entry_of("eleni"), "a helping hand")
    assert out.status == pb.ENTRY_STATUS_DISQUALIFIED
    board = await club.until(tournament, lambda b: b.matches[1, 1].state == pb.MATCH_STATE_OVER)
    assert board.who(board.matches[1, 1].winner_entry_id) == "kostas"
    await club.rules.resign(running_game.game_id, "kostas")  # without effect
    board = await club.play_on(tournament)
    assert board.places() == {"nikos": 1, "kostas": 2, "maria": 3, "eleni": 4}


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
        await club.play(board.playing[0], board.playing[0].player_ids[0])
    board = await club.over(tournament)
    assert board.tournament.cancel_reason == "no light"
    assert board.places() == {}


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


async def test_who_is_still_in_another_game_is_waited_for(club: Club) -> None:
    first = await running(club, "eleni", "nikos", name="first")
    board = await club.until(first, has_games(1))
    second = await running(club, "eleni", "maria", name="second")
    waiting = await club.until(second, lambda b: (1, 1) in b.matches)
    assert waiting.matches[1, 1].state == pb.MATCH_STATE_WAITING
    await club.play(board.playing[0], "nikos")
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
    await club.play(board.playing[0], "maria")
    assert (await club.over(tournament)).places() == {"eleni": 1, "maria": 2}
    assert club.treasurer.same_calls()
    assert sorted(club.treasurer.held.values()) == [("eleni",), ("maria",)]


async def test_the_fees_were_given_back_elsewhere(club: Club) -> None:
    tournament = await running(club, "eleni", "nikos")
    board = await club.until(tournament, has_games(1))
    club.treasurer.pools[tournament.tournament_id].state = prizes_pb2.POOL_STATE_VOID
    await club.play(board.playing[0], "nikos")
    assert (await club.over(tournament)).status == CANCELLED


async def test_a_watcher_sees_every_match(club: Club) -> None:
    """Whoever comes late sees the same; whoever comes back only what is new."""
    tournament = await running(club, *FOUR)
    early = await club.play_on(tournament)
    late = await club.over(tournament)
    assert late.matches == early.matches
    assert late.entries == early.entries
    version = late.tournament.version
    stream = club.watch(tournament, after=version)
    assert [message async for message in stream] == []
    (message,) = [m async for m in club.watch(tournament, after=version - 1)]
    assert message.change.tournament == late.tournament
    assert list(message.change.matches) == []


async def test_standings_and_bracket_are_paged(club: Club) -> None:
    tournament = await running(club, *FOUR, format=pb.TOURNAMENT_FORMAT_ROUND_ROBIN)
    last = await club.play_on(tournament)
    seen: list[pb.TournamentMatch] = []
    token = ""
    while True:
        request = pb.GetBracketRequest(
            tournament_id=tournament.tournament_id, page_size=4, page_token=token
        )
        page = await club.ask(club.stub.GetBracket, request, "spyros")
        seen += page.matches
        token = page.next_page_token
        if not token:
            break
    assert seen == [last.matches[key] for key in sorted(last.matches)]
    assert all(all(sides(match)) for match in seen)
    request = pb.GetBracketRequest(tournament_id=tournament.tournament_id, round=2)
    page = await club.ask(club.stub.GetBracket, request, "spyros")
    assert [(match.round, match.number) for match in page.matches] == [(2, 1), (2, 2)]
    asked = pb.ListStandingsRequest(tournament_id=tournament.tournament_id, page_size=3)
    first = await club.ask(club.stub.ListStandings, asked, "spyros")
    asked.page_token = first.next_page_token
    second = await club.ask(club.stub.ListStandings, asked, "spyros")
    shown = [*first.standings, *second.standings]
    assert [(s.place, s.entry.player_ids[0], s.won, s.lost) for s in shown] == [
        (1, "eleni", 3, 0),
        (2, "nikos", 2, 1),
        (3, "maria", 1, 2),
        (4, "kostas", 0, 3),
    ]
    assert list(shown[0].merits) == [1, 3, 0, 3]
    assert first.final
    assert second.next_page_token == ""


async def test_lists(club: Club) -> None:
    one = await club.create(name="one", fee=0)
    two = await club.create(name="two", format=pb.TOURNAMENT_FORMAT_SWISS)
    await club.entered(one, "eleni", "nikos")

    async def names(**wanted: object) -> list[str]:
        request = pb.ListTournamentsRequest(**wanted)  # type: ignore[arg-type]
        page = await club.ask(club.stub.ListTournaments, request, "spyros")
        return [each.terms.name for each in page.tournaments]

    assert await names() == ["two", "one"]
    assert await names(player_id="eleni") == ["one"]
    assert await names(format=pb.TOURNAMENT_FORMAT_SWISS) == ["two"]
    assert await names(variant="fevga") == []
    await club.operate("Cancel", two, reason="no light")
    await club.over(two)
    assert await names(status=pb.TOURNAMENT_STATUS_OPEN) == ["one"]
    page = await club.ask(club.stub.ListTournaments, pb.ListTournamentsRequest(page_size=1))
    assert [each.terms.name for each in page.tournaments] == ["two"]
    assert await names(page_size=1, page_token=page.next_page_token) == ["one"]
    request = pb.ListEntriesRequest(tournament_id=one.tournament_id, page_size=1)
    entries = await club.ask(club.stub.ListEntries, request, "spyros")
    assert [list(entry.player_ids) for entry in entries.entries] == [["eleni"]]
    request.page_token = entries.next_page_token
    entries = await club.ask(club.stub.ListEntries, request, "spyros")
    assert [list(entry.player_ids) for entry in entries.entries] == [["nikos"]]
    assert entries.next_page_token == ""
    own = await club.get(one, "nikos")
    assert list(own.own_entry.player_ids) == ["nikos"]
    assert not (await club.get(one, "spyros")).HasField("own_entry")
