"""The embedded PostgreSQL survives what may happen to it and to us."""

import asyncio
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import asyncpg
import pytest
from kafeneio_runtime.bus import InProcessBus
from kafeneio_runtime.clock import ManualTime
from kafeneio_runtime.errors import Refusal, is_store_trouble
from kafeneio_runtime.ids import new_id
from kafeneio_runtime.notify import Hints
from kafeneio_runtime.outbox import Relay
from kafeneio_runtime.postgres import EmbeddedPostgres
from kafeneio_runtime.store import Store

from tests.contract.test_bus import Listener
from tests.fixtures.waiting import until
from tests.runtime.conftest import prepare
from tests.runtime.test_outbox import until_published, write

ROOT = Path(__file__).parents[2]

PROGRAM = """
import asyncio, sys, asyncpg
from pathlib import Path
from kafeneio_runtime.bus import InProcessBus
from kafeneio_runtime.clock import ManualTime
from kafeneio_runtime.errors import Refusal, is_store_trouble
from kafeneio_runtime.ids import new_id
from kafeneio_runtime.notify import Hints
from kafeneio_runtime.outbox import Relay
from kafeneio_runtime.postgres import EmbeddedPostgres
from kafeneio_runtime.store import Store
from tests.contract.test_bus import Listener
from tests.runtime.conftest import prepare
from tests.runtime.test_outbox import until_published, write

async def main():
    server = EmbeddedPostgres(Path(sys.argv[1]), durable=True)
    url = server.start()
    connection = await asyncpg.connect(url)
    await connection.execute("CREATE TABLE cups (size int)")
    await connection.execute("INSERT INTO cups VALUES (7)")
    print(server.pid, flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    # Not tmp_path: for root, PostgreSQL runs as another user, who could not come in there.
    made = Path(tempfile.mkdtemp(prefix="kafeneio-pg-"))
    made.chmod(0o755)
    yield made / "pg"
    shutil.rmtree(made, ignore_errors=True)


async def _sizes(url: str) -> list[int]:
    connection = await asyncpg.connect(url)
    try:
        rows = await connection.fetch("SELECT size FROM cups")
    finally:
        await connection.close()
    return [row["size"] for row in rows]


async def _start_house(folder: Path) -> tuple[asyncio.subprocess.Process, int]:
    """A process with a server of its own; and the number of the server's process."""
    house = await asyncio.create_subprocess_exec(
        sys.executable, "-c", PROGRAM, str(folder), stdout=asyncio.subprocess.PIPE, cwd=ROOT
    )
    assert house.stdout is not None
    async with asyncio.timeout(60):
        return house, int(await house.stdout.readline())


async def test_what_was_written_is_there_after_a_restart(folder: Path) -> None:
    async with EmbeddedPostgres(folder) as url:
        connection = await asyncpg.connect(url)
        await connection.execute("CREATE TABLE cups (size int)")
        await connection.execute("INSERT INTO cups VALUES (7)")
        await connection.close()
    assert not (folder / "postmaster.pid").exists()
    async with EmbeddedPostgres(folder) as url:
        assert await _sizes(url) == [7]


@pytest.mark.parametrize("also_postgres", [False, True], ids=["the house alone", "with PostgreSQL"])
async def test_sigkill_loses_nothing(folder: Path, also_postgres: bool) -> None:
    house, pid = await _start_house(folder)
    house.kill()
    if also_postgres:
        os.kill(pid, signal.SIGKILL)
    await house.communicate()
    server = EmbeddedPostgres(folder)
    url = await asyncio.to_thread(server.start)
    assert await _sizes(url) == [7]
    assert (server.pid == pid) is not also_postgres  # one that lives is used again
    await asyncio.to_thread(server.stop)
    # The user that was killed is not waited for: with the last living one the server ends.
    assert not (folder / "postmaster.pid").exists()


