"""Whole games over sockets: rows, versions, rounds, turns of one checker, batches."""

from __future__ import annotations

import asyncio
import itertools
from random import Random

import pytest
from kafeneio.rules.v1 import actions_pb2
from kafeneio.rules.v1 import game_pb2 as pb

from tests.harness import OPERATOR, SEATS, SERVICE, STRANGER, Rules
from tests.rules.moves import latest, notation, some_turn
from tests.rules.referee import CHANCE, check_events, check_rows, texts
from tests.rules.refusal import refusal

START = [0] * 6 + [5, 0, 3] + [0] * 4 + [5] + [0] * 10 + [2, 0]
"""V3.1: two on 24, five on 13, three on 8, five on 6."""


async def test_a_single_game(rules: Rules) -> None:
    game = await rules.start()
    random = Random(7)
    position = game.position
    watched = asyncio.create_task(rules.updates(game.game_id, SEATS[0]))
    while position.status == pb.GAME_STATUS_RUNNING:
        who = SEATS[position.turn.seat]
        turn = await rules.whole_turn(game.game_id, who, random.choice)
        position = latest(await rules.act(game.game_id, position.version, who, turn))
    updates = await watched
    check_rows(game, updates)
    check_events(game, updates, await rules.events(game.game_id))

    assert position == updates[-1].position
    winner = int(position.view.tavli.sides[0].points[0] < 15)
    loser = position.view.tavli.sides[1 - winner]
    assert position.view.tavli.sides[winner].points[0] == 15
    points = 1 if loser.points[0] else 2  # V2.7
    decided = position.outcome.decided
    assert list(decided.winners) == [winner]
    assert decided.score[winner] == points
    assert decided.score[1 - winner] == 0
    assert decided.ending == {1: "single", 2: "double"}[points]
    finished = (await rules.events(game.game_id))[-1].game_finished
    assert finished.decided == decided
    assert list(finished.forfeits) == []
    assert (await rules.verify(game.game_id)).valid


async def test_a_match_to_three(rules: Rules) -> None:
    game = await rules.start(target=3)
    end = await rules.play_to_end(game)
    updates = await rules.updates(game.game_id)
    check_rows(game, updates)
    check_events(game, updates, await rules.events(game.game_id))

    assert max(end.score) in {3, 4}, "the last game may overshoot"
    assert end.score[end.outcome.decided.winners[0]] == max(end.score)
    assert (
        sum(
            each.WhichOneof("event") == "game_finished" for each in await rules.events(game.game_id)
        )
        == 1
    )
    for before, row in itertools.pairwise(updates):
        if row.position.score == before.position.score:
            continue
        scored = [b - a for a, b in zip(before.position.score, row.position.score, strict=True)]
        assert sorted(scored) in ([0, 1], [0, 2])
        if row.position.status == pb.GAME_STATUS_RUNNING:
            assert row.position.round == before.position.round + 1
            # V2.5: the winner starts; no opening throw, and both boards are set up again.
            assert row.position.view.tavli.mover == scored.index(max(scored))
            assert all(list(side.points) == START for side in row.position.view.tavli.sides)
    openings = [
        row.position.version for row in updates if any("opening" in text for _, text in texts(row))
    ]
    assert openings == [1]


async def test_the_opening(rules: Rules) -> None:
    ties = 0
    for _ in range(20):
        game = await rules.start()
        (first,) = (await _rows(rules, game))[:1]
        throws = [text.removeprefix("opening ") for _, text in texts(first) if " " in text]
        *tied, decided = throws
        assert all(throw[0] == throw[1] for throw in tied)
        assert decided[0] != decided[1]
        opener = 0 if decided[0] > decided[1] else 1
        ties += len(tied)
        rolls = texts(first)[len(throws) :]
        # V2.4: the higher die starts and throws both dice afresh; nobody is stuck at the start.
        assert len(rolls) == 1
        assert rolls[0][0] == CHANCE
        assert game.position.view.tavli.mover == opener
        assert game.position.turn.seat == opener
        assert game.position.turn.turn == 1
        assert sorted(game.position.view.tavli.rolled) == sorted(map(int, rolls[0][1]))
        assert all(list(side.points) == START for side in game.position.view.tavli.sides)
    assert ties > 0, "these dice have a tie among them"


async def _rows(rules: Rules, game: pb.Game) -> list[pb.GameUpdate]:
    """The rows of a game up to now."""
    version = (await rules.get(game.game_id)).position.version
    found: list[pb.GameUpdate] = []
    stream = rules.watch(game.game_id)
    async for message in stream:
        found.append(message.update)
        if message.update.position.version == version:
            break
    stream.cancel()
    return found


async def test_one_act_is_one_row_and_the_house_one_more(rules: Rules) -> None:
    game = await rules.start()
    position, counted = game.position, 1
    for _ in range(12):
        answer = await rules.play_turn(game.game_id, position)
        counted += 2
        position = answer.house.position
        assert position.version == counted
        stored = await rules.log_rows(game.game_id)
        assert [row["version"] for row in stored] == list(range(1, counted + 1))
        assert stored[-2]["request_id"] is not None
        assert stored[-1]["request_id"] is None
        assert answer.house == (await _rows(rules, game))[-1]
        assert answer.played.entries == (await _rows(rules, game))[-2].entries
        assert (await rules.get(game.game_id)).position == position


