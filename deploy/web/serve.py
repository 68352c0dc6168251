"""`make web`: the house, Envoy before it, and the page, on one port of this machine.

For development only: whoever reaches the port gets a token for any name, and money. So everything
listens on the loopback interface, and pages of other sites are refused. The house has the settings
of the environment and its usual data folder; with --fresh one that goes away with it.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import signal
import sys
import tempfile
import threading
from collections.abc import AsyncIterator, Iterator, Mapping
from datetime import timedelta
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from kafeneio_client import House, Money
from kafeneio_runtime.auth import Role, development_key, is_subject
from kafeneio_runtime.mistakes import read_settings, spoken
from kafeneio_runtime.settings import Settings
from kafeneio_up.edge import HOST, SERVICES, Ports, Rate, opened
from kafeneio_up.process import Process, free_ports

ROOT: Final = Path(__file__).resolve().parents[2]
PAGE: Final = ROOT / "deploy" / "web" / "dist"
DOCS: Final = ROOT / "build"
"""Where the API reference is, below docs/, once `make docs` has written it."""
PORT: Final = 8080
LOCAL: Final = frozenset({HOST, "localhost"})
TOKEN_LIFE: Final = timedelta(hours=12)
DEPOSIT: Final = Money("EUR", 10_000)
# Four tables in one browser come from one address.
RATE: Final = Rate(at_once=10_000, a_second=10_000)


class Door:
    """Tokens and money for anybody, made with the development key of the house."""

    def __init__(self, settings: Settings, settlement: str) -> None:
        self._settings = settings
        self._settlement = settlement

    def token(self, name: str, role: Role = Role.PLAYER) -> str:
        """A token that says that its bearer is `name`."""
        issuer, audience = self._settings.token_issuer, self._settings.token_audience
        key = development_key(self._settings)
        return key.sign(name, role, TOKEN_LIFE, issuer=issuer, audience=audience)

    def deposit(self, name: str) -> None:
        """Pay DEPOSIT into the wallet of `name`, as a payment service would."""

        async def pay() -> None:
            async with House("", settlement=self._settlement) as house:
                cashier = house.client(self.token("development", Role.SERVICE))
                await cashier.wallet.deposit(name, DEPOSIT)

        asyncio.run(pay())


class Handler(SimpleHTTPRequestHandler):
    """The files of the page and of the API reference; `GET /dev/token?name=`, which gives a token,
    and `POST /dev/deposit?name=`, which gives money."""

    protocol_version = "HTTP/1.1"

    def __init__(self, *connection: Any, door: Door) -> None:
        self._door = door
        super().__init__(*connection, directory=str(PAGE))

    def do_GET(self) -> None:
        """A file, or a token."""
        if urlsplit(self.path).path != "/dev/token":
            super().do_GET()
        elif name := self._name():
            self._say(HTTPStatus.OK, self._door.token(name))

    def translate_path(self, path: str) -> str:
        """The file of a path: of the page, or of the API reference."""
        self.directory = str(DOCS if urlsplit(path).path.startswith("/docs/") else PAGE)
        return super().translate_path(path)

    def do_POST(self) -> None:
        """Money."""
        if urlsplit(self.path).path != "/dev/deposit":
            self._say(HTTPStatus.NOT_FOUND)
        elif name := self._name():
            self._door.deposit(name)
            self._say(HTTPStatus.OK, str(DEPOSIT))

    def _name(self) -> str:
        """For whom something is asked; "" where it was refused."""
        name = parse_qs(urlsplit(self.path).query).get("name", [""])[0]
        host = self.headers.get("host", "").rpartition(":")[0]
        foreign = self.headers.get("sec-fetch-site", "none") not in ("none", "same-origin")
        if foreign or host not in LOCAL:  # another site's page, or its name for this machine
            self._say(HTTPStatus.FORBIDDEN)
            return ""
        if not is_subject(name):
            self._say(HTTPStatus.BAD_REQUEST)
            return ""
        return name

    def _say(self, status: HTTPStatus, text: str = "") -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("content-type", "text/plain; charset=utf-8")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing: what is asked for here stands in no log."""


@contextlib.contextmanager
def serving_page(door: Door) -> Iterator[str]:
    """Serve the page on a free port; its address."""
    server = ThreadingHTTPServer((HOST, 0), partial(Handler, door=door))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"{HOST}:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


@contextlib.asynccontextmanager
async def running_house(folder: Path) -> AsyncIterator[Mapping[str, str]]:
    """A house of the settings of the environment; the addresses of its services."""
    ready, log = folder / "ready.json", folder / "house.log"
    settings = {name: value for name, value in os.environ.items() if name.startswith("KAFENEIO_")}
    settings["KAFENEIO_READY_FILE"] = str(ready)
    command = (sys.executable, "-m", "kafeneio_client", "serve", "house")
    house = await Process.start("the house", command, settings, log)
    try:
        await house.ready(partial(_is_told, ready))
        yield _addresses(ready)
    except BaseException:
        sys.stderr.write(_tail(log))
        raise
    finally:
        await house.end()


async def _is_told(ready: Path) -> bool:
    return bool(_addresses(ready))


def _addresses(ready: Path) -> Mapping[str, str]:
    """What the house has written; nothing as long as it hasn't, or not to the end."""
    try:
        return {str(k): str(v) for k, v in json.loads(ready.read_text("utf-8")).items()}
    except (FileNotFoundError, json.JSONDecodeError):
        return {}


def _tail(log: Path) -> str:
    return log.read_text("utf-8", errors="replace")[-4000:]


@contextlib.contextmanager
def fresh_folder() -> Iterator[None]:
    """A data folder that goes away. PostgreSQL, which runs as another user where we are root, must
    be able to read it."""
    parent = "/var/tmp" if os.access("/var/tmp", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="kafeneio-fresh-", dir=parent) as name:
        Path(name).chmod(0o755)
        os.environ["KAFENEIO_DATA_DIR"] = str(Path(name) / "data")
        yield


async def serve(port: int) -> None:
    """Serve until SIGTERM or Ctrl-C."""
    stopped = asyncio.Event()
    for each in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(each, stopped.set)
    with tempfile.TemporaryDirectory(prefix="kafeneio-web-") as name:
        folder = Path(name)
        async with running_house(folder) as services:
            with serving_page(Door(read_settings(), services["settlement"])) as page:
                backends = {service: [services[service]] for service in SERVICES}
                ports = Ports(port or free_ports(1)[0], *free_ports(2))
                edge = opened({**backends, "page": [page]}, folder, ports=ports, rate=RATE)
                async with edge as address:
                    sys.stdout.write(
                        f"\nThe house is open: http://{address}/\n\nCtrl-C closes it.\n"
                    )
                    sys.stdout.flush()
                    await stopped.wait()


def main() -> None:
    """Read the command line, and serve."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--port", type=int, default=PORT, help="0 takes a free one")
    parser.add_argument("--fresh", action="store_true", help="a house that leaves nothing behind")
    arguments = parser.parse_args()
    if not (PAGE / "index.html").exists():
        raise SystemExit("The page is not built: run `make web`.")
    with spoken(), fresh_folder() if arguments.fresh else contextlib.nullcontext():
        asyncio.run(serve(arguments.port))


if __name__ == "__main__":
    main()
