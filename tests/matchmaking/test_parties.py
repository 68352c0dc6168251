"""Partners: from two who name each other to their seats across a table, or out of the queue."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

import pytest
from kafeneio.matchmaking.v1 import quick_match_pb2 as pb

from tests.harness import PATIENCE, new_id
from tests.matchmaking.four import FourRules, card_room
from tests.matchmaking.hall import STAKE, Hall, terms
from tests.rules.refusal import Refused, outcome_of, refusal

WAITING: Final = pb.TICKET_STATUS_WAITING_FOR_PARTNER
QUEUED, PAIRED = pb.TICKET_STATUS_QUEUED, pb.TICKET_STATUS_PAIRED
MATCHED, ENDED = pb.TICKET_STATUS_MATCHED, pb.TICKET_STATUS_ENDED
PILOTTA: Final = terms(variant="pilotta")


@pytest.fixture
async def pair_of_halls(
    database_url: str, keys: Path
) -> AsyncIterator[tuple[Hall, Hall, FourRules]]:
    """Two replicas with card games."""
    async with card_room(database_url, keys, replicas=2) as ((first, second), made):
        yield first, second, made


@pytest.fixture
def hall(pair_of_halls: tuple[Hall, Hall, FourRules]) -> Hall:
    """One of them."""
    return pair_of_halls[0]


@pytest.fixture
def made(pair_of_halls: tuple[Hall, Hall, FourRules]) -> Any:
    """The games."""
    return pair_of_halls[2].made


async def single(hall: Hall, who: str, asked: pb.QuickTerms = PILOTTA) -> pb.Ticket:
    """Somebody who plays with anybody."""
    return await hall.enqueue(who, asked=asked)


async def half(
    hall: Hall, who: str, partner: str, asked: pb.QuickTerms = PILOTTA, **how: Any
) -> pb.Ticket:
    """Somebody who wants to play with a partner."""
    return await hall.enqueue(who, asked=asked, partner=partner, **how)


async def party(hall: Hall, one: str, other: str) -> tuple[pb.Ticket, pb.Ticket]:
    """Two who have named each other, in the queue."""
    first, second = await half(hall, one, other), await half(hall, other, one)
    return await hall.until(first, QUEUED, PAIRED, MATCHED), second


async def test_two_who_name_each_other_are_a_party(hall: Hall, made: Any) -> None:
    eleni = await half(hall, "eleni", "nikos", seconds=300)
    assert (eleni.status, eleni.version) == (WAITING, 1)
    assert (eleni.partner_player_id, eleni.house) == ("nikos", False)
    nikos = await half(hall, "nikos", "eleni", seconds=600)
    assert (nikos.status, nikos.version, nikos.partner_player_id) == (QUEUED, 2, "eleni")
    queued = await hall.until(eleni, QUEUED)
    assert queued.version == 2
    assert queued.queued_at == eleni.queued_at
    assert queued.expires_at == nikos.expires_at == eleni.expires_at, "the shorter of the two"
    # Two who came later fill the table: partners sit across it.
    maria, petros = await single(hall, "maria"), await single(hall, "petros")
    done = await hall.over(eleni, nikos, maria, petros)
    assert len({ticket.game_id for ticket in done}) == 1
    players = ("eleni", "maria", "nikos", "petros")
    assert hall.cashier.holds == {done[0].game_id: players}
    assert hall.cashier.terms[done[0].game_id].stake.minor_units == STAKE
    assert [tuple(each.player_ids) for each in made] == [players]


async def test_a_party_meets_a_party(hall: Hall, made: Any) -> None:
    first = await party(hall, "eleni", "nikos")
    second = await party(hall, "maria", "petros")
    await hall.over(*first, *second)
    assert [tuple(each.player_ids) for each in made] == [("eleni", "maria", "nikos", "petros")]
    assert list(hall.cashier.holds.values()) == [("eleni", "maria", "nikos", "petros")]


async def test_who_came_first_sits_first(hall: Hall, made: Any) -> None:
    one = await single(hall, "anna")
    both = await party(hall, "eleni", "nikos")
    other = await single(hall, "babis")
    await hall.over(one, *both, other)
    assert [tuple(each.player_ids) for each in made] == [("anna", "eleni", "babis", "nikos")]


async def test_a_party_is_never_split(hall: Hall, made: Any) -> None:
    """Three are waiting, and two come: one of the three has to wait on."""
    alone = [await single(hall, name) for name in ("anna", "babis", "christos")]
    both = await party(hall, "eleni", "nikos")
    await hall.over(alone[0], alone[1], *both)
    assert (await hall.until(alone[2], QUEUED)).version == 1
    assert [tuple(each.player_ids) for each in made] == [("anna", "eleni", "babis", "nikos")]


async def test_half_a_party_plays_with_nobody(hall: Hall, made: Any) -> None:
    waits = [
        await half(hall, "eleni", "nikos"),
        await half(hall, "nikos", "maria"),
        await half(hall, "petros", "eleni"),
    ]
    alone = [await single(hall, name) for name in ("anna", "babis", "christos")]
    assert [ticket.status for ticket in waits] == [WAITING] * 3
    await hall.over(*alone, await single(hall, "dora"))
    assert [tuple(each.player_ids) for each in made] == [("anna", "babis", "christos", "dora")]
    for ticket in waits:
        assert (await hall.until(ticket, WAITING)).version == 1


async def test_partners_want_the_same(hall: Hall) -> None:
    eleni = await half(hall, "eleni", "nikos")
    for asked in (
        terms(STAKE + 1, variant="pilotta"),
        terms(variant="pilotta", target=100),
        terms(0, variant="pilotta"),
    ):
        nikos = await half(hall, "nikos", "eleni", asked)
        assert nikos.status == WAITING
        assert (await hall.until(eleni, WAITING)).version == 1
        await hall.cancel(nikos)
    assert (await half(hall, "nikos", "eleni")).status == QUEUED


@pytest.mark.parametrize("variant", ["solo", "beside", "rummy"])
async def test_partners_sit_across_the_table_or_nowhere(hall: Hall, variant: str) -> None:
    refused = await refusal(half(hall, "eleni", "nikos", terms(variant=variant)))
    assert refused.what == ("FAILED_PRECONDITION", "OPTION_INVALID")
    assert refused.metadata == {"option": "partner_player_id"}


async def test_who_waits_for_a_partner_can_leave(hall: Hall) -> None:
    eleni = await half(hall, "eleni", "nikos")
    refused = await refusal(single(hall, "eleni"))
    assert refused.what == ("ALREADY_EXISTS", "TICKET_LIVE")
    assert refused.metadata == {"ticket_id": eleni.ticket_id}
    gone = await hall.cancel(eleni)
    assert (gone.status, gone.end, gone.version) == (ENDED, pb.TICKET_END_CANCELLED, 2)
    # Her partner names her too late, and waits in turn.
    nikos = await half(hall, "nikos", "eleni")
    assert nikos.status == WAITING
    assert (await half(hall, "eleni", "nikos")).status == QUEUED


async def test_who_leaves_the_queue_takes_his_partner_with_him(hall: Hall, made: Any) -> None:
    eleni, nikos = await party(hall, "eleni", "nikos")
    gone = await hall.cancel(nikos)
    assert (gone.status, gone.end) == (ENDED, pb.TICKET_END_CANCELLED)
    left = await hall.until(eleni, ENDED)
    assert (left.end, left.version) == (pb.TICKET_END_PARTNER_LEFT, 3)
    refused = await refusal(hall.cancel(eleni))
    assert refused.what == ("FAILED_PRECONDITION", "TICKET_OVER")
    assert refused.metadata == {"end": "PARTNER_LEFT"}
    # An old ticket has no say in the next party of its player.
    again = await party(hall, "eleni", "nikos")
    for old in (eleni, nikos):
        assert (await refusal(hall.cancel(old))).reason == "TICKET_OVER"
    others = [await single(hall, name) for name in ("anna", "babis")]
    await hall.over(*again, *others)
    assert len(made) == 1


async def test_partners_expire_together(hall: Hall) -> None:
    eleni = await half(hall, "eleni", "nikos", seconds=3600)
    nikos = await half(hall, "nikos", "eleni", seconds=1)
    for ticket in (eleni, nikos):
        assert (await hall.until(ticket, ENDED)).end == pb.TICKET_END_EXPIRED


async def test_who_waits_in_vain_for_a_partner_expires(hall: Hall) -> None:
    eleni = await half(hall, "eleni", "nikos", seconds=1)
    assert (await hall.until(eleni, ENDED)).end == pb.TICKET_END_EXPIRED
    assert (await half(hall, "nikos", "eleni")).status == WAITING


async def test_whose_stake_is_refused_takes_his_partner_with_him(hall: Hall, made: Any) -> None:
    hall.cashier.poor.add("nikos")
    eleni, nikos = await party(hall, "eleni", "nikos")
    others = [await single(hall, name) for name in ("anna", "babis")]
    assert (await hall.until(nikos, ENDED)).end == pb.TICKET_END_INSUFFICIENT_FUNDS
    assert (await hall.until(eleni, ENDED)).end == pb.TICKET_END_PARTNER_LEFT
    back = [await hall.until(ticket, QUEUED, after=2) for ticket in others]
    assert [ticket.queued_at for ticket in back] == [ticket.queued_at for ticket in others]
    assert hall.cashier.holds == {}
    # The others are still in front; and a party that comes back comes back whole.
    hall.cashier.poor |= {"anna"}
    again = await party(hall, "maria", "petros")
    assert (await hall.until(others[0], ENDED)).end == pb.TICKET_END_INSUFFICIENT_FUNDS
    back = [await hall.until(ticket, QUEUED, after=3) for ticket in (*again, others[1])]
    assert [ticket.version for ticket in back] == [4, 4, 5]
    done = await hall.over(*back, await single(hall, "christos"))
    assert len({ticket.game_id for ticket in done}) == 1
    assert [tuple(each.player_ids) for each in made] == [("babis", "maria", "christos", "petros")]


async def test_n_times_is_once(pair_of_halls: tuple[Hall, Hall, FourRules]) -> None:
    first, second, _ = pair_of_halls
    ids: dict[str, Any] = {"ticket_id": new_id(), "request_id": new_id()}
    await half(first, "eleni", "nikos")
    halls = [(first, second)[number % 2] for number in range(10)]
    answers = await asyncio.gather(*(half(each, "nikos", "eleni", **ids) for each in halls))
    assert all(answer == answers[0] for answer in answers)
    assert (answers[0].status, answers[0].version) == (QUEUED, 2)
    before = await first.snapshot()
    assert await half(second, "nikos", "eleni", **ids) == answers[0]
    assert await first.snapshot() == before
    assert before["tickets"][0] == before["requests"][0] == 2
    # The same ticket under another request id; the id is that of one wish.
    ids["request_id"] = new_id()
    assert await half(second, "nikos", "eleni", **ids) == answers[0]
    ids["request_id"] = new_id()
    for partner in ("maria", ""):
        refused = await refusal(half(second, "nikos", partner, **ids))
        assert refused.what == ("ALREADY_EXISTS", "TICKET_EXISTS")
    # Leaving is once, too, for both.
    leaving = new_id()
    cancelled = await asyncio.gather(
        *(each.cancel(answers[0], request_id=leaving) for each in halls)
    )
    assert all(answer == cancelled[0] for answer in cancelled)
    assert cancelled[0].version == 3


async def test_two_who_name_each_other_at_once(
    pair_of_halls: tuple[Hall, Hall, FourRules],
) -> None:
    first, second, _ = pair_of_halls
    for number in range(20):
        names = (f"a {number}", f"b {number}")
        one, other = await asyncio.gather(
            half(first, names[0], names[1]), half(second, names[1], names[0])
        )
        assert {one.status, other.status} <= {WAITING, QUEUED}
        assert QUEUED in {one.status, other.status}, "who came second has found the first"
        for ticket in (one, other):
            await first.until(ticket, QUEUED, PAIRED, MATCHED)


async def test_of_two_partners_who_leave_at_once_one_leaves(
    pair_of_halls: tuple[Hall, Hall, FourRules],
) -> None:
    first, second, _ = pair_of_halls
    for number in range(15):
        one, other = await party(first, f"a {number}", f"b {number}")
        outcomes = await asyncio.gather(
            outcome_of(first.cancel(one)), outcome_of(second.cancel(other))
        )
        (left,) = [each for each in outcomes if isinstance(each, pb.Ticket)]
        (late,) = [each for each in outcomes if isinstance(each, Refused)]
        assert left.end == pb.TICKET_END_CANCELLED
        assert late.what == ("FAILED_PRECONDITION", "TICKET_OVER")
        assert late.metadata == {"end": "PARTNER_LEFT"}


async def test_who_leaves_while_his_partner_comes(
    pair_of_halls: tuple[Hall, Hall, FourRules],
) -> None:
    first, second, _ = pair_of_halls
    for number in range(15):
        names = (f"a {number}", f"b {number}")
        one = await half(first, names[0], names[1])
        gone, other = await asyncio.gather(first.cancel(one), half(second, names[1], names[0]))
        assert gone.end == pb.TICKET_END_CANCELLED
        if gone.version == 2:  # he went first
            assert other.status == WAITING
            await first.cancel(other)
        else:  # they were a party for a moment
            assert (await first.until(other, ENDED)).end == pb.TICKET_END_PARTNER_LEFT


async def test_who_leaves_while_the_table_is_set(
    pair_of_halls: tuple[Hall, Hall, FourRules],
) -> None:
    """Either both have left, or both play."""
    first, second, rooms = pair_of_halls
    played = 0
    for number in range(15):
        one, other = await party(first, f"a {number}", f"b {number}")
        third = await single(second, f"c {number}")
        outcome, fourth = await asyncio.gather(
            outcome_of(first.cancel(one)), single(second, f"d {number}")
        )
        if isinstance(outcome, Refused):
            assert outcome.what == ("FAILED_PRECONDITION", "TICKET_PAIRED")
            done = await first.over(one, other, third, fourth)
            assert len({ticket.game_id for ticket in done}) == 1
            played += 1
        else:
            assert (await first.until(other, ENDED)).end == pb.TICKET_END_PARTNER_LEFT
            for ticket in (third, fourth):
                await first.cancel(ticket)
    assert len(rooms.made) == len(first.cashier.holds) == played


async def test_a_paired_party_can_not_leave(hall: Hall) -> None:
    asked, answer = asyncio.Event(), asyncio.Event()

    async def slowly(_game: str) -> None:
        asked.set()
        await answer.wait()

    hall.cashier.before_hold = slowly
    both = await party(hall, "eleni", "nikos")
    others = [await single(hall, name) for name in ("anna", "babis")]
    async with asyncio.timeout(PATIENCE):
        await asked.wait()
    before = await hall.snapshot()
    for ticket in both:
        refused = await refusal(hall.cancel(ticket))
        assert refused.what == ("FAILED_PRECONDITION", "TICKET_PAIRED")
    assert await hall.snapshot() == before
    answer.set()
    await hall.over(*both, *others)


async def test_many_of_both_kinds_at_once(
    pair_of_halls: tuple[Hall, Hall, FourRules],
) -> None:
    first, second, rooms = pair_of_halls
    wanted = [
        half(hall, f"{number} {me}", f"{number} {other}")
        for number in range(12)
        for hall, me, other in ((first, "a", "b"), (second, "b", "a"))
    ]
    wanted += [single((first, second)[number % 2], f"{number}") for number in range(16)]
    tickets = await asyncio.gather(*wanted)
    await first.over(*tickets)
    assert len(rooms.made) == 10
    for game in rooms.made:
        for seat, player in enumerate(game.player_ids):
            number, _, letter = player.partition(" ")
            if letter:
                across = game.player_ids[(seat + 2) % 4]
                assert across == f"{number} {'ba'['ab'.index(letter)]}"
    seated = [player for game in rooms.made for player in game.player_ids]
    assert sorted(seated) == sorted(ticket.player_id for ticket in tickets)
