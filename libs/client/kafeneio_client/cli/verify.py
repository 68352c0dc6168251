"""`kafeneio verify`: play a finished game through and check every throw of it."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Annotated

import typer
from kafeneio.rules.v1 import game_pb2 as pb

from kafeneio_client import records
from kafeneio_client.cli.options import DEFAULT_ADDRESS, Address, As, Door, Token
from kafeneio_client.cli.screen import Mistake, complain, escape, say


def verify(
    subject: Annotated[str, typer.Argument(metavar="FILE|GAME_ID", help="A record, or a game.")],
    save: Annotated[
        Path | None,
        typer.Option("--save", metavar="FILE", help="Keep the record that was fetched."),
    ] = None,
    address: Address = DEFAULT_ADDRESS,
    token: Token = "",
    name: As = "",
) -> None:
    """Verify a finished game on this computer: its dice, its moves and its result.

    A file is verified without any house; a game is fetched first. Exit code 1 when it is bad.

    [dim]kafeneio verify game.json[/]

    [dim]kafeneio verify 0193f7a0-5c1e-7000-8000-000000000001 --save game.json[/]
    """
    record = _fetch(subject, Door.of(address, token, name)) if _is_id(subject) else _read(subject)
    if save is not None:
        _write(record, save)
    if not report(record):
        raise typer.Exit(1)


def report(record: pb.Record) -> bool:
    """Verify a record, say what was found, and whether it is good."""
    try:
        problems = records.verify(record)
    except records.BadRecord as bad:
        raise Mistake(f"This can't be verified: {bad}.") from bad
    for problem in problems:
        where = f"row {problem.version}: " if problem.version is not None else ""
        complain(f"{problem.kind}: {where}{problem.detail}")
    game = f"{record.game_id} ({record.terms.variant}, edition {record.terms.edition})"
    if problems:
        complain(f"The record of {game} is BAD.")
        return False
    say(
        f"[bold green]Good:[/] {escape(game)}: {len(record.rows)} rows; every throw follows from "
        "the secret and the words, every move from the rules, the result from both."
    )
    return True


def _is_id(subject: str) -> bool:
    if Path(subject).exists():
        return False
    try:
        uuid.UUID(subject)
    except ValueError:
        return False
    return True


def _fetch(game_id: str, door: Door) -> pb.Record:
    return door.enter(lambda client: client.games.record(game_id))


def _read(name: str) -> pb.Record:
    try:
        return records.load(Path(name))
    except records.BadRecord as bad:
        raise Mistake(f"{name}: {bad}. A record is what `--save FILE` writes.") from bad
    except FileNotFoundError as error:
        raise Mistake(
            f"There is no file {name!r}, and it is no id of a game: give either of them."
        ) from error
    except OSError as error:
        raise Mistake(f"{name} can't be read: {error.strerror}.") from error


def _write(record: pb.Record, path: Path) -> None:
    try:
        records.save(record, path)
    except OSError as error:
        raise Mistake(f"{path} can't be written: {error.strerror}.") from error
