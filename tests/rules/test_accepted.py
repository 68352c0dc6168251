"""The requests with which the refusals are tested are good ones."""

from __future__ import annotations

from tests.harness import Rules
from tests.rules.stage import METHODS, Stage


async def test_every_request_is_carried_out(rules: Rules) -> None:
    stage = await Stage.set(rules)
    for path, said in stage.accepted().items():
        before = await rules.snapshot()
        body = said.request.SerializeToString()
        stream = METHODS[path].server_streaming
        answer = await rules.send(path, body, rules.credentials(said.who), stream=stream)
        changes = "request_id" in METHODS[path].input_type.fields_by_name
        assert (await rules.snapshot() != before) is changes, path
        assert answer or METHODS[path].name == "CancelGame", path
