"""Install each lib and each service alone, with only what it asks for, and import all of it.

A package that uses something that it does not ask for fails here, although it works beside the
others. Versions are those of requirements.lock.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LOCK = ROOT / "requirements.lock"

IMPORT_ALL = """
import importlib, pkgutil, sys
package = importlib.import_module(sys.argv[1])
for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
    if ".migrations" not in module.name and ".migration" not in module.name:
        if module.name.rpartition(".")[2] != "__main__":
            importlib.import_module(module.name)
"""

EXTRAS = {"kafeneio-client": "[command]", "kafeneio-runtime": "[tracing]"}
"""Extras without which some modules of a package are not meant to be imported."""


def pip(python: Path | str, *arguments: str) -> str:
    """Run pip quietly; raises CalledProcessError where it fails."""
    command = [str(python), "-m", "pip", "--disable-pip-version-check", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def constraints(folder: Path) -> Path:
    """The locked versions, without hashes: wheels made here have none."""
    pins = re.findall(r"^[A-Za-z0-9._-]+==[^ \\]+", LOCK.read_text("utf-8"), re.MULTILINE)
    file = folder / "constraints.txt"
    file.write_text("\n".join(pins) + "\n", "utf-8")
    return file


def wheels(folder: Path) -> dict[str, Path]:
    """A wheel of each package of the house, by its name."""
    made = {}
    for project in sorted(ROOT.glob("*/*/pyproject.toml")):
        place = folder / project.parent.name
        pip(
            sys.executable,
            *("wheel", "--no-deps", "--no-build-isolation", "--quiet"),
            *("--wheel-dir", str(place), str(project.parent)),
        )
        (wheel,) = place.glob("*.whl")
        made[wheel.name.partition("-")[0].replace("_", "-")] = wheel
    return made


def closure(name: str, made: dict[str, Path], folder: Path, pins: Path) -> list[str]:
    """Install one package alone and import it; what came with it."""
    home = folder / f"venv-{name}"
    venv.create(home, with_pip=True)
    python = home / "bin" / "python"
    links = [option for wheel in made.values() for option in ("--find-links", str(wheel.parent))]
    before = set(pip(python, "list", "--format=freeze").split())
    target = f"{name}{EXTRAS.get(name, '')}"
    pip(python, "install", "--quiet", *links, "--constraint", str(pins), target)
    module = "kafeneio" if name == "kafeneio-stubs" else name.replace("-", "_")
    subprocess.run([str(python), "-c", IMPORT_ALL, module], check=True, cwd=folder)
    after = set(pip(python, "list", "--format=freeze").split())
    return sorted(each.partition("==")[0] for each in after - before)


def main(chosen: list[str]) -> int:
    """Each package, or those named."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pins, made = constraints(folder), wheels(folder)
        for package in chosen or sorted(made):
            came = closure(package, made, folder, pins)
            print(f"{package}: {len(came)} packages: {', '.join(came)}", flush=True)
            if package == "kafeneio-games" and came != ["kafeneio-games"]:
                print("the rules of the games must need nothing")
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
