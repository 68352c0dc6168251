"""Who may talk to whom: everything that the code does, and nothing else."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from kafeneio_runtime.settings import Settings

from tests.deploy.rendered import (
    DEPLOY,
    NAME,
    OVERLAYS,
    SERVICES,
    Object,
    labels,
    of_kind,
    ports,
    selects,
    workload,
)

STORES: Final = {"needs-database": 5432, "needs-nats": 4222}
_CALLS: Final = {"channel", "_ask", "_once"}
"""Methods whose first argument is the name of the service that is called."""


def sources(service: str) -> list[Path]:
    """The modules of a service."""
    folder = DEPLOY if service == "computers" else DEPLOY.parent / "services"
    return sorted((folder / service / f"kafeneio_{service}").rglob("*.py"))


def called(service: str) -> set[str]:
    """The services that a service calls, read from its code."""
    found: set[str] = set()
    for file in sources(service):
        tree = ast.parse(file.read_text("utf-8"))
        constants = dict(_constants(tree))
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr in _CALLS
                and node.args
            ):
                first = node.args[0]
                value = first.value if isinstance(first, ast.Constant) else ""
                if isinstance(first, ast.Name):
                    value = constants.get(first.id, "")
                if value in SERVICES:
                    found.add(str(value))
    return found


def _constants(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in tree.body:
        if (
            isinstance(node, ast.AnnAssign)
            and isinstance(node.target, ast.Name)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            yield node.target.id, node.value.value


def policies(overlay: str, pod: dict[str, str], kind: str) -> list[Object]:
    """The policies of one kind that stand for a pod."""
    return [
        each["spec"]
        for each in of_kind(overlay, "NetworkPolicy").values()
        if kind in each["spec"]["policyTypes"] and selects(each["spec"]["podSelector"], pod)
    ]


def allows(rules: list[Object], side: str, peer: dict[str, str], port: int) -> bool:
    """Whether one of the rules lets a pod of this namespace through; `side` is from or to."""
    for rule in rules:
        open_ports = {each["port"] for each in rule["ports"]}
        if port not in open_ports:
            continue
        if side not in rule:
            return True
        for each in rule[side]:
            if set(each) == {"podSelector"} and selects(each["podSelector"], peer):
                return True
    return False


def flows(overlay: str) -> set[tuple[str, str, int]]:
    """Every (from, to, port) that both ends allow, between the workloads of an overlay."""
    found = set()
    deployed = of_kind(overlay, "Deployment", "StatefulSet", "Job")
    for source, sender in deployed.items():
        leaving = [
            rule
            for spec in policies(overlay, labels(sender), "Egress")
            for rule in spec.get("egress", ())
        ]
        for target, receiver in deployed.items():
            arriving = [
                rule
                for spec in policies(overlay, labels(receiver), "Ingress")
                for rule in spec.get("ingress", ())
            ]
            for port in ports(receiver).values():
                if allows(leaving, "to", labels(receiver), port) and allows(
                    arriving, "from", labels(sender), port
                ):
                    found.add((source, target, port))
    return found


def wanted(overlay: str) -> set[tuple[str, str, int]]:
    """Those that there must be."""
    usual = {each: Settings.model_fields[f"{each}_port"].default for each in SERVICES}
    found = {(one, other, usual[other]) for one in SERVICES for other in called(one)}
    found |= {("envoy", each, usual[each]) for each in SERVICES if each != "computers"}
    found.add(("envoy", "page", 8000))
    if overlay == "dev":
        stateful = [each for each in SERVICES if each != "computers"]
        found |= {(each, store, port) for each in stateful for store, port in _IN_DEV}
        found |= {(f"migrate-{each}", "postgres", 5432) for each in stateful}
    return found


_IN_DEV: Final = (("postgres", 5432), ("nats", 4222))


def test_the_code_is_read_as_it_is_meant() -> None:
    assert called("matchmaking") == {"rules", "settlement"}
    assert called("settlement") == {"rules", "clock"}
    assert called("rules") == set()
    assert called("computers") == called("clock") == {"rules"}


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_nothing_flows_but_what_is_needed(overlay: str) -> None:
    # The door is open to everybody, which includes ourselves; only leaving is not allowed then.
    assert flows(overlay) == wanted(overlay)


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_what_is_not_named_is_denied(overlay: str) -> None:
    deny = of_kind(overlay, "NetworkPolicy")["default-deny"]["spec"]
    assert deny == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_everybody_may_ask_for_names(overlay: str) -> None:
    dns = of_kind(overlay, "NetworkPolicy")["dns"]["spec"]
    assert dns["podSelector"] == {}
    (rule,) = dns["egress"]
    assert {(each["protocol"], each["port"]) for each in rule["ports"]} == {
        ("UDP", 53),
        ("TCP", 53),
    }


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_prometheus_reaches_every_metrics_port(overlay: str) -> None:
    metrics = of_kind(overlay, "NetworkPolicy")["metrics"]["spec"]
    assert metrics["podSelector"] == {}
    (rule,) = metrics["ingress"]
    open_ports = {each["port"] for each in rule["ports"]}
    for name in (*SERVICES, "envoy"):
        assert ports(workload(overlay, name))["metrics"] in open_ports
    (source,) = rule["from"]
    assert set(source) == {"namespaceSelector", "podSelector"}


@pytest.mark.parametrize("label", STORES)
def test_those_who_keep_something_reach_the_stores_of_production(label: str) -> None:
    named = {"needs-database": "to-database", "needs-nats": "to-nats"}[label]
    spec = of_kind("production", "NetworkPolicy")[named]["spec"]
    (rule,) = spec["egress"]
    assert [each["port"] for each in rule["ports"]] == [STORES[label]]
    for name, each in of_kind("production", "Deployment", "Job").items():
        needs = name in SERVICES and name != "computers"
        needs = needs or (label == "needs-database" and name.startswith("migrate-"))
        assert selects(spec["podSelector"], labels(each)) is needs


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_the_door_is_the_only_one(overlay: str) -> None:
    open_to_all = {
        (name, port["port"])
        for name, each in of_kind(overlay, "NetworkPolicy").items()
        for rule in each["spec"].get("ingress", ())
        if "from" not in rule
        for port in rule["ports"]
    }
    assert open_to_all == {("envoy", 8080)}
    kinds = {
        name: each["spec"].get("type", "ClusterIP")
        for name, each in of_kind(overlay, "Service").items()
    }
    outside = {name for name, kind in kinds.items() if kind != "ClusterIP"}
    assert outside == ({"envoy"} if overlay == "production" else set())
    assert labels(workload(overlay, "envoy"))[NAME] == "envoy"
