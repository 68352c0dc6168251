"""Alerts and panels ask for what is really told, and no label grows without bounds."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest
from kafeneio_runtime.metrics import ALLOWED_LABELS

from tests.deploy.exposed import Exposed
from tests.deploy.queries import Asked, asked, in_text
from tests.deploy.rendered import DEPLOY
from tests.deploy.test_alerts import ALERTS

BOARD: Final[dict[str, Any]] = json.loads((DEPLOY / "grafana" / "kafeneio.json").read_text("utf-8"))
PANELS: Final[dict[str, dict[str, Any]]] = {
    panel["title"]: panel for panel in BOARD["panels"] if panel["type"] != "row"
}
OF_THE_TARGET: Final = {"job", "instance"}
"""Labels that Prometheus adds by itself."""
OF_PROMETHEUS: Final = {"up"}

pytestmark = pytest.mark.xdist_group("metrics")


def unknown(
    query: str, exposed: Exposed, declared: dict[str, frozenset[str]]
) -> tuple[set[str], set[tuple[str, str]]]:
    """The metrics of a query that nobody tells, and the labels that its metrics do not have."""
    metrics, labels = set(), set()
    for each in asked(query):
        if each.metric in OF_PROMETHEUS:
            known: set[str] = set()
        elif each.metric in exposed:
            known = exposed.samples.get(each.metric, set()) | declared.get(each.metric, frozenset())
        else:
            metrics.add(each.metric)
            continue
        if each.metric.endswith("_bucket"):
            known = known | {"le"}
        labels |= {(each.metric, label) for label in each.labels - known - OF_THE_TARGET}
    return metrics, labels


def shown(query: str) -> set[str]:
    """All labels that the metrics of a query are chosen or grouped by."""
    return {label for each in asked(query) for label in each.labels}


def test_what_a_query_asks_for_is_found() -> None:
    query = 'sum by (a) (rate(x_total{b="1"}[5m])) / on () group_left max(y offset 5m) > 0'
    assert asked(query) == [Asked("x_total", frozenset("ab")), Asked("y", frozenset())]


def test_what_nobody_tells_is_found(exposed: Exposed, declared: dict[str, frozenset[str]]) -> None:
    query = "max by (planet) (kafeneio_dreams) + max by (planet) (kafeneio_bus_waiting)"
    assert unknown(query, exposed, declared) == (
        {"kafeneio_dreams"},
        {("kafeneio_bus_waiting", "planet")},
    )


@pytest.mark.parametrize("name", ALERTS)
def test_an_alert_asks_for_what_is_told(
    name: str, exposed: Exposed, declared: dict[str, frozenset[str]]
) -> None:
    rule = ALERTS[name]
    assert asked(rule["expr"])
    assert unknown(rule["expr"], exposed, declared) == (set(), set())
    texts = "".join(rule["annotations"].values())
    assert in_text(texts) <= shown(rule["expr"]) | OF_THE_TARGET


@pytest.mark.parametrize("title", PANELS)
def test_a_panel_asks_for_what_is_told(
    title: str, exposed: Exposed, declared: dict[str, frozenset[str]]
) -> None:
    panel = PANELS[title]
    assert panel["description"]
    for target in panel["targets"]:
        assert asked(target["expr"])
        assert unknown(target["expr"], exposed, declared) == (set(), set())
        assert in_text(target["legendFormat"]) <= shown(target["expr"]) | OF_THE_TARGET


def test_every_metric_of_the_house_is_on_the_board(declared: dict[str, frozenset[str]]) -> None:
    queries = [target["expr"] for panel in PANELS.values() for target in panel["targets"]]
    seen = {each.metric.removesuffix("_bucket") for query in queries for each in asked(query)}
    ours = {name for name in declared if name.startswith("kafeneio_")}
    stems = {
        name
        for name in ours
        if not name.endswith(("_bucket", "_count", "_sum", "_created"))
        and f"{name}_total" not in ours
    }
    assert stems - seen == set()


def test_the_board_fits() -> None:
    titles = [panel["title"] for panel in BOARD["panels"]]
    assert len(titles) == len(set(titles))
    assert len({panel["id"] for panel in BOARD["panels"]}) == len(titles)
    taken: set[tuple[int, int]] = set()
    for panel in BOARD["panels"]:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not taken & cells
        taken |= cells


def test_no_label_grows_without_bounds(
    exposed: Exposed, declared: dict[str, frozenset[str]]
) -> None:
    assert {label for labels in declared.values() for label in labels} - ALLOWED_LABELS == set()
    ours = {
        name: labels
        for name, labels in exposed.families.items()
        if not name.startswith("envoy_")  # whose labels are those of its configuration
    }
    assert len(ours) > 30
    assert {label for labels in ours.values() for label in labels} - ALLOWED_LABELS == set()


def test_no_label_is_about_a_person_or_a_game() -> None:
    telling = ("id", "player", "game", "ticket", "seat", "name", "address", "user", "table")
    assert [
        label for label in ALLOWED_LABELS if any(word in label.split("_") for word in telling)
    ] == []
