"""Every method of every service, found by reflection on a running house, is closed to all but those
for whom it is; so what is added tomorrow is covered, too.
"""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Final

import grpc
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from kafeneio_runtime.auth import DevelopmentKey, Role, development_key

from tests.journeys.evening import Evening
from tests.security.protos import documented_roles
from tests.security.reflected import PUBLIC, Offered, methods, outcome, services

HOUR: Final = timedelta(hours=1)
SERVICES: Final = ("rules", "clock", "settlement", "matchmaking")
AT_ONCE: Final = 16
MISSING, INVALID = ("UNAUTHENTICATED", "TOKEN_MISSING"), ("UNAUTHENTICATED", "TOKEN_INVALID")
EXPIRED, FORBIDDEN = ("UNAUTHENTICATED", "TOKEN_EXPIRED"), ("PERMISSION_DENIED", "ROLE_REQUIRED")
AFTER_THE_DOOR: Final = frozenset({MISSING, INVALID, EXPIRED, FORBIDDEN})


@asynccontextmanager
async def channels(house: Evening) -> AsyncIterator[Mapping[str, grpc.aio.Channel]]:
    """A bare channel to each service."""
    opened = {name: grpc.aio.insecure_channel(house.addresses(name)[0]) for name in SERVICES}
    try:
        yield opened
    finally:
        for channel in opened.values():
            await channel.close()


async def everything(
    opened: Mapping[str, grpc.aio.Channel],
) -> list[tuple[grpc.aio.Channel, Offered]]:
    """All methods of the house, each with a channel to who offers it."""
    return [(channel, method) for channel in opened.values() for method in await methods(channel)]


async def outcomes(
    opened: Mapping[str, grpc.aio.Channel], header: str | None
) -> dict[str, tuple[str, str]]:
    """What becomes of a call of every method with one header; by service and path."""
    room = asyncio.Semaphore(AT_ONCE)
    metadata = () if header is None else (("authorization", header),)

    async def one(name: str, channel: grpc.aio.Channel, method: Offered) -> tuple[str, str]:
        async with room:
            return await outcome(channel, method, metadata)

    asked = [
        (name, channel, method)
        for name, channel in opened.items()
        for method in await methods(channel)
    ]
    found = await asyncio.gather(*(one(*each) for each in asked))
    return {
        f"{name} {method.path}": told for (name, _, method), told in zip(asked, found, strict=True)
    }


def bearer(key: DevelopmentKey, role: Role, **changes: str) -> str:
    return f"Bearer {key.sign('eleni', role, HOUR, **changes)}"


def _part(value: Mapping[str, object]) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def forged(key: DevelopmentKey) -> Iterator[tuple[str, str | None, tuple[str, str]]]:
    """(what is wrong, the header, what is answered)."""
    yield "no header", None, MISSING
    yield "another scheme", "Basic ZWxlbmk6ZWxlbmk=", MISSING
    yield "no token", "Bearer ", INVALID
    yield "malformed", "Bearer kalimera", INVALID
    expired = key.sign("eleni", Role.OPERATOR, -HOUR)
    yield "expired", f"Bearer {expired}", EXPIRED
    yield "another issuer", bearer(key, Role.OPERATOR, issuer="elsewhere"), INVALID
    yield "another audience", bearer(key, Role.OPERATOR, audience="elsewhere"), INVALID
    stranger = DevelopmentKey(Ed25519PrivateKey.generate())
    yield "another key", bearer(stranger, Role.OPERATOR), INVALID
    (public,) = _keys(key)
    now = datetime.now(UTC)
    claims: dict[str, object] = {
        "iss": "kafeneio",
        "aud": "kafeneio",
        "sub": "eleni",
        "role": "operator",
        "exp": round((now + HOUR).timestamp()),
    }
    header = {"alg": "none", "typ": "JWT", "kid": public["kid"]}
    yield "unsigned", f"Bearer {_part(header)}.{_part(claims)}.", INVALID
    with_public = jwt.encode(
        claims, public["x"].ljust(32, "="), "HS256", headers={"kid": public["kid"]}
    )
    yield "signed with the public key", f"Bearer {with_public}", INVALID
    good = key.sign("eleni", Role.PLAYER, HOUR)
    head, _, signature = good.split(".")
    yield "another content", f"Bearer {head}.{_part(claims)}.{signature}", INVALID


def _keys(key: DevelopmentKey) -> list[dict[str, str]]:
    found = key.jwks()["keys"]
    assert isinstance(found, list)
    return found


async def test_nothing_else_is_offered_than_what_the_contracts_have(house: Evening) -> None:
    documented = documented_roles()
    async with channels(house) as opened:
        offered = {method.path for _, method in await everything(opened)}
        assert offered == set(documented)
        for channel in opened.values():
            assert await services(channel) >= PUBLIC


async def test_without_a_good_token_every_door_is_closed(house: Evening) -> None:
    key = development_key(house.settings)
    async with channels(house) as opened:
        for wrong, header, expected in forged(key):
            found = await outcomes(opened, header)
            assert len(found) > 60, "the whole house"
            assert set(found.values()) == {expected}, wrong


@pytest.mark.parametrize("role", list(Role))
async def test_a_method_is_for_those_that_its_contract_names(house: Evening, role: Role) -> None:
    documented = documented_roles()
    async with channels(house) as opened:
        found = await outcomes(opened, bearer(development_key(house.settings), role))
    closed = {name for name, told in found.items() if told == FORBIDDEN}
    foreign = {name for name in found if role not in documented[name.split()[1]]}
    assert closed == foreign
    let_in = {told for name, told in found.items() if name not in foreign}
    assert not let_in & AFTER_THE_DOOR
