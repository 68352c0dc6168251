"""Rummy from the queue to the ledger: who leaves is out at once, the last one left takes it all.

F3, F5 and S3 of the common rules for Koum-kan, Thanasis and Dynamitis, with two, three and four
players: in mid-hand, on the own turn and on another one's.
"""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Iterator
from itertools import permutations
from pathlib import Path
from typing import Final

import pytest
from kafeneio.clock.v1 import events_pb2 as clock_events
from kafeneio.rules.v1 import actions_pb2, events_pb2
from kafeneio_client.programs import GreedyProgram, Program

from tests.journeys.evening import Evening, evening, refused
from tests.journeys.rummy import (
    HEAVY,
    HEAVY_AS_WELL,
    HEAVY_TOO,
    LEFT,
    LIGHT,
    LIGHT_TOO,
    OUT,
    UNHURRIED,
    VARIANTS,
    Deals,
    Patient,
    act,
    cards,
    check_pot,
    check_witnesses,
    dealt,
    draws,
    goes_out,
    leave,
    passes,
    rows,
    seated,
    view_of,
)

ORDERS: Final = {
    2: tuple(permutations(range(2), 1)),
    3: tuple(permutations(range(3), 2)),
    4: ((0, 1, 2), (3, 2, 1), (1, 3, 0), (2, 0, 3), (0, 3, 1), (3, 0, 2), (2, 1, 3), (1, 0, 2)),
}
"""Who leaves, one after the other: all orders of two and of three, of four enough for each to win
twice."""
NO_REASON: Final = actions_pb2.FORFEIT_REASON_UNSPECIFIED
MOMENTS: Final = ((True, False), (False, True), (True, True), (False, False))
"""Whether the leaver is on turn, and whether whoever is has drawn."""


@pytest.fixture
async def house(database_url: str, tmp_path: Path) -> AsyncIterator[Evening]:
    """A house that takes a fee, and whose cards nobody knows."""
    async with evening(database_url, tmp_path, **UNHURRIED) as opened:
        yield opened


# ---------------------------------------------------------------- leaving


@pytest.mark.parametrize("variant", VARIANTS)
async def test_s3_in_every_order_the_last_one_takes_the_pot(house: Evening, variant: str) -> None:
    for players, number, order in orders():
        game_id = await seated(house, variant, players)
        program = Patient(number)
        for place, seat in enumerate(order):
            await until(house, game_id, seat, MOMENTS[(number + place) % 4], program)
            await leave(house, game_id, seat)
        (winner,) = set(range(players)) - set(order)
        await check_pot(house, game_id, winner)
        await check_witnesses(house, game_id, [(seat, LEFT) for seat in order])
        assert await house.service.games.verify(game_id) == ()


def orders() -> Iterator[tuple[int, int, tuple[int, ...]]]:
    """Every order in which players leave, with their number and its own."""
    for players, found in ORDERS.items():
        for number, order in enumerate(found):
            yield players, number, order


async def until(
    house: Evening, game_id: str, seat: int, moment: tuple[bool, bool], program: Program
) -> None:
    """Play until a seat is on turn, or is not, and whoever is has drawn, or has not."""
    for _ in range(40):
        position = await house.position(game_id)
        if (position.turn.seat == seat, position.view.rummy.drawn) == moment:
            return
        await house.whole_turn(game_id, program)
    raise AssertionError("everybody is on turn sometimes")


async def test_what_is_announced_of_it(house: Evening) -> None:
    game_id = await seated(house, "koumkan", 4)
    first = (await house.position(game_id)).turn.seat
    second, third, last = ((first + n) % 4 for n in (1, 2, 3))
    for seat in (first, third, second):  # on its turn, on another one's, and on its turn
        await leave(house, game_id, seat)
    await check_pot(house, game_id, last)
    events = [event async for event in house.service.games.events(game_id)]
    assert [event.sequence for event in events] == list(range(1, len(events) + 1))
    told = [(event.version, getattr(event, event.WhichOneof("event") or "")) for event in events]
    recorded = [
        events_pb2.SeatForfeitRecorded(seat=seat, reason=LEFT) for seat in (first, third, second)
    ]
    finished = events_pb2.GameFinished(
        decided=events_pb2.Decided(winners=[last], score=[0] * 4, ending="forfeit"),
        forfeits=recorded,
        variant="koumkan",
        payout_rule="S3",
    )
    assert told[1:] == [
        (1, events_pb2.TurnStarted(turn=1, seat=first)),
        (2, events_pb2.TurnEnded(turn=1, seat=first)),
        (2, recorded[0]),
        (2, events_pb2.TurnStarted(turn=2, seat=second)),
        (3, recorded[1]),
        (4, events_pb2.TurnEnded(turn=2, seat=second)),
        (4, recorded[2]),
        (4, finished),
    ]
    clock = [event async for event in house.service.clock.events(game_id)]
    forfeits = [
        clock_events.SeatForfeited(seat=seat, reason=LEFT) for seat in (first, third, second)
    ]
    assert [getattr(each, each.WhichOneof("event") or "") for each in clock] == [
        *forfeits,
        clock_events.ClockClosed(forfeits=forfeits),
    ]


