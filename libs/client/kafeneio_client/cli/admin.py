"""`kafeneio admin`: what operators see and do. Every change asks why, and the audit keeps it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Final

import typer
from kafeneio.clock.v1 import clock_pb2
from kafeneio.rules.v1 import actions_pb2, game_pb2
from kafeneio.settlement.v1 import corrections_pb2, settlement_pb2
from rich.text import Text

from kafeneio_client.cli import admin_audit, admin_game, ledger
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
from kafeneio_client.cli.people import players_app
from kafeneio_client.cli.rules import Status
from kafeneio_client.cli.screen import OUT, Mistake, escape, say, spoken
from kafeneio_client.client import Client
from kafeneio_client.errors import Refused
from kafeneio_client.terminal import plain

admin_app: Final = typer.Typer(
    help="The house, for operators: games, clocks, money, players, and what operators did.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)

GameId = Annotated[str, typer.Argument(metavar="GAME_ID", help="The game.")]
Reason = Annotated[str, typer.Option("--reason", help="Why. The audit keeps it.")]
Winners = Annotated[
    list[int] | None,
    typer.Option("--winner", min=0, max=7, help="A seat that has won, from 0.", show_default=False),
]
Out = Annotated[
    list[int] | None,
    typer.Option("--out", min=0, max=7, help="A seat that is out.", show_default=False),
]


# --- looking -----------------------------------------------------------------------------------


def games(
    status: Annotated[Status, typer.Option(help="Only games that stand there.")] = Status.RUNNING,
    variant: Annotated[str, typer.Option(help="Only games of this variant.")] = "",
    player: Annotated[str, typer.Option(help="Only games with this player.")] = "",
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many at the most.")] = 50,
    address: Address = DEFAULT_ADDRESS,
    clock: ClockAddress = "",
    token: Token = "",
    name: As = "",
) -> None:
    """List games with their age, and the clocks of those that run.

    [dim]kafeneio admin games --status waiting[/]
    """
    door = Door.of_operator(address, token, name, clock=clock)

    async def look(
        client: Client,
    ) -> list[tuple[game_pb2.GameSummary, clock_pb2.Clock | str | None]]:
        found: list[tuple[game_pb2.GameSummary, clock_pb2.Clock | str | None]] = []
        listed = client.games.list(
            player_id=player, variant=variant, status=status.message, page_size=min(limit, 200)
        )
        async for summary in listed:
            found.append((summary, await _clock(client, summary)))
            if len(found) == limit:
                break
        return found

    found = door.enter(look)
    if not found:
        say("No game is found.")
    for summary, time in found:
        OUT.print(_line(summary, time, datetime.now(UTC)), soft_wrap=True)


async def _clock(client: Client, summary: game_pb2.GameSummary) -> clock_pb2.Clock | str | None:
    """The clock of a game that runs, or why there is none."""
    if summary.status != game_pb2.GAME_STATUS_RUNNING:
        return None
    try:
        return await client.clock.get(summary.game_id)
    except Refused as refused:
        return refused.reason


def _line(summary: game_pb2.GameSummary, time: clock_pb2.Clock | str | None, now: datetime) -> Text:
    age = admin_game.lasted(now - summary.created_at.ToDatetime(UTC))
    status = game_pb2.GameStatus.Name(summary.status).removeprefix("GAME_STATUS_").lower()
    text = Text(summary.game_id, "bold").append(f"  {status:<9} {age:>8}", "none")
    text.append(f"  {summary.terms.variant}  {', '.join(map(plain, summary.player_ids))}")
    if isinstance(time, str):
        text.append(f"  no clock: {time.lower()}", "red")
    elif time is not None:
        text.append(f"  {admin_game.turn_of(time)}", "cyan")
    return text


# --- games -------------------------------------------------------------------------------------


def pause(
    game_id: GameId,
    reason: Reason,
    address: Address = DEFAULT_ADDRESS,
    clock: ClockAddress = "",
    token: Token = "",
    name: As = "",
) -> None:
    """Stop the time of a game.

    Its players are shown the reason.

    [dim]kafeneio admin pause GAME_ID --reason "the dice stick"[/]
    """
    door = Door.of_operator(address, token, name, clock=clock)
    door.enter(lambda client: client.clock.pause(game_id, reason))
    say("Paused: nobody's time runs until `kafeneio admin resume`.")


def resume(
    game_id: GameId,
    reason: Reason,
    address: Address = DEFAULT_ADDRESS,
    clock: ClockAddress = "",
    token: Token = "",
    name: As = "",
) -> None:
    """Let the time of a game go on.

    [dim]kafeneio admin resume GAME_ID --reason "they roll again"[/]
    """
    door = Door.of_operator(address, token, name, clock=clock)
    after = door.enter(lambda client: client.clock.resume(game_id, reason))
    say(f"It goes on: {escape(admin_game.turn_of(after))}.")


def void(
    game_id: GameId,
    reason: Reason,
    address: Address = DEFAULT_ADDRESS,
    settlement: SettlementAddress = "",
    token: Token = "",
    name: As = "",
) -> None:
    """Void a game.

    One that waits or runs ends at once, and all stakes go back. For one that was paid it is
    proposed, and another operator approves.

    [dim]kafeneio admin void GAME_ID --reason "a stranger sat in"[/]
    """
    door = Door.of_operator(address, token, name, settlement=settlement)

    async def do(client: Client) -> corrections_pb2.Correction | None:
        try:
            await client.games.abort(game_id, reason)
        except Refused as refused:
            if refused.reason != "GAME_OVER":
                raise
            return await client.settlement.void(game_id, reason)
        return None

    proposed = door.enter(do)
    if proposed is None:
        say("The game has ended void. All stakes go back.")
    else:
        _say_proposed(game_id, proposed)


# --- money -------------------------------------------------------------------------------------


def correct(
    game_id: GameId,
    reason: Reason,
    winner: Winners = None,
    out: Out = None,
    address: Address = DEFAULT_ADDRESS,
    settlement: SettlementAddress = "",
    token: Token = "",
    name: As = "",
) -> None:
    """Propose another result of a game that was paid.

    Another operator approves. Without a winner it was void.

    [dim]kafeneio admin correct GAME_ID --winner 1 --reason "the log says so"[/]
    """
    door = Door.of_operator(address, token, name, settlement=settlement)
    ended = None if winner else actions_pb2.VOID_REASON_OPERATOR

    async def do(client: Client) -> corrections_pb2.Correction:
        return await client.settlement.correct(
            game_id, reason, winners=winner or None, void=ended, forfeited_seats=out or ()
        )

    _say_proposed(game_id, door.enter(do))


def _say_proposed(game_id: str, proposed: corrections_pb2.Correction) -> None:
    say(
        f"Proposed as correction {proposed.number}. Nothing moves before another operator approves:"
        f"\n  kafeneio admin approve {escape(game_id)} {proposed.number} --reason TEXT --as NAME"
    )


def approve(
    game_id: Annotated[str, typer.Argument(metavar="GAME_ID", help="The game, or the tournament.")],
    number: Annotated[int, typer.Argument(min=1, metavar="NUMBER", help="Which correction.")],
    reason: Reason,
    address: Address = DEFAULT_ADDRESS,
    settlement: SettlementAddress = "",
    token: Token = "",
    name: As = "",
) -> None:
    """Approve what another operator has proposed, for a game or a tournament.

    [dim]kafeneio admin approve GAME_ID 1 --reason "seen the log" --as olga[/]
    """
    ledger.approve(game_id, number, reason, address, settlement, token, name)


class Resolution(StrEnum):
    """Whom to believe where `rules` and `clock` differ."""

    RULES = "rules"
    CLOCK = "clock"
    VOID = "void"

    @property
    def message(self) -> settlement_pb2.Resolution.ValueType:
        """As the contract has it."""
        name = "VOID" if self is Resolution.VOID else f"BY_{self.name}"
        return settlement_pb2.Resolution.Value(f"RESOLUTION_{name}")


def resolve(
    game_id: GameId,
    how: Annotated[Resolution, typer.Argument(help="Whom to believe, or all stakes back.")],
    reason: Reason,
    address: Address = DEFAULT_ADDRESS,
    settlement: SettlementAddress = "",
    token: Token = "",
    name: As = "",
) -> None:
    """Decide a game that was not paid, because `rules` and `clock` differ.

    [dim]kafeneio admin resolve GAME_ID rules --reason "the clock was wrong"[/]
    """
    door = Door.of_operator(address, token, name, settlement=settlement)
    after = door.enter(lambda client: client.settlement.resolve(game_id, how.message, reason))
    state = settlement_pb2.SettlementState.Name(after.state)
    say(f"Done: {state.removeprefix('SETTLEMENT_STATE_').lower()}.")


# --- together ----------------------------------------------------------------------------------


def verify(
    known: Annotated[
        list[str] | None,
        typer.Option(
            "--known",
            metavar="SERVICE:NUMBER:LINK",
            help="A link that you have written down: an audit that was made anew has another.",
            show_default=False,
        ),
    ] = None,
    address: Address = DEFAULT_ADDRESS,
    clock: ClockAddress = "",
    settlement: SettlementAddress = "",
    matchmaking: MatchmakingAddress = "",
    token: Token = "",
    name: As = "",
) -> None:
    """Verify the ledger, and the audit of every service.

    Ends with 1 where something is wrong.

    [dim]kafeneio admin verify --known rules:17:3b0c…[/]
    """
    door = Door.of_operator(
        address, token, name, clock=clock, settlement=settlement, matchmaking=matchmaking
    )
    found = door.enter(lambda client: admin_audit.verify_all(client, links(known or ())))
    for line in found.lines:
        say(line)
    if found.wrong:
        raise typer.Exit(1)


def links(written: Sequence[str]) -> dict[str, tuple[int, bytes]]:
    """Links as they are typed; Mistake for anything else."""
    found: dict[str, tuple[int, bytes]] = {}
    for text in written:
        service, _, rest = text.partition(":")
        number, _, link = rest.partition(":")
        try:
            found[service] = (int(number), bytes.fromhex(link))
        except ValueError as error:
            raise Mistake(f"{text!r} is no link: write it as SERVICE:NUMBER:LINK.") from error
        if service not in admin_audit.SERVICES or len(found[service][1]) != 32:
            raise Mistake(f"{text!r} is no link of a service: copy one of `kafeneio admin verify`.")
    return found


def _build() -> None:
    for command in (games, pause, resume, void, correct, approve, resolve, verify):
        admin_app.command()(spoken(command))
    admin_app.command("game")(spoken(admin_game.game))
    admin_app.command("audit")(spoken(admin_audit.audit))
    admin_app.command("note")(spoken(admin_audit.note))
    admin_app.command("dead")(spoken(admin_audit.dead))
    admin_app.command("replay")(spoken(admin_audit.replay))
    admin_app.add_typer(ledger.ledger_app, name="ledger")
    admin_app.add_typer(players_app, name="players")


_build()
