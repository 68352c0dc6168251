"""`kafeneio admin game`: one game whole: its log, its clock, every charge, its money."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, Final, TypeVar

import typer
from google.protobuf.timestamp_pb2 import Timestamp
from kafeneio.clock.v1 import clock_pb2, events_pb2
from kafeneio.rules.v1 import actions_pb2, game_pb2
from kafeneio.settlement.v1 import settlement_pb2

from kafeneio_client.cli.options import (
    DEFAULT_ADDRESS,
    Address,
    As,
    ClockAddress,
    Door,
    SettlementAddress,
    Token,
)
from kafeneio_client.cli.screen import escape, say
from kafeneio_client.client import Client
from kafeneio_client.errors import Refused
from kafeneio_client.money import Money
from kafeneio_client.terminal import plain

Found = TypeVar("Found")
LONGEST: Final = 2000
"""Of a text."""
_WHO: Final = {-1: "chance", -2: "house"}
_CAUSE: Final = "CHARGE_CAUSE_"


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a log, as far as an operator may see it."""

    version: int
    at: datetime
    entries: Sequence[str]


@dataclass(frozen=True, slots=True)
class Seen:
    """All that there is of a game; a text where a service has refused to tell."""

    game: game_pb2.Game
    rows: Sequence[Row]
    reason: str
    clock: clock_pb2.Clock | str
    charges: Sequence[clock_pb2.ExplainChargesResponse]
    money: settlement_pb2.Settlement | str


def game(
    game_id: Annotated[str, typer.Argument(metavar="GAME_ID", help="The game.")],
    log: Annotated[bool, typer.Option(help="Show the log too.")] = True,
    address: Address = DEFAULT_ADDRESS,
    clock: ClockAddress = "",
    settlement: SettlementAddress = "",
    token: Token = "",
    name: As = "",
) -> None:
    """Show one game: its log, its clock, every charge with its arithmetic, and its money.

    While it runs, the log shows what a spectator sees; hands stay hidden from operators too.

    [dim]kafeneio admin game 0193f7a0-5c1e-7000-8000-000000000001 --no-log[/]
    """
    door = Door.of_operator(address, token, name, clock=clock, settlement=settlement)
    seen = door.enter(lambda client: look(client, game_id))
    for line in lines(seen, log=log):
        say(line)


async def look(client: Client, game_id: str) -> Seen:
    """Ask every service. Refused where `rules` knows no such game."""
    found = await client.games.get(game_id)
    rows, reason = await _log(client, found)
    clock: clock_pb2.Clock | str
    charges: list[clock_pb2.ExplainChargesResponse] = []
    try:
        clock = await client.clock.get(game_id)
        for seat in clock.seats:
            if seat.charged:
                charges.append(await client.clock.explain(game_id, seat.seat))
    except Refused as refused:
        clock = refused.reason
    money: settlement_pb2.Settlement | str
    try:
        money = await client.settlement.get(game_id)
    except Refused as refused:
        money = refused.reason
    return Seen(found, rows, reason, clock, charges, money)


async def _log(client: Client, found: game_pb2.Game) -> tuple[list[Row], str]:
    """The log, and an operator's words where one ended the game."""
    position = found.position
    if position.status == game_pb2.GAME_STATUS_FINISHED:
        record = await client.games.record(found.game_id)
        rows = [
            Row(row.version, row.at.ToDatetime(UTC), _named(row.entries)) for row in record.rows
        ]
        return rows, record.reason
    rows = []
    if position.version:
        async with aclosing(client.games.watch(found.game_id)) as updates:
            async for update in updates:
                entries = [_entry(each.seat, each.action.notation) for each in update.entries]
                at = update.at.ToDatetime(UTC)
                rows.append(Row(update.position.version, at, entries))
                if update.position.version >= position.version:
                    break
    return rows, ""


def _named(entries: Iterable[str]) -> list[str]:
    named = []
    for text in entries:
        seat, _, notation = text.partition(" ")
        named.append(_entry(int(seat), notation))
    return named


def _entry(seat: int, notation: str) -> str:
    return f"{_WHO.get(seat, f'seat {seat}')}: {notation}"


# --- as text -----------------------------------------------------------------------------------