async def test_f3_melds_stay_and_can_be_added_to(database_url: str, tmp_path: Path) -> None:
    second = cards("3C 4C 5C 4S  KS KS JH JH 9S 9H")
    deals = Deals([(OUT, second, HEAVY_TOO, HEAVY_AS_WELL)])
    async with dealt(database_url, tmp_path, deals) as house:
        game_id = await seated(house, "koumkan", 4)
        drawn = await draws(house, game_id)
        await act(house, game_id, "meld run AS2S3S", f"discard {drawn}")
        drawn = await draws(house, game_id)
        await leave(house, game_id, 0)
        await act(house, game_id, "meld run 3C4C5C", "lay 4S 1", f"discard {drawn}")
        table = await view_of(house, game_id)
        assert [(meld.owner, list(meld.cards)) for meld in table.melds] == [
            (0, ["AS", "2S", "3S", "4S"]),
            (1, ["3C", "4C", "5C"]),
        ]
        assert list(table.counts) == [0, 6, 10, 10]
        position = await act(house, game_id, "take")
        assert (position.turn.seat, position.view.rummy.taken) == (2, drawn)
        await leave(house, game_id, 2)  # and what he took is gone with him
        position = await passes(house, game_id)
        assert (position.turn.seat, list(position.view.rummy.live)) == (1, [1, 3])
        await leave(house, game_id, 1)
        await check_pot(house, game_id, 3)


async def test_f5_who_has_left_is_shown_no_hand_any_more(house: Evening) -> None:
    game_id = await seated(house, "koumkan", 3)
    seats = await house.seats(game_id)
    before = await house.play(game_id, 5, program=Patient(1))
    if before.view.rummy.drawn:
        before = await house.whole_turn(game_id, Patient(2))
    seat = before.turn.seat
    games, request_id = house.client(seats[seat]).games, str(uuid.uuid4())
    answer = await games.act(game_id, before.version, ["draw"], request_id=request_id)
    held = before.view.rummy.counts[seat]
    assert len(answer.played.position.view.rummy.hand) == held + 1
    assert len(await seen(house, game_id, seats[seat])) == 10, "his own, at the deal"
    await leave(house, game_id, seat)

    assert await seen(house, game_id, seats[seat]) == set(), "not even his former one"
    again = await games.act(game_id, before.version, ["draw"], request_id=request_id)
    assert again.played.entries == answer.played.entries
    assert list(again.played.position.view.rummy.hand) == []
    position = await house.play(game_id, 8, program=Patient(3))
    for call in (games.legal_actions(game_id), games.act(game_id, position.version, ["draw"])):
        await refused("NOT_YOUR_SEAT", call)
    await refused("SEAT_FORFEITED", house.client(seats[seat]).clock.leave(game_id))
    second, last = ((seat + n) % 3 for n in (1, 2))
    await leave(house, game_id, second)
    looking_on = await rows(house, game_id, "zoe")
    for number, who in enumerate(seats):
        assert (await rows(house, game_id, who) == looking_on) is (number != last)


async def seen(house: Evening, game_id: str, who: str) -> set[str]:
    """The cards of hands that the first row of a game shows somebody now."""
    async for update in house.client(who).games.watch(game_id):
        (deal,) = (entry.action.deal for entry in update.entries if entry.action.HasField("deal"))
        shown = [(place, card) for place, hand in enumerate(deal.hands) for card in hand.cards]
        assert len(shown) == 30
        return {f"{n} {card}" for n, (_, card) in enumerate(shown) if card != "?"}
    raise AssertionError("a game has a first row")


async def test_deals_skip_who_has_left_and_so_does_the_deck(
    database_url: str, tmp_path: Path
) -> None:
    """K29; nobody who stays is eliminated by the first hand."""
    cases = (
        # players, dealer, leaver, who goes out; then the second hand: dealer, first on turn, cards
        (3, 2, 2, 0, 0, 1, [10, 10, 0]),
        (3, 0, 1, 2, 2, 0, [10, 0, 10]),
        (3, 0, 0, 1, 1, 2, [0, 10, 10]),
        (4, 1, 2, 3, 3, 0, [10, 10, 0, 10]),
        (4, 1, 3, 2, 2, 0, [10, 10, 10, 0]),
        (4, 2, 0, 3, 3, 1, [0, 10, 10, 10]),
    )
    deals = Deals()
    async with dealt(database_url, tmp_path, deals) as house:
        for number, (players, dealer, leaver, out, following, first, held) in enumerate(cases):
            light = [LIGHT, LIGHT_TOO]
            given = {out: OUT, leaver: HEAVY}
            hands = [given[seat] if seat in given else light.pop() for seat in range(players)]
            deals.plan, deals.dealer = [hands], dealer
            game_id = await seated(house, VARIANTS[number % 3], players)
            await leave(house, game_id, leaver)
            position = await goes_out(house, game_id)
            table = position.view.rummy
            assert position.round == 2
            assert position.score[leaver] == 0, "his cards were counted for nobody"
            assert (table.dealer, position.turn.seat) == (following, first)
            assert list(table.counts) == held
            assert list(table.live) == [seat for seat, count in enumerate(held) if count]
            assert position.last_round.ending == "went-out"
            assert leaver not in [end.seat for end in position.last_round.view.rummy.ends]
            await house.operator.games.abort(game_id, "enough")
            assert set((await house.paid(game_id)).values()) == {0}


