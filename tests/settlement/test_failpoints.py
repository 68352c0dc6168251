"""SIGKILL on either side of every commit of money: done whole or not at all, and done once when it
is done again."""

from __future__ import annotations

import ast
import asyncio
import os
import signal
import sys
from pathlib import Path

import kafeneio_settlement
import pytest

from tests.settlement.house import PATIENCE, SEATS, House
from tests.settlement.killed import SCENES, seal
from tests.settlement.operators import verify

ROOT = Path(__file__).resolve().parents[2]
NAMES = [
    f"settlement.{scene}.{moment}" for scene in SCENES for moment in ("before_commit", "committed")
]


def failpoints() -> set[str]:
    """Every name that stands in a call of `failpoint` in the service."""
    found = set()
    for path in Path(kafeneio_settlement.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id == "failpoint"
            ):
                argument = node.args[0]
                assert isinstance(argument, ast.Constant), f"{path}: a name is a literal"
                found.add(str(argument.value))
    return found


def test_every_failpoint_has_a_scene() -> None:
    assert failpoints() == set(NAMES)


@pytest.mark.parametrize("failpoint", NAMES)
async def test_killed_at(failpoint: str, database_url: str, keys: Path) -> None:
    scene = failpoint.split(".")[1]
    before, step, balances = SCENES[scene]
    async with House.serve(database_url, keys) as house:
        await before(house)
        start = [await house.balance(who) for who in SEATS]
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.settlement.killed", database_url, str(keys), scene),
        cwd=ROOT,
        env={**os.environ, "KAFENEIO_FAILPOINT": failpoint},
        stderr=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
    )
    async with asyncio.timeout(4 * PATIENCE):
        assert await process.wait() == -signal.SIGKILL
    async with House.serve(database_url, keys) as house:
        found = [await house.balance(who) for who in SEATS]
        if scene != "settle":  # its first batch is one witness, its second the other
            assert found == (balances if failpoint.endswith("committed") else start)
        await house.check_ledger()
        for _ in range(2):
            await step(house)
            assert [await house.balance(who) for who in SEATS] == balances
        await house.check_ledger()
        await seal(house)
        assert not (await verify(house)).faults
