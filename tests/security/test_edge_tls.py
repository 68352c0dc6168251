"""The edge with TLS on both sides: the only door for whoever has no certificate of the house."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import yaml
from kafeneio_client.cli.app import app
from kafeneio_client.client import House
from kafeneio_client.errors import Unreachable
from kafeneio_runtime.auth import Role, development_key
from kafeneio_up import edge, edge_tls
from kafeneio_up.edge_tls import Shown, Tls, secure
from typer.testing import CliRunner

from tests.journeys.evening import PLAYERS, Evening, evening
from tests.journeys.guests import PATIENCE
from tests.security.certificates import Authority, Certified

NAME = "kafeneio.example"
HOUR = timedelta(hours=1)


@dataclass
class Walled:
    """A house in which every service demands a certificate, and the edge before it."""

    house: Evening
    address: str
    world: Authority
    inner: Authority

    def at(self, address: str, authority: Authority, certified: Certified | None = None) -> House:
        """The house for clients who trust an authority, with all services at one address."""
        return House(
            address,
            clock=address,
            settlement=address,
            matchmaking=address,
            credentials=authority.credentials(certified),
            deadline=5,
        )

    async def variants(self, house: House) -> int:
        """How many variants a guest is told of."""
        token = development_key(self.house.settings).sign("guest", Role.PLAYER, HOUR)
        async with house:
            return len(await house.client(token).rulebook.variants())


def shown(certified: Certified) -> Shown:
    return Shown(str(certified.certificate), str(certified.key))


@asynccontextmanager
async def walled(url: str, folder: Path, edges: Authority | None = None) -> AsyncIterator[Walled]:
    """`edges` signs what the edge shows the services; else the authority of these does."""
    world, inner = Authority(folder / "world", "world"), Authority(folder / "inner", "inner")
    services = inner.sign("services", names=edge_tls.SERVICES)
    settings: dict[str, Any] = inner.settings(services) | {"tls_peer_name": "rules"}
    async with evening(url, folder, **settings) as house:
        backends = {name: house.addresses(name) for name in edge_tls.SERVICES}
        public = shown(world.sign("public", names=(NAME,)))
        tls = Tls(public, shown((edges or inner).sign("edge")), str(inner.file))
        files = folder / "edge"
        files.mkdir()
        async with edge.opened(backends, files, tls=tls) as address:
            yield Walled(house, address, world, inner)


@pytest.fixture
async def house(database_url: str, tmp_path: Path) -> AsyncIterator[Walled]:
    async with walled(database_url, tmp_path) as opened:
        yield opened


async def test_a_game_through_the_edge(house: Walled) -> None:
    """Players come through the edge; the services reach each other with their certificates."""
    async with house.at(house.address, house.world) as known:
        house.house.house = known
        game_id = await house.house.matched()
        await house.house.join(game_id)
        await house.house.client(PLAYERS[0]).clock.leave(game_id)
        await house.house.service.settlement.settled(game_id, PATIENCE)
        nets = await house.house.paid(game_id)
    assert sorted(nets.values()) == [-500, 500]


async def test_the_services_let_nobody_in_but_the_house(house: Walled) -> None:
    async def in_vain(service: str, authority: Authority) -> None:
        (direct,) = house.house.addresses(service)
        with pytest.raises(Unreachable):
            await house.variants(house.at(direct, authority))

    # At once: each client tries for some seconds.
    await asyncio.gather(
        *(in_vain(*each) for each in product(edge_tls.SERVICES, (house.world, house.inner)))
    )
    (direct,) = house.house.addresses("rules")
    member = house.inner.sign("member")
    assert await house.variants(house.at(direct, house.inner, member)) > 0


async def test_the_edge_is_believed_by_who_trusts_its_authority(house: Walled) -> None:
    assert await house.variants(house.at(house.address, house.world)) > 0
    with pytest.raises(Unreachable):
        await house.variants(house.at(house.address, house.inner))


async def test_an_edge_of_another_authority_reaches_nobody(
    database_url: str, tmp_path: Path
) -> None:
    stranger = Authority(tmp_path / "stranger", "stranger")
    async with walled(database_url, tmp_path, stranger) as house:
        with pytest.raises(Unreachable):
            await house.variants(house.at(house.address, house.world))


async def command(environment: Mapping[str, str], *words: str) -> tuple[int, str]:
    """The exit code and the output of an operator's command."""
    run = partial(CliRunner().invoke, app, ["admin", *words, "--as", "olga"], env=environment)
    done = await asyncio.to_thread(run)
    return done.exit_code, done.output


