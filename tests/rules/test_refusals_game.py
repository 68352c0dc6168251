"""Calls that the state of things forbids: each has its own code and reason, and changes nothing."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest
from kafeneio.common.v1 import errors_pb2

from tests.rules.calls import Case
from tests.rules.refusal import refusal
from tests.rules.refused_games import GAMES, LOOKING
from tests.rules.refused_play import PLAY
from tests.rules.stage import METHODS, MUTATING, Stage, path_of

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("refusals of games"),
]

PROTOS: Final = Path(__file__).parents[2] / "protos" / "kafeneio"
ELSEWHERE: Final = {
    "ForfeitSeat": {"SEAT_ELIMINATED"},
    "Resign": {"NOT_RESIGNABLE", "SEAT_ELIMINATED"},
    "ListLegalActions": {"NOT_YOUR_SEAT"},
}
"""Reasons of games that the stage does not have: see `test_eliminated`, `test_card_forfeits`."""
CASES: Final = (*GAMES, *PLAY, *LOOKING)


def documented_codes() -> dict[str, str]:
    """The code that errors.proto gives each reason."""
    text = (PROTOS / "common/v1/errors.proto").read_text("utf-8")
    found = re.findall(r"((?:  //[^\n]*\n)+)  ERROR_REASON_([A-Z_]+) = ", text)
    return {
        reason: code[1]
        for comment, reason in found
        if (code := re.match(r"  // ([A-Z_]{5,})[:,] ", comment))
    }


def documented_reasons() -> dict[str, set[str]]:
    """The reasons that each method's comment names."""
    reasons = {
        name.removeprefix("ERROR_REASON_")
        for name in errors_pb2.ErrorReason.DESCRIPTOR.values_by_name
    }
    found: dict[str, set[str]] = {}
    for name in ("game", "rulebook"):
        text = (PROTOS / f"rules/v1/{name}.proto").read_text("utf-8")
        for comment, method in re.findall(r"((?:  //[^\n]*\n)+)  rpc (\w+)\(", text):
            found[method] = set(re.findall(r"[A-Z_]{5,}", comment)) & reasons
            if "Errors as Act" in comment:
                # A resignation is no move: it has no version, no turn and no legal ones.
                found[method] |= found["Act"] - {"STALE_VERSION", "NOT_YOUR_TURN", "ILLEGAL_ACTION"}
    return found


@pytest.mark.parametrize("case", CASES, ids=[f"{each.method}: {each.why}" for each in CASES])
async def test_refused(stage: Stage, case: Case) -> None:
    said, path = case.make(stage), path_of(case.method)
    before = await stage.rules.snapshot()
    refused = await refusal(
        stage.rules.send(
            path,
            said.request.SerializeToString(),
            stage.rules.credentials(said.who),
            stream=METHODS[path].server_streaming,
        )
    )
    assert refused.what == (documented_codes()[case.reason], case.reason)
    assert refused.domain == "kafeneio"
    assert refused.request_id, "so that it can be found in the log"
    assert refused.fields == case.fields
    assert refused.metadata == {name: value(stage) for name, value in case.metadata.items()}
    assert await stage.rules.snapshot() == before


async def test_every_reason_has_a_documented_code() -> None:
    reasons = {
        name.removeprefix("ERROR_REASON_")
        for name in errors_pb2.ErrorReason.DESCRIPTOR.values_by_name
    }
    assert set(documented_codes()) >= reasons - {"UNSPECIFIED"}


async def test_every_reason_that_a_method_documents_is_met() -> None:
    met = {METHODS[path].name: set(ELSEWHERE.get(METHODS[path].name, ())) for path in METHODS}
    for case in CASES:
        met[case.method].add(case.reason)
    documented = documented_reasons()
    assert set(documented) == set(met)
    assert {name: reasons - met[name] for name, reasons in documented.items()} == {
        name: set() for name in met
    }
    # Beside what its comment names a method refuses only what every method about a game may.
    anywhere = {"MALFORMED", "REQUEST_ID_REUSED", "GAME_UNKNOWN", "GAME_CANCELLED"}
    anywhere |= {"STALE_VERSION", "GAME_NOT_OVER"}
    assert {name: reasons - documented[name] - anywhere for name, reasons in met.items()} == {
        name: set() for name in met
    }


async def test_every_method_with_a_request_id_is_called_with_an_old_one() -> None:
    tried = {path_of(case.method) for case in CASES if case.reason == "REQUEST_ID_REUSED"}
    assert tried == set(MUTATING)
