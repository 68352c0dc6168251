"""`kafeneio variants`, `kafeneio rules show` and `kafeneio games`: look around in the house."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from enum import StrEnum
from typing import Annotated, TypeVar

import typer
from kafeneio.rules.v1 import game_pb2, rulebook_pb2
from rich import box
from rich.table import Table
from rich.text import Text

from kafeneio_client.cli.options import DEFAULT_ADDRESS, Address, As, Door, Token
from kafeneio_client.cli.screen import OUT, Mistake, escape, say
from kafeneio_client.client import Client
from kafeneio_client.errors import Refused
from kafeneio_client.terminal import plain, variant_name

T = TypeVar("T")


class Language(StrEnum):
    """Of texts for people."""

    EL = "el"
    EN = "en"

    @property
    def message(self) -> rulebook_pb2.Language.ValueType:
        """As the contract has it."""
        return rulebook_pb2.LANGUAGE_EL if self is Language.EL else rulebook_pb2.LANGUAGE_EN


class Status(StrEnum):
    """Where games stand, for `games --status`."""

    ANY = "any"
    WAITING = "waiting"
    RUNNING = "running"
    FINISHED = "finished"
    CANCELLED = "cancelled"

    @property
    def message(self) -> game_pb2.GameStatus.ValueType:
        """As the contract has it."""
        if self is Status.ANY:
            return game_pb2.GAME_STATUS_UNSPECIFIED
        return game_pb2.GameStatus.Value(f"GAME_STATUS_{self.name}")


_Language = Annotated[Language, typer.Option("--lang", help="Greek or English.")]


def variants(
    variant: Annotated[
        str, typer.Argument(help="Only this one, with its house rules.", show_default=False)
    ] = "",
    lang: _Language = Language.EN,
    address: Address = DEFAULT_ADDRESS,
    token: Token = "",
    name: As = "",
) -> None:
    """List what the house plays, or one game with the house rules that a table may choose.

    [dim]kafeneio variants --lang el[/]

    [dim]kafeneio variants pilotta[/]
    """
    door = Door.of(address, token, name)
    if variant:
        found = _told(door, lang, lambda client: client.rulebook.variant(variant))
        _show_variant(found, lang)
        return
    table = Table(box=box.SIMPLE)
    for heading in ("id", "name", "seats", "points"):
        table.add_column(heading, no_wrap=heading == "id")
    for found in _told(door, lang, lambda client: client.rulebook.variants()):
        texts = (found.variant, variant_name(found, lang), _seats(found), _targets(found))
        table.add_row(*map(Text, texts))
    OUT.print(table)
    say("[dim]`kafeneio variants ID` lists the house rules of one.[/]")


def _told(door: Door, lang: Language, visit: Callable[[Client], Awaitable[T]]) -> T:
    """What the house says in the language that was asked for, and be it that it refuses."""
    try:
        return door.enter(visit)
    except Refused as refused:
        if lang is Language.EL and refused.greek:
            raise Mistake(refused.greek) from refused
        raise


def _show_variant(variant: rulebook_pb2.Variant, lang: Language) -> None:
    say(f"[bold]{escape(variant_name(variant, lang))}[/] ({escape(variant.variant)})")
    say(f"{_seats(variant)} seats, to {_targets(variant)} points, paid by {variant.payout_rule}")
    for option in variant.options:
        usual = option.default_value
        values = [usual, *(value for value in option.values if value != usual)]
        say(f"\n[bold cyan]{escape(option.name)}[/]: {escape(', '.join(values))}")
        told = option.description.el if lang is Language.EL else option.description.en
        OUT.print(Text(told), style="dim")


def _seats(variant: rulebook_pb2.Variant) -> str:
    """How many may sit there: "2", "2, 3 or 4"."""
    for option in variant.options:
        if option.name == "players":
            return _listed(list(option.values))
    return str(variant.seats)


def _targets(variant: rulebook_pb2.Variant) -> str:
    """The points that a match may go to, with the usual number."""
    usual = f" ({variant.target_default})"
    if variant.targets:
        return _listed(list(map(str, variant.targets))) + usual
    return f"{variant.target_min} to {variant.target_max}{usual}"


def _listed(words: list[str]) -> str:
    *others, last = words
    return f"{', '.join(others)} or {last}" if others else last


rules_app = typer.Typer(no_args_is_help=True, help="Read the rules of a game.")


def show(
    variant: Annotated[str, typer.Argument(help="What `kafeneio variants` lists.")],
    rule: Annotated[
        list[str] | None,
        typer.Argument(metavar="[RULE]...", help="Only these, e.g. V2.3.", show_default=False),
    ] = None,
    lang: _Language = Language.EN,
    edition: Annotated[int, typer.Option(min=0, help="An older edition; 0 is the newest.")] = 0,
    address: Address = DEFAULT_ADDRESS,
    token: Token = "",
    name: As = "",
) -> None:
    """Show the rules of a game, or some of them by the ids that refusals cite.

    [dim]kafeneio rules show portes --lang el[/]

    [dim]kafeneio rules show portes V2.3 V3.4[/]
    """
    book = _told(
        Door.of(address, token, name),
        lang,
        lambda client: client.rulebook.rules(variant, lang.message, edition),
    )
    wanted = {one.upper() for one in rule or ()}
    unknown = wanted - {one.rule.upper() for one in book.rules}
    if unknown:
        known = ", ".join(one.rule for one in book.rules)
        raise Mistake(f"{variant} has no rule {', '.join(sorted(unknown))}. It has: {known}.")
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold cyan", no_wrap=True)
    table.add_column()
    for one in book.rules:
        if not wanted or one.rule.upper() in wanted:
            table.add_row(Text(one.rule), Text(one.text))
    OUT.print(table)
    say(f"[dim]{escape(book.variant)}, edition {book.edition}[/]")


def games(
    player: Annotated[str, typer.Option(help="Only games with this player.")] = "",
    variant: Annotated[str, typer.Option(help="Only games of this variant.")] = "",
    status: Annotated[Status, typer.Option(help="Only games that stand there.")] = Status.ANY,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="How many at the most.")] = 20,
    address: Address = DEFAULT_ADDRESS,
    token: Token = "",
    name: As = "",
) -> None:
    """List games, the newest first.

    [dim]kafeneio games --player eleni --status finished[/]
    """

    async def fetch(client: Client) -> list[game_pb2.GameSummary]:
        found: list[game_pb2.GameSummary] = []
        listed = client.games.list(
            player_id=player, variant=variant, status=status.message, page_size=min(limit, 200)
        )
        async for summary in listed:
            found.append(summary)
            if len(found) == limit:
                break
        return found

    found = Door.of(address, token, name).enter(fetch)
    if not found:
        say("No game is found.")
        return
    for summary in found:
        OUT.print(_summary(summary), soft_wrap=True)


def _summary(summary: game_pb2.GameSummary) -> Text:
    made = summary.created_at.ToDatetime().isoformat(" ", "minutes")
    status = game_pb2.GameStatus.Name(summary.status).removeprefix("GAME_STATUS_").lower()
    names = ", ".join(map(plain, summary.player_ids))
    text = Text(summary.game_id, "bold").append(f"  {made}  {summary.terms.variant}", "none")
    text.append(f" to {summary.terms.target}  {status:<9}  {names}")
    decided = summary.outcome.decided
    if decided.winners:
        winners = ", ".join(
            plain(summary.player_ids[seat])
            for seat in decided.winners
            if seat < len(summary.player_ids)
        )
        text.append(f"  {winners} won {':'.join(map(str, decided.score))}", "green")
    return text
