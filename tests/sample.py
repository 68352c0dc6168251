"""A matrix of which `make test` runs a part; the rest are drills."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from _pytest.mark import ParameterSet


def sample(
    cases: Sequence[tuple[object, ...]], ids: Sequence[str], every: int = 4
) -> list[ParameterSet]:
    """All cases, as parameters; only each `every`-th, from the first, is no drill."""
    return [
        pytest.param(*case, id=name, marks=() if number % every == 0 else pytest.mark.drill)
        for number, (case, name) in enumerate(zip(cases, ids, strict=True))
    ]
