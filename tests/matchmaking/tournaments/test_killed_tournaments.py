"""SIGKILL at every step of a tournament, and what holds after the next start: it goes on as if
nothing had been, and everybody has paid and is paid once."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import grpc
import pytest
from kafeneio.matchmaking.v1 import tournaments_pb2 as pb

from tests.harness import OPERATOR, new_id
from tests.matchmaking.house import serving
from tests.matchmaking.test_killed import failpoints
from tests.matchmaking.tournaments.club import (
    OVER,
    PATIENCE,
    Board,
    Club,
    has_entered,
    has_games,
    terms,
)
from tests.matchmaking.tournaments.treasurer import Treasurer, treasurer

PLAYERS: Final = ("eleni", "nikos", "maria")


@dataclass
class Script:
    """Calls that are sent again with the same ids after the house has died."""

    club: Club
    ids: dict[str, str] = field(default_factory=dict)

    async def send(self, call: str, who: str, **asked: Any) -> Any:
        """A call of somebody; the same when it is sent again."""
        request_id = self.ids.setdefault(f"{call} {who} {sorted(asked)}", new_id())
        request = getattr(pb, f"{call}Request")(request_id=request_id, **asked)
        return await self.club.ask(getattr(self.club.stub, call), request, who)

    async def create(self, **changes: Any) -> pb.Tournament:
        """The tournament, open or later."""
        if "terms" not in self.ids:
            self.ids["terms"] = terms(**changes).SerializeToString().hex()
        asked = pb.TournamentTerms.FromString(bytes.fromhex(self.ids["terms"]))
        answer = await self.send("CreateTournament", OPERATOR, terms=asked)
        made: pb.Tournament = answer.tournament
        await self.club.until(made, lambda b: b.status != pb.TOURNAMENT_STATUS_ANNOUNCED)
        return made

    async def register(self, tournament: pb.Tournament, who: str) -> pb.Entry:
        """The entry as it was registered."""
        asked = {"tournament_id": tournament.tournament_id}
        answer = await self.send("RegisterForTournament", who, **asked)
        entry: pb.Entry = answer.entry
        return entry

    async def entered(self, tournament: pb.Tournament, *players: str) -> None:
        """All of them have paid."""
        for player in players:
            entry = await self.register(tournament, player)
            await self.club.until(tournament, lambda b, e=entry: has_entered(e)(b) or is_late(b))  # type: ignore[misc]

    async def start(self, tournament: pb.Tournament) -> None:
        """It starts."""
        await self.send("StartTournament", OPERATOR, tournament_id=tournament.tournament_id)


def is_late(board: Board) -> bool:
    """Whether a tournament is over."""
    return board.status in OVER


Story = Callable[[Script], Awaitable[Board]]


async def through(script: Script) -> Board:
    """Three play to the end."""
    tournament = await script.create()
    await script.entered(tournament, *PLAYERS)
    await script.start(tournament)
    return await script.club.play_on(tournament)


async def by_the_clock(script: Script) -> Board:
    """It starts by itself."""
    tournament = await script.create()
    await script.entered(tournament, *PLAYERS)
    await script.club.its_time(tournament)
    return await script.club.play_on(tournament)


async def leaving(script: Script) -> Board:
    """One can't pay, one leaves, three play."""
    script.club.treasurer.poor.add("petros")
    tournament = await script.create()
    await script.entered(tournament, *PLAYERS)
    for player in ("petros", "spyros"):
        entry = await script.register(tournament, player)
        if player == "spyros":
            asked = {"tournament_id": tournament.tournament_id}
            await script.send("WithdrawFromTournament", player, **asked)
        await script.club.until(
            tournament,
            lambda b, e=entry.entry_id: b.entries[e].status == pb.ENTRY_STATUS_ENDED,  # type: ignore[misc]
        )
    await script.start(tournament)
    return await script.club.play_on(tournament)


async def called_off(script: Script) -> Board:
    """It is cancelled while it is played."""
    tournament = await script.create()
    await script.entered(tournament, *PLAYERS)
    await script.start(tournament)
    await script.club.until(tournament, lambda b: has_games(1)(b) or is_late(b))
    asked = {"tournament_id": tournament.tournament_id, "reason": "no light"}
    await script.send("CancelTournament", OPERATOR, **asked)
    return await script.club.over(tournament)


async def too_few(script: Script) -> Board:
    """Three would have been too few."""
    tournament = await script.create(min_entries=4)
    await script.entered(tournament, *PLAYERS)
    await script.club.its_time(tournament)
    return await script.club.over(tournament)


