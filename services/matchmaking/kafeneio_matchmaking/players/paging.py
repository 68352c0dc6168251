"""Where a page of a list begins, as a client hands it back."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from datetime import UTC, datetime
from typing import Annotated, Final, NamedTuple, TypeAlias, TypeVar
from uuid import UUID

from kafeneio_runtime.errors import malformed
from pydantic import AwareDatetime, Field, TypeAdapter

PAGE: Final = 50
"""So many are on a page where nothing is said."""

Integer: TypeAlias = Annotated[int, Field(ge=-(2**31), lt=2**31)]
Long: TypeAlias = Annotated[int, Field(ge=0, lt=2**63)]
Real: TypeAlias = Annotated[float, Field(allow_inf_nan=False)]
# Not at the ends of the calendar, where there is no such moment in UTC.
Moment: TypeAlias = Annotated[
    AwareDatetime,
    Field(ge=datetime(2000, 1, 1, tzinfo=UTC), lt=datetime(3000, 1, 1, tzinfo=UTC)),
]
Text: TypeAlias = Annotated[str, Field(max_length=64, pattern=r"^[^\x00]*$")]


class Place(NamedTuple):
    """Who was listed last on a leaderboard, and as which."""

    rank: Long
    floor: Integer
    player_id: Text


class Surprise(NamedTuple):
    """The flag that was listed last."""

    surprise: Real
    kind: Text
    player_id: Text
    other_id: Text


Start = TypeVar("Start")

ID: Final[TypeAdapter[UUID]] = TypeAdapter(UUID)
NUMBER: Final[TypeAdapter[int]] = TypeAdapter(Long)
NAME: Final[TypeAdapter[str]] = TypeAdapter(Text)
PLACE: Final[TypeAdapter[Place]] = TypeAdapter(Place)
SURPRISE: Final[TypeAdapter[Surprise]] = TypeAdapter(Surprise)


def token(kind: TypeAdapter[Start], last: Start) -> str:
    """What says that a page begins after the one listed last."""
    return urlsafe_b64encode(kind.dump_json(last)).decode().rstrip("=")


def start(kind: TypeAdapter[Start], given: str) -> Start | None:
    """The inverse of `token`; None for the first page. Raises MALFORMED where the token was not
    made here."""
    if not given:
        return None
    try:
        return kind.validate_python(json.loads(urlsafe_b64decode(given + "=" * (-len(given) % 4))))
    except ValueError as error:
        raise malformed("page_token", "this token was not made here") from error
