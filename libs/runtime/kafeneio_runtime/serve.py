"""A process that serves: it starts, it is watched, it drains.

A service's `main` puts a `Service` together and calls `serve`; a test starts a `Server` of its own.
"""

import asyncio
import gc
import os
import signal
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias, TypeVar

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection, reflection_pb2_grpc
from prometheus_client import Gauge

from kafeneio_runtime import logs
from kafeneio_runtime.auth import Role, TokenVerifier, token_verifier
from kafeneio_runtime.clock import SystemTime, Time
from kafeneio_runtime.directory import Directory
from kafeneio_runtime.interceptors import all_layers
from kafeneio_runtime.interceptors.auth import path
from kafeneio_runtime.interceptors.base import Registrar, Router
from kafeneio_runtime.interceptors.metrics import Metrics
from kafeneio_runtime.metrics import MetricsPort
from kafeneio_runtime.settings import Settings, unknown_variables
from kafeneio_runtime.tls import identity

_log: Final = logs.logger(__name__)
LIVE: Final = "live"
"""As what health tells that the process can answer at all, whatever becomes of its store: to
restart it for a store that is away would help nobody.
"""
_CERTIFICATE: Final = Gauge(
    "kafeneio_certificate_expires_timestamp_seconds",
    "When the certificate of the process expires, in seconds since 1970; 0 without one.",
)
_HEALTH_SECONDS: Final = 2.0
_FLUSH_SECONDS: Final = 5.0

Result = TypeVar("Result")
Work: TypeAlias = Callable[[], Awaitable[None]]
Servicer: TypeAlias = tuple[Callable[[Any, Any], None], object]
"""The generated `add_…Servicer_to_server`, and the object to be added. The generated functions
share no narrower type.
"""


async def _nothing() -> None:
    """What is done where there is nothing to do."""


