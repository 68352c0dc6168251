"""What a house really tells Prometheus: the text of its metrics ports, and that of the edge."""

from __future__ import annotations

import asyncio
import json
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kafeneio_up import edge
from kafeneio_up.process import free_ports
from prometheus_client.parser import text_string_to_metric_families

from tests.survival.process import PATIENCE, serving

HOST: Final = "127.0.0.1"
_LOOK_SECONDS: Final = 0.2


@dataclass(frozen=True)
class Exposed:
    """All families by name, each with the labels of its samples, as far as it has any."""

    families: dict[str, set[str]]
    samples: dict[str, set[str]]
    """The names of the samples, such as `…_bucket`, with their labels."""

    def __contains__(self, name: str) -> bool:
        """Whether there is such a metric, be it one that has no sample yet."""
        stem = name
        for suffix in ("_total", "_bucket", "_count", "_sum"):
            stem = stem.removesuffix(suffix)
        return name in self.samples or stem in self.families


def parsed(*texts: str) -> Exposed:
    """What is in the answers of metrics ports."""
    families: dict[str, set[str]] = {}
    samples: dict[str, set[str]] = {}
    for text in texts:
        for family in text_string_to_metric_families(text):
            known = families.setdefault(family.name, set())
            for sample in family.samples:
                known.update(sample.labels)
                samples.setdefault(sample.name, set()).update(sample.labels)
    return Exposed(families, samples)


def read(port: int) -> str:
    """The answer of a metrics port, as Prometheus gets it."""
    with urllib.request.urlopen(f"http://{HOST}:{port}/metrics", timeout=10) as answer:
        text: str = answer.read().decode("utf-8")
    return text


async def until(port: int, said: str) -> str:
    """The answer, once something is in it."""
    async with asyncio.timeout(PATIENCE):
        while True:
            try:
                text = await asyncio.to_thread(read, port)
            except OSError:
                text = ""
            if said in text:
                return text
            await asyncio.sleep(_LOOK_SECONDS)


async def scrape(folder: Path, database_url: str, nats_url: str) -> list[str]:
    """What a house on NATS, its computer players and the edge before it tell."""
    computers, *edge_ports = free_ports(4)
    settings = {
        "KAFENEIO_DATABASE_URL": database_url,
        "KAFENEIO_NATS_URL": nats_url,
        "KAFENEIO_NATS_PREFIX": f"metrics-{folder.name}",
        "KAFENEIO_COMPUTERS": "true",
        "KAFENEIO_COMPUTERS_METRICS_PORT": str(computers),
    }
    ports = edge.Ports(*edge_ports)
    async with serving(folder, **settings) as house:
        told = json.loads((folder / "ready.json").read_text("utf-8"))
        addresses = {service: [told[service]] for service in edge.SERVICES}
        async with edge.opened(addresses, folder, ports=ports):
            texts = [
                # Counted every few seconds; with the slowest of them the others are there.
                await until(int(told["metrics"].rpartition(":")[2]), "kafeneio_dead_letters{"),
                await until(computers, "kafeneio_computer_failures_total{"),
                await until(ports.metrics, "envoy_cluster_membership_healthy{"),
            ]
        await house.end()
    return texts
