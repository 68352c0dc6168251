"""The alert rules: checked and unit-tested with promtool, and made into a PrometheusRule.

    python deploy/checks/alerts.py            check
    python deploy/checks/alerts.py --write    make deploy/k8s/base/alerts.yaml anew

No Python package brings promtool; Debian's package is `prometheus`. Without it the expressions are
parsed all the same, and it is said what was left out.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import promql_parser
import yaml

DEPLOY: Final = Path(__file__).resolve().parents[1]
RULES: Final = DEPLOY / "prometheus" / "rules.yaml"
TESTS: Final = RULES.with_name("rules_test.yaml")
OBJECT: Final = DEPLOY / "k8s" / "base" / "alerts.yaml"
HEADER: Final = """\
# Made from deploy/prometheus/rules.yaml by `python deploy/checks/alerts.py --write`; not to be
# written by hand. For the Prometheus operator, which takes rules in this form only.
"""


def alerts() -> list[dict[str, Any]]:
    """The alerts, in their order."""
    groups = yaml.safe_load(RULES.read_text("utf-8"))["groups"]
    return [rule for group in groups for rule in group["rules"]]


def as_object() -> str:
    """The rules as a PrometheusRule."""
    made = {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PrometheusRule",
        "metadata": {"name": "kafeneio"},
        "spec": yaml.safe_load(RULES.read_text("utf-8")),
    }
    return HEADER + yaml.safe_dump(made, sort_keys=False, width=100)


def promtool() -> bool:
    """Whether promtool is here; it is run if so. Raises CalledProcessError where it complains."""
    program = shutil.which("promtool")
    if program is None:
        return False
    for command in (("check", "rules", RULES.name), ("test", "rules", TESTS.name)):
        subprocess.run([program, *command], check=True, cwd=RULES.parent)
    return True


def main(arguments: list[str]) -> int:
    """Check, or write with --write."""
    if arguments == ["--write"]:
        OBJECT.write_text(as_object(), "utf-8")
        return 0
    if OBJECT.read_text("utf-8") != as_object():
        print(f"{OBJECT.name} is not what {RULES.name} says: run {Path(__file__).name} --write")
        return 1
    rules = alerts()
    for rule in rules:
        promql_parser.parse(rule["expr"])
    if promtool():
        print(f"{len(rules)} alerts: checked and unit-tested with promtool")
    else:
        print(
            f"{len(rules)} alerts: parsed only. promtool is not here, so {TESTS.name} was NOT run;"
            " install Debian's package prometheus"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
