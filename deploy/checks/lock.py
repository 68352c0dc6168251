"""Write requirements.lock: all packages that any lib, service or tool needs, with their hashes.

For every Python from 3.11 and every machine. It names no registry: the settings of a machine say
where its packages come from.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def own_packages() -> list[str]:
    """The names of the packages made here, which are not locked."""
    folders = sorted(path.parent for path in ROOT.glob("*/*/pyproject.toml"))
    return [f"kafeneio-{folder.name}" for folder in folders]


def main() -> int:
    """Resolve with uv, in an environment of its own."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = str(Path(folder) / "bin" / "python")
        subprocess.run([python, "-m", "pip", "install", "--quiet", "uv"], check=True)
        command = [str(Path(folder) / "bin" / "uv"), "pip", "compile", "pyproject.toml"]
        command += ["--group", "dev", "--universal", "--python-version", "3.11"]
        command += ["--generate-hashes", "--no-header", "--quiet", "-o", "requirements.lock"]
        for name in own_packages():
            command += ["--no-emit-package", name]
        return subprocess.run(command, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
