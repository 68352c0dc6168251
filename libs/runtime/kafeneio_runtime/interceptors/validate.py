"""Holds each request against the field rules that stand in the protos."""

from collections.abc import Callable
from functools import cache
from typing import Final, cast

import protovalidate
from google.protobuf.message import Message

from kafeneio_runtime.calls import Call, Method
from kafeneio_runtime.errors import malformed_fields
from kafeneio_runtime.interceptors.base import Gate

_MOST_VIOLATIONS: Final = 20


@cache
def _validator() -> protovalidate.Validator:
    """One for the process: it keeps the rules that it has compiled."""
    return protovalidate.Validator()


class Validate(Gate):
    """Innermost: the last look before the handler, which may then rely on the rules."""

    def check(self, method: Method) -> Callable[[Call], None]:
        violations = _validator().collect_violations
        # The first look at a type compiles its rules (13 ms): now, and not in somebody's call. A
        # rule that can't be compiled is found at the start, too.
        violations(method.parse(b""))

        def validate(call: Call) -> None:
            found = violations(cast(Message, call.request))  # `decode` has parsed it
            if found:
                raise malformed_fields(tuple(_told(each) for each in found[:_MOST_VIOLATIONS]))

        return validate


def _told(violation: protovalidate.Violation) -> tuple[str, str]:
    proto = violation.proto
    return _path(proto.field), proto.message


def _path(field: protovalidate.FieldPathPb | None) -> str:
    """`actions[2].move_checker.from`: the field as a client would write it; empty for the message
    as a whole.
    """
    if field is None:
        return ""
    names = []
    for element in field.elements:
        subscript = element.subscript
        names.append(
            element.field_name if subscript is None else f"{element.field_name}[{subscript.value}]"
        )
    return ".".join(names)
