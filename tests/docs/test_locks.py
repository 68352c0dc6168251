"""The lock files of the TypeScript packages: exact, with hashes, and without an address."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from deploy.docs.contracts import ROOT

FOLDERS = ("libs/client/typescript", "deploy/web", "tests/browser")


def read(folder: str, name: str) -> Any:
    """A JSON file of a package."""
    return json.loads((ROOT / folder / name).read_text("utf-8"))


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_package_comes_from_an_address_and_each_has_its_hash(folder: str) -> None:
    packages = read(folder, "package-lock.json")["packages"]
    fetched = {
        name: package
        for name, package in packages.items()
        if name.startswith("node_modules/") and not package.get("link")
    }
    assert fetched
    for name, package in fetched.items():
        assert "resolved" not in package, name
        assert package["integrity"].startswith("sha512-"), name


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_version_is_exact(folder: str) -> None:
    wanted = read(folder, "package.json")
    for name, version in {**wanted.get("dependencies", {}), **wanted["devDependencies"]}.items():
        assert version.startswith("file:") or version[0].isdigit(), name
        assert not version.startswith("file:") or (ROOT / folder / version[5:]).is_dir()
    settings = (Path(ROOT) / folder / ".npmrc").read_text("utf-8")
    assert "omit-lockfile-registry-resolved=true" in settings
    assert "registry=" not in settings.replace("lockfile-registry-resolved=", "")