@dataclass(frozen=True)
class Service:
    """All that a server must be told about a service."""

    name: str
    port: int
    """0 takes a free one."""
    servicers: tuple[Servicer, ...]
    service_names: tuple[str, ...]
    """Full names from the protos, such as `kafeneio.rules.v1.GameService`: for health and
    reflection.
    """
    roles: Mapping[str, frozenset[Role]]
    """Who may call each method: `/kafeneio.rules.v1.GameService/Act`. The server does not start if
    one is missing.
    """
    ready: Work
    """Raises if the service can't work now (its store is away). Asked every few seconds."""
    background: tuple[Work, ...] = ()
    """What runs beside the calls until `draining`. One that ends before that ends the process."""
    flushing: Work = _nothing
    """Hands on what would otherwise wait for the next start: the outbox."""
    closing: Work = _nothing
    draining: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when streams are to say goodbye and end."""


class Server:
    """The gRPC server of one service."""

    def __init__(
        self,
        service: Service,
        settings: Settings,
        verifier: TokenVerifier,
        time: Time | None = None,
    ) -> None:
        """Raises ValueError if the service and its roles don't match, and TlsError, which is one,
        where the certificates of the settings can't be used.
        """
        self.service = service
        self._settings = settings
        self._time: Time = time or SystemTime()
        self._health = health.aio.HealthServicer()
        self._identity = identity(settings)
        self._server = grpc.aio.server(options=_options(settings))
        self._probes: grpc.aio.Server | None = None
        self._probes_port = 0
        self._server.add_generic_rpc_handlers((self._router(verifier),))
        self._tasks: list[asyncio.Task[None]] = []
        self._port = 0
        self.drained = False
        """Whether its end has begun."""
        self.failed = asyncio.Event()
        """Set when something in the background has ended that should not."""

    def _router(self, verifier: TokenVerifier) -> Router:
        router = Router()
        layers = all_layers(self._settings, verifier, self.service.roles, self._time)
        guarded = Registrar(router, layers, parse=False)
        for add, servicer in self.service.servicers:
            add(servicer, guarded)
        _compare(self.service, router.table.keys())
        # Probes and tools carry no token and set no deadline, so these pass the metrics only.
        public = Registrar(router, (Metrics(),))
        for add, servicer in self._public_servicers():
            add(servicer, public)
        return router

    def _public_servicers(self) -> list[Servicer]:
        servicers: list[Servicer] = [(health_pb2_grpc.add_HealthServicer_to_server, self._health)]
        if self._settings.reflection:
            names = (*self.service.service_names, health.SERVICE_NAME, reflection.SERVICE_NAME)
            mirror = reflection.aio.ReflectionServicer(names)
            servicers.append((reflection_pb2_grpc.add_ServerReflectionServicer_to_server, mirror))
        return servicers

    @property
    def address(self) -> str:
        """Host and port where it is listening."""
        return f"{self._settings.host}:{self._port}"

    @property
    def health_address(self) -> str:
        """Host and port where probes without TLS are answered, where the settings name one."""
        return f"{self._settings.host}:{self._probes_port}"

    async def start(self) -> None:
        """Opens the port. Raises RuntimeError if it is taken, and what `ready` raises if the
        service can't work.
        """
        await self.service.ready()
        place = f"{self._settings.host}:{self.service.port}"
        if self._identity is None:
            self._port = self._server.add_insecure_port(place)
        else:
            _CERTIFICATE.set(self._identity.expires.timestamp())
            if self._identity.expires_soon(self._time.now()):
                expires = self._identity.expires.isoformat()
                _log.warning("the certificate expires soon", expires=expires)
            self._port = self._server.add_secure_port(place, self._identity.server())
        await self._server.start()
        if self._settings.health_port is not None:
            await self._open_health(self._settings.health_port)
        await self._tell(health_pb2.HealthCheckResponse.SERVING)
        await self._health.set(LIVE, health_pb2.HealthCheckResponse.SERVING)
        works = (self._watch, *self.service.background)
        self._tasks = [asyncio.create_task(self._supervise(work)) for work in works]

    async def _open_health(self, port: int) -> None:
        """Tells probes that speak no TLS how the service is, and nothing else."""
        self._probes = grpc.aio.server()
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._probes)
        self._probes_port = self._probes.add_insecure_port(f"{self._settings.host}:{port}")
        await self._probes.start()

    async def drain(self) -> None:
        """Ends politely: nobody who is being served is cut off before the grace is over. Done once;
        called again, it does nothing.
        """
        await drain([self], self._settings, self._time)

    async def leave(self) -> None:
        """Tells load balancers to send nobody here any more. Calls are still answered."""
        await self._health.enter_graceful_shutdown()

    async def end_calls(self, grace: float) -> None:
        """Ends the streams by their own last message, lets calls finish for `grace` seconds, and
        closes the port.
        """
        self.service.draining.set()
        await self._server.stop(grace)

    async def end_background(self) -> None:
        """Cancels what runs beside the calls."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def flush(self) -> None:
        """Lets the service hand on what is left, for a few seconds. What can't be handed on is kept
        by the store.
        """
        try:
            async with asyncio.timeout(_FLUSH_SECONDS):
                await self.service.flushing()
        except Exception as error:  # noqa: BLE001 (the store keeps it, and we are on our way out)
            _log.warning("not flushed", service=self.service.name, exc_info=error)

    async def close(self) -> None:
        """Closes the store and whatever else the service has open."""
        if self._probes is not None:
            await self._probes.stop(None)
        await self.service.closing()

    async def _supervise(self, work: Work) -> None:
        try:
            await work()
            if self.service.draining.is_set():
                return  # it may end when everything does
            _log.error("background work ended", service=self.service.name)
        except Exception as error:  # noqa: BLE001 (logged; the process ends for it)
            _log.error("background work failed", service=self.service.name, exc_info=error)
        self.failed.set()

    async def _watch(self) -> None:
        """Health follows the store: no calls are sent to a replica that can't answer them."""
        well = True
        while True:
            await self._time.sleep(_HEALTH_SECONDS)
            was_well, well = well, await self._is_well()
            if well is not was_well:
                _log.warning("ready again" if well else "not ready", service=self.service.name)
                serving = health_pb2.HealthCheckResponse.SERVING
                await self._tell(serving if well else health_pb2.HealthCheckResponse.NOT_SERVING)

    async def _is_well(self) -> bool:
        try:
            async with asyncio.timeout(_HEALTH_SECONDS):
                await self.service.ready()
        except Exception as error:  # noqa: BLE001 (any reason makes it unready)
            _log.warning("not well", service=self.service.name, error=type(error).__name__)
            return False
        return True

    async def _tell(self, status: int) -> None:
        for name in ("", *self.service.service_names):
            await self._health.set(name, status)


def _compare(service: Service, methods: Set[str]) -> None:
    """A misspelt name must not leave a method open, unwatched or unreflected."""
    strangers = {path(name) for name in service.roles} - methods
    if strangers:
        raise ValueError(f"{service.name} has no {sorted(strangers)}, for which there are roles")
    offered = {method.split("/")[1] for method in methods}
    if offered != set(service.service_names):
        raise ValueError(
            f"{service.name} offers {sorted(offered)}, but names {service.service_names}"
        )


