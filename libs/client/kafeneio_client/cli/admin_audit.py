"""`kafeneio admin audit`, `note` and what `verify` does: what operators have done."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Final

import typer
from kafeneio.common.v1 import audit_pb2 as pb

from kafeneio_client.cli import plugins
from kafeneio_client.cli.ledger import fault_lines
from kafeneio_client.cli.options import (
    DEFAULT_ADDRESS,
    Address,
    As,
    ClockAddress,
    Door,
    MatchmakingAddress,
    SettlementAddress,
    Token,
)
from kafeneio_client.cli.screen import Mistake, escape, say
from kafeneio_client.client import Client
from kafeneio_client.terminal import plain

SERVICES: Final = ("rules", "clock", "settlement", "matchmaking")
LONGEST: Final = 2000
"""Of a line: a request can be a megabyte."""
_FAULT: Final = "AUDIT_FAULT_KIND_"


class Service(StrEnum):
    """Whose audit."""

    RULES = "rules"
    CLOCK = "clock"
    SETTLEMENT = "settlement"
    MATCHMAKING = "matchmaking"


def audit(
    operator: Annotated[str, typer.Option(help="Only what this operator did.")] = "",
    target: Annotated[str, typer.Option(help="Only about this game, player and so on.")] = "",
    service: Annotated[
        Service | None, typer.Option(help="Only in this service.", show_default=False)
    ] = None,
    whole: Annotated[bool, typer.Option("--whole", help="Show the requests whole.")] = False,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="How many lines.")] = 50,
    address: Address = DEFAULT_ADDRESS,
    clock: ClockAddress = "",
    settlement: SettlementAddress = "",
    matchmaking: MatchmakingAddress = "",
    token: Token = "",
    name: As = "",
) -> None:
    """Show what operators have done, the newest first.

    [dim]kafeneio admin audit --operator olga[/]
    """
    door = Door.of_operator(
        address, token, name, clock=clock, settlement=settlement, matchmaking=matchmaking
    )
    asked = [service.value] if service else SERVICES

    async def look(client: Client) -> list[tuple[str, pb.AuditEntry]]:
        found: list[tuple[str, pb.AuditEntry]] = []
        for each in asked:
            count = 0
            entries = client.audit(each).entries(operator, target, page_size=min(limit, 200))
            async for entry in entries:
                found.append((each, entry))
                count += 1
                if count == limit:
                    break
        return sorted(found, key=lambda one: one[1].at.ToNanoseconds(), reverse=True)[:limit]

    found = door.enter(look)
    if not found:
        say("Nothing was done.")
    for each, entry in found:
        say(_line(each, entry))
        if whole:
            say(f"    [dim]{escape(plain(entry.request_json, LONGEST))}[/]")


def _line(service: str, entry: pb.AuditEntry) -> str:
    at = entry.at.ToDatetime().isoformat(" ", "seconds")
    what = entry.method.rpartition("/")[2]
    if what == "NoteAction":
        what = json.loads(entry.request_json).get("action", what)
    target = f" {entry.target}" if entry.target else ""
    why = f": {entry.reason}" if entry.reason else ""
    return (
        f"[dim]{at}  {service} {entry.number}[/]  [bold]{escape(plain(entry.operator))}[/]  "
        f"{escape(plain(f'{what}{target}{why}', LONGEST))}"
    )


def note(
    action: Annotated[str, typer.Argument(help="What you are about to do.")],
    reason: Annotated[str, typer.Option(help="Why.")],
    target: Annotated[str, typer.Option(help="The id of what it is done to.")] = "",
    service: Annotated[Service, typer.Option(help="To whose audit.")] = Service.RULES,
    address: Address = DEFAULT_ADDRESS,
    clock: ClockAddress = "",
    settlement: SettlementAddress = "",
    matchmaking: MatchmakingAddress = "",
    token: Token = "",
    name: As = "",
) -> None:
    """Write down what you are about to do by other means than this command.

    [dim]kafeneio admin note "restart node 3" --reason "its disk is full"[/]
    """
    door = Door.of_operator(
        address, token, name, clock=clock, settlement=settlement, matchmaking=matchmaking
    )
    number = door.enter(lambda client: client.audit(service.value).note(action, reason, target))
    say(f"Noted: {service.value} {number}.")


# --- dead letters ------------------------------------------------------------------------------


def dead(
    consumer: Annotated[str, typer.Option(help="Only those of this consumer.")] = "",
) -> None:
    """List the events that a consumer could not handle.

    NATS is asked by itself, so KAFENEIO_NATS_URL must be set.

    [dim]kafeneio admin dead --consumer clock[/]
    """
    _bus("dead-list", consumer=consumer)


def replay(
    reason: Annotated[str, typer.Option(help="Why. The audit keeps it.")],
    numbers: Annotated[str, typer.Option(help="Which of the list, with commas.")] = "",
    consumer: Annotated[str, typer.Option(help="All of this consumer.")] = "",
    every: Annotated[bool, typer.Option("--every", help="All that there are.")] = False,
    address: Address = DEFAULT_ADDRESS,
    token: Token = "",
    name: As = "",
) -> None:
    """Deliver such events to their consumers again.

    It is noted in the audit of `rules` first; without that nothing is delivered.

    [dim]kafeneio admin replay --numbers 3,4 --reason "the clock is mended"[/]
    """
    if not (numbers or consumer or every):
        raise Mistake("Say which: --numbers 3,4 or --consumer CONSUMER or --every.")
    chosen = {"numbers": numbers, "consumer": consumer}
    words = [f"--{option} {value}" for option, value in chosen.items() if value]
    action = " ".join(["bus dead-replay", *words, *(["--every"] if every else [])])
    plugins.load(plugins.COMMANDS, "bus")  # or a mistake, before anything is noted
    door = Door.of_operator(address, token, name)
    door.enter(lambda client: client.audit(Service.RULES.value).note(action, reason))
    _bus("dead-replay", *(["--every"] if every else []), **chosen)


def _bus(action: str, *flags: str, **options: str) -> None:
    """What `kafeneio bus` does, which the runtime offers."""
    given = [word for name, value in options.items() if value for word in (f"--{name}", value)]
    plugins.run_command("bus", [action, *given, *flags])


# --- verifying ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was found, line by line, and whether anything is wrong."""

    lines: Sequence[str]
    wrong: bool


async def verify_all(client: Client, known: Mapping[str, tuple[int, bytes]]) -> Verdict:
    """The ledger, and the audit of every service, from a link that is known or from the first."""
    lines: list[str] = []
    ledger = await client.settlement.verify()
    wrong = bool(ledger.faults)
    lines.append(f"ledger: verified up to seal {ledger.verified_to}: {ledger.hash.hex()}")
    lines += fault_lines(ledger)
    for service in SERVICES:
        number, link = known.get(service, (0, b""))
        found = await client.audit(service).verify(number, link)
        wrong |= bool(found.faults)
        lines.append(
            f"audit: {service}: verified up to entry {found.verified_to}: "
            f"{service}:{found.verified_to}:{found.hash.hex()}"
        )
        for broken in found.faults:
            kind = pb.AuditFaultKind.Name(broken.kind).removeprefix(_FAULT).lower()
            lines.append(f"  [red]{kind}[/] entry {broken.number}")
    if not wrong:
        lines.append("Everything is as it was written.")
    return Verdict(lines, wrong)
