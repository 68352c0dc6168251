"""`kafeneio demo` in a process of its own: a whole game through the public API, verified."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

import pytest

SECONDS = 120


async def kafeneio(*arguments: str) -> tuple[int, str]:
    """The exit code of the command, and what it printed."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "kafeneio_client", *arguments),
        env={**os.environ, "NO_COLOR": "1", "COLUMNS": "100"},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    async with asyncio.timeout(SECONDS):
        printed, _ = await process.communicate()
    assert process.returncode is not None
    return process.returncode, printed.decode()


@pytest.mark.timeout(SECONDS + 30)
async def test_two_programs_play_a_game_of_portes_and_its_record_is_good(tmp_path: Path) -> None:
    record = tmp_path / "record.json"
    code, printed = await kafeneio("demo", "portes", "--save", str(record))
    assert code == 0, printed
    assert "Good:" in printed
    assert "The house has ended as it should." in printed

    code, printed = await kafeneio("verify", str(record))
    assert code == 0, printed

    # One throw changed by hand, and anybody can tell.
    saved = json.loads(record.read_text("utf-8"))
    seat, _, dice = saved["rows"][0]["entries"][-1].partition(" ")
    saved["rows"][0]["entries"][-1] = f"{seat} {'66' if dice != '66' else '65'}"
    record.write_text(json.dumps(saved), "utf-8")
    code, printed = await kafeneio("verify", str(record))
    assert code == 1, printed


@pytest.mark.timeout(SECONDS + 30)
async def test_one_of_them_leaves_and_the_other_is_paid() -> None:
    code, printed = await kafeneio("demo", "portes", "--leave")
    assert code == 0, printed
    assert "(LEFT)" in printed
    assert "Good:" in printed
    assert "fee 0.00 EUR" in printed


async def test_a_game_that_the_house_does_not_know_is_a_sentence() -> None:
    code, printed = await kafeneio("demo", "bridge")
    assert code == 2
    assert "Traceback" not in printed
    assert "portes" in printed
