"""Logs: one JSON object per line on standard error, or coloured text for people.

Nothing secret gets into a log line. Values under a telltale key are struck out, and so is whatever
looks like a token or a password inside a text; an object is named by its type and not shown; the
details of a database error are left out, because PostgreSQL quotes the row in them.
"""

import logging
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Final, Literal, TextIO, cast
from uuid import UUID

import asyncpg
import structlog
from structlog.typing import EventDict, FilteringBoundLogger, Processor, WrappedLogger

from kafeneio_runtime import tracing
from kafeneio_runtime.calls import current_call

_SECRET_WORDS: Final = frozenset(
    ("secret", "token", "hand", "stock", "seed", "word", "authorization", "password", "key")
)
_STRUCK: Final = "[redacted]"
_SECRET_TEXTS: Final = (
    re.compile(r"(?<=://)[^/@\s]+(?=@)"),  # user:password in a URL
    re.compile(r"(?i)(?<=bearer )\S+"),
    re.compile(r"\beyJ[\w-]+\.[\w-]+\.[\w-]+"),  # a JWT
)
_PLAIN: Final = (int, float, date, UUID, Path, type(None))


def logger(name: str) -> FilteringBoundLogger:
    """The logger of a module. Costs next to nothing below the level that is logged."""
    return cast(FilteringBoundLogger, structlog.get_logger(module=name))


def configure(
    level: Literal["debug", "info", "warning", "error"] = "info",
    form: Literal["json", "console"] = "json",
    stream: TextIO | None = None,
) -> None:
    """Sets the logs of the process up; lines of libraries (grpc, asyncpg, asyncio) come out in the
    same way.
    """
    out = stream or sys.stderr
    number = logging.getLevelNamesMapping()[level.upper()]
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        _add_call,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _without_details,
        structlog.processors.format_exc_info,
        redact,
    ]
    render: Processor = (
        structlog.processors.JSONRenderer()
        if form == "json"
        # The prettier tracebacks show local variables, and so whatever secrets are in them.
        else structlog.dev.ConsoleRenderer(
            colors=out.isatty(), exception_formatter=structlog.dev.plain_traceback
        )
    )
    structlog.configure(
        processors=[*shared, render],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=structlog.WriteLoggerFactory(out),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(out)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.add_logger_name, *shared],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, render],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(max(number, logging.INFO))  # the debug lines of libraries show what they send


def redact(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Strikes out what may be secret. The last step before a line is rendered."""
    return {key: _clean(key, value) for key, value in event.items()}


def _clean(key: str, value: object) -> object:
    if _SECRET_WORDS & {word.rstrip("s") for word in key.lower().split("_")}:
        return _STRUCK
    if isinstance(value, str):
        for pattern in _SECRET_TEXTS:
            value = pattern.sub(_STRUCK, value)
        return value
    if isinstance(value, Mapping):
        return {str(name): _clean(str(name), inner) for name, inner in value.items()}
    if isinstance(value, Sequence | frozenset | set) and not isinstance(value, bytes | bytearray):
        return [_clean("", inner) for inner in value]
    if isinstance(value, _PLAIN):
        return value if isinstance(value, int | float | None) else str(value)
    return f"<{type(value).__name__}>"


def _add_call(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Which call and which trace the line belongs to, if any."""
    trace = tracing.trace_id()
    if trace is not None:
        event.setdefault("trace_id", trace)
    call = current_call.get(None)
    if call is not None:
        event.setdefault("request_id", call.request_id)
        event.setdefault("method", call.method.full)
        if call.caller is not None:
            event.setdefault("caller", call.caller.subject)
    return event


def _without_details(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    error = event.get("exc_info")
    if error is True:
        error = sys.exc_info()
    if isinstance(error, tuple):
        error = error[1]
    for each in _chain(error if isinstance(error, BaseException) else None):
        if isinstance(each, asyncpg.PostgresError):
            each.detail = None
    return event


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """The error and all that led to it."""
    seen: set[int] = set()
    waiting = [error]
    while waiting:
        each = waiting.pop()
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        yield each
        waiting += [each.__cause__, each.__context__]
        if isinstance(each, BaseExceptionGroup):
            waiting += each.exceptions
