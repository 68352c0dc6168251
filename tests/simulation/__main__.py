"""A day of the house: `python -m tests.simulation --seed 1 [--players 2000]`."""

from __future__ import annotations

import argparse

from tests.simulation.day import House
from tests.simulation.report import lines


def main() -> None:
    """Simulate it, and print the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--players", type=int, default=2000)
    asked = parser.parse_args()
    for line in lines(House(asked.seed, asked.players).run(), asked.seed):
        print(line)


main()
