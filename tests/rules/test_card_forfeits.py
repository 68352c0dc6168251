"""F1, F5: who leaves a game of cards is played on for by a computer, and sees no cards any more."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest
from kafeneio.rules.v1 import actions_pb2
from kafeneio.rules.v1 import game_pb2 as pb

from tests.harness import OPERATOR, SERVICE, STRANGER, Rules, new_id
from tests.rules.card_games import FOUR, CardTable, Deed, Packs, Script, played, some_chance
from tests.rules.computers import (
    next_turn,
    play_person,
    some_turn_of,
    watch_turns,
    whole_turn,
    working,
)
from tests.rules.moves import latest, notation
from tests.rules.referee import texts
from tests.rules.refusal import Refused, outcome_of, refusal

LEFT = actions_pb2.FORFEIT_REASON_LEFT
NOT_YOURS = ("PERMISSION_DENIED", "NOT_YOUR_SEAT")


async def played_on(rules: Rules, game_id: str, gone: Sequence[int], turns: int) -> pb.Position:
    """Some turns: of those who have left, as their computers."""
    position = (await rules.get(game_id)).position
    for _ in range(turns):
        seat = position.turn.seat
        if seat in gone:
            turn = await whole_turn(rules, game_id, seat)
            answer = await rules.act(game_id, position.version, SERVICE, turn, as_seat=seat)
        else:
            turn = await some_turn_of(rules, game_id, FOUR[seat])
            answer = await rules.act(game_id, position.version, FOUR[seat], turn)
        assert {each for each, _ in texts(answer.played)} == {seat}
        position = latest(answer)
        if position.status != pb.GAME_STATUS_RUNNING:
            break
    return position


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (2, 0, 3, 1), (3, 2, 1, 0), (1, 3, 0, 2)])
async def test_f1_computers_play_on_until_all_are_gone(
    rules: Rules, order: tuple[int, ...]
) -> None:
    game_id = (await rules.start(variant="pilotta", players=FOUR)).game_id
    for number, seat in enumerate(order[:3], 1):
        before = await played_on(rules, game_id, order[: number - 1], 7)
        announced = len(await rules.events(game_id))
        assert await rules.forfeit(game_id, seat, "LEFT") == before.version + 1
        after = await rules.get(game_id)
        assert after.position.status == pb.GAME_STATUS_RUNNING
        assert [each.computer for each in after.seats] == [
            each in order[:number] for each in range(4)
        ]
        assert after.seats[seat].forfeit == LEFT
        assert after.position.turn == before.turn, "the same turn goes on, since the same moment"
        assert [each.seat for each in after.position.forfeits] == list(order[:number])
        assert all(each.computer for each in after.position.forfeits)
        (event,) = await rules.events(game_id, after=announced)
        recorded = event.seat_forfeit_recorded
        assert (recorded.seat, recorded.reason, recorded.computer) == (seat, LEFT, True)
    last = await played_on(rules, game_id, order[:3], 7)

    await rules.forfeit(game_id, order[3], "LEFT")
    over = (await rules.get(game_id)).position
    assert over.version == last.version + 1, "void at once"
    assert over.outcome.void_reason == actions_pb2.VOID_REASON_ALL_FORFEITED
    assert not over.HasField("turn")
    events = await rules.events(game_id)
    kinds = [event.WhichOneof("event") for event in events]
    assert kinds[-3:] == ["turn_ended", "seat_forfeit_recorded", "game_finished"]
    finished = events[-1].game_finished
    assert finished.void_reason == actions_pb2.VOID_REASON_ALL_FORFEITED
    assert [(each.seat, each.computer) for each in finished.forfeits] == [
        (seat, True) for seat in order
    ]
    assert (await rules.verify(game_id)).valid


@pytest.mark.parametrize("seat", [0, 1, 2, 3])
async def test_a_turn_goes_on_under_the_computer(rules: Rules, seat: int) -> None:
    """Whoever is asked leaves: the same prompt is the computer's, and it is told of it at once."""
    game_id = (await rules.start(variant="pilotta", players=FOUR)).game_id
    position = (await rules.get(game_id)).position
    while position.turn.seat != seat:
        position = await played_on(rules, game_id, (), 1)
    stream = watch_turns(rules)
    turn = position.turn
    await rules.forfeit(game_id, seat, "TIMEOUTS_EXCEEDED", turn.turn)
    told = await next_turn(stream)
    assert told == pb.ComputerTurn(
        game_id=game_id, seat=seat, turn=turn.turn, version=position.version + 1
    )
    after = await played_on(rules, game_id, (seat,), 1)
    assert after.turn.turn == turn.turn + 1
    started = [
        event.turn_started.turn
        for event in await rules.events(game_id)
        if event.HasField("turn_started")
    ]
    assert started == list(range(1, after.turn.turn + 1)), "no turn was begun twice"
    stream.cancel()


