"""Install each lib and each service alone, with only what it asks for, and import all of it.

A package that uses something that it does not ask for fails here, although it works beside the
others. Versions are those of requirements.lock. The images are then looked at in the same way: what
the Dockerfile installs must be what pip finds to be needed, and nothing else.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import venv
from collections.abc import Sequence
from pathlib import Path

import image
from packaging.requirements import Requirement

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

IMAGES = ("rules", "clock", "settlement", "matchmaking", "computers", "house")
"""What the Dockerfile may be asked for as SERVICE."""

BESIDE = ("kafeneio-client[command]", "kafeneio-runtime[tracing]")
"""What it installs beside that: the command, and what sends traces."""

EXTRAS = {"kafeneio-client": "[command]", "kafeneio-runtime": "[tracing]"}
"""Extras without which some modules of a package are not meant to be imported."""


def pip(python: Path | str, *arguments: str) -> str:
    """Run pip quietly; raises CalledProcessError where it fails, and shows what it said."""
    command = [str(python), "-m", "pip", "--disable-pip-version-check", *arguments]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        print(done.stderr, file=sys.stderr)
    done.check_returncode()
    return done.stdout


def constraints(folder: Path) -> Path:
    """The locked versions, without hashes: wheels made here have none."""
    pins = re.findall(r"^[A-Za-z0-9._-]+==[^\\\n]+", LOCK.read_text("utf-8"), re.MULTILINE)
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


def installed(
    targets: Sequence[str], made: dict[str, Path], folder: Path, pins: Path
) -> tuple[Path, list[str]]:
    """Install packages of the house, and nothing else, in an environment of their own; its Python,
    and what is in it.
    """
    home = folder / f"venv-{targets[0]}-{len(targets)}"
    venv.create(home, with_pip=True)
    python = home / "bin" / "python"
    links = [option for wheel in made.values() for option in ("--find-links", str(wheel.parent))]
    before = set(pip(python, "list", "--format=freeze").split())
    pip(python, "install", "--quiet", *links, "--constraint", str(pins), *targets)
    after = set(pip(python, "list", "--format=freeze").split())
    return python, sorted(plain(each.partition("==")[0]) for each in after - before)


def plain(name: str) -> str:
    """The one spelling of a package's name."""
    return re.sub(r"[-_.]+", "-", name).lower()


def closure(name: str, made: dict[str, Path], folder: Path, pins: Path) -> list[str]:
    """Install one package alone and import it; what came with it."""
    python, came = installed([f"{name}{EXTRAS.get(name, '')}"], made, folder, pins)
    module = "kafeneio" if name == "kafeneio-stubs" else name.replace("-", "_")
    subprocess.run([str(python), "-c", IMPORT_ALL, module], check=True, cwd=folder)
    return came


def image_content(service: str) -> list[str]:
    """The packages that the Dockerfile installs for a service on this machine."""
    lock = image.LOCK.read_text("utf-8")
    names = (f"kafeneio-{service}", "kafeneio-client")
    locked = image.entries(lock)
    pins = {
        name: [Requirement(entry.partition("\\")[0].strip()).marker for entry in locked[name]]
        for name in image.needed(names, lock)
    }
    applies = [
        name
        for name, markers in pins.items()
        if any(marker is None or marker.evaluate() for marker in markers)
    ]
    return sorted({*applies, *image.own(names)})


def check_image(service: str, made: dict[str, Path], folder: Path, pins: Path) -> bool:
    """Whether an image holds what is needed and nothing else, and serves what it is named after."""
    python, came = installed([f"kafeneio-{service}", *BESIDE], made, folder, pins)
    content = image_content(service)
    print(f"image {service}: {len(content)} packages", flush=True)
    for text, found in (
        ("not needed", set(content) - set(came)),
        ("missing", set(came) - set(content)),
    ):
        if found:
            print(f"{text}: {', '.join(sorted(found))}")
    listed = subprocess.run(
        [str(python), "-m", "kafeneio_client", "serve"], check=True, capture_output=True, text=True
    )
    serves = re.findall(r"kafeneio serve ([a-z]+)", listed.stdout)
    if service != "house" and serves != [service]:
        print(f"it serves {serves}")
        return False
    return content == came


def main(chosen: list[str]) -> int:
    """Each package and image, or those named: `kafeneio-rules` or `rules`."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pins, made = constraints(folder), wheels(folder)
        for package in [each for each in chosen or sorted(made) if each in made]:
            came = closure(package, made, folder, pins)
            print(f"{package}: {len(came)} packages: {', '.join(came)}", flush=True)
            if package == "kafeneio-games" and came != ["kafeneio-games"]:
                print("the rules of the games must need nothing")
                return 1
        for service in [each for each in chosen or IMAGES if each in IMAGES]:
            if not check_image(service, made, folder, pins):
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
