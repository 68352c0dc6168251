"""Events of other services: as the bus brings them, and as their producer tells them by pages."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID

import pytest
from kafeneio.rules.v1.events_pb2 import GameEvent, TurnEnded
from kafeneio_runtime.bus import Event
from kafeneio_runtime.events import PAGE, all_after, read

NAME, GAME = UUID(int=1), UUID(int=2)
WHEN = datetime(2026, 11, 30, 12, tzinfo=UTC)


def test_what_the_envelope_says_is_in_the_message() -> None:
    payload = GameEvent(game_id=str(GAME), sequence=7, turn_ended=TurnEnded(turn=3))
    event = Event(NAME, "rules.events", GAME, 7, "turn_ended", payload.SerializeToString(), WHEN)
    message = read(event, GameEvent)
    assert message.event_id == str(NAME)
    assert message.occurred_at.ToDatetime(UTC) == WHEN
    assert (message.game_id, message.sequence, message.turn_ended.turn) == (str(GAME), 7, 3)


@pytest.mark.parametrize("count", [0, 1, PAGE - 1, PAGE, PAGE + 1, 2 * PAGE])
@pytest.mark.parametrize("after", [0, 3])
async def test_all_pages_are_asked_for(count: int, after: int) -> None:
    told = [GameEvent(sequence=after + number + 1) for number in range(count)]
    asked: list[int] = []

    async def ask(last: int) -> Sequence[GameEvent]:
        asked.append(last)
        return [event for event in told if event.sequence > last][:PAGE]

    assert await all_after(after, ask) == told
    assert asked == [after + PAGE * number for number in range(count // PAGE + 1)]


async def test_what_is_raised_is_raised() -> None:
    async def ask(_last: int) -> Sequence[GameEvent]:
        raise ConnectionError

    with pytest.raises(ConnectionError):
        await all_after(0, ask)
