"""Traces by OpenTelemetry, sent by OTLP over gRPC. Imported only where traces are on.

A span says which method, which game, and how it ended. Never what was asked or answered, who
asked, or the text of an error: these may be secret or about a person.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from hashlib import sha256
from typing import TYPE_CHECKING, Final, TypeVar
from uuid import UUID

import grpc
from google.protobuf.message import Message
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.sampling import Decision, Sampler, SamplingResult
from opentelemetry.trace import Link, SpanContext, SpanKind, Status, StatusCode, TraceFlags
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from kafeneio_runtime.ids import new_id
from kafeneio_runtime.tracing import Happening

if TYPE_CHECKING:
    from opentelemetry.trace import Span
    from opentelemetry.trace.span import TraceState
    from opentelemetry.util.types import Attributes

    from kafeneio_runtime.calls import Method

Request = TypeVar("Request")
Response = TypeVar("Response")

_EXPORT_SECONDS: Final = 3.0
"""After so long without an answer of the collector the spans are lost: traces hold up nobody."""
_DELAY_MILLISECONDS: Final = 1000.0
_MOST_LINKS: Final = 32

_OUR_FAULT: Final = frozenset(
    {
        grpc.StatusCode.UNKNOWN,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.UNIMPLEMENTED,
        grpc.StatusCode.INTERNAL,
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DATA_LOSS,
    }
)
"""With these a server's span has failed; with the others its caller has, as is daily life."""

_W3C: Final = TraceContextTextMapPropagator()


class _ByTheId(Sampler):
    """Decides by the trace's id alone, so that every process decides alike, whatever the flags of
    a stranger say.
    """

    def __init__(self, ratio: float) -> None:
        self._bound = ratio * (1 << 64)

    def should_sample(
        self,
        parent_context: Context | None,
        trace_id: int,
        name: str,
        kind: SpanKind | None = None,
        attributes: Attributes = None,
        links: Sequence[Link] | None = None,
        trace_state: TraceState | None = None,
    ) -> SamplingResult:
        # Not of the id itself: that of a game has bits that are no chance.
        number = int.from_bytes(sha256(trace_id.to_bytes(16)).digest()[:8])
        taken = Decision.RECORD_AND_SAMPLE if number < self._bound else Decision.DROP
        return SamplingResult(taken, attributes)

    def get_description(self) -> str:
        return "by the trace's id"