async def test_a_number_that_another_process_has_now_is_not_taken_for_the_server(
    folder: Path,
) -> None:
    async with EmbeddedPostgres(folder):
        lock = (folder / "postmaster.pid").read_text()
    (folder / "postmaster.pid").write_text(lock.replace(lock.split("\n")[0], str(os.getpid()), 1))
    (folder / ".handle_pids.json").write_text("[1234")  # half written
    async with EmbeddedPostgres(folder) as url:
        connection = await asyncpg.connect(url)
        assert await connection.fetchval("SELECT 1") == 1
        await connection.close()


async def test_services_live_through_the_death_of_their_postgresql(folder: Path) -> None:
    server, time = EmbeddedPostgres(folder, durable=False), ManualTime()
    url = await asyncio.to_thread(server.start)
    await asyncio.to_thread(prepare, url)
    store, bus, listener = await Store.open(url, "echo", 4), InProcessBus(), Listener()
    await bus.subscribe("echo.events", "clock", listener)
    relay, heard = Relay(store, bus, "echo.events"), asyncio.Queue[str | None]()
    hints = Hints(store, "echo_games", heard.put_nowait, lambda: heard.put_nowait(None))
    tasks = [asyncio.create_task(work) for work in (relay.run(), hints.run())]
    await write(store, new_id(), 1)
    assert await listener.until(1) == [1]
    await until_published(store)
    assert await heard.get() is None

    pid = server.pid
    os.kill(pid, signal.SIGKILL)
    await _until_away(store)
    tasks.append(asyncio.create_task(server.keep_running(time)))
    await time.until_sleeping()
    time.advance(1)
    async with asyncio.timeout(60):
        assert await heard.get() is None  # so the hints are back
    # It is used as soon as it answers, which is before whoever has started it has been told so.
    await until(lambda: server.pid != pid)
    await store.ping()
    await write(store, new_id(), 2)
    assert await listener.until(2) == [1, 2]
    await hints.send("again")
    assert await heard.get() == "again"

    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await bus.close()
    await store.close()
    await asyncio.to_thread(server.stop)


async def _until_away(store: Store) -> None:
    """Until the store says that it is unavailable, and nothing else."""
    async with asyncio.timeout(20):
        while True:
            [outcome] = await asyncio.gather(store.ping(), return_exceptions=True)
            if isinstance(outcome, Refusal):
                return
            assert outcome is None or is_store_trouble(outcome), repr(outcome)


async def test_two_processes_share_it_and_the_last_one_stops_it(folder: Path) -> None:
    house, pid = await _start_house(folder)
    server = EmbeddedPostgres(folder)
    url = await asyncio.to_thread(server.start)
    assert server.pid == pid
    await asyncio.to_thread(server.stop)
    assert await _sizes(url) == [7]
    house.kill()
    await house.communicate()
    await asyncio.to_thread(server.start)
    await asyncio.to_thread(server.stop)
    assert not (folder / "postmaster.pid").exists()


async def test_only_we_can_connect(folder: Path) -> None:
    async with EmbeddedPostgres(folder) as url:
        connection = await asyncpg.connect(url)
        assert await connection.fetchval("SHOW listen_addresses") == ""
        await connection.close()
    assert os.stat(folder).st_mode & 0o077 == 0


def test_a_path_too_long_for_a_socket_is_refused() -> None:
    with pytest.raises(ValueError, match="too long"):
        EmbeddedPostgres(Path("/var/tmp") / ("x" * 100))


@pytest.mark.skipif(os.geteuid() != 0, reason="only for root PostgreSQL is another user")
def test_a_private_folder_is_not_opened_for_postgresql(folder: Path) -> None:
    folder.parent.chmod(0o700)
    with pytest.raises(PermissionError, match="KAFENEIO_DATA_DIR"):
        EmbeddedPostgres(folder).start()
    assert folder.parent.stat().st_mode & 0o777 == 0o700