async def test_the_command_comes_through_the_edge(house: Walled) -> None:
    """One address is enough: a header says whose audit is meant."""
    environment = {
        "KAFENEIO_ADDRESS": f"https://{house.address}",
        "KAFENEIO_TLS_CA_FILE": str(house.world.file),
        "KAFENEIO_DATA_DIR": str(house.house.settings.data_dir),
        "COLUMNS": "100",
        "NO_COLOR": "1",
    }
    for number, service in enumerate(edge_tls.SERVICES):
        words = ("note", f"look at {service}", "--service", service, "--reason", "it is slow")
        code, text = await command(environment, *words)
        assert (code, text) == (0, f"Noted: {service} 1.\n"), number
    code, text = await command(environment, "audit")
    assert (code, text.count("look at")) == (0, 4), text
    code, text = await command(environment, "verify")
    assert (code, "Everything is as it was written." in text) == (0, True), text


async def test_the_command_with_a_certificate_of_its_own(house: Walled, tmp_path: Path) -> None:
    member = house.inner.sign("operator")
    environment = {
        f"KAFENEIO_{name}ADDRESS": house.house.addresses(service)[0]
        for name, service in (
            ("", "rules"),
            ("CLOCK_", "clock"),
            ("SETTLEMENT_", "settlement"),
            ("MATCHMAKING_", "matchmaking"),
        )
    }
    environment |= {
        "KAFENEIO_TLS_CA_FILE": str(house.inner.file),
        "KAFENEIO_TLS_CERTIFICATE_FILE": str(member.certificate),
        "KAFENEIO_TLS_KEY_FILE": str(member.key),
        "KAFENEIO_TLS_PEER_NAME": "rules",
        "KAFENEIO_DATA_DIR": str(house.house.settings.data_dir),
    }
    assert (await command(environment, "verify"))[0] == 0
    half = {**environment, "KAFENEIO_TLS_KEY_FILE": ""}
    code, text = await command(half, "verify")
    assert (code, "both, or neither" in text) == (2, True), text
    gone = {**environment, "KAFENEIO_TLS_CA_FILE": str(tmp_path / "nowhere.pem")}
    code, text = await command(gone, "verify")
    assert (code, "No such file" in text) == (2, True), text


# the configuration


def test_the_template_with_tls_for_containers(capsys: pytest.CaptureFixture[str]) -> None:
    edge_tls.main(["--public", "--inner", "--folder", "/tls/"])
    made = yaml.safe_load(capsys.readouterr().out)
    resources = made["static_resources"]
    public, metrics = resources["listeners"]
    (chain,) = public["filter_chains"]
    shown_to_all = chain["transport_socket"]["typed_config"]["common_tls_context"]
    assert shown_to_all["tls_certificates"][0]["private_key"]["filename"] == "/tls/public.key"
    assert "transport_socket" not in metrics["filter_chains"][0]
    for cluster in resources["clusters"]:
        name, socket = cluster["name"], cluster.get("transport_socket")
        assert (socket is not None) is (name in edge_tls.SERVICES)
        if socket is not None:
            context = socket["typed_config"]["common_tls_context"]
            (expected,) = context["validation_context"]["match_typed_subject_alt_names"]
            assert expected == {"san_type": "DNS", "matcher": {"exact": name}}
            assert context["validation_context"]["trusted_ca"]["filename"] == "/tls/ca.pem"


def test_without_a_ca_no_service_is_believed() -> None:
    with pytest.raises(ValueError, match="CA"):
        secure({"static_resources": {"clusters": []}}, Tls(inner=Shown("a", "b")))
