"""Spectators: they see no hand, and everything as late as the setting says."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

from kafeneio.rules.v1 import game_pb2 as pb

from tests.harness import OPERATOR, SEATS, SERVICE, STRANGER, Rules
from tests.rules.refusal import refusal
from tests.rules.streams import ended, next_message, next_update

HOUR = timedelta(hours=1).total_seconds()
SHORT = 0.4


async def aged(rules: Rules, game: pb.Game, version: int) -> None:
    """Two hours have passed since the rows up to a version."""
    await rules.database.execute(
        "UPDATE log SET at = at - interval '2 hours' WHERE game_id = $1 AND version <= $2",
        UUID(game.game_id),
        version,
    )


async def so_far(rules: Rules, game: pb.Game) -> list[pb.GameUpdate]:
    """The rows that have been played."""
    version = (await rules.get(game.game_id)).position.version
    stream = rules.watch(game.game_id)
    rows = [await next_update(stream) for _ in range(version)]
    stream.cancel()
    return rows


async def test_without_a_delay_everybody_sees_a_game_at_once(rules: Rules) -> None:
    game = await rules.start()
    position = await rules.play_turns(game, 3)
    for who in (*SEATS, STRANGER, OPERATOR, SERVICE):
        assert (await rules.get(game.game_id, who)).position == position
    assert (await next_update(rules.watch(game.game_id, STRANGER))).position.version == 1


async def test_who_has_no_seat_sees_nothing_before_its_time(database_url: str, keys: Path) -> None:
    async with Rules.serve(
        database_url, keys, spectator_delay_seconds=HOUR, heartbeat_seconds=0.05
    ) as rules:
        game = await rules.start()
        position = await rules.play_turns(game, 3)
        for who in (*SEATS, OPERATOR, SERVICE):
            assert (await rules.get(game.game_id, who)).position == position
        seen = (await rules.get(game.game_id, STRANGER)).position
        assert (seen.version, seen.status) == (0, pb.GAME_STATUS_WAITING)
        stream = rules.watch(game.game_id, STRANGER)
        assert (await next_message(stream)).HasField("heartbeat")
        stream.cancel()
        too_early = await refusal(rules.watch(game.game_id, STRANGER, after=1).read())
        assert too_early.what == ("OUT_OF_RANGE", "NOT_YET")
        assert too_early.metadata["version"] == "0"
        legal = await refusal(rules.legal(game.game_id, STRANGER))
        assert legal.what == ("FAILED_PRECONDITION", "GAME_NOT_STARTED")


async def test_the_record_is_open_to_who_has_seen_the_end(database_url: str, keys: Path) -> None:
    async with Rules.serve(database_url, keys, spectator_delay_seconds=HOUR) as rules:
        game = await rules.start()
        last = await rules.abort(game.game_id)
        record = await rules.record(game.game_id, SEATS[0])
        assert len(record.rows) == last
        not_over = ("FAILED_PRECONDITION", "GAME_NOT_OVER")
        assert (await refusal(rules.record(game.game_id, STRANGER))).what == not_over
        assert (await refusal(rules.verify(game.game_id))).what == not_over
        assert (await rules.verify(record)).valid, "a record that somebody has is no secret"
    await later(database_url, keys, game, last)


async def later(database_url: str, keys: Path, game: pb.Game, last: int) -> None:
    """The same for a replica that begins when the time has come."""
    async with Rules.serve(database_url, keys, spectator_delay_seconds=HOUR) as rules:
        await aged(rules, game, last)
        assert len((await rules.record(game.game_id, STRANGER)).rows) == last
        assert (await rules.verify(game.game_id)).valid


async def test_a_spectator_sees_what_was_so_long_ago(database_url: str, keys: Path) -> None:
    async with Rules.serve(database_url, keys) as rules:
        game = await rules.start(target=3)
        await rules.play_turns(game, 40)
        rows = await so_far(rules, game)
    seen_until = 5
    async with Rules.serve(database_url, keys, spectator_delay_seconds=HOUR) as rules:
        await aged(rules, game, seen_until)
        shown = await rules.get(game.game_id, STRANGER)
        assert shown.position.version == seen_until
        assert shown.position.view == rows[seen_until - 1].position.view
        legal = await rules.legal(game.game_id, STRANGER)
        assert (legal.version, legal.seat) == (seen_until, shown.position.turn.seat)
        stream = rules.watch(game.game_id, STRANGER)
        for row in rows[:seen_until]:
            assert (await next_update(stream)).position.view == row.position.view
        stream.cancel()
        assert (await rules.get(game.game_id, SEATS[0])).position.version == len(rows)


async def test_every_row_comes_when_it_is_due_and_the_stream_ends(
    database_url: str, keys: Path
) -> None:
    async with Rules.serve(
        database_url, keys, spectator_delay_seconds=SHORT, heartbeat_seconds=10
    ) as rules:
        game = await rules.start()
        stream = rules.watch(game.game_id, STRANGER)
        await rules.play_turns(game, 2)
        last = await rules.abort(game.game_id)
        for version in range(1, last + 1):
            update = await next_update(stream)
            assert update.position.version == version
            late = datetime.now(UTC) - update.at.ToDatetime(UTC)
            assert late >= timedelta(seconds=SHORT)
        assert await ended(stream)
        assert (await rules.record(game.game_id, STRANGER)).rows


async def test_who_is_out_of_the_game_has_sat_there_and_sees_it_at_once(
    database_url: str, keys: Path
) -> None:
    async with Rules.serve(database_url, keys, spectator_delay_seconds=HOUR) as rules:
        players = ("eleni", "nikos", "maria", "petros")
        game = await rules.start(variant="pilotta", players=players)
        version = await rules.forfeit(game.game_id, 1, "LEFT")
        out = (await rules.get(game.game_id, "nikos")).position
        assert out.version >= version
        assert not out.view.tricks.hand
        assert (await rules.get(game.game_id, STRANGER)).position.version == 0
