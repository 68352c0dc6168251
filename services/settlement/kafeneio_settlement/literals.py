"""Arrays of texts as PostgreSQL reads them from one text: a third of the cost of an array of
values, of which each is looked at before it is sent. A statement says `$1::text::text[]`."""

from __future__ import annotations

from collections.abc import Iterable


def texts(values: Iterable[str | None]) -> str:
    """Any texts. They stand in quotes, where nothing but quotes and backslashes means anything."""
    listed = list(values)
    known = [each for each in listed if each is not None]
    if len(known) == len(listed) > 0:
        joined = '","'.join(known)
        if "\\" not in joined and joined.count('"') == 2 * (len(known) - 1):
            return '{"' + joined + '"}'
    return "{" + ",".join(["NULL" if each is None else _quoted(each) for each in listed]) + "}"


def _quoted(value: str) -> str:
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
