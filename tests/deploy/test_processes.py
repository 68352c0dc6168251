"""The services as processes with the settings of production, where nothing can be written."""

from __future__ import annotations

import base64
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest
from kafeneio_up.process import free_ports

from tests.deploy.rendered import SERVICES, environment, workload

NOWHERE: Final = "/proc/nowhere"
"""A data folder that can't be made, not even by root."""
PATIENCE: Final = 60.0


def production(name: str, folder: Path) -> dict[str, str]:
    """The environment of a workload, with a database and a NATS where nobody listens, and with the
    files of its secrets in a folder.
    """
    (nobody,) = free_ports(1)
    secrets: dict[str, str] = {
        "KAFENEIO_DATABASE_URL": f"postgresql://kafeneio@127.0.0.1:{nobody}/kafeneio",
        "KAFENEIO_NATS_URL": f"nats://127.0.0.1:{nobody}",
        "KAFENEIO_CHANCE_KEY": base64.b64encode(bytes(32)).decode("ascii"),
    }
    told: dict[str, Any] = environment("production", workload("production", name))
    for key, value in told.items():
        if key.endswith("_FILE"):
            told[key] = str(folder / Path(value).name)
        elif isinstance(value, dict):
            told[key] = secrets[key]
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("KAFENEIO_")}
    return {**inherited, **told, "KAFENEIO_DATA_DIR": NOWHERE}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """With what the secrets hold."""
    (tmp_path / "jwks.json").write_text(JWKS, "utf-8")
    (tmp_path / "token").write_text("a.b.c", "utf-8")
    return tmp_path


JWKS: Final = """{"keys": [{"kty": "OKP", "crv": "Ed25519", "kid": "one", "alg": "EdDSA",
    "use": "sig", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}"""
"""The public key of RFC 8037, appendix A."""


@pytest.mark.parametrize(
    ("verb", "service"),
    [*(("serve", each) for each in SERVICES if each != "computers"), ("migrate", "rules")],
)
def test_a_process_misses_nothing_but_its_database(verb: str, service: str, folder: Path) -> None:
    name = service if verb == "serve" else f"migrate-{service}"
    command = (sys.executable, "-m", "kafeneio_client", verb, service)
    done = subprocess.run(
        command,
        env=production(name, folder),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode != 0
    assert "PostgreSQL can't be reached" in done.stderr + done.stdout, done.stderr[-2000:]
