"""Calls that exclude each other, at once on two replicas: one comes first, and only one."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import timedelta
from pathlib import Path
from random import Random

from kafeneio.rules.v1 import actions_pb2
from kafeneio.rules.v1 import game_pb2 as pb

from tests.harness import SEATS, Rules, new_id
from tests.rules.moves import latest, some_turn
from tests.rules.referee import check_events, check_rows, texts
from tests.rules.refusal import Refused, outcome_of
from tests.rules.streams import next_message

Pair = tuple[Rules, Rules]


async def check_whole(pair: Pair, game_id: str) -> pb.Game:
    """Both replicas tell the same of a game that is over, and its record is good."""
    first, second = [await rules.get(game_id) for rules in pair]
    assert first == second
    rows = await pair[0].updates(game_id)
    assert await pair[1].updates(game_id) == rows
    check_rows(first, rows)
    check_events(first, rows, await pair[0].events(game_id))
    assert (await pair[1].verify(game_id)).valid
    return first


async def test_two_moves_for_one_version(pair: Pair) -> None:
    """Of two batches for the same version one is played; the other learns the current version."""
    game = await pair[0].start(target=15)
    position, random, winners = game.position, Random(11), Counter[int]()
    for _ in range(40):
        who, version = SEATS[position.turn.seat], position.version
        await asyncio.gather(*(rules.get(game.game_id) for rules in pair))
        answers = await asyncio.gather(
            *(
                outcome_of(rules.act(game.game_id, version, who, some_turn(position, random)))
                for rules in pair
            )
        )
        played = [each for each in answers if isinstance(each, pb.ActResponse)]
        refused = [each for each in answers if isinstance(each, Refused)]
        assert len(played) == len(refused) == 1
        winners[0 if isinstance(answers[0], pb.ActResponse) else 1] += 1
        position = latest(played[0])
        assert refused[0].what == ("ABORTED", "STALE_VERSION")
        assert refused[0].metadata == {"version": str(position.version)}
        assert await pair[1].get(game.game_id) == await pair[0].get(game.game_id)
        if position.status != pb.GAME_STATUS_RUNNING:
            break
    assert sum(winners.values()) == 40
    await pair[0].abort(game.game_id)
    await check_whole(pair, game.game_id)


async def test_many_hands_at_one_board(pair: Pair) -> None:
    """Eight at once, each with a request of his own: one row is written."""
    game = await pair[0].start()
    who, version = SEATS[game.position.turn.seat], game.position.version
    turn = some_turn(game.position, Random(4))
    answers = await asyncio.gather(
        *(outcome_of(pair[n % 2].act(game.game_id, version, who, turn)) for n in range(8))
    )
    assert sum(isinstance(each, pb.ActResponse) for each in answers) == 1
    refused = [each for each in answers if isinstance(each, Refused)]
    assert {each.what for each in refused} == {("ABORTED", "STALE_VERSION")}
    assert len(await pair[0].log_rows(game.game_id)) == 3


async def test_the_two_last_seats(pair: Pair) -> None:
    """Whoever comes second starts the game, once."""
    for number in range(15):
        game = await pair[number % 2].create()
        joined = await asyncio.gather(
            *(rules.join(game, player) for rules, player in zip(pair, SEATS, strict=True))
        )
        stands = sorted(each.position.status for each in joined)
        assert stands == [pb.GAME_STATUS_WAITING, pb.GAME_STATUS_RUNNING]
        rows = await pair[0].log_rows(game.game_id)
        assert [row["version"] for row in rows] == [1]
        events = [e.WhichOneof("event") for e in await pair[1].events(game.game_id)]
        assert events == ["game_started", "turn_started"]
        first, second = [await rules.get(game.game_id) for rules in pair]
        assert first == second
        assert all(seat.joined for seat in first.seats)
        await pair[0].abort(game.game_id)
        await check_whole(pair, game.game_id)


async def test_the_last_seat_and_a_cancellation(pair: Pair) -> None:
    ends = Counter[int]()
    for number in range(20):
        game = await pair[0].create()
        await pair[0].join(game, SEATS[0])
        calls = [
            outcome_of(pair[number % 2].join(game, SEATS[1])),
            outcome_of(pair[1 - number % 2].cancel(game.game_id)),
        ]
        order = calls if number % 3 else calls[::-1]
        answers = await asyncio.gather(*order)
        joined, cancelled = answers if number % 3 else answers[::-1]
        stands = (await pair[0].get(game.game_id)).position.status
        ends[stands] += 1
        if stands == pb.GAME_STATUS_CANCELLED:
            assert cancelled is None
            assert isinstance(joined, Refused)
            assert joined.what == ("FAILED_PRECONDITION", "GAME_CANCELLED")
            assert await pair[1].events(game.game_id) == []
        else:
            assert stands == pb.GAME_STATUS_RUNNING
            assert isinstance(joined, pb.Game)
            assert isinstance(cancelled, Refused)
            assert cancelled.what == ("FAILED_PRECONDITION", "GAME_STARTED")
            await pair[0].abort(game.game_id)
        await check_whole(pair, game.game_id)
    assert sum(ends.values()) == 20


async def test_making_and_cancelling_one_game(pair: Pair) -> None:
    """However they meet, the game never starts."""
    for number in range(20):
        game_id = new_id()
        calls = [
            outcome_of(pair[number % 2].create(game_id=game_id)),
            outcome_of(pair[1 - number % 2].cancel(game_id)),
        ]
        made = (await asyncio.gather(*calls))[0]
        if isinstance(made, Refused):
            assert made.what == ("FAILED_PRECONDITION", "GAME_CANCELLED")
        again = await outcome_of(pair[0].create(game_id=game_id))
        assert isinstance(again, Refused)
        assert again.what == ("FAILED_PRECONDITION", "GAME_CANCELLED")
        rows = await pair[0].database.fetch(
            "SELECT status FROM games WHERE game_id::text = $1", game_id
        )
        assert [row[0] for row in rows] == ["cancelled"]


async def test_the_last_seat_and_an_operator(pair: Pair) -> None:
    """The game ends void either way: before its start, or just after it."""
    versions = Counter[int]()
    for number in range(20):
        game = await pair[0].create()
        await pair[1].join(game, SEATS[0])
        joined, version = await asyncio.gather(
            outcome_of(pair[number % 2].join(game, SEATS[1])),
            pair[1 - number % 2].abort(game.game_id),
        )
        over = await check_whole(pair, game.game_id)
        assert over.position.version == version
        versions[version] += 1
        assert version in (1, 2)
        assert over.position.outcome.void_reason == actions_pb2.VOID_REASON_OPERATOR
        if isinstance(joined, Refused):
            assert joined.what == ("FAILED_PRECONDITION", "GAME_OVER")
            assert version == 1
            assert [seat.joined for seat in over.seats] == [True, False]
    assert sum(versions.values()) == 20


async def test_no_show_and_the_last_seat(database_url: str, keys: Path) -> None:
    """Who comes at the last moment plays or is too late; of two janitors one ends the game."""
    async with (
        Rules.serve(database_url, keys, heartbeat_seconds=0.01) as first,
        Rules.serve(database_url, keys, heartbeat_seconds=0.01) as second,
    ):
        pair, games = (first, second), [await first.create() for _ in range(12)]
        for game in games:
            await second.join(game, SEATS[0])
        games = [await first.join_within(game.game_id, 0.4) for game in games]
        calls = (knock(pair[n % 2], game, n * 0.04 - 0.02) for n, game in enumerate(games))
        answers = await asyncio.gather(*calls)
        for game, answer in zip(games, answers, strict=True):
            if isinstance(answer, pb.Game):
                await first.abort(game.game_id)
            else:
                assert answer.what == ("FAILED_PRECONDITION", "GAME_OVER")
            over = await check_whole(pair, game.game_id)
            rows = await first.updates(game.game_id)
            did = [text for row in rows for _, text in texts(row) if text.startswith("!")]
            if isinstance(answer, Refused):
                assert did == ["!void NO_SHOW"]
                assert over.position.version == 1
                assert [seat.joined for seat in over.seats] == [True, False]
                assert rows[0].at.ToDatetime() >= game.join_by.ToDatetime()
            else:
                assert did == ["!void OPERATOR"]
                assert over.position.version == 2


async def knock(rules: Rules, game: pb.Game, seconds: float) -> pb.Game | Refused:
    """Takes the last seat so long after the time to join is over, or sees the game end."""
    stream = rules.watch(game.game_id)
    coming = game.join_by.ToDatetime() + timedelta(seconds=seconds)
    while (message := await next_message(stream)).HasField("heartbeat"):
        if message.heartbeat.server_time.ToDatetime() >= coming:
            break
    stream.cancel()
    return await outcome_of(rules.join(game, SEATS[1]))


async def test_a_move_and_a_forfeit_of_that_turn(pair: Pair) -> None:
    """X11: of the last move in time and the forfeit of its turn the log takes one."""
    ends = Counter[str]()
    for number in range(20):
        game = await pair[0].start()
        await pair[1].get(game.game_id)
        turn = game.position.turn
        moved, forfeited = await asyncio.gather(
            outcome_of(pair[number % 2].play_turn(game.game_id, game.position)),
            outcome_of(
                pair[1 - number % 2].forfeit(
                    game.game_id, turn.seat, "TIMEOUTS_EXCEEDED", turn.turn
                )
            ),
        )
        if isinstance(forfeited, Refused):
            assert forfeited.what == ("FAILED_PRECONDITION", "TURN_PASSED")
            assert isinstance(moved, pb.ActResponse)
            ends["moved"] += 1
            await pair[0].abort(game.game_id)
        else:
            assert isinstance(moved, Refused)
            assert moved.reason in {"STALE_VERSION", "GAME_OVER"}
            assert forfeited == 2
            ends["forfeited"] += 1
        await check_whole(pair, game.game_id)
    assert sum(ends.values()) == 20


async def test_two_resignations_of_one_round(pair: Pair) -> None:
    """Both give up at once: one does, and the other has meant a round that is over."""
    game = await pair[0].start(target=15)
    for number in range(1, 7):
        answers = await asyncio.gather(
            *(
                outcome_of(rules.resign(game.game_id, player, number))
                for rules, player in zip(pair, SEATS, strict=True)
            )
        )
        refused = [each for each in answers if isinstance(each, Refused)]
        assert [each.what for each in refused] == [("ABORTED", "STALE_VERSION")]
        position = (await pair[number % 2].get(game.game_id)).position
        assert position.round == number + 1
        assert sum(position.score) == 2 * number
    await pair[1].abort(game.game_id)
    await check_whole(pair, game.game_id)


async def test_everything_at_once(pair: Pair) -> None:
    """Moves, resignations, forfeits and an operator, again and again: the log stays one log."""
    random = Random(21)
    for _ in range(6):
        game = await pair[0].start(target=3)
        stopping = asyncio.Event()

        async def player(seat: int, game: pb.Game, stopping: asyncio.Event) -> None:
            """Plays on whichever replica, and gives up now and then."""
            while not stopping.is_set():
                rules = random.choice(pair)
                position = (await rules.get(game.game_id)).position
                if position.status != pb.GAME_STATUS_RUNNING:
                    return
                if random.random() < 0.05:
                    await outcome_of(rules.resign(game.game_id, SEATS[seat], position.round))
                elif position.turn.seat == seat:
                    await outcome_of(rules.play_turn(game.game_id, position))

        async def house(game: pb.Game, stopping: asyncio.Event) -> None:
            """Ends it after a while, one way or the other."""
            for _ in range(25):
                await pair[1].turn(game.game_id)
            leaving = random.random() < 0.5
            call = (
                pair[0].forfeit(game.game_id, 0, "LEFT")
                if leaving
                else (pair[1].abort(game.game_id))
            )
            await outcome_of(call)
            stopping.set()

        async with asyncio.TaskGroup() as group:
            for seat in (0, 1, 0, 1):
                group.create_task(player(seat, game, stopping))
            group.create_task(house(game, stopping))
        over = await check_whole(pair, game.game_id)
        assert over.position.status == pb.GAME_STATUS_FINISHED
