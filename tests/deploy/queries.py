"""What a query of Prometheus asks for: metrics, and labels of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import promql_parser

_GRAFANA: Final = {"$__rate_interval": "5m", "$job": ".*"}
"""What Grafana puts in for its own variables."""


@dataclass(frozen=True)
class Asked:
    """A metric that a query names, and the labels by which it is chosen or grouped."""

    metric: str
    labels: frozenset[str]


def asked(expression: str) -> list[Asked]:
    """All metrics of a query. Raises ValueError where it is none."""
    for variable, value in _GRAFANA.items():
        expression = expression.replace(variable, value)
    return list(_walk(promql_parser.parse(expression), frozenset()))


def in_text(template: str) -> set[str]:
    """The labels that the text of an alert or a legend shows."""
    return set(re.findall(r"\$labels\.(\w+)", template)) | set(re.findall(r"{{(\w+)}}", template))


def _walk(node: Any, grouped: frozenset[str]) -> Iterator[Asked]:
    kind = type(node).__name__
    if kind == "AggregateExpr":
        by = frozenset(node.modifier.labels) if node.modifier is not None else frozenset()
        yield from _walk(node.expr, grouped | by)
    elif kind == "BinaryExpr":
        yield from _walk(node.lhs, grouped)
        yield from _walk(node.rhs, grouped)
    elif kind == "Call":
        for argument in node.args:
            yield from _walk(argument, grouped)
    elif kind == "MatrixSelector":
        yield from _walk(node.vector_selector, grouped)
    elif kind in ("ParenExpr", "UnaryExpr", "SubqueryExpr"):
        yield from _walk(node.expr, grouped)
    elif kind == "VectorSelector":
        matched = {matcher.name for matcher in node.matchers.matchers}
        yield Asked(node.name, frozenset(matched - {"__name__"}) | grouped)
    elif kind not in ("NumberLiteral", "StringLiteral"):
        raise ValueError(f"{kind} is not known here")
