"""What a person can do wrong when he starts a process: a sentence instead of a traceback."""

from __future__ import annotations

import errno
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
    try:
        token_verifier(settings)
        if throws:
            chance_key(settings)
    except (OSError, ValueError) as error:
        raise SystemExit(f"The settings can't be used: {error}") from None
    return settings


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
            "A port is in use: perhaps a house runs already. Stop it, or choose other ports"
            f" (KAFENEIO_RULES_PORT and so on; 0 takes a free one). {text}"
        )
    if isinstance(error, ConnectionError | TimeoutError):
        return f"PostgreSQL can't be reached: {text or 'no answer'}. Look at KAFENEIO_DATABASE_URL."
    return text if isinstance(error, OSError) or "PostgreSQL" in text else None


def _end(sentence: str) -> None:
    raise SystemExit(sentence) from None
