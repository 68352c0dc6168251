"""A small simulated day: the same every time, and what the queue promises."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime, timedelta
from itertools import pairwise

import pytest

from tests.simulation.day import TIME_TO_LIVE, Day, House, pairs_of
from tests.simulation.report import at, lines

SEED, PLAYERS, FEW = 7, 800, 200

pytestmark = pytest.mark.xdist_group("simulation")


@pytest.fixture(scope="module")
def day() -> Day:
    """A day of a small house."""
    return House(SEED, PLAYERS).run()


def test_the_same_seed_is_the_same_day() -> None:
    day, again, other = (House(seed, FEW).run() for seed in (SEED, SEED, SEED + 1))
    assert len(day.tables) > 10
    assert list(lines(again, SEED)) == list(lines(day, SEED))
    assert again.tables == day.tables
    assert other.tables != day.tables


def test_something_happens(day: Day) -> None:
    assert len(day.tables) > 100
    assert {2, 4} <= {table.pairing.terms.seats for table in day.tables}
    assert any(ticket.partner for table in day.tables for ticket in table.pairing.people)


def test_nobody_is_at_two_tables(day: Day) -> None:
    spans: defaultdict[str, list[tuple[datetime, datetime]]] = defaultdict(list)
    for table in day.tables:
        assert len(set(table.pairing.players)) == table.pairing.terms.seats
        for player in table.pairing.players:
            spans[player].append((table.at, table.until))
    for sat in spans.values():
        ordered = sorted(sat)
        assert all(before[1] <= after[0] for before, after in pairwise(ordered))


def test_parties_are_whole(day: Day) -> None:
    for table in day.tables:
        for seat, ticket in enumerate(table.pairing.people):
            if ticket.partner:
                assert table.pairing.players[(seat + 2) % 4] == ticket.partner


def test_nobody_waits_for_ever(day: Day) -> None:
    seated = sum(len(table.pairing.people) for table in day.tables)
    assert not day.waiting
    assert seated + len(day.expired) == day.came.total()
    assert all(waited < TIME_TO_LIVE for table in day.tables for waited in table.waited)


def test_all_at_a_table_accept_each_other(day: Day) -> None:
    """The published window: 100 points, 10 more a second, any after a minute."""

    def unit(ticket_rating: int, partner: str) -> float:
        return (ticket_rating + day.ratings[partner]) / 2 if partner else float(ticket_rating)

    for table in day.tables:
        for pair in pairs_of(table.pairing):
            apart = [unit(day.ratings[ticket.player_id], ticket.partner) for ticket in pair]
            for ticket in pair:
                waited = table.at - ticket.queued_at
                if waited < timedelta(seconds=60):
                    assert abs(apart[0] - apart[1]) <= 100 + 10 * waited.total_seconds()


def test_the_report_counts_them_all(day: Day) -> None:
    report = list(lines(day, SEED))
    assert report[0] == f"one day, {PLAYERS} players, seed {SEED}"
    total = report[-1].split()
    assert total[0] == "all"
    came, tables, nobody = (int(word.replace(",", "")) for word in total[1:4])
    assert (came, tables, nobody) == (day.came.total(), len(day.tables), len(day.expired))
    assert len(report) == 3 + len(day.came)


@pytest.mark.parametrize(("part", "expected"), [(0.5, 6.0), (0.9, 10.0), (0.99, 10.0), (0.0, 1.0)])
def test_percentiles(part: float, expected: float) -> None:
    assert at([float(number) for number in range(1, 11)], part) == expected


def test_no_percentile_of_nothing() -> None:
    assert at([], 0.5) == 0.0
