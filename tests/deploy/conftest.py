"""The metrics of a house, asked for once."""

from __future__ import annotations

import asyncio
import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from prometheus_client import REGISTRY

from tests.deploy.exposed import Exposed, parsed, scrape
from tests.fixtures.postgres import Databases, Template

PACKAGES = ("runtime", "rules", "clock", "settlement", "matchmaking", "computers")


@pytest.fixture(scope="session")
def exposed(databases: Databases, nats_url: str) -> Iterator[Exposed]:
    """What a house told, from its start until it had counted everything once."""
    url = databases.create(Template("metrics", lambda url: None))
    with TemporaryDirectory(prefix="kafeneio-metrics-", ignore_cleanup_errors=True) as name:
        yield parsed(*asyncio.run(scrape(Path(name), url, nats_url)))
    databases.drop(url)


@pytest.fixture(scope="session")
def declared() -> dict[str, frozenset[str]]:
    """The labels of every metric of the house, by its name, as the code declares them: those that
    have no sample before something happens too.
    """
    for package in PACKAGES:
        home = importlib.import_module(f"kafeneio_{package}")
        for module in pkgutil.walk_packages(home.__path__, f"{home.__name__}."):
            if ".migration" not in module.name:
                importlib.import_module(module.name)
    found = {}
    for collector, names in REGISTRY._collector_to_names.items():
        labels = getattr(collector, "_labelnames", None)
        if labels is not None:
            found.update(dict.fromkeys(names, frozenset(labels)))
    return found
