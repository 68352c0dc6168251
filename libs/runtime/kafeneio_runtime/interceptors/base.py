"""The layers that a call passes on its way in and out, and how they are put around a method.

grpc asks its interceptors for a handler at every call. A layer is an interceptor that is asked
once: when the server is built, each method's handler is wrapped in all layers, so a call costs only
the nested awaits, and a method that lacks something (its roles, say) is found at the start.
"""

import inspect
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Protocol, TypeAlias, cast

import grpc
from google.protobuf.message import Message

from kafeneio_runtime.calls import Call, Context, Kind, Method, current_call

Handler: TypeAlias = Callable[[Call], Awaitable[Message | None]]
"""Carries a call out. Answers with the response; None where a stream has written its own."""


class Layer(ABC):
    """Something that every call passes."""

    @abstractmethod
    def wrap(self, inner: Handler, method: Method) -> Handler:
        """`inner` with this layer around it. Called once per method, when the server is built."""


class Gate(Layer):
    """A layer that only looks at a call before it is let in."""

    @abstractmethod
    def check(self, method: Method) -> Callable[[Call], None]:
        """What looks at the calls of `method`: it returns, or raises the refusal."""

    def wrap(self, inner: Handler, method: Method) -> Handler:
        check = self.check(method)

        def gated(call: Call) -> Awaitable[Message | None]:
            check(call)
            return inner(call)

        return gated


class _RpcMethod(Protocol):
    """What generated code hands to a server, as far as it is used here."""

    request_streaming: bool
    response_streaming: bool
    request_deserializer: Callable[[bytes], Message]
    response_serializer: Callable[[Message], bytes]
    unary_unary: Callable[[Message, Context], Awaitable[Message]] | None
    unary_stream: Callable[[Message, Context], AsyncGenerator[Message, None]] | None
    stream_stream: Callable[[Message, Context], AsyncGenerator[Message, None]] | None


class Router(grpc.GenericRpcHandler):
    """Finds the handler of a path.

    It is the only handler that grpc is given: to be told the methods one by one, it keeps a pending
    request for each, and a server of thirty methods pays 6 % more for every call.
    """

    def __init__(self) -> None:
        self.table: dict[str, grpc.RpcMethodHandler[Message, Message]] = {}

    def service(
        self, handler_call_details: grpc.HandlerCallDetails
    ) -> "grpc.RpcMethodHandler[Message, Message] | None":
        return self.table.get(handler_call_details.method)


class Registrar:
    """What generated `add_…Servicer_to_server` functions take for a server: wraps each method and
    tells the router.
    """

    def __init__(self, router: Router, layers: Sequence[Layer], *, parse: bool = True) -> None:
        """`parse` leaves it to grpc to read the requests; without it, a layer must.

        With it, methods that their servicer leaves out are passed over: of the health service, the
        library's has no `List`. Of our own services, one that is left out was forgotten.
        """
        self._router = router
        self._layers = layers
        self._parse = parse

    def add_generic_rpc_handlers(self, handlers: Sequence[grpc.GenericRpcHandler]) -> None:
        """Called by generated code; the same methods come by the other door, with their names."""

    def add_registered_method_handlers(
        self, service_name: str, method_handlers: Mapping[str, _RpcMethod]
    ) -> None:
        """Called by generated code with the methods of a service. Raises TypeError for one that is
        not there, or of a kind that is not offered.
        """
        for name, handler in method_handlers.items():
            method = _describe(service_name, name, handler)
            run = _innermost(handler)
            if run is None:
                if self._parse:
                    continue
                raise TypeError(f"{method.full} must be an async function")
            for layer in reversed(self._layers):
                run = layer.wrap(run, method)
            self._router.table[method.full] = _handler(method, handler, run, parse=self._parse)


def _describe(service: str, name: str, handler: _RpcMethod) -> Method:
    if handler.request_streaming and not handler.response_streaming:
        raise TypeError(f"{service}/{name}: streams of the client are not offered")
    kind = Kind.SERVER_STREAM if handler.response_streaming else Kind.UNARY
    if handler.request_streaming:
        kind = Kind.BIDI_STREAM
    return Method(service, name, kind, handler.request_deserializer)


def _innermost(handler: _RpcMethod) -> Handler | None:
    """The servicer's own function; None if that is not an async one, as in the generated base."""
    behaviour = handler.unary_unary or handler.unary_stream or handler.stream_stream
    if inspect.iscoroutinefunction(behaviour):

        def answer(call: Call) -> Awaitable[Message | None]:
            return cast(Awaitable[Message | None], behaviour(call.request, call.context))

        return answer
    if not inspect.isasyncgenfunction(behaviour):
        return None

    async def stream(call: Call) -> None:
        # We write instead of handing the generator to grpc: it is closed at once when the client
        # goes, and not when it is collected; and no layer has to be a generator.
        # The client learns at once that he is listened to; the first message may be long in coming.
        await call.context.send_initial_metadata(())
        async with aclosing(behaviour(call.request, call.context)) as messages:
            async for message in messages:
                await call.context.write(message)
                if call.message_sent is not None:
                    call.message_sent()

    return stream


def _handler(
    method: Method, handler: _RpcMethod, run: Handler, *, parse: bool
) -> "grpc.RpcMethodHandler[Message, Message]":
    async def enter(request: Message | bytes, context: Context) -> Message | None:
        call = Call(method, request, context)
        current_call.set(call)
        return await run(call)

    read = handler.request_deserializer if parse else None
    write = _serializer(handler.response_serializer)
    if method.kind is Kind.UNARY:
        return grpc.unary_unary_rpc_method_handler(enter, read, write)
    if method.kind is Kind.SERVER_STREAM:
        return grpc.unary_stream_rpc_method_handler(enter, read, write)
    return grpc.stream_stream_rpc_method_handler(enter, read, write)


def _serializer(serialize: Callable[[Message], bytes]) -> Callable[[Message | bytes], bytes]:
    """Lets bytes through, so that a message which many watchers receive is serialised once."""

    def serialized(message: Message | bytes) -> bytes:
        return message if isinstance(message, bytes) else serialize(message)

    return serialized
