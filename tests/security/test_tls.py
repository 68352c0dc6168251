"""TLS on a real port: who may knock, whom a channel believes, and what a start refuses."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import grpc
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from grpc_health.v1 import health_pb2
from kafeneio_runtime.directory import Directory
from kafeneio_runtime.mistakes import spoken
from kafeneio_runtime.serve import Server, serve
from kafeneio_runtime.settings import Settings
from kafeneio_runtime.tls import TlsError, identity
from prometheus_client import REGISTRY

from tests.runtime import echo
from tests.runtime.house import answering, service, settings, token, verifier
from tests.security.certificates import DAY, Authority, Certified

SECONDS = 10


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path / "house", "house")


@asynccontextmanager
async def served(
    chosen: Mapping[str, object], servicer: echo.Servicer | None = None
) -> AsyncIterator[Server]:
    server = Server(service(servicer or echo.Servicer()), settings(**chosen), verifier())
    await server.start()
    try:
        yield server
    finally:
        await server.drain()


async def say(channel: grpc.aio.Channel) -> str:
    body = echo.EchoRequest(text="kalimera").SerializeToString()
    metadata = (("authorization", f"Bearer {token()}"),)
    return echo.text_of(await answering(channel)(body, timeout=SECONDS, metadata=metadata))


async def turned_away(address: str, credentials: grpc.ChannelCredentials | None) -> None:
    """Asserts that a client does not get as far as a call."""
    channel = (
        grpc.aio.insecure_channel(address)
        if credentials is None
        else grpc.aio.secure_channel(address, credentials)
    )
    async with channel:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await say(channel)
    assert caught.value.code() is grpc.StatusCode.UNAVAILABLE


async def test_a_client_with_a_certificate_of_the_house_is_let_in(authority: Authority) -> None:
    credentials = authority.credentials(authority.sign("matchmaking"))
    async with (
        served(authority.settings(authority.sign("rules"))) as server,
        grpc.aio.secure_channel(server.address, credentials) as channel,
    ):
        assert await say(channel) == "kalimera"


async def test_a_certificate_is_no_token(authority: Authority) -> None:
    credentials = authority.credentials(authority.sign("matchmaking"))
    async with (
        served(authority.settings(authority.sign("rules"))) as server,
        grpc.aio.secure_channel(server.address, credentials) as channel,
    ):
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await answering(channel)(b"", timeout=SECONDS)
    assert caught.value.code() is grpc.StatusCode.UNAUTHENTICATED


async def test_whoever_has_no_good_certificate_is_turned_away(
    authority: Authority, tmp_path: Path
) -> None:
    other = Authority(tmp_path / "other", "other")
    foreign = other.sign("matchmaking")
    expired = authority.sign("expired", begin=-3 * DAY, end=-DAY)
    early = authority.sign("early", begin=DAY, end=2 * DAY)
    called: list[str] = []
    servicer = echo.Servicer()

    async def note(request: object) -> object:
        called.append("called")
        raise AssertionError("nobody may come as far")

    servicer.echo = note  # type: ignore[assignment]
    async with served(authority.settings(authority.sign("rules")), servicer) as server:
        await turned_away(server.address, None)
        await turned_away(server.address, authority.credentials())
        for certified in (foreign, expired, early):
            key, certificate = certified.pair
            knocking = grpc.ssl_channel_credentials(authority.pem, key, certificate)
            await turned_away(server.address, knocking)
    assert not called


async def test_a_client_believes_no_server_of_another_authority(
    authority: Authority, tmp_path: Path
) -> None:
    other = Authority(tmp_path / "other", "other")
    async with served(other.settings(other.sign("rules"))) as server:
        await turned_away(server.address, authority.credentials(authority.sign("matchmaking")))


async def test_a_client_believes_no_server_of_another_name(authority: Authority) -> None:
    elsewhere = authority.sign("rules", host="")
    async with served(authority.settings(elsewhere)) as server:
        await turned_away(server.address, authority.credentials(authority.sign("matchmaking")))


async def test_without_a_ca_clients_need_no_certificate(authority: Authority) -> None:
    certified = authority.sign("rules")
    chosen = {"tls_certificate_file": certified.certificate, "tls_key_file": certified.key}
    async with (
        served(chosen) as server,
        grpc.aio.secure_channel(server.address, authority.credentials()) as channel,
    ):
        assert await say(channel) == "kalimera"
        await turned_away(server.address, None)
    # What the alert on certificates watches.
    shown = x509.load_pem_x509_certificate(certified.certificate.read_bytes())
    told = REGISTRY.get_sample_value("kafeneio_certificate_expires_timestamp_seconds")
    assert told == shown.not_valid_after_utc.timestamp()


async def test_services_reach_each_other(authority: Authority, tmp_path: Path) -> None:
    rules, caller = authority.sign("rules"), authority.sign("matchmaking")
    async with served(authority.settings(rules)) as server:
        chosen = {**authority.settings(caller), "rules_address": server.address}
        directory = Directory(settings(**chosen, data_dir=tmp_path), "matchmaking")
        assert await say(directory.channel("rules")) == "kalimera"
        await directory.close()


async def test_a_peer_may_have_another_name_than_its_address(
    authority: Authority, tmp_path: Path
) -> None:
    rules, caller = authority.sign("rules", host=""), authority.sign("matchmaking")
    async with served(authority.settings(rules)) as server:
        chosen = {**authority.settings(caller), "rules_address": server.address}
        named = settings(**chosen, data_dir=tmp_path, tls_peer_name="rules")
        directory = Directory(named, "matchmaking")
        assert await say(directory.channel("rules")) == "kalimera"
        await directory.close()
        stranger = Directory(
            settings(**chosen, data_dir=tmp_path, tls_peer_name="clock"), "matchmaking"
        )
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await say(stranger.channel("rules"))
        assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
        await stranger.close()


# probes


async def test_probes_without_tls_are_told_the_health_and_nothing_else(
    authority: Authority,
) -> None:
    chosen = {**authority.settings(authority.sign("rules")), "health_port": 0}
    async with (
        served(chosen) as server,
        grpc.aio.insecure_channel(server.health_address) as channel,
    ):
        check: grpc.aio.UnaryUnaryMultiCallable[bytes, health_pb2.HealthCheckResponse] = (
            channel.unary_unary(
                "/grpc.health.v1.Health/Check", None, health_pb2.HealthCheckResponse.FromString
            )
        )
        answer = await check(b"", timeout=SECONDS)
        assert answer.status == health_pb2.HealthCheckResponse.SERVING
        await server.leave()
        answer = await check(b"", timeout=SECONDS)
        assert answer.status == health_pb2.HealthCheckResponse.NOT_SERVING
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await say(channel)
        assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED


async def test_a_house_of_several_services_has_no_port_for_probes() -> None:
    two = [service(echo.Servicer()), service(echo.Servicer())]
    with pytest.raises(SystemExit, match="KAFENEIO_HEALTH_PORT"):
        await serve(two, settings(health_port=0))


# what a start refuses


def test_a_start_refuses_in_a_sentence(authority: Authority, tmp_path: Path) -> None:
    chosen = {**authority.settings(authority.sign("rules")), "tls_ca_file": tmp_path / "nowhere"}
    with pytest.raises(SystemExit) as caught, spoken():
        Directory(settings(**chosen, data_dir=tmp_path), "rules")
    text = str(caught.value.code)
    assert "KAFENEIO_TLS_CA_FILE" in text
    assert text.endswith("No such file or directory")


def _without(certified: Certified, authority: Authority, name: str) -> dict[str, object]:
    return {key: value for key, value in authority.settings(certified).items() if key != name}


def _refused(chosen: Mapping[str, object], *words: str) -> None:
    with pytest.raises(TlsError) as caught:
        identity(Settings.model_validate(dict(chosen)))
    text = str(caught.value)
    assert all(word in text for word in words), text


def test_nothing_named_is_no_tls() -> None:
    assert identity(Settings()) is None


def test_each_file_that_is_missing_is_named(authority: Authority, tmp_path: Path) -> None:
    certified = authority.sign("rules")
    _refused(_without(certified, authority, "tls_key_file"), "KAFENEIO_TLS_KEY_FILE")
    _refused(
        _without(certified, authority, "tls_certificate_file"), "KAFENEIO_TLS_CERTIFICATE_FILE"
    )
    _refused({"tls_ca_file": authority.file}, "KAFENEIO_TLS_CERTIFICATE_FILE")
    nowhere = tmp_path / "nowhere.pem"
    for name in ("tls_certificate_file", "tls_key_file", "tls_ca_file"):
        chosen = {**authority.settings(certified), name: nowhere}
        _refused(chosen, f"KAFENEIO_{name.upper()}", str(nowhere), "No such file")


def test_what_is_no_certificate_is_refused(authority: Authority, tmp_path: Path) -> None:
    certified = authority.sign("rules")
    junk = tmp_path / "junk.pem"
    junk.write_text("kalimera")
    for name in ("tls_certificate_file", "tls_key_file", "tls_ca_file"):
        _refused({**authority.settings(certified), name: junk}, f"KAFENEIO_{name.upper()}", "PEM")


def test_a_key_must_be_that_of_the_certificate(authority: Authority) -> None:
    certified, other = authority.sign("rules"), authority.sign("clock")
    chosen = {**authority.settings(certified), "tls_key_file": other.key}
    _refused(chosen, "KAFENEIO_TLS_KEY_FILE", "not that of the certificate")


def test_a_key_with_a_password_is_refused(authority: Authority) -> None:
    certified = authority.sign("rules")
    key = serialization.load_pem_private_key(certified.key.read_bytes(), None)
    certified.key.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.BestAvailableEncryption(b"kalimera"),
        )
    )
    _refused(authority.settings(certified), "KAFENEIO_TLS_KEY_FILE", "without a password")


def test_an_expired_certificate_is_refused_at_the_start(authority: Authority) -> None:
    old = authority.sign("rules", begin=-3 * DAY, end=-DAY)
    _refused(authority.settings(old), "KAFENEIO_TLS_CERTIFICATE_FILE", "has expired on")
    early = authority.sign("rules", begin=DAY, end=2 * DAY)
    _refused(authority.settings(early), "KAFENEIO_TLS_CERTIFICATE_FILE", "is valid from")


@pytest.mark.parametrize(("days", "soon"), [(100, False), (15, False), (13, True), (1, True)])
def test_two_weeks_before_its_end_a_certificate_expires_soon(
    authority: Authority, days: int, soon: bool
) -> None:
    certified = authority.sign("rules", end=timedelta(days=days))
    found = identity(Settings.model_validate(authority.settings(certified)))
    assert found is not None
    assert found.expires_soon(datetime.now(UTC)) is soon


def test_no_key_is_shown(authority: Authority) -> None:
    certified = authority.sign("rules")
    found = identity(Settings.model_validate(authority.settings(certified)))
    assert "PRIVATE" not in repr(found)
    certified.certificate.write_bytes(certified.key.read_bytes())  # swapped by mistake
    with pytest.raises(TlsError) as caught:
        identity(Settings.model_validate(authority.settings(certified)))
    assert "PRIVATE" not in str(caught.value)
