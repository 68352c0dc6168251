"""What can get in the way between the queue and the game: everything ends as a match, or as if
nothing had been."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from kafeneio.common.v1 import errors_pb2
from kafeneio.matchmaking.v1 import quick_match_pb2 as pb

from tests.harness import new_id
from tests.matchmaking.four import card_room
from tests.matchmaking.hall import Hall, terms
from tests.rules.refusal import refusal

QUEUED, ENDED = pb.TICKET_STATUS_QUEUED, pb.TICKET_STATUS_ENDED


def holds(hall: Hall) -> list[tuple[str, str]]:
    """(game, request id) of every hold that was asked for."""
    return [(game, request) for call, game, request in hall.cashier.calls if call == "HoldStakes"]


@pytest.mark.parametrize(
    ("trouble", "end"),
    [
        ("poor", pb.TICKET_END_INSUFFICIENT_FUNDS),
        ("suspended", pb.TICKET_END_SUSPENDED),
        ("unknown", pb.TICKET_END_PLAYER_UNKNOWN),
    ],
)
async def test_whose_stake_is_refused_leaves_and_the_others_keep_their_place(
    hall: Hall, trouble: str, end: int
) -> None:
    getattr(hall.cashier, trouble).add("eleni")
    eleni, nikos = await hall.enqueue("eleni"), await hall.enqueue("nikos")
    ended = await hall.until(eleni, ENDED)
    assert (ended.end, ended.version) == (end, 3)
    back = await hall.until(nikos, QUEUED, after=2)
    assert back.version == 3
    assert (back.queued_at, back.expires_at) == (nikos.queued_at, nikos.expires_at)
    assert hall.cashier.holds == {}
    assert await hall.games() == {}
    # He is still in front of those who came after him.
    later = [await hall.enqueue("maria"), await hall.enqueue("petros")]
    matched, _ = await hall.over(back, later[0])
    assert hall.cashier.holds == {matched.game_id: ("nikos", "maria")}
    assert (await hall.until(later[1], QUEUED)).version == 1
    # And who was refused may try again.
    getattr(hall.cashier, trouble).clear()
    again, _ = await hall.over(await hall.enqueue("eleni"), later[1])
    assert await hall.plays(again.game_id) == ("petros", "eleni")


async def test_all_who_are_refused_leave(hall: Hall) -> None:
    hall.cashier.poor |= {"eleni", "nikos"}
    done = await hall.over(await hall.enqueue("eleni"), await hall.enqueue("nikos"))
    assert [ticket.end for ticket in done] == [pb.TICKET_END_INSUFFICIENT_FUNDS] * 2
    assert await hall.unfinished() == 0


async def test_terms_that_are_refused_end_all_tickets(hall: Hall) -> None:
    hall.cashier.refusing = errors_pb2.ERROR_REASON_AMOUNT_OVERFLOW
    done = await hall.over(await hall.enqueue("eleni"), await hall.enqueue("nikos"))
    assert [ticket.end for ticket in done] == [pb.TICKET_END_TERMS_REFUSED] * 2
    assert await hall.games() == {}


async def test_a_refusal_that_is_nobodys_fault_costs_nobody_his_place(hall: Hall) -> None:
    reasons = [errors_pb2.ERROR_REASON_HOLD_RELEASED, errors_pb2.ERROR_REASON_GAME_OVER, None]

    async def next_reason(_game: str) -> None:
        hall.cashier.refusing = reasons.pop(0)

    hall.cashier.before_hold = next_reason
    eleni, nikos = await hall.enqueue("eleni"), await hall.enqueue("nikos")
    one, other = await hall.over(eleni, nikos)
    assert one.game_id == other.game_id != ""
    assert (one.queued_at, one.version) == (eleni.queued_at, 7)
    assert len({game for game, _ in holds(hall)}) == 3


@pytest.mark.parametrize("kind", ["away", "deaf"])
async def test_a_call_is_sent_until_it_is_answered(hall: Hall, kind: str) -> None:
    setattr(hall.cashier, kind, 3)
    one, _ = await hall.over(await hall.enqueue("eleni"), await hall.enqueue("nikos"))
    assert len(holds(hall)) == 4
    assert len(set(holds(hall))) == 1, "one game, one request id"
    assert hall.cashier.holds == {one.game_id: ("eleni", "nikos")}
    assert list(await hall.games()) == [one.game_id]


async def test_a_release_is_sent_until_it_is_answered(hall: Hall) -> None:
    hall.cashier.poor.add("eleni")

    async def then_away(_game: str) -> None:
        hall.cashier.away = 3

    hall.cashier.before_hold = then_away
    eleni, nikos = await hall.enqueue("eleni"), await hall.enqueue("nikos")
    await hall.over(eleni)
    assert (await hall.until(nikos, QUEUED, after=2)).version == 3
    calls = [call for call, _, _ in hall.cashier.calls]
    assert calls == ["HoldStakes"] + ["ReleaseStakes"] * 4


def at_first(work: Callable[[str], Awaitable[object]]) -> Callable[[str], Awaitable[None]]:
    """Only when it is called for the first time."""
    calls = []

    async def done(game: str) -> None:
        calls.append(game)
        if len(calls) == 1:
            await work(game)

    return done


async def test_a_game_that_was_cancelled_is_taken_back_and_another_made(hall: Hall) -> None:
    hall.cashier.before_hold = at_first(lambda game: hall.rules.cancel(game))
    eleni, nikos = await hall.enqueue("eleni"), await hall.enqueue("nikos")
    one, other = await hall.over(eleni, nikos)
    (first, _), (second, _) = holds(hall)
    assert hall.cashier.released == {first}
    assert one.game_id == other.game_id == second
    assert list(hall.cashier.holds) == list(await hall.games()) == [second]
    assert (one.queued_at, other.queued_at) == (eleni.queued_at, nikos.queued_at)
    assert await hall.plays(second) == ("eleni", "nikos")


async def test_an_id_that_is_taken_is_left_to_whose_it_is(hall: Hall) -> None:
    hall.cashier.before_hold = at_first(
        lambda game: hall.rules.create(game_id=game, players=("maria", "petros"))
    )
    one, other = await hall.over(await hall.enqueue("eleni"), await hall.enqueue("nikos"))
    (first, _), (second, _) = holds(hall)
    assert one.game_id == other.game_id == second
    assert hall.cashier.released == {first}
    assert await hall.plays(first) == ("maria", "petros")
    assert await hall.plays(second) == ("eleni", "nikos")


async def test_games_of_four_need_no_change(database_url: str, keys: Path) -> None:
    async with card_room(database_url, keys) as ((hall,), rooms):
        names = [f"player {number}" for number in range(7)]
        hall.cashier.poor.add(names[1])
        asked = terms(variant="pilotta")
        tickets = [await hall.enqueue(name, asked=asked) for name in names[:5]]
        done = await hall.over(*(tickets[seat] for seat in (0, 2, 3, 4)))
        assert (await hall.over(tickets[1]))[0].end == pb.TICKET_END_INSUFFICIENT_FUNDS
        players = tuple(names[seat] for seat in (0, 2, 3, 4))
        assert hall.cashier.holds == {done[0].game_id: players}
        (made,) = rooms.made
        assert (tuple(made.player_ids), made.game_id) == (players, done[0].game_id)
        assert (made.terms.variant, made.terms.edition, made.terms.target) == ("pilotta", 2, 151)
        assert not made.computer_seats


@pytest.mark.parametrize("seats", [2, 3, 4])
async def test_a_table_may_choose_how_many_play(database_url: str, keys: Path, seats: int) -> None:
    async with card_room(database_url, keys) as ((hall,), rooms):
        asked = terms(variant="rummy", options={"players": str(seats)})
        names = [f"player {number}" for number in range(seats)]
        tickets = [await hall.enqueue(name, asked=asked) for name in names]
        (done, *_) = await hall.over(*tickets)
        assert hall.cashier.holds == {done.game_id: tuple(names)}
        (made,) = rooms.made
        assert list(made.player_ids) == names
        assert made.terms.options == {"players": str(seats)}


async def test_without_rules_nobody_can_queue(hall: Hall) -> None:
    nowhere = "127.0.0.1:1"
    async with Hall.beside(hall.rules, hall.cashier, rules_address=nowhere) as beside:
        before = await beside.snapshot()
        refused = await refusal(beside.enqueue("eleni", ticket_id=new_id()))
        assert refused.what == ("UNAVAILABLE", "UNAVAILABLE")
        assert refused.retry_seconds
        assert await beside.snapshot() == before
