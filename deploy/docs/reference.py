"""`make docs`: the API reference as HTML, made from the comments in protos/, into build/docs.

A page for each package, one for the reasons of refusals, and an index of every call.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Iterable, Iterator
from html import escape
from pathlib import Path
from typing import Final

from kafeneio_runtime.greek import SENTENCES

from deploy.docs import contracts as protos
from deploy.docs import examples
from deploy.docs.contracts import (
    ROOT,
    Contracts,
    Enum,
    Field,
    Json,
    Message,
    Method,
    Service,
)

STYLE: Final = Path(__file__).with_name("style.css")
TARGET: Final = ROOT / "build" / "docs"
REASONS: Final = "kafeneio.common.v1.ErrorReason"
_PREFIX: Final = "ERROR_REASON_"


def page_of(name: str) -> str:
    """The file in which something is explained: the package of its full name."""
    return ".".join(name.split(".")[:3]) + ".html"


def anchor(name: str) -> str:
    """A link to a message, an enum or a service; a scalar as it is."""
    short = name.rsplit(".", 1)[-1]
    if name.startswith(protos.OURS):
        return f'<a href="{page_of(name)}#{short}">{short}</a>'
    return escape(short)


def text(comment: str) -> str:
    """A comment as paragraphs, its words in backticks as code, its words in stars emphasised."""
    made = escape(comment, quote=False)
    made = re.sub(r"`([^`]+)`", r"<code>\1</code>", made)
    made = re.sub(r"(?<!\w)\*([^*]+)\*(?!\w)", r"<em>\1</em>", made)
    return "".join(f"<p>{paragraph}</p>" for paragraph in made.split("\n\n"))


def shown(example: Json, title: str) -> str:
    """An example that can be opened."""
    code = escape(json.dumps(example, indent=2, ensure_ascii=False))
    return f"<details><summary>{escape(title)}</summary><pre>{code}</pre></details>"


class Reference:
    """The pages of one set of contracts."""

    def __init__(self, contracts: Contracts) -> None:
        self._contracts = contracts
        self._packages = tuple(protos.packages(contracts))

    def pages(self) -> Iterator[tuple[str, str]]:
        """Every page by the name of its file."""
        yield "index.html", self._page("The API of Kafeneio", self._index())
        for package in self._packages:
            yield f"{package}.html", self._page(package, self._package(package))
        yield "errors.html", self._page("Why a call is refused", self._reasons())

    def _page(self, title: str, body: Iterable[str]) -> str:
        links = [f'<a href="{package}.html">{package}</a>' for package in self._packages]
        nav = ['<a href="index.html">All calls</a>', '<a href="errors.html">Errors</a>', *links]
        return (
            f'<!doctype html><html lang="en"><meta charset="utf-8">'
            f'<meta name="viewport" content="width=device-width"><title>{escape(title)}</title>'
            f'<link rel="stylesheet" href="style.css">'
            f"<nav>{' '.join(nav)}</nav><h1>{escape(title)}</h1>"
            f"{''.join(body)}</html>\n"
        )

    def _index(self) -> Iterator[str]:
        for service in self._contracts.services.values():
            yield f"<h2>{anchor(service.name)}</h2>{text(service.comment.split(chr(10))[0])}<table>"
            for method in service.methods:
                link = f'<a href="{page_of(service.name)}#{method.name}">{method.name}</a>'
                first = re.split(r"(?<=\.) ", method.comment, maxsplit=1)[0]
                yield f"<tr><td>{link}</td><td>{text(first)}</td></tr>"
            yield "</table>"

    def _package(self, package: str) -> Iterator[str]:
        within = f"{package}."
        for name, service in self._contracts.services.items():
            if name.startswith(within):
                yield from self._service(service)
        for name, message in self._contracts.messages.items():
            if name.startswith(within):
                yield from self._message(message)
        for name, enum in self._contracts.enums.items():
            if name.startswith(within) and name != REASONS:
                yield from self._enum(enum)

    def _service(self, service: Service) -> Iterator[str]:
        short = service.name.rsplit(".", 1)[-1]
        yield f'<h2 id="{short}">{short}</h2>{text(service.comment)}'
        for method in service.methods:
            yield from self._method(service, method)

    def _method(self, service: Service, method: Method) -> Iterator[str]:
        stream = "stream of " if method.streams else ""
        yield f'<h3 id="{method.name}">{method.name}</h3>'
        yield f"<p>{anchor(method.request)} → {stream}{anchor(method.response)}</p>"
        yield text(method.comment)
        yield shown(examples.of_message(self._contracts, method.request), "Request")
        yield shown(examples.of_message(self._contracts, method.response), "Response")
        yield f'<p class="dim">POST /{service.name}/{method.name}</p>'

    def _message(self, message: Message) -> Iterator[str]:
        short = message.name.rsplit(".", 1)[-1]
        yield f'<h3 id="{short}">{short}</h3>{text(message.comment)}'
        if message.fields:
            yield "<table>"
            yield from map(self._field, message.fields)
            yield "</table>"
        yield shown(examples.of_message(self._contracts, message.name), "Example")

    def _field(self, field: Field) -> str:
        kind = anchor(field.type)
        if field.is_map:
            key, value = self._contracts.maps[field.type].fields
            kind = f"map of {key.type} to {value.type}"
        elif field.repeated:
            kind = f"list of {kind}"
        elif field.optional:
            kind = f"{kind}, optional"
        if field.oneof:
            kind += f'<br><span class="dim">one of {field.oneof}</span>'
        cells = (f"<code>{field.name}</code>", kind, text(field.comment))
        return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"

    def _enum(self, enum: Enum) -> Iterator[str]:
        short = enum.name.rsplit(".", 1)[-1]
        yield f'<h3 id="{short}">{short}</h3>{text(enum.comment)}<table>'
        for value in enum.values:
            yield f"<tr><td><code>{value.name}</code></td><td>{text(value.comment)}</td></tr>"
        yield "</table>"

    def _reasons(self) -> Iterator[str]:
        enum = self._contracts.enums[REASONS]
        yield f'<div id="ErrorReason">{text(enum.comment)}</div>'
        for value in enum.values[1:]:
            name = value.name.removeprefix(_PREFIX)
            yield f'<h3 id="{name}">{name}</h3>{text(value.comment)}'
            yield f'<p lang="el">{escape(SENTENCES[name])}</p>'
            yield shown(examples.status_of(value, _PREFIX), "As it comes")


def write(target: Path) -> list[Path]:
    """Write every page; their paths."""
    target.mkdir(parents=True, exist_ok=True)
    made = []
    for name, page in Reference(protos.read()).pages():
        made.append(target / name)
        made[-1].write_text(page, "utf-8")
    shutil.copy(STYLE, target)
    return made


if __name__ == "__main__":
    made = write(TARGET)
    sys.stdout.write(f"{len(made)} pages: {TARGET.relative_to(ROOT) / 'index.html'}\n")
