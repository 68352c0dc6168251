"""An event as a message of NATS, and back: the payload is the event's, the rest are headers."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final
from uuid import UUID

from kafeneio_runtime.bus import Event

MESSAGE_ID: Final = "Nats-Msg-Id"
"""By which NATS drops what is published again; it is the event's id."""
EVENT_ID: Final = "Kafeneio-Event-Id"
SUBJECT: Final = "Kafeneio-Subject"
KEY: Final = "Kafeneio-Key"
SEQUENCE: Final = "Kafeneio-Sequence"
TYPE: Final = "Kafeneio-Type"
OCCURRED_AT: Final = "Kafeneio-Occurred-At"


class UnreadableError(ValueError):
    """A message that is no event of ours."""


def headers(event: Event, message_id: str = "") -> dict[str, str]:
    """The headers of an event, published under its own id or another."""
    return {
        MESSAGE_ID: message_id or str(event.id),
        EVENT_ID: str(event.id),
        SUBJECT: event.subject,
        KEY: str(event.key),
        SEQUENCE: str(event.sequence),
        TYPE: event.type,
        OCCURRED_AT: event.occurred_at.isoformat(),
    }


def event(payload: bytes, told: Mapping[str, str] | None) -> Event:
    """The event in a message. Raises UnreadableError."""
    try:
        told = told or {}
        return Event(
            id=UUID(told[EVENT_ID]),
            subject=told[SUBJECT],
            key=UUID(told[KEY]),
            sequence=int(told[SEQUENCE]),
            type=told[TYPE],
            payload=payload,
            occurred_at=datetime.fromisoformat(told[OCCURRED_AT]),
        )
    except (KeyError, ValueError) as error:
        raise UnreadableError("a message without the headers of an event") from error
