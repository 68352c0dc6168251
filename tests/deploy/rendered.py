"""The overlays as Kubernetes would get them."""

from __future__ import annotations

import shutil
import subprocess
import sysconfig
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeAlias

import yaml

# Of objects that Kubernetes defines and the validator checks; their schemas are not ours to type.
Object: TypeAlias = dict[str, Any]

DEPLOY: Final = Path(__file__).parents[2] / "deploy"
OVERLAYS: Final = ("dev", "production")
SERVICES: Final = ("rules", "clock", "settlement", "matchmaking", "computers")
WORKLOADS: Final = ("Deployment", "StatefulSet", "Job")
NAME: Final = "app.kubernetes.io/name"


def program(name: str) -> str:
    """The path of a tool that a Python package has brought."""
    found = shutil.which(name, path=sysconfig.get_path("scripts"))
    assert found is not None, f"the package that brings {name} is not installed"
    return found


@cache
def rendered(overlay: str) -> tuple[Object, ...]:
    """The objects of an overlay."""
    command = (program("kubectl"), "kustomize", str(DEPLOY / "k8s" / overlay))
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return tuple(yaml.safe_load_all(text))


def of_kind(overlay: str, *kinds: str) -> dict[str, Object]:
    """The objects of some kinds, by name."""
    found = [each for each in rendered(overlay) if each["kind"] in kinds]
    named = {each["metadata"]["name"]: each for each in found}
    assert len(named) == len(found), f"two {kinds} have the same name"
    return named


def pod(workload: Object) -> Object:
    """What a workload makes pods of."""
    template: Object = workload["spec"]["template"]
    return template


def container(workload: Object) -> Object:
    """The one container of a workload's pods."""
    (only,) = pod(workload)["spec"]["containers"]
    assert "initContainers" not in pod(workload)["spec"]
    found: Object = only
    return found


def labels(workload: Object) -> dict[str, str]:
    """Those of its pods."""
    found: dict[str, str] = pod(workload)["metadata"]["labels"]
    return found


def selects(selector: Object, given: dict[str, str]) -> bool:
    """Whether a selector of labels (only by equality: we use no other) selects something."""
    assert set(selector) <= {"matchLabels"}, selector
    wanted: dict[str, str] = selector.get("matchLabels", {})
    return wanted.items() <= given.items()


def ports(workload: Object) -> dict[str, int]:
    """The ports of its container by name."""
    return {each["name"]: each["containerPort"] for each in container(workload).get("ports", ())}


def environment(overlay: str, workload: Object) -> dict[str, Any]:
    """The variables of its container: text, or where it is taken from."""
    maps, found = of_kind(overlay, "ConfigMap"), {}
    for each in container(workload).get("envFrom", ()):
        assert set(each) == {"configMapRef"}, "secrets are named one by one"
        found.update(maps[each["configMapRef"]["name"]]["data"])
    for each in container(workload).get("env", ()):
        found[each["name"]] = each.get("value", each.get("valueFrom"))
    return found


def workloads(*kinds: str) -> list[tuple[str, str]]:
    """Every overlay with every workload in it, or with those of some kinds."""
    return [
        (overlay, name) for overlay in OVERLAYS for name in of_kind(overlay, *(kinds or WORKLOADS))
    ]


def workload(overlay: str, name: str) -> Object:
    """One of them."""
    return of_kind(overlay, *WORKLOADS)[name]
