"""buf lint, and buf breaking against the merge base with main (on main: the parent commit)."""

from __future__ import annotations

import io
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUF = str(Path(sys.executable).parent / "buf")


def git(*arguments: str) -> str | None:
    """What git answers, or None where it refuses."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else None


def base_commit() -> str | None:
    """The commit that the contracts must stay compatible with, or None where there is none."""
    head = git("rev-parse", "HEAD")
    for main in ("origin/main", "main"):
        base = git("merge-base", "HEAD", main)
        if base is not None and base != head:
            return base
    return git("rev-parse", "--verify", "--quiet", "HEAD^")


def image(tree: Path, target: Path) -> None:
    """Compile the contracts of a checkout, with the generator of that checkout."""
    generator = tree / "libs" / "stubs" / "generate.py"
    subprocess.run([sys.executable, str(generator), "image", str(target)], check=True)


def buf(folder: Path, *arguments: str) -> int:
    """Run buf beside the settings of protos/buf.yaml."""
    config = str(ROOT / "protos" / "buf.yaml")
    command = [BUF, *arguments, "--config", config]
    return subprocess.run(command, cwd=folder, check=False).returncode


def main() -> int:
    """0 where lint passes and nothing breaks."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        image(ROOT, work / "new.binpb")
        failed = buf(work, "lint", "new.binpb", "--path", "kafeneio")
        print("buf lint:", "failed" if failed else "passed")
        base = base_commit()
        if base is None or git("cat-file", "-e", f"{base}:libs/stubs/generate.py") is None:
            print("buf breaking: passed, there is no earlier contract to compare with")
            return failed
        old = work / "old"
        archive = subprocess.run(
            ["git", "archive", base, "protos", "libs/stubs"],
            cwd=ROOT,
            check=True,
            capture_output=True,
        )
        with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
            files.extractall(old, filter="data")
        image(old, work / "old.binpb")
        broken = buf(work, "breaking", "new.binpb", "--against", "old.binpb", "--path", "kafeneio")
        print(f"buf breaking against {base[:12]}:", "failed" if broken else "passed")
        return failed or broken


if __name__ == "__main__":
    sys.exit(main())