async def test_one_checker_at_a_time(rules: Rules) -> None:
    """A turn in several calls is one turn: one row each, and the house comes after the last."""
    game = await rules.start()
    position = game.position
    for _ in range(6):
        seat, number, since = position.turn.seat, position.turn.turn, position.turn.since
        turn = await rules.whole_turn(game.game_id, SEATS[seat])
        dice = list(position.view.tavli.dice)
        for index, step in enumerate(turn):
            answer = await rules.act(game.game_id, position.version, SEATS[seat], [step])
            assert texts(answer.played) == [(seat, step.notation)]
            if index < len(turn) - 1:
                assert not answer.HasField("house")
                assert answer.played.position.version == position.version + 1
                position = answer.played.position
                assert (position.turn.turn, position.turn.seat) == (number, seat)
                assert position.turn.since == since
                dice.remove(step.move_checker.die)
                assert list(position.view.tavli.dice) == dice
            else:
                assert answer.house.position.version == position.version + 2
                position = answer.house.position
                assert position.turn.turn == number + 1
    updates = await _rows(rules, game)
    check_rows(game, updates)
    check_events(game, updates, await rules.events(game.game_id))
    started = [e for e in await rules.events(game.game_id) if e.HasField("turn_started")]
    assert len(started) == 7


@pytest.mark.parametrize("place", [0, 1])
async def test_a_batch_is_all_or_nothing(rules: Rules, place: int) -> None:
    game = await rules.start()
    who = SEATS[game.position.turn.seat]
    turn = await rules.whole_turn(game.game_id, who)
    batch = [*turn]
    batch[place] = notation("bar/24")
    before = await rules.snapshot()
    refused = await refusal(rules.act(game.game_id, game.position.version, who, batch))
    assert refused.reason == "ILLEGAL_ACTION"
    assert await rules.snapshot() == before
    assert (await rules.get(game.game_id)).position == game.position
    answer = await rules.act(game.game_id, game.position.version, who, turn)
    assert answer.house.position.version == 3
    # What was drawn for a call that was refused is drawn again, so the dice are still provable.
    await rules.resign(game.game_id, who)
    assert (await rules.verify(game.game_id)).valid


async def test_nothing_may_follow_the_last_checker(rules: Rules) -> None:
    """The game is not over for a batch that is not played."""
    game = await rules.start()
    random, position = Random(3), game.position
    while True:
        turn = some_turn(position, random)
        who = SEATS[position.turn.seat]
        if position.view.tavli.sides[position.turn.seat].points[0] + len(turn) >= 15:
            before = await rules.snapshot()
            refused = await refusal(
                rules.act(game.game_id, position.version, who, [*turn, turn[-1]])
            )
            assert refused.code == "FAILED_PRECONDITION"
            assert refused.reason in {"ILLEGAL_ACTION", "NOT_YOUR_TURN"}
            assert await rules.snapshot() == before
        answer = await rules.act(game.game_id, position.version, who, turn)
        position = latest(answer)
        if position.status == pb.GAME_STATUS_FINISHED:
            break
    assert not answer.HasField("house")
    assert position.outcome.decided.winners[0] == SEATS.index(who)


async def test_either_form_of_an_action_or_both(rules: Rules) -> None:
    game = await rules.start()
    position = game.position
    for form in ("message", "notation", "both"):
        who = SEATS[position.turn.seat]
        turn = await rules.whole_turn(game.game_id, who)
        for step in turn:
            assert step.notation
            assert step.WhichOneof("action") == "move_checker"
        if form == "message":
            sent = [actions_pb2.Action(move_checker=step.move_checker) for step in turn]
        elif form == "notation":
            sent = [actions_pb2.Action(notation=step.notation) for step in turn]
        else:
            sent = turn
        answer = await rules.act(game.game_id, position.version, who, sent)
        assert [entry.action for entry in answer.played.entries] == turn
        position = latest(answer)


async def test_a_seat_that_cannot_move_is_not_asked(rules: Rules) -> None:
    """VA17: the house passes for it, in the row of its throws, and its time does not run."""
    passes = 0
    for number in range(6):
        game = await rules.start()
        await rules.play_to_end(game, seed=number)
        updates = await rules.updates(game.game_id)
        check_rows(game, updates)
        check_events(game, updates, await rules.events(game.game_id))
        for update in updates:
            did = texts(update)
            for index, (seat, text) in enumerate(did):
                if text == "pass":
                    passes += 1
                    assert did[index - 1][0] == CHANCE, "after its throw"
                    assert did[index + 1][0] == CHANCE, "and the other throws"
                    assert seat in (0, 1)
    assert passes > 3, "these games have passes among them"


async def test_everybody_sees_the_whole_table(rules: Rules) -> None:
    game = await rules.start()
    for who in (*SEATS, STRANGER, OPERATOR, SERVICE):
        assert await rules.get(game.game_id, who) == game
