"""`kafeneio bus`: what an operator does with the bus of a house on NATS."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from datetime import timedelta
from enum import StrEnum
from typing import Final

import nats.errors
from nats.js.errors import APIError

from kafeneio_runtime import logs, outbox, store
from kafeneio_runtime.dead_letters import DeadLetter, DeadLetters
from kafeneio_runtime.mistakes import read_settings, spoken
from kafeneio_runtime.nats_link import Link, Options
from kafeneio_runtime.settings import Settings

_SERVICES: Final = ("rules", "clock", "settlement", "matchmaking")
_PATIENCE_SECONDS: Final = 15.0


class Action(StrEnum):
    """What is done."""

    DEAD_LIST = "dead-list"
    DEAD_REPLAY = "dead-replay"
    REPUBLISH = "republish"


def bus(
    action: Action,
    numbers: str = "",
    consumer: str = "",
    every: bool = False,
    service: str = "",
    hours: float = 24,
) -> None:
    """Look after the events of a house on NATS (KAFENEIO_NATS_URL).

    dead-list: events that a consumer could not handle; --consumer CONSUMER shows only its own.

    dead-replay: deliver them to it again, once its fault is mended: --numbers 3,4 of the list, all
    of one --consumer, or --every one.

    republish: publish the events of a --service again (KAFENEIO_DATABASE_URL), of the last --hours,
    where NATS has lost them. Who has heard one already does nothing.
    """
    settings = read_settings(throws=False)
    if settings.nats_url is None:
        raise SystemExit("Set KAFENEIO_NATS_URL to the NATS of the house.")
    logs.configure("error", "console")
    with spoken():
        if action is Action.REPUBLISH:
            asyncio.run(_republish(settings, service, hours))
        else:
            asyncio.run(_dead(settings, action, _numbers(numbers), consumer, every))


async def _dead(
    settings: Settings, action: Action, numbers: frozenset[int], consumer: str, every: bool
) -> None:
    if action is Action.DEAD_REPLAY and not (numbers or consumer or every):
        raise SystemExit("Say which: --numbers 3,4 or --consumer CONSUMER or --every.")
    link = Link(Options.of(settings))
    letters = DeadLetters(link)
    try:
        async with asyncio.timeout(_PATIENCE_SECONDS):
            found = await letters.all(consumer)
            if numbers:
                found = [letter for letter in found if letter.number in numbers]
                missing = numbers - {letter.number for letter in found}
                if missing:
                    raise SystemExit(f"There is no letter {', '.join(map(str, sorted(missing)))}.")
            if action is Action.DEAD_REPLAY:
                await letters.replay(found)
    except TimeoutError:
        raise SystemExit("NATS does not answer: look at KAFENEIO_NATS_URL.") from None
    except (nats.errors.Error, APIError) as error:
        raise SystemExit(f"NATS says: {error}") from None
    finally:
        await link.close()
    _show(found)
    _say(f"{len(found)} {'delivered again' if action is Action.DEAD_REPLAY else 'kept'}.")


async def _republish(settings: Settings, service: str, hours: float) -> None:
    if service not in _SERVICES:
        raise SystemExit(f"Say whose: --service {'|'.join(_SERVICES)}.")
    connection = await store.connect(settings.required_database_url(), service)
    try:
        count = await outbox.unpublish(connection, timedelta(hours=hours))
    finally:
        await connection.close()
    _say(f"{count} are published again, by a running {service}.")


def _numbers(text: str) -> frozenset[int]:
    try:
        return frozenset(int(part) for part in text.split(",") if part.strip())
    except ValueError:
        raise SystemExit("Numbers are those of the list, with commas: --numbers 3,4.") from None


def _show(letters: Sequence[DeadLetter]) -> None:
    for letter in letters:
        event = letter.event
        kept = "" if letter.kept_at is None else letter.kept_at.isoformat(timespec="seconds")
        _say(
            f"{letter.number:>6}  {kept}  {letter.consumer}  {event.subject} {event.type}"
            f"  {event.key} #{event.sequence}  {letter.error}"
        )


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
