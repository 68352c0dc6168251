"""Tells whoever started the process that it can be used."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path


def tell(file: Path | None, addresses: Mapping[str, str]) -> None:
    """Writes the addresses by service name into `file`, whole or not at all; nothing for None."""
    if file is None:
        return
    draft = file.with_name(f".{file.name}.draft")
    draft.write_text(json.dumps(dict(addresses)), encoding="utf-8")
    draft.replace(file)
