"""A small service for tests of the runtime, whose proto is written in Python so that nothing has to
be generated.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Final, Protocol

import grpc
from buf.validate import validate_pb2
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import Message
from kafeneio_runtime.auth import Role

_PACKAGE: Final = "kafeneio.test.v1"
SERVICE: Final = f"{_PACKAGE}.EchoService"
ECHO: Final = f"/{SERVICE}/Echo"
OPERATE: Final = f"/{SERVICE}/Operate"
WATCH: Final = f"/{SERVICE}/Watch"

ROLES: Final[Mapping[str, frozenset[Role]]] = {
    ECHO: frozenset(Role),
    OPERATE: frozenset({Role.OPERATOR}),
    WATCH: frozenset({Role.PLAYER}),
}

_Field = descriptor_pb2.FieldDescriptorProto


def _add_field(
    message: descriptor_pb2.DescriptorProto, name: str, kind: "_Field.Type.ValueType"
) -> descriptor_pb2.FieldDescriptorProto:
    return message.field.add(
        name=name, number=len(message.field) + 1, type=kind, label=_Field.LABEL_OPTIONAL
    )


def _describe() -> descriptor_pb2.FileDescriptorProto:
    file = descriptor_pb2.FileDescriptorProto(
        name="kafeneio/test/v1/echo.proto",
        package=_PACKAGE,
        syntax="proto3",
        dependency=["buf/validate/validate.proto"],
    )
    word = file.message_type.add(name="Word")
    text = _add_field(word, "text", _Field.TYPE_STRING)
    text.options.Extensions[validate_pb2.field].string.max_len = 10
    request = file.message_type.add(name="EchoRequest")
    _add_field(request, "text", _Field.TYPE_STRING)
    number = _add_field(request, "number", _Field.TYPE_INT32)
    number.options.Extensions[validate_pb2.field].int32.lte = 24
    words = _add_field(request, "words", _Field.TYPE_MESSAGE)
    words.type_name, words.label = f".{_PACKAGE}.Word", _Field.LABEL_REPEATED
    _add_field(file.message_type.add(name="EchoResponse"), "text", _Field.TYPE_STRING)
    service = file.service.add(name="EchoService")
    for name in ("Echo", "Operate", "Watch"):
        service.method.add(
            name=name,
            input_type=f".{_PACKAGE}.EchoRequest",
            output_type=f".{_PACKAGE}.EchoResponse",
            server_streaming=name == "Watch",
        )
    return file


descriptor_pool.Default().Add(_describe())


def _message_class(name: str) -> type[Message]:
    found = descriptor_pool.Default().FindMessageTypeByName(f"{_PACKAGE}.{name}")
    return message_factory.GetMessageClass(found)


EchoRequest: Final = _message_class("EchoRequest")
EchoResponse: Final = _message_class("EchoResponse")
Word: Final = _message_class("Word")


def response(text: str) -> Message:
    return EchoResponse(text=text)


def text_of(message: Message) -> str:
    text: str = getattr(message, "text")  # noqa: B009 (the class is made at run time)
    return text


async def echo(request: Message) -> Message:
    return response(text_of(request))


async def count(request: Message) -> AsyncIterator[Message]:
    for number in range(3):
        yield response(f"{text_of(request)} {number}")


class Servicer:
    """Each test says what the methods do."""

    def __init__(self) -> None:
        self.echo: Callable[[Message], Awaitable[Message]] = echo
        self.watch: Callable[[Message], AsyncIterator[Message]] = count

    async def Echo(self, request: Message, context: object) -> Message:
        return await self.echo(request)

    async def Operate(self, request: Message, context: object) -> Message:
        return await self.echo(request)

    async def Watch(self, request: Message, context: object) -> AsyncIterator[Message]:
        async for message in self.watch(request):
            yield message


class _Server(Protocol):
    def add_registered_method_handlers(
        self, service_name: str, method_handlers: Mapping[str, object]
    ) -> None: ...


def add_to_server(servicer: Servicer, server: _Server) -> None:
    """What generated code would be."""
    codec = EchoRequest.FromString, EchoResponse.SerializeToString
    server.add_registered_method_handlers(
        SERVICE,
        {
            "Echo": grpc.unary_unary_rpc_method_handler(servicer.Echo, *codec),
            "Operate": grpc.unary_unary_rpc_method_handler(servicer.Operate, *codec),
            "Watch": grpc.unary_stream_rpc_method_handler(servicer.Watch, *codec),
        },
    )
