"""Where the command looks for a house: beside `rules`, or all at its edge."""

from __future__ import annotations

import pytest
from kafeneio_client.cli import certificates
from kafeneio_client.cli.options import Door


@pytest.mark.parametrize(
    ("address", "found"),
    [
        ("https://kafeneio.example", "kafeneio.example:443"),
        ("https://kafeneio.example:8443/", "kafeneio.example:8443"),
        ("http://127.0.0.1:8080", "127.0.0.1:8080"),
        ("http://edge/", "edge:80"),
    ],
)
def test_with_a_scheme_it_is_the_edge_where_all_services_are(address: str, found: str) -> None:
    door = Door(address, "token", "eleni", {})
    assert {
        name: certificates.bare(each) for name, each in door.addresses.items()
    } == dict.fromkeys(("rules", "clock", "settlement", "matchmaking"), found)


def test_without_one_the_others_are_beside_it() -> None:
    door = Door("10.0.0.7:50051", "token", "eleni", {"clock": "10.0.0.8:1"})
    assert door.addresses == {
        "rules": "10.0.0.7:50051",
        "clock": "10.0.0.8:1",
        "settlement": "10.0.0.7:50053",
        "matchmaking": "10.0.0.7:50054",
    }


def test_the_scheme_says_whether_it_is_tls() -> None:
    ca = {"KAFENEIO_TLS_CA_FILE": __file__}
    assert certificates.credentials({"rules": "http://edge"}, ca) is None
    assert certificates.credentials({"rules": "edge:1"}, {}) is None
    assert certificates.credentials({"rules": "https://edge"}, {}) is not None
    assert certificates.credentials({"rules": "edge:1"}, ca) is not None