# ---------------------------------------------------------------- eliminated by points


@pytest.mark.parametrize("players", [2, 3, 4])
async def test_s3_without_a_forfeit_there_is_a_fee(
    database_url: str, tmp_path: Path, players: int
) -> None:
    hands = (OUT, HEAVY, HEAVY_TOO, HEAVY_AS_WELL)[:players]
    async with dealt(database_url, tmp_path, Deals([hands])) as house:
        for variant in VARIANTS:
            game_id = await seated(house, variant, players)
            position = await goes_out(house, game_id)
            decided = position.outcome.decided
            assert (list(decided.winners), decided.ending) == ([0], "went-out")
            assert list(decided.score) == [0, 98, 98, 84][:players], "K27: all at once"
            await check_pot(house, game_id, 0, fee=True)
            await check_witnesses(house, game_id, [])
            await refused(
                "GAME_OVER", house.client((await house.seats(game_id))[1]).clock.leave(game_id)
            )


@pytest.mark.parametrize("variant", VARIANTS)
async def test_s3_who_is_eliminated_cannot_leave_any_more(
    database_url: str, tmp_path: Path, variant: str
) -> None:
    """Row 2 of the table: one is out by points, one leaves, the third has the pot."""
    async with dealt(database_url, tmp_path, Deals([(OUT, HEAVY, LIGHT)])) as house:
        game_id = await seated(house, variant, 3)
        seats = await house.seats(game_id)
        position = await goes_out(house, game_id)
        assert list(position.score) == [0, 98, 38 if variant == "koumkan" else 14]
        assert list(position.view.rummy.live) == [0, 2]
        loser = house.client(seats[1])
        async with loser.clock.attending(game_id) as attendance:
            await attendance.until(lambda clock: clock.turn.turn == position.turn.turn)
            before = await everything(house, game_id)
            for _ in range(2):
                await refused("SEAT_ELIMINATED", loser.clock.leave(game_id))
            assert await everything(house, game_id) == before
            assert not attendance.ended, "he may stay and look on"
        assert (await loser.games.get(game_id)).seats[1].forfeit == NO_REASON
        await passes(house, game_id)  # and the game goes on
        await leave(house, game_id, 0)
        await check_pot(house, game_id, 2)  # no fee: somebody was forfeited
        await check_witnesses(house, game_id, [(0, LEFT)])


async def everything(house: Evening, game_id: str) -> tuple[object, ...]:
    """All that is told of a game, but for the times of its clock that go on."""
    clock = await house.service.clock.get(game_id)
    for seat in clock.seats:
        seat.ClearField("window")
    players = await house.seats(game_id)
    return (
        await house.service.games.get(game_id),
        [event async for event in house.service.games.events(game_id)],
        [event async for event in house.service.clock.events(game_id)],
        (clock.turn.turn, clock.turn.seat, clock.turn.since, clock.closed, list(clock.seats)),
        [await house.service.wallet.balance("EUR", player) for player in players],
    )


async def test_s3_two_leave_and_the_third_reaches_the_target(
    database_url: str, tmp_path: Path
) -> None:
    """Row 3 of the table, with the seats of this house: 0 and 2 leave, 3 is out by points."""
    async with dealt(database_url, tmp_path, Deals([(HEAVY_TOO, OUT, LIGHT, HEAVY)])) as house:
        for variant in VARIANTS:
            game_id = await seated(house, variant, 4)
            await leave(house, game_id, 0)
            await leave(house, game_id, 2)
            position = await goes_out(house, game_id)
            assert list(position.outcome.decided.score) == [0, 0, 0, 98]
            assert list(position.outcome.decided.winners) == [1]
            await check_pot(house, game_id, 1)
            await check_witnesses(house, game_id, [(0, LEFT), (2, LEFT)])


async def test_a_whole_contest_by_programs_with_one_who_leaves(house: Evening) -> None:
    game_id = await seated(house, "thanasis", 4)
    await house.play(game_id, 9, program=Patient(4))
    await leave(house, game_id, 3)
    position = await house.play(game_id, program=GreedyProgram(5))
    (winner,) = position.outcome.decided.winners
    score = list(position.outcome.decided.score)
    assert score[winner] == min(score[:3])
    assert all((points >= 51) is (seat != winner) for seat, points in enumerate(score[:3]))
    await check_pot(house, game_id, winner)
    await check_witnesses(house, game_id, [(3, LEFT)])
    assert await house.service.games.verify(game_id) == ()
