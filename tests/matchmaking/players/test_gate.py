"""Who may enter: suspensions, exclusions and limits, asked by the queue; and whom it seats."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp
from kafeneio.matchmaking.v1 import players_pb2 as pb
from kafeneio.matchmaking.v1 import quick_match_pb2 as queue_pb
from kafeneio.matchmaking.v1 import tables_pb2

from tests.harness import OPERATOR, new_id
from tests.matchmaking.hall import terms
from tests.matchmaking.players.club import Club, Story, euros
from tests.matchmaking.seating.room import CLOSED, OPEN, Room
from tests.rules.refusal import outcome_of, refusal

DAY = timedelta(days=1)


def stamp(moment: datetime) -> Timestamp:
    """A time as a message."""
    message = Timestamp()
    message.FromDatetime(moment)
    return message


def now() -> datetime:
    """The time."""
    return datetime.now(UTC)


async def lift(club: Club, suspension: pb.Suspension, request_id: str = "") -> pb.Suspension:
    """The suspension after its end."""
    request = pb.LiftSuspensionRequest(
        request_id=request_id or new_id(),
        suspension_id=suspension.suspension_id,
        reason="a mistake",
    )
    lifted = (await club.ask("LiftSuspension", request)).suspension
    assert isinstance(lifted, pb.Suspension)
    return lifted


# --- suspensions -----------------------------------------------------------------------------


async def test_a_suspended_player_enters_nothing(club: Club) -> None:
    suspension = await club.suspend("eleni")
    assert (suspension.suspended_by, suspension.reason, suspension.holds) == (
        OPERATOR,
        "rude",
        True,
    )
    before = await club.snapshot()
    for entering in (
        club.hall.enqueue("eleni"),
        club.hall.enqueue("eleni", asked=terms(0)),
        club.hall.play_house("eleni"),
    ):
        found = await refusal(entering)
        assert found.what == ("FAILED_PRECONDITION", "PLAYER_SUSPENDED")
        assert found.metadata == {"player_id": "eleni"}
    assert await club.snapshot() == before
    lifted = await lift(club, suspension)
    assert (lifted.lifted_by, lifted.lift_reason, lifted.holds) == (OPERATOR, "a mistake", False)
    assert (await club.hall.enqueue("eleni")).status == queue_pb.TICKET_STATUS_QUEUED


async def test_until_it_runs_out(club: Club) -> None:
    until = now() + DAY
    suspension = await club.suspend("eleni", until=stamp(until))
    found = await refusal(club.hall.enqueue("eleni"))
    assert datetime.fromisoformat(found.metadata["until"]) == until
    await club.hall.database.execute("UPDATE suspensions SET until = now() - interval '1 s'")
    await club.hall.enqueue("eleni")
    found = await refusal(lift(club, suspension))
    assert found.what == ("FAILED_PRECONDITION", "SUSPENSION_OVER")


async def test_the_longest_of_several_holds(club: Club) -> None:
    one = await club.suspend("eleni", until=stamp(now() + DAY))
    endless = await club.suspend("eleni")
    assert "until" not in (await refusal(club.hall.enqueue("eleni"))).metadata
    await lift(club, endless)
    assert "until" in (await refusal(club.hall.enqueue("eleni"))).metadata
    await lift(club, one)
    await club.hall.enqueue("eleni")


async def test_a_ticket_that_waits_ends(club: Club) -> None:
    ticket = await club.hall.enqueue("eleni")
    request_id = new_id()
    suspension = await club.suspend("eleni", request_id=request_id)
    ended = await club.hall.until(ticket, queue_pb.TICKET_STATUS_ENDED)
    assert ended.end == queue_pb.TICKET_END_SUSPENDED
    before = await club.snapshot()
    again = await asyncio.gather(*(club.suspend("eleni", request_id=request_id) for _ in range(5)))
    assert all(each == suspension for each in again)
    assert await club.snapshot() == before


async def test_a_game_that_is_there_goes_on(club: Club) -> None:
    eleni, nikos = await club.hall.enqueue("eleni"), await club.hall.enqueue("nikos")
    await club.hall.over(eleni, nikos)
    await club.suspend("eleni")
    (ticket, _) = await club.hall.over(eleni, nikos)
    assert ticket.status == queue_pb.TICKET_STATUS_MATCHED
    assert await club.hall.plays(ticket.game_id)


async def test_a_ticket_that_comes_back_is_not_paired_again(club: Club) -> None:
    """Its player was suspended while the match was made, and that is taken back."""
    eleni, nikos = await club.hall.enqueue("eleni"), await club.hall.enqueue("nikos")

    async def suspended(_: str) -> None:
        await club.suspend("eleni")

    club.hall.cashier.before_hold = suspended
    club.hall.cashier.poor.add("nikos")
    ended = await club.hall.until(eleni, queue_pb.TICKET_STATUS_ENDED)
    assert ended.end == queue_pb.TICKET_END_SUSPENDED
    assert (await club.hall.until(nikos, queue_pb.TICKET_STATUS_ENDED)).end


@pytest.mark.parametrize("excluded", [False, True])
async def test_nobody_plays_with_who_is_out(club: Club, excluded: bool) -> None:
    """He had agreed to play before."""
    room = Room(club.hall)
    table = await room.join(await room.create("eleni"), "nikos")
    table = await room.ready(table, "eleni")
    if excluded:
        asked = pb.SetLimitsRequest(request_id=new_id(), excluded_until=stamp(now() + DAY))
        await club.ask("SetLimits", asked, "eleni")
    else:
        await club.suspend("eleni")
    alone = await room.get(table, "nikos")
    assert [seat.player_id for seat in alone.seats] == ["", "nikos"]
    assert (alone.status, alone.host_player_id, list(alone.put_out)) == (OPEN, "nikos", [])
    assert (await refusal(room.ready(table, "nikos"))).what == ("ABORTED", "STALE_SEATING")
    assert (await refusal(room.ready(table, "eleni"))).what[1] == "NOT_SEATED"
    await room.join(alone, "maria")


async def test_a_table_that_is_open_again_is_left_by_who_is_out(club: Club) -> None:
    room = Room(club.hall)
    table = await room.ready(await room.join(await room.create("eleni"), "nikos"), "eleni")

    async def suspended(_: str) -> None:
        await club.suspend("eleni")

    club.hall.cashier.before_hold = suspended
    club.hall.cashier.poor.add("nikos")
    await room.ready(table, "nikos")
    closed = await room.until(table, "eleni", CLOSED, table.version)
    assert closed.end == tables_pb2.TABLE_END_DESERTED


async def test_whoever_comes_first_nobody_who_is_suspended_waits(club: Club) -> None:
    for number in range(10):
        name = f"p{number}"
        entering = club.hall.enqueue(name, asked=terms(0, target=3))
        entered, _ = await asyncio.gather(outcome_of(entering), club.suspend(name))
        if isinstance(entered, queue_pb.Ticket):
            ended = await club.hall.until(entered, queue_pb.TICKET_STATUS_ENDED)
            assert ended.end == queue_pb.TICKET_END_SUSPENDED


async def test_suspensions_are_listed(club: Club) -> None:
    made = [await club.suspend(name) for name in ("a", "b", "a", "c")]
    await lift(club, made[1])

    async def listed(**asked: Any) -> list[str]:
        request = pb.ListSuspensionsRequest(**asked)
        answer = await club.ask("ListSuspensions", request)
        return [each.suspension_id for each in answer.suspensions]

    ids = [each.suspension_id for each in reversed(made)]
    assert await listed() == ids
    assert await listed(player_id="a") == [ids[1], ids[3]]
    assert await listed(only_holding=True) == [ids[0], ids[1], ids[3]]
    first = await club.ask("ListSuspensions", pb.ListSuspensionsRequest(page_size=3))
    assert [each.suspension_id for each in first.suspensions] == ids[:3]
    assert await listed(page_size=3, page_token=first.next_page_token) == ids[3:]


async def test_what_can_not_be_suspended_or_lifted(club: Club) -> None:
    suspension = await club.suspend("eleni")
    lifted = await lift(club, suspension)
    before = await club.snapshot()
    past, far = now() - timedelta(seconds=1), datetime(2300, 1, 1, tzinfo=UTC)
    for suspending in (
        club.suspend("nikos", until=stamp(past)),
        club.suspend("nikos", until=stamp(far)),
        club.suspend("nikos", until=Timestamp(seconds=2**40)),
        club.suspend("nikos", reason=""),
        club.suspend("nikos", reason="a\0b"),
        club.suspend("ni\nkos"),
        club.suspend(""),
    ):
        assert (await refusal(suspending)).what == ("INVALID_ARGUMENT", "MALFORMED")
    found = await refusal(lift(club, lifted))
    assert found.what == ("FAILED_PRECONDITION", "SUSPENSION_OVER")
    unknown = pb.Suspension(suspension_id=new_id())
    assert (await refusal(lift(club, unknown))).what == ("NOT_FOUND", "SUSPENSION_UNKNOWN")
    assert await club.snapshot() == before


# --- exclusions and limits -------------------------------------------------------------------


async def test_who_has_excluded_himself_enters_nothing(club: Club) -> None:
    until = now() + DAY
    ticket = await club.hall.enqueue("eleni")
    limits = await club.limit("eleni", excluded_until=stamp(until))
    assert limits.excluded_until.ToDatetime(UTC) == until
    ended = await club.hall.until(ticket, queue_pb.TICKET_STATUS_ENDED)
    assert ended.end == queue_pb.TICKET_END_CANCELLED
    found = await refusal(club.hall.play_house("eleni"))
    assert found.what == ("FAILED_PRECONDITION", "SELF_EXCLUDED")
    assert datetime.fromisoformat(found.metadata["until"]) == until
    # It is put off, and never lifted early.
    before = await club.snapshot()
    found = await refusal(club.limit("eleni", excluded_until=stamp(until - timedelta(hours=1))))
    assert found.what == ("FAILED_PRECONDITION", "EXCLUSION_RUNNING")
    assert datetime.fromisoformat(found.metadata["until"]) == until
    assert await club.snapshot() == before
    await club.limit("eleni")
    assert (await refusal(club.hall.enqueue("eleni"))).reason == "SELF_EXCLUDED"
    later = await club.limit("eleni", excluded_until=stamp(until + DAY))
    assert later.excluded_until.ToDatetime(UTC) == until + DAY
    await club.hall.database.execute("UPDATE exclusions SET until = now() - interval '1 s'")
    await club.hall.enqueue("eleni")
    shown = (await club.ask("GetLimits", pb.GetLimitsRequest(), "eleni")).limits
    assert not shown.HasField("excluded_until")


async def test_the_stake_of_a_day(club: Club) -> None:
    await club.limit("eleni", stake_per_day=[euros(1200)])
    for _ in range(2):
        await play(club, 500)
    found = await refusal(club.hall.enqueue("eleni"))
    assert found.what == ("FAILED_PRECONDITION", "LIMIT_REACHED")
    assert found.metadata["player_id"] == "eleni"
    assert found.metadata["limit"] == "stake"
    ends = datetime.fromisoformat(found.metadata["until"])
    assert ends > now() >= ends - DAY
    for asked in (terms(200), terms(500, "USD"), terms(0)):
        ticket = await club.hall.enqueue("eleni", asked=asked)
        await club.hall.cancel(ticket)
    usage = (await club.ask("GetLimits", pb.GetLimitsRequest(), "eleni")).today
    assert [(each.currency_code, each.minor_units) for each in usage.staked] == [("EUR", 1000)]
    # Yesterday's are of no account.
    await club.hall.database.execute(
        "UPDATE matches SET created_at = created_at - interval '1 day'"
    )
    await club.hall.enqueue("eleni")


async def play(club: Club, stake: int) -> str:
    """A game of eleni and nikos for a stake, as far as its start; its id."""
    tickets = [await club.hall.enqueue(name, asked=terms(stake)) for name in ("eleni", "nikos")]
    matched, _ = await club.hall.over(*tickets)
    await club.hall.plays(matched.game_id)
    for ticket in tickets:
        await club.hall.until(ticket, queue_pb.TICKET_STATUS_STARTED)
    return str(matched.game_id)


async def test_a_void_game_counts_for_nothing(club: Club) -> None:
    await club.limit("eleni", stake_per_day=[euros(500)], loss_per_day=[euros(500)])
    game_id = await play(club, 500)
    assert (await refusal(club.hall.enqueue("eleni"))).metadata["limit"] == "stake"
    story = Story(game_id=game_id)
    await club.tell(story.void("OPERATOR"), story.settled(0, 0))
    usage = (await club.ask("GetLimits", pb.GetLimitsRequest(), "eleni")).today
    assert not usage.staked
    await club.hall.enqueue("eleni")


async def test_the_loss_of_a_day(club: Club) -> None:
    await club.limit("eleni", loss_per_day=[euros(900)])
    story = await club.played(1)
    await club.tell(story.settled(-500, 500))
    found = await refusal(club.hall.enqueue("eleni"))
    assert (found.reason, found.metadata["limit"]) == ("LIMIT_REACHED", "loss")
    await club.hall.cancel(await club.hall.enqueue("eleni", asked=terms(400)))
    # What is at stake may be lost, too.
    game_id = await play(club, 400)
    assert (await refusal(club.hall.enqueue("eleni", asked=terms(1)))).metadata["limit"] == "loss"
    usage = (await club.ask("GetLimits", pb.GetLimitsRequest(player_id="eleni"))).today
    assert [each.minor_units for each in usage.lost] == [900]
    # What is won makes room.
    won = Story(game_id=game_id)
    await club.tell(won.won(0), won.settled(400, -400))
    usage = (await club.ask("GetLimits", pb.GetLimitsRequest(), "eleni")).today
    assert [each.minor_units for each in usage.lost] == [100]
    await club.hall.enqueue("eleni")


async def test_a_correction_counts_on_the_day_of_the_payout(club: Club) -> None:
    await club.limit("eleni", loss_per_day=[euros(500)])
    old, new = Story(), Story()
    yesterday = now() - DAY
    await club.tell(old.started(at=yesterday), old.won(1), old.settled(-500, 500, at=yesterday))
    await club.tell(old.corrected(1, amounts=(-900, 900)))
    await club.tell(new.started(), new.won(1), new.settled(-500, 500))
    await club.tell(new.corrected(0, amounts=(500, -500)))
    usage = (await club.ask("GetLimits", pb.GetLimitsRequest(), "eleni")).today
    assert [each.minor_units for each in usage.lost] == [-500]


async def test_the_time_of_a_day(club: Club) -> None:
    await club.limit("eleni", time_per_day=Duration(seconds=3600))
    at = now()
    first, second, old = Story(at=at), Story(at=at), Story(at=at)
    midnight = at.replace(hour=0, minute=0, second=0, microsecond=0)
    # Two at once are no longer than one, and what was before midnight is not of today.
    await club.tell(
        old.started(at=midnight - timedelta(hours=2)),
        old.won(0, at=midnight),
        first.started(at=at - timedelta(minutes=1)),
        second.started(at=at - timedelta(minutes=1)),
        second.won(0, at=at - timedelta(seconds=30)),
    )
    usage = (await club.ask("GetLimits", pb.GetLimitsRequest(), "eleni")).today
    played = usage.played.ToTimedelta()
    assert min(timedelta(minutes=1), at - midnight) <= played < timedelta(minutes=2)
    await club.hall.cancel(await club.hall.enqueue("eleni"))
    await club.limit("eleni", time_per_day=Duration(seconds=1))
    for entering in (club.hall.enqueue("eleni"), club.hall.play_house("eleni")):
        found = await refusal(entering)
        assert (found.reason, found.metadata["limit"]) == ("LIMIT_REACHED", "time")


async def test_what_is_looser_waits_for_a_day(club: Club) -> None:
    set_first = await club.limit(
        "eleni", stake_per_day=[euros(400)], time_per_day=Duration(seconds=7200)
    )
    (held,) = set_first.stake_per_day
    assert (held.currency_code, held.minor_units) == ("EUR", 400)
    assert not held.HasField("next_from")
    raised = await club.limit("eleni", stake_per_day=[euros(900)])
    (held,) = raised.stake_per_day
    assert (held.minor_units, held.next_minor_units) == (400, 900)
    wait = held.next_from.ToDatetime(UTC) - now()
    assert timedelta(hours=23) < wait <= timedelta(hours=24)
    assert raised.time_per_day.limit.seconds == 7200
    assert raised.time_per_day.HasField("next_from")
    assert not raised.time_per_day.HasField("next_limit")
    assert (await refusal(club.hall.enqueue("eleni"))).metadata["limit"] == "stake"
    # Asked for again it comes when it was to come; a day later it has.
    again = await club.limit("eleni", stake_per_day=[euros(900)])
    assert again == raised
    await club.hall.database.execute("UPDATE limits SET next_from = next_from - interval '1 day'")
    await club.hall.enqueue("eleni")
    shown = (await club.ask("GetLimits", pb.GetLimitsRequest(), "eleni")).limits
    assert [each.minor_units for each in shown.stake_per_day] == [900]
    assert not shown.HasField("time_per_day")


async def test_limits_are_set_once(club: Club) -> None:
    request = pb.SetLimitsRequest(
        request_id=new_id(),
        stake_per_day=[euros(400)],
        excluded_until=stamp(now() + DAY),
    )
    answers = await asyncio.gather(*(club.ask("SetLimits", request, "eleni") for _ in range(5)))
    assert all(answer == answers[0] for answer in answers)
    before = await club.snapshot()
    assert await club.ask("SetLimits", request, "eleni") == answers[0]
    assert await club.snapshot() == before


async def test_limits_that_are_none(club: Club) -> None:
    before = await club.snapshot()
    for limits in (
        {"stake_per_day": [euros(-1)]},
        {"loss_per_day": [euros(10**13)]},
        {"stake_per_day": [euros(1), euros(2)]},
        {"loss_per_day": [euros(1), euros(1)]},
        {"time_per_day": Duration(seconds=86401)},
        {"time_per_day": Duration(seconds=-1)},
        {"excluded_until": stamp(now() - timedelta(seconds=1))},
        {"excluded_until": stamp(now() + timedelta(days=4000))},
    ):
        found = await refusal(club.limit("eleni", **limits))
        assert found.what == ("INVALID_ARGUMENT", "MALFORMED"), limits
    assert await club.snapshot() == before


async def test_whose_limits(club: Club) -> None:
    await club.limit("eleni", stake_per_day=[euros(400)])
    request = pb.GetLimitsRequest(player_id="eleni")
    found = await refusal(club.ask("GetLimits", request, "nikos"))
    assert found.what == ("PERMISSION_DENIED", "NOT_YOUR_LIMITS")
    own = await club.ask("GetLimits", request, "eleni")
    seen = await club.ask("GetLimits", request, OPERATOR)
    assert own.limits == seen.limits
    assert own.today.day_ends == seen.today.day_ends
    found = await refusal(club.ask("GetLimits", pb.GetLimitsRequest(), OPERATOR))
    assert (found.what, found.fields) == (("INVALID_ARGUMENT", "MALFORMED"), ("player_id",))


# --- whom the queue seats --------------------------------------------------------------------


async def test_the_queue_knows_ratings_and_block_lists(club: Club) -> None:
    await club.hall.database.execute(
        "INSERT INTO ratings (variant, player_id, mu, sigma, value, floor, games)"
        " VALUES ('portes', 'strong', 45, 2, 2100, 1920, 50)"
    )
    request = pb.BlockPlayerRequest(request_id=new_id(), player_id="eleni")
    await club.ask("BlockPlayer", request, "nikos")
    names = ("strong", "eleni", "nikos", "maria")
    tickets = {name: await club.hall.enqueue(name, asked=terms(0)) for name in names}
    matched, _ = await club.hall.over(tickets["eleni"], tickets["maria"])
    game = await club.hall.rules.get(matched.game_id)
    assert {seat.player_id for seat in game.seats} == {"eleni", "maria"}
    for name in ("strong", "nikos"):
        ticket = await club.hall.enqueue(name, ticket_id=tickets[name].ticket_id, asked=terms(0))
        assert ticket.status == queue_pb.TICKET_STATUS_QUEUED
    # After a minute any rating will do.
    await club.hall.database.execute(
        "UPDATE tickets SET queued_at = queued_at - interval '1 minute' WHERE status = 'queued'"
    )
    matched, _ = await club.hall.over(tickets["strong"], tickets["nikos"])
    assert matched.status == queue_pb.TICKET_STATUS_MATCHED
