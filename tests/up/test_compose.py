"""`deploy/compose.yaml`, which runs on machines with Docker, agrees with what it is made of."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from kafeneio_runtime.settings import Settings, unknown_variables
from kafeneio_up import edge
from kafeneio_up.parts import SERVICES

COMPOSE = edge.TEMPLATE.parents[1] / "compose.yaml"


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    """The file."""
    read: dict[str, Any] = yaml.safe_load(COMPOSE.read_text("utf-8"))
    return read


@pytest.mark.parametrize("service", [*SERVICES, "computers"])
def test_every_service_is_there_with_settings_that_mean_something(
    compose: dict[str, Any], service: str
) -> None:
    container = compose["services"][service]
    environment = container["environment"]
    assert not unknown_variables(environment)
    assert container["build"]["args"]["SERVICE"] == service
    assert container["read_only"]
    assert container["cap_drop"] == ["ALL"]
    assert {"KAFENEIO_DATABASE_URL", "KAFENEIO_NATS_URL"} <= set(environment)


def test_services_and_the_edge_find_each_other(compose: dict[str, Any]) -> None:
    environment = compose["services"]["rules"]["environment"]
    clusters = {
        cluster["name"]: cluster["load_assignment"]["endpoints"][0]["lb_endpoints"][0]["endpoint"]
        for cluster in yaml.safe_load(edge.TEMPLATE.read_text("utf-8"))["static_resources"][
            "clusters"
        ]
    }
    for service in SERVICES:
        port = Settings.model_fields[f"{service}_port"].default
        assert environment[f"KAFENEIO_{service.upper()}_ADDRESS"] == f"dns:///{service}:{port}"
        place = clusters[service]["address"]["socket_address"]
        assert (place["address"], place["port_value"]) == (service, port)
        assert compose["services"][service]["scale"] == 2


def test_a_replica_has_time_to_drain(compose: dict[str, Any]) -> None:
    drain = Settings.model_fields["drain_seconds"].default
    drain += Settings.model_fields["drain_grace_seconds"].default
    for service in SERVICES:
        grace = int(compose["services"][service]["stop_grace_period"].removesuffix("s"))
        assert grace > drain + 5, "five more for the outbox"


def test_only_the_edge_is_open_and_only_to_this_machine(compose: dict[str, Any]) -> None:
    ports = {
        name: container["ports"]
        for name, container in compose["services"].items()
        if "ports" in container
    }
    assert ports == {"envoy": ["127.0.0.1:8080:8080"]}


def test_a_single_nats_writes_through(compose: dict[str, Any]) -> None:
    assert "sync_interval: always" in compose["configs"]["nats"]["content"]
