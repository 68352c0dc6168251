"""No label is about a person or a game."""

import pytest

# every family is registered where it is counted, so all of these are to be imported
from kafeneio_runtime import bus, outbox, serve  # noqa: F401
from kafeneio_runtime.metrics import MetricsPort, forbidden_labels, missing_families
from prometheus_client import CollectorRegistry, Counter


def test_all_labels_in_use_are_allowed() -> None:
    assert forbidden_labels() == set()


def test_a_label_about_a_player_is_found() -> None:
    registry = CollectorRegistry()
    counter = Counter("acts_total", "Acts.", ("player_id",), registry=registry)
    counter.labels("nikos").inc()
    assert forbidden_labels(registry) == {"player_id"}


def test_the_standard_families_are_there() -> None:
    names = {
        "grpc_server_started_total",
        "grpc_server_handled_total",
        "grpc_server_handling_seconds",
        "grpc_server_msg_received_total",
        "grpc_server_msg_sent_total",
        "kafeneio_outbox_pending",
        "kafeneio_bus_failures_total",
    }
    assert missing_families(names) == set()
    assert missing_families({"grpc_server_dreamt_total"}) == {"grpc_server_dreamt_total"}


def test_a_port_that_is_taken_is_an_error() -> None:
    port = MetricsPort("127.0.0.1", 0)
    try:
        with pytest.raises(OSError):
            MetricsPort("127.0.0.1", port.port)
    finally:
        port.close()