async def corrected(script: Script) -> Board:
    """It is corrected once it is over."""
    board = await through(script)
    tournament, club = board.tournament, script.club
    places = [pb.EntryPlace(place=1, entry_ids=sorted(board.entries))]
    asked = {"tournament_id": tournament.tournament_id, "reason": "a mistake", "places": places}
    await script.send("CorrectTournament", OPERATOR, **asked)
    (correction,) = club.treasurer.pools[tournament.tournament_id].corrections
    correction.approved_by, correction.settlement_version = "another", 2
    correction.approved_at.GetCurrentTime()
    await club.database.execute("UPDATE tournaments SET due_at = now()")
    async with asyncio.timeout(PATIENCE):
        while True:
            # A tournament that is over is not watched any more, so it is looked at.
            found = await club.get(tournament)
            if found.tournament.corrections[0].approved_by:
                return await club.over(tournament)


SCENES: Final[tuple[tuple[str, Story], ...]] = (
    *((f"open.{when}", through) for when in ("before_call", "before_commit", "after_commit")),
    *((f"hold.{when}", through) for when in ("before_call", "before_commit", "after_commit")),
    *((f"start.{when}", through) for when in ("before_commit", "after_commit")),
    *((f"games.{when}", through) for when in ("before_commit", "after_commit")),
    *((f"pay.{when}", through) for when in ("before_call", "before_commit", "after_commit")),
    *((f"close.{when}", by_the_clock) for when in ("before_commit", "after_commit")),
    *((f"hold_refused.{when}", leaving) for when in ("before_commit", "after_commit")),
    *((f"release.{when}", leaving) for when in ("before_call", "before_commit", "after_commit")),
    *((f"refund.{when}", called_off) for when in ("before_call", "before_commit", "after_commit")),
    *((f"fall_short.{when}", too_few) for when in ("before_commit", "after_commit")),
    *((f"corrected.{when}", corrected) for when in ("before_commit", "after_commit")),
)

PREFIX: Final = "matchmaking.tournament."


def test_every_failpoint_has_a_scene() -> None:
    ours = {name for name in failpoints() if name.startswith(PREFIX)}
    assert ours == {PREFIX + name for name, _ in SCENES}


async def dies(
    story: Story, ids: dict[str, str], keys: Path, url: str, treasury: Treasurer, failpoint: str
) -> None:
    """The story is told to a house that dies at the failpoint."""
    async with serving(keys, url, treasury.address, PREFIX + failpoint, "") as process:
        text = await asyncio.to_thread((keys / "ready.json").read_text)
        async with Club.connected(url, keys, treasury, json.loads(text)) as club:
            telling = asyncio.ensure_future(story(Script(club, ids)))
            async with asyncio.timeout(PATIENCE):
                assert await process.wait() == -signal.SIGKILL
            telling.cancel()
            # It hears of the death, or waits for what never comes.
            with suppress(grpc.aio.AioRpcError, asyncio.CancelledError, AssertionError):
                await telling


@pytest.mark.parametrize(
    ("failpoint", "story"),
    SCENES,
    ids=[f"{name}-{story.__name__}" for name, story in SCENES],
)
async def test_killed_at(failpoint: str, story: Story, keys: Path, database_url: str) -> None:
    ids: dict[str, str] = {}
    async with treasurer() as treasury:
        await dies(story, ids, keys, database_url, treasury, failpoint)
        async with Club.serve(database_url, keys, treasury) as club:
            board = await story(Script(club, ids))
            await judge(club, board, story)


async def judge(club: Club, board: Board, story: Story) -> None:
    """What holds in the end, whatever was."""
    treasury = club.treasurer
    assert treasury.same_calls(), "what was sent more than once was the same call"
    assert await club.database.fetchval("SELECT count(*) FROM tournaments") == 1
    if story in (called_off, too_few):
        assert board.status == pb.TOURNAMENT_STATUS_CANCELLED
        assert treasury.held == {}
        assert treasury.standings == {}
        return
    assert board.status == pb.TOURNAMENT_STATUS_FINISHED
    assert sorted(treasury.held.values()) == sorted((player,) for player in PLAYERS)
    played = {board.who(e.entry_id): e.played_place for e in board.entries.values() if e.seed}
    assert played == {"eleni": 1, "nikos": 2, "maria": 3}
    if story is corrected:
        assert set(board.places().values()) == {1}
    games = [match.game_id for match in board.matches.values() if match.game_id]
    assert len(games) == len(set(games)) == 2
    begun = await club.database.fetchval(
        "SELECT count(*) FROM matches WHERE source = 'tournament' AND status <> 'undone'"
    )
    assert begun == 2
