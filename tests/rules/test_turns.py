"""Turns and events: who is prompted since when, and what is announced of it."""

from __future__ import annotations

from kafeneio.rules.v1 import events_pb2
from kafeneio.rules.v1 import game_pb2 as pb

from tests.harness import SEATS, Rules
from tests.rules.moves import latest, notation
from tests.rules.referee import check_events, check_numbering, told_events
from tests.rules.refusal import refusal


def last_started(events: list[events_pb2.GameEvent]) -> events_pb2.GameEvent:
    """The newest TurnStarted."""
    return [event for event in events if event.HasField("turn_started")][-1]


async def test_get_turn_is_the_turn_that_was_announced(rules: Rules) -> None:
    game = await rules.create()
    waiting = await rules.turn(game.game_id)
    assert waiting == pb.GetTurnResponse(status=pb.GAME_STATUS_WAITING)
    for player in SEATS:
        game = await rules.join(game, player)
    position = game.position
    for number in range(1, 9):
        turn = await rules.turn(game.game_id)
        assert (turn.version, turn.status) == (position.version, pb.GAME_STATUS_RUNNING)
        assert turn.turn == position.turn
        assert turn.turn.turn == number
        announced = last_started(await rules.events(game.game_id))
        assert announced.turn_started == events_pb2.TurnStarted(turn=number, seat=turn.turn.seat)
        assert announced.occurred_at == turn.turn.since, "a period begins with the event"
        assert announced.version == position.version
        position = latest(await rules.play_turn(game.game_id, position))
    await rules.resign(game.game_id, SEATS[0])
    over = await rules.turn(game.game_id)
    assert over == pb.GetTurnResponse(version=position.version + 1, status=pb.GAME_STATUS_FINISHED)


async def test_the_first_events_of_a_game(rules: Rules) -> None:
    game = await rules.start(target=5)
    seat = game.position.turn.seat
    assert told_events(await rules.events(game.game_id)) == [
        (1, "game_started", "portes", list(SEATS), "S4"),
        (1, "turn_started", 1, seat),
    ]
    answer = await rules.play_turn(game.game_id, game.position)
    assert told_events(await rules.events(game.game_id, after=2)) == [
        (2, "turn_ended", 1, seat),
        (3, "turn_started", 2, answer.house.position.turn.seat),
    ]


async def test_a_part_of_a_turn_announces_nothing(rules: Rules) -> None:
    game = await rules.start()
    who = SEATS[game.position.turn.seat]
    first, *_ = await rules.whole_turn(game.game_id, who)
    answer = await rules.act(game.game_id, game.position.version, who, [first])
    assert not answer.HasField("house")
    assert len(await rules.events(game.game_id)) == 2
    assert (await rules.turn(game.game_id)).turn == game.position.turn


async def test_a_turn_does_not_begin_anew_for_a_refused_call(rules: Rules) -> None:
    game = await rules.start()
    who = SEATS[game.position.turn.seat]
    refused = await refusal(rules.act(game.game_id, game.position.version, who, [notation("pass")]))
    assert refused.metadata == {"rule": "V2.3"}
    assert (await rules.turn(game.game_id)).turn == game.position.turn
    assert len(await rules.events(game.game_id)) == 2


async def test_events_in_pages(rules: Rules) -> None:
    game = await rules.start()
    await rules.play_turns(game, 20)
    await rules.resign(game.game_id, SEATS[1])
    events = await rules.events(game.game_id)
    check_events(game, await rules.updates(game.game_id), events)
    assert len(events) == 2 + 2 * 20 + 2
    for size in (1, 7, 500):
        found: list[events_pb2.GameEvent] = []
        while True:
            request = pb.ListEventsRequest(
                game_id=game.game_id,
                after_sequence=found[-1].sequence if found else 0,
                page_size=size,
            )
            page = list((await rules.ask(rules.games.ListEvents, request)).events)
            assert len(page) == min(size, len(events) - len(found))
            if not page:
                break
            found += page
        assert found == events
    for nothing in (len(events), len(events) + 1, 2**63 - 1, 2**63, 2**64 - 1):
        request = pb.ListEventsRequest(game_id=game.game_id, after_sequence=nothing)
        assert list((await rules.ask(rules.games.ListEvents, request)).events) == []


async def test_a_page_of_events_has_a_hundred_unless_said(rules: Rules) -> None:
    game = await rules.start(target=15)
    await rules.play_turns(game, 60)
    first = await rules.ask(rules.games.ListEvents, pb.ListEventsRequest(game_id=game.game_id))
    assert [event.sequence for event in first.events] == list(range(1, 101))


async def test_a_game_that_waits_has_no_events(rules: Rules) -> None:
    game = await rules.create()
    await rules.join(game, SEATS[0])
    assert await rules.events(game.game_id) == []


async def test_turns_are_counted_through_the_match(rules: Rules) -> None:
    game = await rules.start(target=15)
    position = game.position
    for number in range(1, 5):
        position = latest(await rules.play_turn(game.game_id, position))
        position = latest(await rules.resign(game.game_id, SEATS[number % 2], number))
        assert position.turn.turn == 2 * number + 1
    check_numbering(await rules.events(game.game_id))
