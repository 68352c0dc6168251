"""Limits: what is stricter holds at once, what is looser a day later; and when one is reached."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafeneio_matchmaking.players.domain import (
    NO_LIMIT,
    Key,
    Kind,
    Limit,
    Usage,
    change_limits,
    day_of,
    reached,
)

NOW = datetime(2026, 11, 30, 21, tzinfo=UTC)
DAY = timedelta(days=1)
STAKE: Key = (Kind.STAKE, "EUR")
LOSS: Key = (Kind.LOSS, "EUR")
TIME: Key = (Kind.TIME, "")
NOTHING = Usage({}, {}, timedelta())


@pytest.mark.parametrize(
    ("before", "wanted", "after"),
    [
        (NO_LIMIT, 500, Limit(500)),
        (Limit(500), 400, Limit(400)),
        (Limit(500), 500, Limit(500)),
        (Limit(500), 600, Limit(500, NOW + DAY, 600)),
        (Limit(500), None, Limit(500, NOW + DAY, None)),
        (Limit(500), 0, Limit(0)),
        (NO_LIMIT, None, NO_LIMIT),
        # Something looser is on its way.
        (Limit(500, NOW + DAY / 2, 600), 600, Limit(500, NOW + DAY / 2, 600)),
        (Limit(500, NOW + DAY / 2, 600), 700, Limit(500, NOW + DAY, 700)),
        (Limit(500, NOW + DAY / 2, 600), 500, Limit(500)),
        (Limit(500, NOW + DAY / 2, 600), 400, Limit(400)),
        (Limit(500, NOW + DAY / 2, None), 600, Limit(500, NOW + DAY, 600)),
        # Or has come.
        (Limit(500, NOW, 600), 600, Limit(600)),
        (Limit(500, NOW, 600), 550, Limit(550)),
        (Limit(500, NOW - DAY, None), None, NO_LIMIT),
    ],
)
def test_changes(before: Limit, wanted: int | None, after: Limit) -> None:
    assert before.changed(wanted, NOW) == after


amounts = st.none() | st.integers(0, 10)


@given(st.lists(st.tuples(st.integers(0, 30), amounts), max_size=12))
def test_nothing_gets_looser_within_a_day_of_being_asked_for(
    wishes: list[tuple[int, int | None]],
) -> None:
    limit, now = Limit(5), NOW
    asked: list[tuple[datetime, int | None]] = [(now - DAY, 5)]
    for hours, wanted in wishes:
        now += timedelta(hours=hours)
        before = limit.at(now).now
        limit = limit.changed(wanted, now)
        asked.append((now, wanted))
        after = limit.at(now).now
        looser = before is not None and (after is None or after > before)
        assert not looser, "asking loosens nothing at once"
        if limit.since is not None:
            assert now < limit.since <= now + DAY
        # What holds was asked for; where it is looser than what came after, a day ago or earlier.
        assert after in [value for _, value in asked]


def test_all_at_once() -> None:
    held = {STAKE: Limit(500), TIME: Limit(3600)}
    changed = change_limits(held, {STAKE: 300, LOSS: 200}, NOW)
    assert changed == {
        STAKE: Limit(300),
        LOSS: Limit(200),
        TIME: Limit(3600, NOW + DAY, None),
    }
    assert change_limits({TIME: Limit(1, NOW, None)}, {}, NOW) == {}


@pytest.mark.parametrize(
    ("limits", "usage", "stake", "expected"),
    [
        ({}, NOTHING, 10_000, None),
        ({STAKE: Limit(500)}, NOTHING, 500, None),
        ({STAKE: Limit(500)}, NOTHING, 501, Kind.STAKE),
        ({STAKE: Limit(500)}, Usage({"EUR": 400}, {}, timedelta()), 100, None),
        ({STAKE: Limit(500)}, Usage({"EUR": 400}, {}, timedelta()), 101, Kind.STAKE),
        ({STAKE: Limit(500)}, Usage({"USD": 400}, {}, timedelta()), 500, None),
        ({STAKE: Limit(0)}, NOTHING, 1, Kind.STAKE),
        ({LOSS: Limit(500)}, Usage({}, {"EUR": 400}, timedelta()), 100, None),
        ({LOSS: Limit(500)}, Usage({}, {"EUR": 400}, timedelta()), 101, Kind.LOSS),
        ({LOSS: Limit(500)}, Usage({}, {"EUR": -400}, timedelta()), 900, None),
        ({TIME: Limit(3600)}, Usage({}, {}, timedelta(minutes=59)), 100, None),
        ({TIME: Limit(3600)}, Usage({}, {}, timedelta(hours=1)), 100, Kind.TIME),
        ({TIME: Limit(0)}, NOTHING, 100, Kind.TIME),
        # What is looser does not hold yet; what has come does.
        ({STAKE: Limit(500, NOW + DAY, 900)}, NOTHING, 600, Kind.STAKE),
        ({STAKE: Limit(500, NOW, 900)}, NOTHING, 600, None),
    ],
)
def test_reached(limits: dict[Key, Limit], usage: Usage, stake: int, expected: Kind | None) -> None:
    assert reached(limits, usage, "EUR", stake, NOW) is expected


@pytest.mark.parametrize("key", [STAKE, LOSS])
def test_a_game_for_nothing_reaches_no_limit_of_money(key: Key) -> None:
    used = Usage({"EUR": 900}, {"EUR": 900}, timedelta(hours=1))
    assert reached({key: Limit(0)}, used, "", 0, NOW) is None
    assert reached({TIME: Limit(60)}, used, "", 0, NOW) is Kind.TIME


def test_a_day_is_one_of_utc() -> None:
    begin = datetime(2026, 11, 30, tzinfo=UTC)
    athens = timezone(timedelta(hours=2))
    assert day_of(NOW) == (begin, begin + DAY)
    assert day_of(begin) == (begin, begin + DAY)
    assert day_of(datetime(2026, 12, 1, 1, 59, tzinfo=athens)) == (begin, begin + DAY)
