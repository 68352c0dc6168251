"""Where the command writes, and how it says what went wrong."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Final, ParamSpec, TypeVar

import typer
from rich import markup
from rich.console import Console

from kafeneio_client.errors import KafeneioError, Refused, Unreachable
from kafeneio_client.terminal import ASCII, UNICODE, Signs, plain

P = ParamSpec("P")
R = TypeVar("R")

OUT: Final = Console(highlight=False)
ERR: Final = Console(highlight=False, stderr=True)

MISTAKE_EXIT: Final = 2
"""The exit code of a user's mistake, as of a wrong option."""

_ADVICE: Final = {
    "TOKEN_MISSING": "Give one with --token, or make one with `kafeneio token NAME`.",
    "TOKEN_INVALID": "The house and the token must share a key: make one where the house runs, "
    "with `kafeneio token NAME`.",
    "TOKEN_EXPIRED": "Make a new one with `kafeneio token NAME`.",
    "ROLE_REQUIRED": "Make a token for it with `kafeneio token NAME --role ROLE`.",
    "NOT_YOUR_SEAT": "Say whose seat you take with --as NAME.",
    "VARIANT_UNKNOWN": "`kafeneio variants` lists what is played.",
    "GAME_UNKNOWN": "`kafeneio games` lists the games of the house.",
    "WALLET_UNKNOWN": "`kafeneio deposit NAME AMOUNT` makes one.",
    "SEATED": "Leave that one first, or wait until its game has begun.",
    "TABLE_UNKNOWN": "`kafeneio table list` lists the public ones; a private one needs --code.",
    "STALE_SEATING": "Look who sits there, and say again whether you are ready.",
    "TICKET_LIVE": "Leave that one first, or wait until it has ended.",
    "GAME_NOT_OVER": "Its record opens when it is over.",
}


class Mistake(Exception):  # noqa: N818 - a user's, not ours
    """A user's mistake: one sentence that says what to do instead."""


def say(text: str) -> None:
    """One line with rich's markup, never broken: it may hold a command to copy."""
    OUT.print(text, soft_wrap=True)


def escape(text: str) -> str:
    """Somebody else's text for `say`: on one line, without markup, and without characters that
    would steer the terminal."""
    return markup.escape(plain(text, len(text)))


def complain(text: str) -> None:
    """One red sentence; it is shown without markup."""
    lines = "\n".join(map(escape, text.split("\n")))
    ERR.print(f"[bold red]{lines}[/]", soft_wrap=True)


def signs() -> Signs:
    """The characters that this terminal can show."""
    return UNICODE if OUT.encoding.lower().startswith("utf") else ASCII


def explain(error: KafeneioError) -> str:
    """An error of a call as a sentence for a person, with what to do."""
    if isinstance(error, Unreachable):
        return (
            f"No house answers at {error.address}. Start one with `kafeneio serve house`, or say "
            "where it is with --address HOST:PORT (and --clock, --settlement, --matchmaking)."
        )
    if not isinstance(error, Refused):
        return error.message
    parts = [sentence(error.message)]
    parts += [
        sentence(f"{plain(field)}: {why}")
        for field, why in error.violations
        if why not in error.message
    ]
    if error.rule:
        parts.insert(0, f"{error.rule}:")
    if error.retry_after is not None:
        parts.append(f"Try again in {error.retry_after:.1f} s.")
    if error.reason in _ADVICE:
        parts.append(_ADVICE[error.reason])
    return " ".join(parts)


def sentence(text: str) -> str:
    """The text with a capital letter and a full stop."""
    text = text.strip()
    return text if text.endswith((".", "!", "?")) else f"{text[:1].upper()}{text[1:]}."


def spoken(command: Callable[P, R]) -> Callable[P, R]:
    """The command, which on a mistake or a refusal says one sentence instead of a stack trace."""

    @functools.wraps(command)
    def speaking(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return command(*args, **kwargs)
        except Mistake as mistake:
            complain(str(mistake))
            raise typer.Exit(MISTAKE_EXIT) from mistake
        except KafeneioError as error:
            complain(explain(error))
            raise typer.Exit(MISTAKE_EXIT) from error

    return speaking