class Otlp:
    """The traces of this process; a `tracing.Tracer`."""

    def __init__(self, endpoint: str, ratio: float, name: str) -> None:
        told = {
            "service.namespace": "kafeneio",
            "service.name": f"kafeneio-{name}",
            "service.instance.id": str(new_id()),
        }
        self._provider = TracerProvider(
            sampler=_ByTheId(ratio), resource=Resource.create(told), shutdown_on_exit=False
        )
        exporter = OTLPSpanExporter(endpoint=endpoint, timeout=_EXPORT_SECONDS)
        self._provider.add_span_processor(
            BatchSpanProcessor(exporter, schedule_delay_millis=_DELAY_MILLISECONDS)
        )
        self._tracer = self._provider.get_tracer("kafeneio_runtime")

    @contextmanager
    def answering(
        self, method: Method, metadata: Mapping[str, str | bytes]
    ) -> Iterator[_Answering]:
        """Goes on with the caller's trace, or begins one."""
        carrier = {
            name: value for name in _W3C.fields if isinstance(value := metadata.get(name), str)
        }
        with self._span(
            f"{method.service}/{method.name}",
            SpanKind.SERVER,
            _rpc(method.service, method.name),
            _W3C.extract(carrier, Context()),
        ) as span:
            yield _Answering(span)

    @contextmanager
    def handling(self, consumer: str, events: Sequence[Happening]) -> Iterator[None]:
        """In the trace of the game that they are about; of several games, beside their traces."""
        subject = events[0].subject if events else ""
        games = list(dict.fromkeys(event.key for event in events))
        parent = _of_game(games[0]) if len(games) == 1 else Context()
        links = [Link(_game(each)) for each in games[:_MOST_LINKS]] if len(games) > 1 else []
        attributes: dict[str, str | int | list[str]] = {
            "messaging.destination.name": subject,
            "messaging.operation.type": "process",
            "messaging.consumer.group.name": consumer,
            "messaging.batch.message_count": len(events),
            "kafeneio.event_types": sorted({event.type for event in events}),
        }
        with self._span(f"process {subject}", SpanKind.CONSUMER, attributes, parent, links):
            yield

    def interceptors(self) -> Sequence[grpc.aio.ClientInterceptor]:
        """For unary calls; a stream lasts for minutes, and what it brings is no part of it."""
        return (_Calling(self.calling),)

    @contextmanager
    def calling(self, path: str, request: object) -> Iterator[Span]:
        """In the trace of whatever is being done; of what a service does by itself, in that of the
        game.
        """
        service, _, name = path.lstrip("/").partition("/")
        here, game = None, _game_of(request)
        if game is not None and not trace.get_current_span().get_span_context().is_valid:
            here = _of_game(game)
        attributes = _rpc(service, name) | _about(game)
        with self._span(f"{service}/{name}", SpanKind.CLIENT, attributes, here) as span:
            yield span

    def trace_id(self) -> str | None:
        """As W3C writes it."""
        found = trace.get_current_span().get_span_context()
        return trace.format_trace_id(found.trace_id) if found.is_valid else None

    def close(self) -> None:
        """Sends what is left."""
        self._provider.shutdown()

    @contextmanager
    def _span(
        self,
        name: str,
        kind: SpanKind,
        attributes: Mapping[str, str | int | list[str]],
        context: Context | None = None,
        links: Sequence[Link] = (),
    ) -> Iterator[Span]:
        # Of an exception nothing is noted but that there was one: its text may quote a row.
        with self._tracer.start_as_current_span(
            name,
            context,
            kind,
            attributes,
            links,
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            try:
                yield span
            except Exception as error:
                if kind is not SpanKind.SERVER:
                    span.set_status(Status(StatusCode.ERROR, type(error).__name__))
                raise


class _Answering:
    """A `tracing.CallSpan`."""

    def __init__(self, span: Span) -> None:
        self._span = span

    def end(self, code: grpc.StatusCode, request: object) -> None:
        """Before the span ends."""
        self._span.set_attributes(_about(_game_of(request)))
        _note(self._span, code, failed=code in _OUR_FAULT)


class _Calling(grpc.aio.UnaryUnaryClientInterceptor):
    """Around each call to a peer, and told to it."""

    def __init__(self, calling: Callable[[str, object], AbstractContextManager[Span]]) -> None:
        self._calling = calling

    async def intercept_unary_unary(
        self,
        continuation: Callable[
            [grpc.aio.ClientCallDetails, Request],
            Awaitable[grpc.aio.UnaryUnaryCall[Request, Response]],
        ],
        client_call_details: grpc.aio.ClientCallDetails,
        request: Request,
    ) -> grpc.aio.UnaryUnaryCall[Request, Response]:
        details = client_call_details
        path: str | bytes = details.method  # bytes, whatever the stub says
        with self._calling(path.decode() if isinstance(path, bytes) else path, request) as span:
            carrier: dict[str, str] = {}
            _W3C.inject(carrier)
            told = grpc.aio.ClientCallDetails(
                details.method,
                details.timeout,
                grpc.aio.Metadata(*(details.metadata or ()), *carrier.items()),
                details.credentials,
                details.wait_for_ready,
            )
            call = await continuation(told, request)
            code = await call.code()
            _note(span, code, failed=code is not grpc.StatusCode.OK)
            return call


def _rpc(service: str, name: str) -> dict[str, str | int | list[str]]:
    return {"rpc.system": "grpc", "rpc.service": service, "rpc.method": name}


def _note(span: Span, code: grpc.StatusCode, *, failed: bool) -> None:
    number, _ = code.value
    span.set_attribute("rpc.grpc.status_code", number)
    if failed:
        span.set_status(Status(StatusCode.ERROR, code.name))


def _game_of(request: object) -> UUID | None:
    """Which game a message is about, where it says so with an id and with nothing else."""
    if not isinstance(request, Message) or "game_id" not in request.DESCRIPTOR.fields_by_name:
        return None
    try:
        return UUID(getattr(request, "game_id", ""))
    except (ValueError, AttributeError, TypeError):
        return None


def _about(game: UUID | None) -> dict[str, str | int | list[str]]:
    return {} if game is None else {"kafeneio.game_id": str(game)}


def _game(game: UUID) -> SpanContext:
    """The span that a game itself would be. Nobody sends it: a game is no piece of work."""
    return SpanContext(game.int, game.int % (1 << 64), True, TraceFlags(TraceFlags.SAMPLED))


def _of_game(game: UUID) -> Context:
    """Where to go on in the trace of a game."""
    return trace.set_span_in_context(trace.NonRecordingSpan(_game(game)), Context())
