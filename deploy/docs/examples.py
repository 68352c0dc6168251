"""An example of every message, and of every refusal."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from deploy.docs.contracts import Contracts, Enum, Field, Json, Value

DEPTH: Final = 4
"""How deep an example goes into messages within messages."""

_ID: Final = "0190163d-8694-739b-aea5-966c26f8ad91"
_WELL_KNOWN: Final[dict[str, Json]] = {
    "google.protobuf.Timestamp": "2026-01-31T18:30:00Z",
    "google.protobuf.Duration": "30s",
}
_SCALARS: Final[dict[str, Json]] = {
    "string": "…",
    "bool": True,
    "bytes": "Yw3NKWbENmkRJUS7sls/9BL0nHMtssirwbhYG9cQ3f0=",  # 32 of them
    "double": 0.5,
    "float": 0.5,
    # 64 bits are strings in JSON: a number would be rounded.
    **dict.fromkeys(("int64", "uint64", "sint64", "fixed64", "sfixed64"), "500"),
    **dict.fromkeys(("int32", "uint32", "sint32", "fixed32", "sfixed32"), 1),
}
_WRITTEN: Final = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
"""What can't be worked out: values of fields by their names, what messages have instead of what is
made for them (null for nothing), and what refusals tell."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """How one reason comes to a client."""

    code: str
    metadata: tuple[str, ...]
    retry: bool


def of_message(contracts: Contracts, name: str, depth: int = DEPTH) -> Json:
    """A message as JSON (the proto3 mapping); of each oneof the first case."""
    if name in _WELL_KNOWN:
        return _WELL_KNOWN[name]
    shown: dict[str, Json] = {}
    chosen: set[str] = set()
    for field in contracts.messages[name].fields:
        if field.oneof in chosen:
            continue
        value = _of_field(contracts, field, depth)
        if value is not None:
            shown[field.json_name] = value
            chosen |= {field.oneof} if field.oneof else set()
    written = shown | _WRITTEN["messages"].get(name, {})
    return {key: value for key, value in written.items() if value is not None}


def _of_field(contracts: Contracts, field: Field, depth: int) -> Json | None:
    if field.is_map:  # there are only house rules by name
        return {"rule_set": "zarclub"}
    one = _one(contracts, field, depth)
    return one if one is None or not field.repeated else [one]


def _one(contracts: Contracts, field: Field, depth: int) -> Json | None:
    """One value of a field; None where the example ends."""
    if field.type in contracts.enums:
        return _of_enum(contracts.enums[field.type])
    if field.type in contracts.messages or field.type in _WELL_KNOWN:
        return of_message(contracts, field.type, depth - 1) if depth > 0 else None
    if field.type == "string" and field.name in _WRITTEN["fields"]:
        named: Json = _WRITTEN["fields"][field.name]
        return named
    if field.type == "string" and (field.name.endswith("_id") or field.name.endswith("_ids")):
        return _ID
    return _SCALARS[field.type]


def _of_enum(enum: Enum) -> str:
    """The first value that says something."""
    return enum.values[min(1, len(enum.values) - 1)].name


# --- refusals ----------------------------------------------------------------------------------

_CODE: Final = re.compile(r"^([A-Z_]+)[,:]")
_METADATA: Final = re.compile(r"metadata `(\w+)`(?: and `(\w+)`)?")


def of_reason(value: Value) -> Refusal:
    """What the comment of a reason says of it; ValueError where it does not begin with a code."""
    found = _CODE.match(value.comment)
    if found is None:
        raise ValueError(f"the comment of {value.name} does not begin with a code")
    named = tuple(name for pair in _METADATA.findall(value.comment) for name in pair if name)
    return Refusal(found.group(1), named, "RetryInfo" in value.comment)


def status_of(value: Value, prefix: str) -> Json:
    """The google.rpc.Status of a refusal, as JSON."""
    refusal = of_reason(value)
    metadata: dict[str, Json] = {
        name: _WRITTEN["metadata"].get(name, "…") for name in refusal.metadata
    }
    info: dict[str, Json] = {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": value.name.removeprefix(prefix),
        "domain": "kafeneio",
    }
    details: list[Json] = [info | ({"metadata": metadata} if metadata else {})]
    if refusal.retry:
        retry: dict[str, Json] = {
            "@type": "type.googleapis.com/google.rpc.RetryInfo",
            "retryDelay": "1s",
        }
        details.append(retry)
    return {"code": refusal.code, "details": details}