async def test_f1_a_match_is_played_to_its_end_by_one_person_and_three_computers(
    rules: Rules,
) -> None:
    game = await rules.start(variant="pilotta", players=FOUR, target=101)
    await played_on(rules, game.game_id, (), 5)
    for seat in (1, 2, 3):
        await rules.forfeit(game.game_id, seat, "LEFT")
    async with working(rules, rules):
        position = await play_person(rules, game.game_id)
    assert position.status == pb.GAME_STATUS_FINISHED
    decided = position.outcome.decided
    assert len(decided.winners) == 2
    assert max(decided.score) >= 101
    finished = (await rules.events(game.game_id))[-1].game_finished
    assert finished.decided == decided
    assert [(each.seat, each.computer) for each in finished.forfeits] == [
        (1, True),
        (2, True),
        (3, True),
    ]
    record = await rules.record(game.game_id)
    assert list(record.computer_seats) == [], "nobody was a computer from the start"
    assert await rules.verify(record) == pb.VerifyRecordResponse(valid=True)


async def test_computers_from_the_start_and_after(rules: Rules) -> None:
    """Two people against two computers: when both people are gone all is void (F1)."""
    game = await rules.start(variant="pilotta", players=FOUR, computers=[0, 2])
    assert [each.computer for each in game.seats] == [True, False, True, False]
    await played_on(rules, game.game_id, (0, 2), 12)
    await rules.forfeit(game.game_id, 3, "LEFT")
    await played_on(rules, game.game_id, (0, 2, 3), 12)
    await rules.forfeit(game.game_id, 1, "LEFT")
    over = await rules.get(game.game_id)
    assert over.position.outcome.void_reason == actions_pb2.VOID_REASON_ALL_FORFEITED
    record = await rules.record(game.game_id)
    assert list(record.computer_seats) == [0, 2]
    assert await rules.verify(record) == pb.VerifyRecordResponse(valid=True)
    record.ClearField("computer_seats")
    assert not (await rules.verify(record)).valid, "without them it would not have been void"


@pytest.mark.parametrize("seats", [(2, 0), (0, 2), (3, 1, 2)])
async def test_computer_seats_in_any_order_are_the_same_game(
    rules: Rules, seats: tuple[int, ...]
) -> None:
    game = await rules.create(variant="pilotta", players=FOUR, computers=seats)
    assert [each.seat for each in game.seats if each.computer] == sorted(seats)
    again = await rules.create(
        variant="pilotta", players=FOUR, computers=sorted(seats), game_id=game.game_id
    )
    assert again == game