def lines(seen: Seen, *, log: bool) -> Iterator[str]:
    """What is shown."""
    found = seen.game
    status = game_pb2.GameStatus.Name(found.position.status).removeprefix("GAME_STATUS_").lower()
    made = _when(found.created_at)
    yield (
        f"[bold]{escape(found.game_id)}[/]  {escape(found.terms.variant)} to {found.terms.target}"
        f"  {status}, version {found.position.version}, made {made}"
    )
    for number, seat in enumerate(found.seats):
        yield f"  seat {number}  {escape(plain(seat.player_id))}"
    if seen.reason:
        yield f"  ended by an operator: {escape(plain(seen.reason, LONGEST))}"
    yield from _outcome(found.position.outcome)
    yield from _clock(seen)
    yield from _money(seen.money)
    if log:
        for row in seen.rows:
            at = row.at.isoformat(" ", "milliseconds").removesuffix("+00:00")
            entries = plain("; ".join(row.entries), LONGEST)
            yield f"  [dim]{row.version:>5}  {at}[/]  {escape(entries)}"


def _outcome(outcome: game_pb2.Outcome) -> Iterator[str]:
    if outcome.HasField("decided"):
        winners = ", ".join(f"seat {seat}" for seat in outcome.decided.winners)
        yield f"  won by {winners}, {':'.join(map(str, outcome.decided.score))}"
    elif outcome.HasField("void_reason"):
        why = actions_pb2.VoidReason.Name(outcome.void_reason).removeprefix("VOID_REASON_")
        yield f"  void: {why}"


def turn_of(clock: clock_pb2.Clock) -> str:
    """Who is on turn, and with how much time."""
    if clock.closed:
        return "closed"
    if clock.HasField("paused_since"):
        return f"paused since {_when(clock.paused_since)}"
    if not clock.HasField("turn"):
        return "nobody on turn"
    turn = clock.turn
    left = ""
    if turn.HasField("move_left"):
        left = f", {turn.move_left.ToTimedelta().total_seconds():.1f} s left"
    return f"turn {turn.turn}, seat {turn.seat}{left}"


def _clock(seen: Seen) -> Iterator[str]:
    if isinstance(seen.clock, str):
        yield f"  no clock: {seen.clock}"
        return
    yield f"  clock: {turn_of(seen.clock)}"
    for seat in seen.clock.seats:
        presence = clock_pb2.Presence.Name(seat.presence).removeprefix("PRESENCE_").lower()
        out = ""
        if seat.forfeit:
            reason = actions_pb2.ForfeitReason.Name(seat.forfeit)
            out = f" ({reason.removeprefix('FORFEIT_REASON_')})"
        yield f"    seat {seat.seat}  {presence}{out}, charged {seat.charged}"
    for explained in seen.charges:
        yield from _charges(explained)


def _charges(explained: clock_pb2.ExplainChargesResponse) -> Iterator[str]:
    for charge in explained.charges:
        cause = events_pb2.ChargeCause.Name(charge.cause).removeprefix(_CAUSE).lower()
        yield (
            f"    seat {explained.seat}  timeout {charge.charged} of {explained.timeouts}: turn "
            f"{charge.turn}, {cause} {charge.multiple}, due {_when(charge.at)}, charged "
            f"{_when(charge.charged_at)}"
        )
        for each in charge.counted:
            length = each.ended.ToDatetime(UTC) - each.began.ToDatetime(UTC)
            yield (
                f"      turn {each.turn}  {_when(each.began)} to {_when(each.ended)}"
                f"  {length.total_seconds():.3f} s"
            )
        total = charge.length.ToTimedelta().total_seconds()
        yield f"      together {total:.3f} s"


def _money(money: settlement_pb2.Settlement | str) -> Iterator[str]:
    if isinstance(money, str):
        yield f"  no money: {money}"
        return
    state = settlement_pb2.SettlementState.Name(money.state)
    yield f"  money: {state.removeprefix('SETTLEMENT_STATE_').lower()}"
    if money.HasField("hold"):
        yield f"    stake {Money.of(money.hold.stake)} each"
    for correction in money.corrections:
        done = "approved" if correction.approved_by else "waits for a second operator"
        yield (
            f"    correction {correction.number} by {escape(plain(correction.proposed_by))}: "
            f"{escape(plain(correction.reason, LONGEST))} ({done})"
        )


def _when(moment: Timestamp) -> str:
    return moment.ToDatetime().isoformat(" ", "milliseconds")


def lasted(length: timedelta) -> str:
    """How long something lasts, for a list: "12 s", "3 min", "5 h", "2 d"."""
    seconds = max(0, round(length.total_seconds()))
    for size, name in ((86_400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds // size} {name}"
    return f"{seconds} s"
