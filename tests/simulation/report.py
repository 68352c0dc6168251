"""How long players waited in a simulated day, and how equal their opponents were."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from tests.simulation.day import Day, Table


def at(ordered: Sequence[float], part: float) -> float:
    """What so large a part of them does not exceed; they are in order."""
    return ordered[min(int(len(ordered) * part), len(ordered) - 1)] if ordered else 0.0


def lines(day: Day, seed: int) -> Iterator[str]:
    """The report, line by line: the same for the same day."""
    by_variant: defaultdict[str, list[Table]] = defaultdict(list)
    for table in day.tables:
        by_variant[table.pairing.terms.variant].append(table)
    expired: defaultdict[str, int] = defaultdict(int)
    for ticket in day.expired:
        expired[ticket.terms.variant] += 1
    yield f"one day, {len(day.ratings):,} players, seed {seed}"
    yield (
        f"{'variant':18} {'tickets':>8} {'tables':>7} {'nobody':>7} "
        f"{'waited s: p50':>14} {'p90':>6} {'p99':>6} {'gap: p50':>9} {'p90':>6} {'p99':>6}"
    )
    for variant in sorted(day.came):
        yield _line(day, variant, day.came[variant], by_variant[variant], expired[variant])
    yield _line(day, "all", day.came.total(), day.tables, len(day.expired))


def _line(day: Day, name: str, came: int, tables: Iterable[Table], expired: int) -> str:
    seated = list(tables)
    waited = sorted(each.total_seconds() for table in seated for each in table.waited)
    gaps = sorted(float(table.gap(day.ratings)) for table in seated)
    waits = " ".join(
        f"{at(waited, part):{width}.0f}" for part, width in ((0.5, 14), (0.9, 6), (0.99, 6))
    )
    apart = " ".join(
        f"{at(gaps, part):{width}.0f}" for part, width in ((0.5, 9), (0.9, 6), (0.99, 6))
    )
    return f"{name:18} {came:8,} {len(seated):7,} {expired:7,} {waits} {apart}"
