"""TLS of the edge: to the world, and mutual to the services.

`python -m kafeneio_up.edge_tls --public --inner` prints the configuration of the containers with
it.

The template has none: on one machine, and behind a load balancer that ends TLS, it needs none.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

import yaml

TEMPLATE: Final = Path(__file__).resolve().parents[2] / "envoy" / "envoy.yaml"
SERVICES: Final = ("rules", "clock", "settlement", "matchmaking")
FOLDER: Final = "/etc/kafeneio/tls"
"""Where the files are in a container, unless it is told otherwise."""

_TYPE: Final = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3"
_SOCKET: Final = "envoy.transport_sockets.tls"

# Of a document that Envoy defines and checks; its schema is not ours to type.
Node: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Shown:
    """A certificate with its chain, and its key: PEM files."""

    certificate: str
    key: str


@dataclass(frozen=True, slots=True)
class Tls:
    """What the edge shows the world, and what it shows the services, which in turn must show a
    certificate of `ca` for their name ("rules" and so on). Either may be missing: then that side is
    not encrypted.
    """

    public: Shown | None = None
    inner: Shown | None = None
    ca: str = ""


def secure(configuration: Node, tls: Tls) -> None:
    """Puts TLS into a configuration of the edge. Raises ValueError for services without a CA."""
    resources = configuration["static_resources"]
    if tls.public is not None:
        (listener,) = [each for each in resources["listeners"] if each["name"] == "public"]
        for chain in listener["filter_chains"]:
            chain["transport_socket"] = _downstream(tls.public)
    if tls.inner is not None:
        if not tls.ca:
            raise ValueError("without a CA anybody could pass for a service")
        for cluster in resources["clusters"]:
            if cluster["name"] in SERVICES:
                cluster["transport_socket"] = _upstream(cluster["name"], tls.inner, tls.ca)


def _downstream(shown: Shown) -> Node:
    common = {
        "tls_params": {"tls_minimum_protocol_version": "TLSv1_2"},
        "alpn_protocols": ["h2", "http/1.1"],
        "tls_certificates": [_certificate(shown)],
    }
    return _socket({"@type": f"{_TYPE}.DownstreamTlsContext", "common_tls_context": common})


def _upstream(name: str, shown: Shown, ca: str) -> Node:
    common = {
        "tls_params": {"tls_minimum_protocol_version": "TLSv1_2"},
        "alpn_protocols": ["h2"],
        "tls_certificates": [_certificate(shown)],
        "validation_context": {
            "trusted_ca": {"filename": ca},
            "match_typed_subject_alt_names": [{"san_type": "DNS", "matcher": {"exact": name}}],
        },
    }
    context = {"@type": f"{_TYPE}.UpstreamTlsContext", "sni": name, "common_tls_context": common}
    return _socket(context)


def _certificate(shown: Shown) -> Node:
    return {
        "certificate_chain": {"filename": shown.certificate},
        "private_key": {"filename": shown.key},
    }


def _socket(context: Node) -> Node:
    return {"name": _SOCKET, "typed_config": context}


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the template with TLS: to the world, to the services, or both."""
    parser = argparse.ArgumentParser(prog="kafeneio_up.edge_tls", description=main.__doc__)
    parser.add_argument("--folder", default=FOLDER, help=f"of the files ({FOLDER})")
    parser.add_argument("--public", action="store_true", help="public.pem and public.key")
    parser.add_argument("--inner", action="store_true", help="edge.pem, edge.key and ca.pem")
    asked = parser.parse_args(arguments)
    folder = asked.folder.rstrip("/")
    made: Node = yaml.safe_load(TEMPLATE.read_text("utf-8"))
    tls = Tls(
        Shown(f"{folder}/public.pem", f"{folder}/public.key") if asked.public else None,
        Shown(f"{folder}/edge.pem", f"{folder}/edge.key") if asked.inner else None,
        f"{folder}/ca.pem" if asked.inner else "",
    )
    secure(made, tls)
    sys.stdout.write(yaml.safe_dump(made, sort_keys=False))


if __name__ == "__main__":
    main()
