"""Makes the stubs when the package is built or installed."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class StubsBuildHook(BuildHookInterface[Any]):
    """Generates before the files are collected."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Run generate.py and ship what it made."""
        runpy.run_path(str(Path(self.root) / "generate.py"), run_name="__main__")
        if version == "editable":
            return  # the folder itself is put on the path
        generated = Path(self.root) / "generated"
        for path in generated.rglob("*"):
            if path.is_file():
                relative = str(path.relative_to(generated))
                build_data["force_include"][str(path)] = relative
