"""The API reference: everything is in it, and its examples are calls that the house would read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import grpc
import protovalidate
import pytest
from google.protobuf import json_format
from google.protobuf.message import Message as Sent
from google.protobuf.symbol_database import Default
from kafeneio.clock.v1 import clock_pb2
from kafeneio.common.v1 import audit_pb2, errors_pb2
from kafeneio.matchmaking.v1 import players_pb2, quick_match_pb2, tables_pb2, tournaments_pb2
from kafeneio.rules.v1 import game_pb2, rulebook_pb2
from kafeneio.settlement.v1 import prizes_pb2, settlement_pb2, wallet_pb2
from kafeneio_runtime.greek import SENTENCES

from deploy.docs import examples, reference
from deploy.docs.contracts import Contracts, read

FILES: Final = (
    audit_pb2,
    clock_pb2,
    game_pb2,
    players_pb2,
    prizes_pb2,
    quick_match_pb2,
    rulebook_pb2,
    settlement_pb2,
    tables_pb2,
    tournaments_pb2,
    wallet_pb2,
)
"""Where the services are: importing them makes their messages known."""


@pytest.fixture(scope="module")
def contracts() -> Contracts:
    """What protos/ says."""
    return read()


def sent(contracts: Contracts, name: str) -> Sent:
    """The example of a message, as a message; fails where it can't be read."""
    text = json.dumps(examples.of_message(contracts, name))
    return json_format.Parse(text, Default().GetSymbol(name)())


def test_every_service_and_call_is_there(contracts: Contracts) -> None:
    served = {
        service.full_name: {method.name for method in service.methods}
        for file in FILES
        for service in file.DESCRIPTOR.services_by_name.values()
    }
    told = {
        service.name: {method.name for method in service.methods}
        for service in contracts.services.values()
    }
    assert told == served


def test_every_example_is_a_message(contracts: Contracts) -> None:
    for name in contracts.messages:
        assert sent(contracts, name).DESCRIPTOR.full_name == name


def test_every_example_of_a_call_keeps_the_field_rules(contracts: Contracts) -> None:
    broken = {}
    for service in contracts.services.values():
        for method in service.methods:
            found = protovalidate.collect_violations(sent(contracts, method.request))
            if found:
                broken[method.name] = [each.proto.message for each in found]
    assert broken == {}


def test_every_reason_has_an_example_with_a_code_of_grpc(contracts: Contracts) -> None:
    reasons = contracts.enums[reference.REASONS].values[1:]
    assert [reason.name for reason in reasons] == list(errors_pb2.ErrorReason.keys())[1:]
    codes = {code.name for code in grpc.StatusCode}
    for reason in reasons:
        assert examples.of_reason(reason).code in codes, reason.name


def test_what_a_comment_says_of_a_refusal_is_in_its_example(contracts: Contracts) -> None:
    told = {
        value.name: examples.status_of(value, "ERROR_REASON_")
        for value in contracts.enums[reference.REASONS].values[1:]
    }
    assert told["ERROR_REASON_ILLEGAL_ACTION"] == {
        "code": "FAILED_PRECONDITION",
        "details": [
            {
                "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                "reason": "ILLEGAL_ACTION",
                "domain": "kafeneio",
                "metadata": {"rule": "V2.3"},
            }
        ],
    }
    limited = json.dumps(told["ERROR_REASON_RATE_LIMITED"])
    assert "RESOURCE_EXHAUSTED" in limited
    assert "RetryInfo" in limited


def test_every_name_stands_on_a_page_and_every_link_leads_somewhere(
    contracts: Contracts, tmp_path: Path
) -> None:
    pages = {path.name: path.read_text("utf-8") for path in reference.write(tmp_path)}
    everything = "".join(pages.values())
    assert all(sentence in pages["errors.html"] for sentence in SENTENCES.values())
    for enum in contracts.enums.values():
        for value in enum.values:
            shown = value.name.removeprefix("ERROR_REASON_")
            assert shown in everything or value.number == 0, value.name
    for message in contracts.messages.values():
        page = pages[reference.page_of(message.name)]
        assert f'id="{message.name.rsplit(".", 1)[-1]}"' in page
        for field in message.fields:
            assert f"<code>{field.name}</code>" in page
            assert field.comment, f"{message.name}.{field.name}"
    for name, page in pages.items():
        for link in page.split('href="')[1:]:
            target, _, place = link.split('"', 1)[0].partition("#")
            assert target == "style.css" or target in pages, f"{name}: {link[:60]}"
            assert not place or f'id="{place}"' in pages[target], f"{name}: {link[:60]}"
