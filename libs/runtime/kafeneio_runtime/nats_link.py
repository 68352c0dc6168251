"""The connection to NATS: made once, kept for ever, and the streams that are looked for on it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from nats.aio.client import Client
from nats.js.api import RetentionPolicy, StorageType, StreamConfig
from nats.js.client import JetStreamContext
from nats.js.errors import BadRequestError
from prometheus_client import Gauge

from kafeneio_runtime import logs
from kafeneio_runtime.settings import Settings

_CONNECTED: Final = Gauge(
    "kafeneio_bus_connected", "1 while this process is connected to NATS, 0 while it is not."
)
_RECONNECT_SECONDS: Final = 1
_CONNECT_SECONDS: Final = 2
_PING_SECONDS: Final = 5
"""Two of them without an answer, and the connection is given up for another."""
_DUPLICATES: Final = timedelta(minutes=10)
"""So long a message that was published again is dropped by its id. Later ones are dropped by the
inbox of whoever hears them.
"""
_NAME_IN_USE: Final = 10058
"""NATS's error: there is a stream of that name, configured otherwise."""

_log: Final = logs.logger(__name__)


@dataclass(frozen=True, slots=True)
class Options:
    """How a house uses NATS."""

    servers: tuple[str, ...]
    prefix: str
    """Of all subjects and streams, so that several houses may share a server."""
    replicas: int
    max_age: timedelta
    max_bytes: int

    @classmethod
    def of(cls, settings: Settings) -> Options:
        """As the settings have it. Raises ValueError where they name no server."""
        if settings.nats_url is None:
            raise ValueError("KAFENEIO_NATS_URL is not set")
        servers = settings.nats_url.get_secret_value().split(",")
        return cls(
            servers=tuple(server.strip() for server in servers),
            prefix=settings.nats_prefix,
            replicas=settings.nats_replicas,
            max_age=timedelta(hours=settings.nats_retention_hours),
            max_bytes=settings.nats_max_bytes,
        )


class Link:
    """One connection to NATS. It is made when it is first asked for, and again whenever it breaks,
    until it is closed.
    """

    def __init__(self, options: Options) -> None:
        self.options = options
        self._client = Client()
        self._context: JetStreamContext | None = None
        self._connecting: asyncio.Task[None] | None = None
        self._up = asyncio.Event()
        self._streams: set[str] = set()

    async def client(self) -> Client:
        """The connection, once there is one: for as long as that takes."""
        if self._connecting is None:
            self._connecting = asyncio.create_task(self._connect())
        await self._up.wait()
        return self._client

    async def jetstream(self) -> JetStreamContext:
        """JetStream on the connection, once there is one."""
        client = await self.client()
        if self._context is None:
            self._context = client.jetstream()
        return self._context

    def subject(self, *parts: str) -> str:
        """A subject of this house."""
        return ".".join((self.options.prefix, *parts))

    def stream(self, subject: str) -> str:
        """The name of the stream that keeps what is published on a subject."""
        return name(self.subject(subject))

    async def prepare(self, stream: str, subjects: list[str], *, ages: bool = True) -> None:
        """Makes a stream, unless that was done before. With `ages` its messages are dropped after a
        time.
        """
        if stream in self._streams:
            return
        config = StreamConfig(
            name=stream,
            subjects=subjects,
            retention=RetentionPolicy.LIMITS,
            storage=StorageType.FILE,
            num_replicas=self.options.replicas,
            max_age=self.options.max_age.total_seconds() if ages else 0,
            max_bytes=self.options.max_bytes,
            duplicate_window=_DUPLICATES.total_seconds(),
            allow_direct=True,
        )
        context = await self.jetstream()
        try:
            await context.add_stream(config)
        except BadRequestError as error:
            if error.err_code != _NAME_IN_USE:
                raise
            await context.update_stream(config)  # the settings are others than they were
        self._streams.add(stream)

    def forget(self, stream: str) -> None:
        """A stream is not there any more: the next `prepare` makes it again."""
        self._streams.discard(stream)

    async def close(self) -> None:
        """Ends the connection, or the attempts to make one."""
        if self._connecting is None:
            return
        # An attempt that is cut short would leave its socket open.
        await asyncio.wait({self._connecting}, timeout=_CONNECT_SECONDS)
        self._connecting.cancel()
        await asyncio.gather(self._connecting, return_exceptions=True)
        await self._client.close()
        self._up.clear()

    async def _connect(self) -> None:
        async def up() -> None:
            _log.info("connected to NATS")
            _CONNECTED.set(1)
            self._up.set()

        async def down() -> None:
            _log.warning("connection to NATS lost")
            _CONNECTED.set(0)
            self._up.clear()

        said = False

        async def failed(error: Exception) -> None:
            # Each attempt fails while NATS is away: once is enough, and its loss was said already.
            nonlocal said
            say = _log.debug if said or self._up.is_set() else _log.warning
            said = True
            say("no connection to NATS", error=str(error) or type(error).__name__)

        _CONNECTED.set(0)
        await self._client.connect(
            list(self.options.servers),
            name="kafeneio",
            reconnected_cb=up,
            disconnected_cb=down,
            error_cb=failed,
            connect_timeout=_CONNECT_SECONDS,
            reconnect_time_wait=_RECONNECT_SECONDS,
            max_reconnect_attempts=-1,  # for ever
            ping_interval=_PING_SECONDS,
            max_outstanding_pings=2,
        )
        await up()


def name(text: str) -> str:
    """What NATS takes as the name of a stream or a consumer: a subject has dots."""
    return text.replace(".", "-")