async def test_who_is_out_may_do_nothing_more(rules: Rules) -> None:
    game_id = (await rules.start(variant="pilotta", players=FOUR)).game_id
    await played_on(rules, game_id, (), 6)
    seat = (await rules.get(game_id)).position.turn.seat
    await rules.forfeit(game_id, seat, "LEFT")
    for prompted in (True, False):
        position = (await rules.get(game_id)).position
        assert (position.turn.seat == seat) is prompted
        before = await rules.snapshot()
        legal = await rules.legal(game_id, SERVICE, as_seat=seat) if prompted else None
        actions = legal.actions[:1] if legal else [notation("pass")]
        for call in (
            rules.act(game_id, position.version, FOUR[seat], actions),
            rules.act(game_id, 0, FOUR[seat], actions),
            rules.act(game_id, 0, FOUR[seat], [notation("contra 1")]),
            rules.act(game_id, position.version, FOUR[seat], actions, as_seat=seat),
            rules.resign(game_id, FOUR[seat], position.round),
            rules.legal(game_id, FOUR[seat]),
            rules.legal(game_id, FOUR[seat], as_seat=seat),
            rules.get(game_id, FOUR[seat], as_seat=seat),
        ):
            assert (await refusal(call)).what == NOT_YOURS
        assert await rules.snapshot() == before
        await played_on(rules, game_id, (seat,), 1)


async def test_f5_who_is_out_sees_what_a_spectator_sees(rules: Rules) -> None:
    game_id = (await rules.start(variant="pilotta", players=FOUR)).game_id
    await played_on(rules, game_id, (), 40)
    assert (await rules.get(game_id, FOUR[2])).position.view.tricks.hand
    await rules.forfeit(game_id, 2, "LEFT")
    for _ in range(2):
        assert await rules.get(game_id, FOUR[2]) == await rules.get(game_id, STRANGER)
        await played_on(rules, game_id, (2,), 3)
    seen = await rules.get(game_id, SERVICE, as_seat=2)
    assert seen.position.view.tricks.seat == 2
    assert len(seen.position.view.tricks.hand) == seen.position.view.tricks.counts[2]
    await rules.abort(game_id)
    rows = await rules.updates(game_id, FOUR[2])
    assert rows == await rules.updates(game_id, STRANGER), "also of what was before"
    assert rows != await rules.updates(game_id, FOUR[1])


async def test_f5_a_stream_that_was_open_shows_no_cards_any_more(rules: Rules) -> None:
    game_id = (await rules.start(variant="pilotta", players=FOUR)).game_id
    watching = asyncio.create_task(rules.updates(game_id, FOUR[2]))
    position = await played_on(rules, game_id, (), 9)
    await rules.forfeit(game_id, 2, "LEFT")
    await played_on(rules, game_id, (2,), 50)
    await rules.abort(game_id)
    told = await watching
    others = await rules.updates(game_id, STRANGER)
    assert told[position.version :] == others[position.version :]
    assert told[0] != others[0], "while he was in he saw his own"


async def test_a_seat_is_lost_once(pair: tuple[Rules, Rules]) -> None:
    first, second = pair
    game_id = (await first.start(variant="pilotta", players=FOUR)).game_id
    request_id = new_id()
    versions = await asyncio.gather(
        *(pair[n % 2].forfeit(game_id, 1, "LEFT", request_id=request_id) for n in range(8))
    )
    assert set(versions) == {2}
    before = await first.snapshot()
    refused = await refusal(second.forfeit(game_id, 1, "LEFT"))
    assert refused.what == NOT_YOURS
    assert await first.snapshot() == before


async def test_a_move_and_a_forfeit_at_once(pair: tuple[Rules, Rules]) -> None:
    """The move is played and then the seat is lost, or it is refused; the turns go on."""
    for number in range(6):
        game_id = (await pair[0].start(variant="pilotta", players=FOUR)).game_id
        position = await played_on(pair[0], game_id, (), number)
        seat = position.turn.seat
        turn = await some_turn_of(pair[0], game_id, FOUR[seat])
        acted, version = await asyncio.gather(
            outcome_of(pair[number % 2].act(game_id, position.version, FOUR[seat], turn)),
            pair[1 - number % 2].forfeit(game_id, seat, "LEFT"),
        )
        if isinstance(acted, Refused):
            assert acted.what in {NOT_YOURS, ("ABORTED", "STALE_VERSION")}
            assert version == position.version + 1
        else:
            assert version == latest(acted).version + 1
        assert await pair[0].get(game_id) == await pair[1].get(game_id)
        await played_on(pair[number % 2], game_id, (seat,), 5)
        await pair[0].abort(game_id)
        assert (await pair[1].verify(game_id)).valid


