"""Two replicas on one database: any of them may serve any call of any game."""

from __future__ import annotations

import asyncio
from random import Random

from kafeneio.rules.v1 import game_pb2 as pb

from tests.harness import SEATS, Rules, new_id
from tests.rules.moves import latest, notation, some_turn
from tests.rules.referee import check_events, check_rows
from tests.rules.refusal import refusal
from tests.rules.streams import next_update

Pair = tuple[Rules, Rules]


async def test_a_game_played_on_both_in_turn(pair: Pair) -> None:
    game = await pair[0].create(target=2)
    for number, player in enumerate(SEATS):
        game = await pair[1 - number].join(game, player)
    watching = [asyncio.create_task(rules.updates(game.game_id)) for rules in pair]
    random, position, calls = Random(5), game.position, 0
    while position.status == pb.GAME_STATUS_RUNNING:
        rules, other = pair[calls % 2], pair[1 - calls % 2]
        calls += 1
        position = latest(await rules.play_turn(game.game_id, position, random))
        assert (await other.turn(game.game_id)).version == position.version
        assert (await other.get(game.game_id)).position == position
    rows = [await watched for watched in watching]
    assert rows[0] == rows[1]
    check_rows(game, rows[0])
    for rules in pair:
        assert await rules.updates(game.game_id) == rows[0]
        check_events(game, rows[0], await rules.events(game.game_id))
        assert (await rules.verify(game.game_id)).valid
    assert await pair[0].record(game.game_id) == await pair[1].record(game.game_id)
    assert calls > 20


async def test_every_look_at_the_other_replica_is_current(pair: Pair) -> None:
    first, second = pair
    game = await first.create()
    assert (await second.get(game.game_id)) == game
    joined = await first.join(game, SEATS[0])
    assert (await second.get(game.game_id)) == joined
    position = (await second.join(game, SEATS[1])).position
    for _ in range(8):
        who = SEATS[position.turn.seat]
        assert (await second.legal(game.game_id, who)) == (await first.legal(game.game_id, who))
        answer = await first.play_turn(game.game_id, position)
        position = latest(answer)
        turn = await second.turn(game.game_id)
        assert (turn.version, turn.turn) == (position.version, position.turn)
        assert (await second.get(game.game_id)).position == position
        assert (await second.events(game.game_id))[-1].version == position.version
        assert (await second.legal(game.game_id, SEATS[position.turn.seat])).version == (
            position.version
        )


async def test_who_watches_on_one_sees_what_is_played_on_the_other(pair: Pair) -> None:
    first, second = pair
    game = await first.create()
    stream = second.watch(game.game_id, SEATS[1])
    for player in SEATS:
        game = await first.join(game, player)
    assert (await next_update(stream)).position == game.position
    position = game.position
    for _ in range(5):
        answer = await first.play_turn(game.game_id, position)
        position = answer.house.position
        assert (await next_update(stream)).entries == answer.played.entries
        assert await next_update(stream) == answer.house
    await first.resign(game.game_id, SEATS[0])
    assert (await next_update(stream)).position.status == pb.GAME_STATUS_FINISHED


async def test_a_replica_that_is_behind_looks_again(pair: Pair) -> None:
    """With the version that is right now it carries a call out, with an old one it says so."""
    first, second = pair
    game = await first.start()
    old = (await second.get(game.game_id)).position
    position = old
    for _ in range(4):
        position = latest(await first.play_turn(game.game_id, position))
    who = SEATS[position.turn.seat]
    refused = await refusal(
        second.act(game.game_id, old.version, SEATS[old.turn.seat], some_turn(old, Random(1)))
    )
    assert refused.what == ("ABORTED", "STALE_VERSION")
    assert refused.metadata == {"version": str(position.version)}
    turn = some_turn(position, Random(1))
    answer = await second.act(game.game_id, position.version, who, turn)
    assert answer.house.position.version == position.version + 2


async def test_a_replica_that_is_behind_tells_nobody_to_wait(pair: Pair) -> None:
    """Who has missed a move is told the current version, whatever the replica knew till then."""
    first, second = pair
    game = await first.start()
    waiting = SEATS[1 - game.position.turn.seat]
    assert (await second.get(game.game_id)) == game
    position = latest(await first.play_turn(game.game_id, game.position))
    refused = await refusal(
        second.act(game.game_id, game.position.version, waiting, some_turn(position, Random(1)))
    )
    assert refused.what == ("ABORTED", "STALE_VERSION")
    assert refused.metadata == {"version": str(position.version)}

    other = await first.create()
    assert (await second.get(other.game_id)) == other
    for player in SEATS:
        other = await first.join(other, player)
    refused = await refusal(second.act(other.game_id, 0, waiting, [notation("13/7")]))
    assert refused.what == ("ABORTED", "STALE_VERSION")
    assert refused.metadata == {"version": "1"}


async def test_a_repeated_call_is_answered_by_the_other_replica(pair: Pair) -> None:
    first, second = pair
    game = await first.start()
    await second.get(game.game_id)
    who, request_id = SEATS[game.position.turn.seat], new_id()
    turn = some_turn(game.position, Random(1))
    once = await first.act(game.game_id, game.position.version, who, turn, request_id)
    before = await first.snapshot()
    again = await second.act(game.game_id, game.position.version, who, turn, request_id)
    assert again == once
    other = await refusal(second.act(game.game_id, 0, who, turn, request_id))
    assert other.what == ("ALREADY_EXISTS", "REQUEST_ID_REUSED")
    assert await second.snapshot() == before


async def test_a_turn_begun_on_one_and_ended_on_the_other(pair: Pair) -> None:
    game = await pair[0].start()
    position, number = game.position, game.position.turn
    turn = some_turn(position, Random(2))
    for index, step in enumerate(turn):
        rules = pair[index % 2]
        who = SEATS[number.seat]
        answer = await rules.act(game.game_id, position.version, who, [step])
        position = latest(answer)
    assert position.turn.turn == 2
    assert position.version == len(turn) + 2
    for rules in pair:
        turn_now = await rules.turn(game.game_id)
        assert turn_now.turn == position.turn
        check_events(game, await _rows(rules, game, position), await rules.events(game.game_id))


async def _rows(rules: Rules, game: pb.Game, position: pb.Position) -> list[pb.GameUpdate]:
    """The rows of a game up to a position."""
    stream, found = rules.watch(game.game_id), list[pb.GameUpdate]()
    while not found or found[-1].position != position:
        found.append(await next_update(stream))
    stream.cancel()
    return found


async def test_one_goes_and_the_other_goes_on(pair: Pair) -> None:
    first, second = pair
    game = await first.start()
    position = latest(await first.play_turn(game.game_id, game.position))
    stream = second.watch(game.game_id, after=position.version)
    await first.drain()
    answer = await second.play_turn(game.game_id, position)
    assert (await next_update(stream)).entries == answer.played.entries
    await second.resign(game.game_id, SEATS[0])
    assert (await second.verify(game.game_id)).valid
    rows = await second.updates(game.game_id)
    check_events(game, rows, await second.events(game.game_id))
