"""Every alert has a meaning, a section in the runbook, and a test of when it is heard."""

from __future__ import annotations

import re
import runpy
from typing import Any, Final

import promql_parser
import pytest
import yaml
from kafeneio_client.cli.app import app
from typer.main import get_command

from tests.deploy.rendered import DEPLOY, of_kind

FOLDER: Final = DEPLOY / "prometheus"
CHECK: Final = DEPLOY / "checks" / "alerts.py"
RUNBOOK: Final = (FOLDER / "RUNBOOK.md").read_text("utf-8")
RULES: Final[dict[str, Any]] = yaml.safe_load((FOLDER / "rules.yaml").read_text("utf-8"))
ALERTS: Final[dict[str, dict[str, Any]]] = {
    rule["alert"]: rule for group in RULES["groups"] for rule in group["rules"]
}
TESTS: Final[dict[str, Any]] = yaml.safe_load((FOLDER / "rules_test.yaml").read_text("utf-8"))


def sections() -> dict[str, str]:
    """The sections of the runbook that are about an alert, by its name."""
    parts = re.split(r"^### ", RUNBOOK, flags=re.MULTILINE)[1:]
    return {part.partition("\n")[0]: part.partition("\n")[2] for part in parts}


def test_the_operator_s_object_is_the_same() -> None:
    as_object: str = runpy.run_path(str(CHECK))["as_object"]()
    assert (DEPLOY / "k8s" / "base" / "alerts.yaml").read_text("utf-8") == as_object
    (made,) = of_kind("production", "PrometheusRule").values()
    assert made["spec"] == RULES


@pytest.mark.parametrize("name", ALERTS)
def test_an_alert_says_all_that_is_needed(name: str) -> None:
    rule = ALERTS[name]
    assert set(rule) <= {"alert", "expr", "for", "labels", "annotations"}
    assert rule["labels"]["severity"] in {"critical", "warning"}
    assert set(rule["annotations"]) == {"summary", "description", "runbook_url"}
    assert rule["annotations"]["runbook_url"] == f"deploy/prometheus/RUNBOOK.md#{name.lower()}"
    promql_parser.parse(rule["expr"])


def test_names_are_unique() -> None:
    assert len(ALERTS) == sum(len(group["rules"]) for group in RULES["groups"])


def test_every_alert_has_a_section_and_every_section_an_alert() -> None:
    assert list(sections()) == list(ALERTS)


@pytest.mark.parametrize("name", ALERTS)
def test_a_section_says_what_it_means_and_what_to_do(name: str) -> None:
    text = sections()[name]
    heads = re.findall(r"^\*\*(\w+)\.\*\* .{20,}", text, flags=re.MULTILINE)
    assert heads == ["Means", "Look", "Do"]


def test_the_runbook_leads_nowhere_but_to_what_is_there() -> None:
    for anchor in re.findall(r"\]\(#([a-z]+)\)", RUNBOOK):
        assert anchor in {name.lower() for name in ALERTS}
    for link in re.findall(r"\]\(([^#)]+)\)", RUNBOOK):
        assert (FOLDER / link).exists()
    known = get_command(app)
    commands = {tuple(found.split()) for found in re.findall(r"`kafeneio ((?:[a-z]+ ?)+)", RUNBOOK)}
    assert ("ledger", "report") in commands
    for words in commands:
        group: Any = known
        for word in words:
            if not hasattr(group, "commands"):
                break  # what follows are arguments
            group = group.commands[word]


@pytest.mark.parametrize("name", ALERTS)
def test_it_is_tested_when_an_alert_is_heard_and_when_not(name: str) -> None:
    expectations = [
        case["exp_alerts"]
        for test in TESTS["tests"]
        for case in test["alert_rule_test"]
        if case["alertname"] == name
    ]
    assert [] in expectations
    assert any(expectations)
