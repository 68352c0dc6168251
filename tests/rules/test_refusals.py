"""What the way in refuses, for every method: bytes, size, deadline, token, role.

Each request here would be carried out if it came in the right way, so whatever changes shows.
"""

from __future__ import annotations

from datetime import timedelta

import pytest
from kafeneio_runtime.auth import DevelopmentKey, Role

from tests.harness import OPERATOR, PATIENCE, SERVICE, STRANGER, Metadata, Rules
from tests.rules.refusal import Refused, refusal
from tests.rules.stage import METHODS, MUTATING, Said, Stage, path_of

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("refusals"),
]

every_method = pytest.mark.parametrize("path", METHODS)

# Who may call what, as the contract says.
ONLY: dict[str, tuple[str, ...]] = {
    "CreateGame": (SERVICE,),
    "CancelGame": (SERVICE,),
    "GetTurn": (SERVICE,),
    "ForfeitSeat": (SERVICE,),
    "ListEvents": (SERVICE,),
    "WatchComputerTurns": (SERVICE,),
    "AbortGame": (OPERATOR,),
    "JoinGame": (STRANGER,),
    "Act": (STRANGER, SERVICE),
    "Resign": (STRANGER,),
}
ROLES = {SERVICE: "service", OPERATOR: "operator", STRANGER: "player"}


async def sent(
    rules: Rules,
    path: str,
    body: bytes,
    metadata: Metadata,
    within: float | None = PATIENCE,
) -> Refused:
    """How a call with this body and these headers is refused; it has changed nothing."""
    before = await rules.snapshot()
    stream = METHODS[path].server_streaming
    refused = await refusal(rules.send(path, body, metadata, within, stream))
    assert await rules.snapshot() == before
    return refused


async def test_every_method_has_a_request_that_is_accepted(stage: Stage) -> None:
    assert set(stage.accepted()) == set(METHODS)


async def test_every_method_that_changes_something_has_been_called(stage: Stage) -> None:
    assert set(stage.sent) == set(MUTATING)
    assert len(MUTATING) == 7


@every_method
@pytest.mark.parametrize(
    "body",
    [b"\xff", b"\x0a\x7f", b"\x0b\x0b\x0b", b"\x0a\x02\xff\xfe"],
    ids=["half a tag", "shorter than it says", "open groups", "no text"],
)
async def test_bytes_that_are_no_message(stage: Stage, path: str, body: bytes) -> None:
    who = stage.accepted()[path].who
    if not METHODS[path].input_type.fields and body == b"\x0a\x02\xff\xfe":
        body = b"\x0a"  # without fields there is no text in it, and what is unknown is passed over
    refused = await sent(stage.rules, path, body, stage.rules.credentials(who))
    assert refused.what == ("INVALID_ARGUMENT", "MALFORMED")
    assert refused.fields == ("",)
    assert refused.domain == "kafeneio"


def padded(body: bytes, size: int) -> bytes:
    """The message with a field that nobody knows, so that it has that many bytes."""
    length = size - len(body) - 4
    return (
        body
        + b"\x7a"
        + bytes((length & 127 | 128, length >> 7 & 127 | 128, length >> 14))
        + (b"x" * length)
    )


@every_method
async def test_a_message_that_is_too_large(stage: Stage, path: str) -> None:
    said, most = stage.accepted()[path], stage.rules.settings.max_message_bytes
    body = padded(said.request.SerializeToString(), most + 1)
    assert len(body) == most + 1
    refused = await sent(stage.rules, path, body, stage.rules.credentials(said.who))
    assert refused == Refused("RESOURCE_EXHAUSTED")


async def test_a_message_that_is_just_not_too_large(stage: Stage) -> None:
    body = padded(b"", stage.rules.settings.max_message_bytes)
    credentials = stage.rules.credentials(STRANGER)
    assert await stage.rules.send(path_of("ListVariants"), body, credentials)


@every_method
async def test_a_call_without_a_token(stage: Stage, path: str) -> None:
    body = stage.accepted()[path].request.SerializeToString()
    for metadata in ((), (("authorization", "Basic ZWxlbmk6"),)):
        refused = await sent(stage.rules, path, body, metadata)
        assert refused.what == ("UNAUTHENTICATED", "TOKEN_MISSING")


@every_method
async def test_a_token_that_is_not_of_this_house(stage: Stage, path: str, forger: str) -> None:
    said = stage.accepted()[path]
    body = said.request.SerializeToString()
    good = stage.rules.token(said.who)
    role = _role(said)
    hour = timedelta(hours=1)
    tokens = (
        "nonsense",
        good[:-8] + "AAAAAAAA",
        forger,
        stage.rules.key.sign(said.who, role, hour, audience="another"),
        stage.rules.key.sign(said.who, role, hour, issuer="another"),
        stage.rules.key.sign("", role, hour),
    )
    for token in tokens:
        refused = await sent(stage.rules, path, body, (("authorization", f"Bearer {token}"),))
        assert refused.what == ("UNAUTHENTICATED", "TOKEN_INVALID"), token


@every_method
async def test_a_token_that_has_expired(stage: Stage, path: str) -> None:
    said = stage.accepted()[path]
    old = stage.rules.token(said.who, timedelta(seconds=-1))
    body = said.request.SerializeToString()
    refused = await sent(stage.rules, path, body, (("authorization", f"Bearer {old}"),))
    assert refused.what == ("UNAUTHENTICATED", "TOKEN_EXPIRED")


@every_method
async def test_a_call_of_another_role(stage: Stage, path: str) -> None:
    name, body = METHODS[path].name, stage.accepted()[path].request.SerializeToString()
    allowed = ONLY.get(name, tuple(ROLES))
    strangers = [who for who in ROLES if who not in allowed]
    assert len(strangers) == 3 - len(allowed)
    for who in strangers:
        refused = await sent(stage.rules, path, body, stage.rules.credentials(who))
        assert refused.what == ("PERMISSION_DENIED", "ROLE_REQUIRED")
        assert refused.metadata == {"roles": ", ".join(ROLES[each] for each in allowed)}


@every_method
async def test_a_unary_call_without_a_deadline(stage: Stage, path: str) -> None:
    said = stage.accepted()[path]
    body, headers = said.request.SerializeToString(), stage.rules.credentials(said.who)
    if METHODS[path].server_streaming:
        assert await stage.rules.send(path, body, headers, within=None, stream=True)
        return
    refused = await sent(stage.rules, path, body, headers, within=None)
    assert refused.what == ("INVALID_ARGUMENT", "DEADLINE_REQUIRED")


@every_method
async def test_a_refusal_names_the_call_for_the_log(stage: Stage, path: str) -> None:
    refused = await sent(stage.rules, path, b"", (("x-request-id", "ours-1"),))
    assert refused.what == ("UNAUTHENTICATED", "TOKEN_MISSING")
    assert refused.request_id == "ours-1"


@pytest.fixture(scope="module")
def forger(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A token for an operator, signed by somebody else's key."""
    key = DevelopmentKey.load_or_create(tmp_path_factory.mktemp("forger") / "token.pem")
    return key.sign(OPERATOR, Role.OPERATOR, timedelta(hours=1))


def _role(said: Said) -> Role:
    return Role(ROLES.get(said.who, "player"))
