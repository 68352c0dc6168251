"""What the contracts say about who may call what: the comment of an RPC, read from its proto."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from kafeneio_runtime.auth import Role

PROTOS: Final = Path(__file__).parents[2] / "protos" / "kafeneio"

_SERVICE: Final = re.compile(r"^service (\w+) \{\n(.*?)^\}", re.DOTALL | re.MULTILINE)
_RPC: Final = re.compile(r"((?:  //[^\n]*\n)+)  rpc (\w+)\(")
_CLAUSE: Final = re.compile(r"Roles?: ([^.]*)")
_NAMES: Final = {f"{role.value}{plural}": role for role in Role for plural in ("", "s")}


def documented_roles() -> dict[str, frozenset[Role]]:
    """Who may call each method, by its path: the roles that the words after "Role:" name; all where
    these begin with "any", or where nothing is said.
    """
    found: dict[str, frozenset[Role]] = {}
    for file in sorted(PROTOS.rglob("*.proto")):
        text = file.read_text("utf-8")
        package = re.search(r"^package (\S+);", text, re.MULTILINE)
        assert package is not None, file
        for service, body in _SERVICE.findall(text):
            for comment, name in _RPC.findall(body):
                said = " ".join(line.strip(" /") for line in comment.splitlines())
                found[f"/{package[1]}.{service}/{name}"] = _roles(said)
    return found


def _roles(comment: str) -> frozenset[Role]:
    clause = _CLAUSE.search(comment)
    if clause is None or clause[1].startswith("any"):
        return frozenset(Role)
    words = re.findall(r"[a-z]+", clause[1])
    return frozenset(_NAMES[word] for word in words if word in _NAMES)
