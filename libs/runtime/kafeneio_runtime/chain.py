"""A chain of hashes over what is only ever added to. Pure.

Link n is the SHA-256 of link n-1 and of all that its entry says. So whoever has written down one
link can tell whether anything before it was changed, even if all links were made anew.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from typing import Final, Generic, TypeVar

Key = TypeVar("Key")


@dataclass(frozen=True, slots=True)
class Link:
    """A place in the chain; the hash is empty where it is not known."""

    number: int
    hash: bytes


START: Final = Link(0, bytes(32))
"""Before the first."""


class Break(StrEnum):
    """What is wrong with a link."""

    CHANGED = "changed"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class Linked(Generic[Key]):
    """A stored link: whose it is, and what that says; None where it is gone."""

    link: Link
    key: Key
    said: str | None


@dataclass(frozen=True, slots=True)
class Broken(Generic[Key]):
    """One thing that is wrong; no key where the link itself is missing."""

    what: Break
    number: int
    key: Key | None


def hash_of(previous: bytes, said: str) -> bytes:
    """The hash of the link that follows `previous`."""
    return sha256(previous + said.encode()).digest()


def follow(last: Link, said: str) -> Link:
    """The link of an entry that follows `last`."""
    return Link(last.number + 1, hash_of(last.hash, said))


def verify(start: Link, rows: Iterable[Linked[Key]]) -> tuple[Link, Link, list[Broken[Key]]]:
    """(up to where all is well, the last link, what is wrong) of rows that follow `start`.

    Each is held against the one before it as it stands, so that one that was changed does not spoil
    the rest.
    """
    good, last = start, start
    found: list[Broken[Key]] = []
    for row in rows:
        number = row.link.number
        if number != last.number + 1:
            found.append(Broken(Break.MISSING, last.number + 1, None))
        if row.said is None:
            found.append(Broken(Break.MISSING, number, row.key))
        elif number == last.number + 1 and hash_of(last.hash, row.said) != row.link.hash:
            found.append(Broken(Break.CHANGED, number, row.key))
        last = row.link
        if not found:
            good = last
    return good, last, found
