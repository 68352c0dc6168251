"""The contracts as they are written in protos/: all that there is, with its comments."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    FileDescriptorSet,
)

ROOT: Final = Path(__file__).resolve().parents[2]
OURS: Final = "kafeneio."

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool"

# Where the descriptors keep things: numbers of fields in descriptor.proto.
_MESSAGES, _ENUMS, _SERVICES = 4, 5, 6
_FIELDS, _NESTED, _NESTED_ENUMS, _VALUES, _METHODS = 2, 3, 4, 2, 2
_SCALARS: Final = {
    number: name.removeprefix("TYPE_").lower() for name, number in FieldDescriptorProto.Type.items()
}


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a message; `type` is a scalar's name, or the full name of a message or enum."""

    name: str
    json_name: str
    type: str
    repeated: bool
    optional: bool
    oneof: str
    comment: str
    is_map: bool = False


@dataclass(frozen=True, slots=True)
class Message:
    """A message with its fields."""

    name: str
    comment: str
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class Value:
    """One value of an enum."""

    name: str
    number: int
    comment: str


@dataclass(frozen=True, slots=True)
class Enum:
    """An enum with its values."""

    name: str
    comment: str
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Method:
    """One call of a service."""

    name: str
    comment: str
    request: str
    response: str
    streams: bool


@dataclass(frozen=True, slots=True)
class Service:
    """A service with its calls."""

    name: str
    comment: str
    methods: tuple[Method, ...]


@dataclass(frozen=True, slots=True)
class Contracts:
    """All that the house promises, by full name."""

    services: dict[str, Service]
    messages: dict[str, Message]
    enums: dict[str, Enum]
    maps: dict[str, Message]
    """The entries of maps, which are no messages of their own to a reader."""


def read() -> Contracts:
    """The contracts of this checkout; raises CalledProcessError where protoc refuses them."""
    with tempfile.TemporaryDirectory() as folder:
        image = Path(folder) / "image.binpb"
        generator = str(ROOT / "libs" / "stubs" / "generate.py")
        subprocess.run([sys.executable, generator, "image", str(image)], check=True)
        files = FileDescriptorSet.FromString(image.read_bytes())
    contracts = Contracts({}, {}, {}, {})
    for file in files.file:
        if file.package.startswith(OURS):
            _File(file, contracts).read()
    return contracts


class _File:
    """One file, read into the contracts."""

    def __init__(self, file: FileDescriptorProto, into: Contracts) -> None:
        self._file = file
        self._into = into
        self._comments = {
            tuple(place.path): place.leading_comments for place in file.source_code_info.location
        }

    def read(self) -> None:
        """Everything in it."""
        package = self._file.package
        for number, message in enumerate(self._file.message_type):
            self._message(message, package, (_MESSAGES, number))
        for number, enum in enumerate(self._file.enum_type):
            self._enum(enum, package, (_ENUMS, number))
        for number, service in enumerate(self._file.service):
            path = (_SERVICES, number)
            methods = tuple(
                Method(
                    method.name,
                    self._comment((*path, _METHODS, index)),
                    method.input_type.removeprefix("."),
                    method.output_type.removeprefix("."),
                    method.server_streaming,
                )
                for index, method in enumerate(service.method)
            )
            name = f"{package}.{service.name}"
            self._into.services[name] = Service(name, self._comment(path), methods)

    def _message(self, message: DescriptorProto, scope: str, path: tuple[int, ...]) -> None:
        name = f"{scope}.{message.name}"
        fields = tuple(
            self._field(message, field, self._comment((*path, _FIELDS, index)))
            for index, field in enumerate(message.field)
        )
        kept = self._into.maps if message.options.map_entry else self._into.messages
        kept[name] = Message(name, self._comment(path), fields)
        for index, nested in enumerate(message.nested_type):
            self._message(nested, name, (*path, _NESTED, index))
        for index, enum in enumerate(message.enum_type):
            self._enum(enum, name, (*path, _NESTED_ENUMS, index))

    def _field(self, message: DescriptorProto, field: FieldDescriptorProto, comment: str) -> Field:
        in_oneof = field.HasField("oneof_index") and not field.proto3_optional
        entries = {f".{self._file.package}.{message.name}.{n.name}" for n in message.nested_type}
        return Field(
            name=field.name,
            json_name=field.json_name,
            type=field.type_name.removeprefix(".") or _SCALARS[field.type],
            repeated=field.label == FieldDescriptorProto.LABEL_REPEATED,
            optional=field.proto3_optional,
            oneof=message.oneof_decl[field.oneof_index].name if in_oneof else "",
            comment=comment,
            is_map=field.type_name in entries
            and field.label == FieldDescriptorProto.LABEL_REPEATED,
        )

    def _enum(self, enum: EnumDescriptorProto, scope: str, path: tuple[int, ...]) -> None:
        name = f"{scope}.{enum.name}"
        values = tuple(
            Value(value.name, value.number, self._comment((*path, _VALUES, index)))
            for index, value in enumerate(enum.value)
        )
        self._into.enums[name] = Enum(name, self._comment(path), values)

    def _comment(self, path: Sequence[int]) -> str:
        """The comment of something, its lines joined, with empty lines between paragraphs."""
        text = self._comments.get(tuple(path), "")
        paragraphs = re.split(r"\n\s*\n", text.strip())
        return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def packages(contracts: Contracts) -> Iterator[str]:
    """The packages, the smallest in the order of their names: "kafeneio.rules.v1"."""
    names = [*contracts.services, *contracts.messages, *contracts.enums]
    yield from sorted({".".join(name.split(".")[:3]) for name in names})