async def test_a_new_house_knows_who_is_out(database_url: str, keys: Path) -> None:
    async with Rules.serve(database_url, keys) as rules:
        game_id = (await rules.start(variant="pilotta", players=FOUR)).game_id
        await played_on(rules, game_id, (), 10)
        await rules.forfeit(game_id, 0, "LEFT")
        await rules.forfeit(game_id, 3, "LEFT")
        before = await rules.get(game_id)
        hands = [await rules.get(game_id, SERVICE, as_seat=seat) for seat in (0, 3)]
    async with Rules.serve(database_url, keys) as rules:
        assert await rules.get(game_id) == before
        assert [await rules.get(game_id, SERVICE, as_seat=seat) for seat in (0, 3)] == hands
        assert await rules.get(game_id, FOUR[0]) == before
        await played_on(rules, game_id, (0, 3), 8)
        await rules.abort(game_id)
        assert (await rules.verify(game_id)).valid


# --- what games of cards refuse --------------------------------------------------------------


async def test_a_hand_cannot_be_resigned(rules: Rules) -> None:
    game = await rules.start(variant="pilotta", players=FOUR)
    before = await rules.snapshot()
    for who in FOUR:
        refused = await refusal(rules.resign(game.game_id, who))
        assert refused.what == ("FAILED_PRECONDITION", "NOT_RESIGNABLE")
        assert (await refusal(rules.resign(game.game_id, who, 2))).reason == "STALE_VERSION"
    assert await rules.snapshot() == before


@pytest.mark.parametrize("who", [STRANGER, OPERATOR, SERVICE])
async def test_whoever_looks_on_lists_no_hand(rules: Rules, who: str) -> None:
    game = await rules.start(variant="pilotta", players=FOUR)
    assert (await refusal(rules.legal(game.game_id, who))).what == NOT_YOURS
    assert (await rules.get(game.game_id, who)).position.view.tricks.hand == []


async def test_who_is_called_like_a_computer_sees_no_hand(rules: Rules) -> None:
    game = await rules.start(variant="pilotta", players=FOUR, computers=[1])
    assert await rules.get(game.game_id, FOUR[1]) == await rules.get(game.game_id, STRANGER)
    assert (await rules.get(game.game_id, SERVICE, as_seat=1)).position.view.tricks.hand
    assert (await refusal(rules.legal(game.game_id, FOUR[1]))).what == NOT_YOURS
    for seat in (0, 2, 3):
        assert (await refusal(rules.get(game.game_id, SERVICE, as_seat=seat))).what == NOT_YOURS


async def test_the_round_before_is_told_as_its_end_was_seen(
    card_rules: Rules, packs: Packs
) -> None:
    """A hand that nobody wanted shows nobody's cards but one's own, one that was played has none
    left."""
    script = played(Script("pilotta", {}, some_chance(5)), 4, Random(5), lambda play, r: ("pass",))
    table = await CardTable.open(card_rules, packs, script)
    await table.follow()
    for seat, who in enumerate(FOUR):
        last = (await card_rules.get(table.game_id, who)).position.last_round
        assert (last.round, list(last.points), last.ending) == (1, [0, 0], "passed")
        own = script.chance.packs[0][8 * seat : 8 * seat + 8]
        assert sorted(last.view.tricks.hand) == sorted(own)
    assert (await card_rules.get(table.game_id)).position.last_round.view.tricks.hand == []
    await table.do(Deed(2))
    last = (await card_rules.get(table.game_id, FOUR[2])).position.last_round
    assert last.view.tricks.hand == [], "F5: not one's former one either"
