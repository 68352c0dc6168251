"""What the README of the games says is so."""

from __future__ import annotations

import re
from pathlib import Path

from kafeneio_games.match import Outcome
from kafeneio_games.play import FORFEIT_REASONS, VOID_REASONS

from tests.games import test_chance

README = (Path(__file__).parents[2] / "libs" / "games" / "README.md").read_text("utf-8")


def test_the_example_runs() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    names: dict[str, object] = {}
    exec(code.replace("print(play.outcome)", ""), names)
    outcome = names["play"].outcome  # type: ignore[attr-defined]
    assert isinstance(outcome, Outcome)
    assert max(outcome.score) >= 3


def test_the_vectors_are_those_of_the_tests() -> None:
    for vector in (test_chance.COMMITMENT, test_chance.VECTOR_CONTEXT, test_chance.VECTOR_DICE):
        assert f"`{vector}`" in README
    assert f"`{' '.join(map(str, test_chance.VECTOR_SHUFFLE))}`" in README


def test_every_reason_is_named() -> None:
    assert all(reason in README for reason in (*FORFEIT_REASONS, *VOID_REASONS))
