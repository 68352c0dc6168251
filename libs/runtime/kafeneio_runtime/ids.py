"""Ids: made in order of time, read with a refusal."""

from uuid import UUID

from uuid_utils.compat import uuid7

from kafeneio_runtime.errors import malformed


def new_id() -> UUID:
    """A new UUIDv7: ids made later sort later, so that indexes grow at one end."""
    return uuid7()


def parse_id(text: str, field: str) -> UUID:
    """The id written in `text`, in its canonical form with dashes.

    Raises a MALFORMED `Refusal` that names `field` otherwise. Other spellings (braces, no dashes,
    upper case) are refused: one id has one text, so texts may be compared and hashed.
    """
    try:
        value = UUID(text)
    except ValueError:
        value = None
    if value is None or str(value) != text:
        raise malformed(field, "must be a UUID in lower case with dashes")
    return value
