"""What a person can do wrong when he starts a process: a sentence instead of a traceback."""

from __future__ import annotations

import errno
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

import asyncpg
from pydantic import ValidationError
from pydantic_settings import BaseSettings

from kafeneio_runtime.auth import token_verifier
from kafeneio_runtime.secrets import chance_key
from kafeneio_runtime.settings import PREFIX, Settings
from kafeneio_runtime.tls import TlsError

Kind = TypeVar("Kind", bound=BaseSettings)


def read_settings(*, throws: bool = True) -> Settings:
    """The settings of this process; ends it where one can't be used, its keys included.

    A process that never `throws` dice has no business with the key of chance.
    """
    settings = read(Settings, PREFIX)
    with _named("TOKEN_KEYS_FILE" if settings.token_keys_file else "DATA_DIR"):
        token_verifier(settings)
    if throws:
        with _named("CHANCE_KEY" if settings.chance_key else "DATA_DIR"):
            chance_key(settings)
    return settings


@contextmanager
def _named(variable: str) -> Iterator[None]:
    """Says which setting it was that can't be used."""
    try:
        yield
    except (OSError, ValueError) as error:
        raise SystemExit(f"{PREFIX}{variable} can't be used: {error}") from None


def read(kind: type[Kind], prefix: str) -> Kind:
    """Settings from variables with a prefix; ends the process where one can't be used."""
    try:
        return kind()
    except ValidationError as error:
        wrong = [
            f"{prefix}{'_'.join(map(str, each['loc'])).upper()}: {each['msg']}"
            for each in error.errors(include_input=False, include_url=False)
        ]
        raise SystemExit("\n".join(wrong)) from None
    except (OSError, ValueError) as error:
        raise SystemExit(f"The settings can't be used: {error}") from None


@contextmanager
def spoken() -> Iterator[None]:
    """Ends the process with a sentence where what was raised inside is a mistake in its settings or
    surroundings; anything else goes on as it is.
    """
    try:
        yield
    except asyncpg.UndefinedTableError:
        _end("The database is not up to date: run `kafeneio migrate` first.")
    except asyncpg.PostgresError as error:
        _end(f"PostgreSQL says: {error}. Look at KAFENEIO_DATABASE_URL.")
    except asyncpg.InterfaceError as error:
        _end(f"KAFENEIO_DATABASE_URL can't be used: {error}.")
    except TlsError as error:
        _end(f"The settings can't be used: {error}")
    except (OSError, RuntimeError) as error:
        sentence = _sentence(error)
        if sentence is None:
            raise
        _end(sentence)


def _sentence(error: Exception) -> str | None:
    """What a person can do about it; None where it is not his mistake."""
    text = str(error)
    if (isinstance(error, OSError) and error.errno == errno.EADDRINUSE) or "bind" in text.lower():
        return (
            "A port can't be opened: it is in use, perhaps by a house that runs already, or"
            " KAFENEIO_HOST is no address of this machine. Stop that house, or choose other ports"
            f" (KAFENEIO_RULES_PORT and so on; 0 takes a free one). {text}"
        )
    if isinstance(error, socket.gaierror):
        return f"A name is unknown ({text}): look at KAFENEIO_HOST and KAFENEIO_DATABASE_URL."
    if isinstance(error, ConnectionError | TimeoutError):
        return f"PostgreSQL can't be reached: {text or 'no answer'}. Look at KAFENEIO_DATABASE_URL."
    return text if isinstance(error, OSError) or "PostgreSQL" in text else None


def _end(sentence: str) -> None:
    raise SystemExit(sentence) from None
