"""Packages that offer a fake house and fake tokens, found by entry points as the real ones are."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path

from tests.client.fake_house import FakeHouse, serving

_ENTRY_POINTS = {
    "kafeneio-house": """
        [kafeneio.serve]
        house = tests.client.plugins:house
        [kafeneio.migrate]
        house = tests.client.plugins:migrate
    """,
    "kafeneio-rules": """
        [kafeneio.serve]
        broken = tests.client.nothing:at_all
        odd = tests.client.plugins:__doc__
        [kafeneio.migrate]
        broken = tests.client.nothing:at_all
    """,
    "kafeneio-runtime": """
        [kafeneio.commands]
        token = tests.client.plugins:token
        bus = tests.client.plugins:bus
    """,
}
REPOSITORY = Path(__file__).parents[2]


def install(folder: Path) -> None:
    """Put the packages into a folder; on the path before the real ones they take their place."""
    for name, entry_points in _ENTRY_POINTS.items():
        info = folder / f"{name.replace('-', '_')}-0.0.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.0.0\n")
        lines = [line.strip() for line in entry_points.splitlines()]
        (info / "entry_points.txt").write_text("\n".join(lines))


def environment(folder: Path, **more: str) -> dict[str, str]:
    """For a process that finds the packages of `folder`."""
    path = os.pathsep.join([str(folder), str(REPOSITORY), os.environ.get("PYTHONPATH", "")])
    kept = {k: v for k, v in os.environ.items() if not k.startswith("KAFENEIO_")}
    return kept | {"PYTHONPATH": path, "COLUMNS": "100", **more}


class Role(StrEnum):
    PLAYER = "player"
    OPERATOR = "operator"
    SERVICE = "service"


def token(name: str, role: Role = Role.PLAYER, hours: float = 12) -> None:
    """Print a token as the fake house reads it."""
    assert hours > 0
    if os.environ.get("FAKE_TOKEN") == "none":
        return
    sys.stdout.write(f"token.{name}.made\n")
    with Path(os.environ.get("FAKE_TOKEN_LOG", os.devnull)).open("a") as log:
        log.write(f"{name} {role}\n")


def bus(action: str, numbers: str = "", consumer: str = "", every: bool = False) -> None:
    """Say what is asked of the bus."""
    sys.stdout.write(f"bus {action} {numbers!r} {consumer!r} {every}\n")


def migrate() -> None:
    """Nothing to bring up to date."""
    sys.stdout.write("migrated\n")


def house() -> None:
    """A house that can start, but as FAKE_HOUSE has it: crash, cheat, steal, end-badly."""
    fault = os.environ.get("FAKE_HOUSE", "")
    if fault == "crash":
        sys.stderr.write("no room in the folder\n")
        sys.exit(3)
    fake = _Cheat() if fault == "cheat" else FakeHouse()
    fake.clocks.late_after = 0.3
    fake.settlements.short_cents = 1 if fault == "steal" else 0
    asyncio.run(_serve(fake))
    sys.exit(4 if fault == "end-badly" else 0)


class _Cheat(FakeHouse):
    """Shows other dice in its records than it has thrown."""

    def __init__(self) -> None:
        super().__init__()
        self.cheats: Callable[[str], str] = lambda text: text.replace("6", "5")

    async def GetRecord(self, request, context):  # type: ignore[no-untyped-def]
        """The record, polished."""
        answer = await super().GetRecord(request, context)
        for record_row in answer.record.rows:
            if record_row.entries[0].startswith("-1"):
                record_row.entries[0] = self.cheats(record_row.entries[0])
        return answer


async def _serve(fake: FakeHouse) -> None:
    told = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, told.set)
    async with serving(fake) as address:
        services = dict.fromkeys(("rules", "settlement", "clock", "matchmaking"), address)
        _tell({**services, "metrics": "127.0.0.1:1"})
        await told.wait()


def _tell(addresses: dict[str, str]) -> None:
    Path(os.environ["KAFENEIO_READY_FILE"]).write_text(json.dumps(addresses))
