"""The Prometheus port, and what may be a label."""

from collections.abc import Iterable
from typing import Final

from prometheus_client import REGISTRY, CollectorRegistry, start_http_server

ALLOWED_LABELS: Final = frozenset(
    {
        "grpc_type",
        "grpc_service",
        "grpc_method",
        "grpc_code",
        "service",
        "variant",
        "reason",
        "consumer",
        "le",
    }
    | {
        "generation",
        "implementation",
        "major",
        "minor",
        "patchlevel",
        "version",
    }  # of Python itself
)
"""A label has few values, and none is about a person or a game: Prometheus keeps every one of them
for ever.
"""


def forbidden_labels(registry: CollectorRegistry = REGISTRY) -> set[str]:
    """Labels in use that are not among the allowed. A test demands that there are none."""
    used = {
        label
        for family in registry.collect()
        for sample in family.samples
        for label in sample.labels
    }
    return used - ALLOWED_LABELS


class MetricsPort:
    """The HTTP port on which Prometheus reads this process. It answers from a thread of its own, so
    that it also answers when the event loop is busy.
    """

    def __init__(self, host: str, port: int, registry: CollectorRegistry = REGISTRY) -> None:
        """Opens `port`, or a free one for 0. Raises OSError if it is taken."""
        self._server, self._thread = start_http_server(port, addr=host, registry=registry)

    @property
    def port(self) -> int:
        """The port that is open."""
        return int(self._server.server_port)

    def close(self) -> None:
        """Closes the port and waits for its thread."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def missing_families(names: Iterable[str], registry: CollectorRegistry = REGISTRY) -> set[str]:
    """Those of `names` that the registry does not have. For tests that compare docs, rules and
    dashboards with the code.
    """
    have = {family.name for family in registry.collect()}
    return {name for name in names if name.removesuffix("_total") not in have}
