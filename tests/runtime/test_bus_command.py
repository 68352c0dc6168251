"""`kafeneio bus`: dead letters are listed and delivered again, and mistakes are sentences."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from kafeneio_runtime.bus_command import Action, bus
from kafeneio_runtime.nats_bus import NatsBus
from kafeneio_runtime.settings import Settings

from tests.contract.test_bus import SUBJECT, Listener, event

CONSUMER = "settlement.rules"


@pytest.fixture
async def house(
    nats_settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> AsyncIterator[NatsBus]:
    """A house with two dead letters of one consumer and one of another, numbered from 1."""
    for name, value in nats_settings.items():
        monkeypatch.setenv(f"KAFENEIO_{name.upper()}", str(value))
    monkeypatch.setenv("KAFENEIO_DATA_DIR", str(tmp_path))
    opened = NatsBus(Settings(**nats_settings))
    for number, consumer in enumerate((CONSUMER, CONSUMER, "clock"), 1):
        await opened.dead_letters.keep(event(number), consumer, KeyError("of no interest"))
    yield opened
    await opened.close()


async def test_they_are_listed(house: NatsBus, capsys: pytest.CaptureFixture[str]) -> None:
    await asyncio.to_thread(bus, Action.DEAD_LIST)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["1", "2", "3", "3"]
    assert lines[3] == "3 kept."
    assert all(CONSUMER in line and "KeyError" in line for line in lines[:2])
    assert "of no interest" not in "".join(lines)
    await asyncio.to_thread(bus, Action.DEAD_LIST, consumer="clock")
    assert capsys.readouterr().out.splitlines()[-1] == "1 kept."


async def test_those_that_are_named_are_delivered_again(
    house: NatsBus, capsys: pytest.CaptureFixture[str]
) -> None:
    listener = Listener()
    await house.subscribe(SUBJECT, CONSUMER, listener)
    await asyncio.to_thread(bus, Action.DEAD_REPLAY, numbers="2")
    assert await listener.until(1) == [2]
    assert [letter.number for letter in await house.dead_letters.all()] == [1, 3]
    await asyncio.to_thread(bus, Action.DEAD_REPLAY, consumer=CONSUMER)
    assert await listener.until(2) == [2, 1]
    await asyncio.to_thread(bus, Action.DEAD_REPLAY, every=True)
    assert await house.dead_letters.all() == []
    assert [line for line in capsys.readouterr().out.splitlines() if line.endswith("again.")] == [
        "1 delivered again."
    ] * 3


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"action": Action.DEAD_REPLAY}, "Say which"),
        ({"action": Action.DEAD_REPLAY, "numbers": "9"}, "no letter 9"),
        ({"action": Action.DEAD_LIST, "numbers": "two"}, "with commas"),
        ({"action": Action.REPUBLISH, "service": "bank"}, "Say whose"),
    ],
)
async def test_a_mistake_is_a_sentence_and_changes_nothing(
    house: NatsBus, arguments: dict[str, Any], said: str
) -> None:
    with pytest.raises(SystemExit, match=said):
        await asyncio.to_thread(lambda: bus(**arguments))
    assert len(await house.dead_letters.all()) == 3


def test_a_house_without_nats_has_no_such_bus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KAFENEIO_NATS_URL", raising=False)
    with pytest.raises(SystemExit, match="KAFENEIO_NATS_URL"):
        bus(Action.DEAD_LIST)