def _options(settings: Settings) -> list[tuple[str, int]]:
    age = settings.max_connection_age_seconds * 1000
    return [
        ("grpc.max_receive_message_length", settings.max_message_bytes),
        # Clients ping every 10 s; the default punishes that with GOAWAY. Half of it, because pings
        # don't keep step.
        ("grpc.http2.min_ping_interval_without_data_ms", 5_000),
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.keepalive_time_ms", 30_000),
        ("grpc.keepalive_timeout_ms", 10_000),
        ("grpc.max_connection_age_ms", age),
        # A stream may outlive the age of its connection by as much again; then it is cut, and the
        # client resumes.
        ("grpc.max_connection_age_grace_ms", age),
        ("grpc.so_reuseport", 0),
    ]


async def drain(servers: Sequence[Server], settings: Settings, time: Time) -> None:
    """Ends several servers of a process, step by step together: one may still serve another. Those
    that have been drained before are left alone.
    """
    leaving = [server for server in servers if not server.drained]
    if not leaving:
        return
    for server in leaving:
        server.drained = True
    await asyncio.gather(*(server.leave() for server in leaving))
    await time.sleep(settings.drain_seconds)
    await asyncio.gather(*(server.end_calls(settings.drain_grace_seconds) for server in leaving))
    await asyncio.gather(*(server.end_background() for server in leaving))
    await asyncio.gather(*(server.flush() for server in leaving))
    await asyncio.gather(*(server.close() for server in leaving))


async def serve(
    services: Sequence[Service],
    settings: Settings,
    ready_callback: Callable[[Mapping[str, str]], None] | None = None,
    directory: Directory | None = None,
) -> None:
    """Serves until SIGTERM or SIGINT, then drains and returns. A second signal ends the process at
    once.

    `services` start in their order, and `directory` is told of each as soon as it is open.
    `ready_callback` is told the address of each service by its name, and that of the metrics as
    `metrics`, when all are open. Raises RuntimeError if something in the background has failed:
    then the process should end with an error.
    """
    logs.configure(settings.log_level, settings.log_format)
    for name in unknown_variables(os.environ):
        _log.warning("unknown setting", variable=name)
    if settings.health_port is not None and len(services) > 1:
        raise SystemExit("KAFENEIO_HEALTH_PORT is for a service that runs alone.")
    verifier, time = token_verifier(settings), SystemTime()
    servers = [Server(service, settings, verifier, time) for service in services]
    metrics: MetricsPort | None = None
    stop = _signalled()
    started: list[Server] = []
    try:
        metrics = MetricsPort(settings.host, settings.metrics_port)
        for server in servers:
            await server.start()
            started.append(server)
            if directory is not None:
                directory.tell({server.service.name: server.address})
            _log.info("serving", service=server.service.name, address=server.address)
        if ready_callback is not None:
            addresses = {server.service.name: server.address for server in servers}
            ready_callback({**addresses, "metrics": f"{settings.host}:{metrics.port}"})
        spare_the_collector()
        await _first((stop, *(server.failed for server in servers)))
    finally:
        _log.info("draining")
        await drain(started, settings, time)
        await asyncio.gather(*(server.close() for server in servers if server not in started))
        if metrics is not None:
            metrics.close()
        _log.info("closed")
    if not stop.is_set():
        raise RuntimeError("something in the background has failed; see the log")


def _signalled() -> asyncio.Event:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def react() -> None:
        stop.set()
        for each in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(each)

    for each in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(each, react)
    return stop


async def _first(events: Sequence[asyncio.Event]) -> None:
    waits = [asyncio.create_task(event.wait()) for event in events]
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()


def spare_the_collector() -> None:
    """Little of what a call makes is in a cycle, and what a process has loaded stays: so look for
    garbage less often, and not through all of that.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(200_000, 20, 20)


def run(main: Coroutine[object, object, Result]) -> Result:
    """Runs a process's main coroutine, on uvloop where there is one.

    SIGTERM cancels it, so that what was opened is closed; `serve` then takes the signal for itself.
    """

    async def cancelled_by_sigterm() -> Result:
        task = asyncio.current_task()
        assert task is not None
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        return await main

    try:
        import uvloop
    except ImportError:  # Windows
        runner = asyncio.run
    else:
        runner = uvloop.run
    try:
        return runner(cancelled_by_sigterm())
    except asyncio.CancelledError:
        raise SystemExit(128 + signal.SIGTERM) from None
