"""Tokens for people who have none, made with the development key where it is at hand."""

from __future__ import annotations

import contextlib
import io
import os
import re
from collections.abc import Iterator, Mapping
from typing import Final, Literal, TypeAlias

from kafeneio_client.cli import plugins
from kafeneio_client.cli.screen import Mistake

Role: TypeAlias = Literal["player", "operator", "service"]

_COMMAND: Final = "token"
_TOKEN: Final = re.compile(r"[\w-]+\.[\w-]+\.[\w-]+")


def can_make() -> bool:
    """Whether the command `token` is installed."""
    return _COMMAND in plugins.offers(plugins.COMMANDS)


def make(name: str, role: Role = "player", environment: Mapping[str, str] | None = None) -> str:
    """A token for `name`; `environment` says where the key lies, where it isn't the usual place.

    Mistake where none can be made.
    """
    if not can_make():
        raise Mistake(
            "There is no token: give one with --token or KAFENEIO_TOKEN. (To make one here, "
            "install kafeneio-runtime.)"
        )
    printed = io.StringIO()
    with _set(environment or {}), contextlib.redirect_stdout(printed):
        plugins.run_command(_COMMAND, [name, "--role", role])
    found = _TOKEN.search(printed.getvalue())
    if found is None:
        raise Mistake("`kafeneio token` printed no token: give one with --token.")
    return found.group()


@contextlib.contextmanager
def _set(variables: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables for a while: the settings of the house are read from there."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
