"""Settings come from the environment, and every one of them is documented."""

from pathlib import Path

import pytest
from kafeneio_runtime import settings as module
from kafeneio_runtime.settings import Settings, reference, unknown_variables
from pydantic import ValidationError

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    for name in [name for name in os.environ if name.startswith(module.PREFIX)]:
        monkeypatch.delenv(name)


def test_nothing_has_to_be_set() -> None:
    made = Settings()
    assert made.database_url is None
    assert (made.host, made.rules_port, made.metrics_port) == ("127.0.0.1", 50051, 9464)


def test_the_environment_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KAFENEIO_DATABASE_URL", "postgresql://u:geheim@db/kafeneio")
    monkeypatch.setenv("KAFENEIO_RULES_PORT", "0")
    monkeypatch.setenv("KAFENEIO_REFLECTION", "false")
    made = Settings()
    assert made.database_url == "postgresql://u:geheim@db/kafeneio"
    assert (made.rules_port, made.reflection) == (0, False)


def test_an_empty_variable_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KAFENEIO_DATABASE_URL", "")
    assert Settings().database_url is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("RULES_PORT", "70000"),
        ("LOG_LEVEL", "loud"),
        ("DRAIN_SECONDS", "-1"),
        ("RATE_LIMIT_BURST", "0"),
    ],
)
def test_nonsense_is_refused(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(f"KAFENEIO_{name}", value)
    with pytest.raises(ValidationError):
        Settings()


def test_secrets_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KAFENEIO_DATABASE_URL", "postgresql://u:geheim@db/kafeneio")
    monkeypatch.setenv("KAFENEIO_CHANCE_KEY", "geheim")
    assert "geheim" not in repr(Settings())
    assert "geheim" not in str(Settings())


def test_settings_do_not_change() -> None:
    with pytest.raises(ValidationError):
        Settings().rules_port = 1


def test_every_variable_is_in_the_reference_with_its_meaning() -> None:
    rows = [line.split("|") for line in reference().splitlines()[2:]]
    assert len(rows) == len(Settings.model_fields) + 1
    for row in rows:
        name, default, meaning = (cell.strip() for cell in row[1:4])
        assert name.startswith("`KAFENEIO_")
        assert default
        assert len(meaning) > 10
    assert str(Path.home()) + "/" not in reference()


def test_the_readme_has_the_reference() -> None:
    assert reference() in (ROOT / "README.md").read_text("utf-8")


def test_the_readme_lists_every_module() -> None:
    readme = (ROOT / "libs" / "runtime" / "README.md").read_text("utf-8")
    package = ROOT / "libs" / "runtime" / "kafeneio_runtime"
    names = {each.stem for each in package.glob("*.py")} - {"__init__"}
    assert {name for name in names if f"\n| `{name}` |" not in readme} == set()


def test_a_misspelt_variable_is_found() -> None:
    environment = {"KAFENEIO_RULES_PORTT": "1", "KAFENEIO_RULES_PORT": "1", "HOME": "/"}
    assert unknown_variables(environment) == ["KAFENEIO_RULES_PORTT"]


@pytest.mark.parametrize(
    ("user", "folder"), [(0, Path("/var/lib/kafeneio")), (1000, Path("/home/x/data/kafeneio"))]
)
def test_the_data_of_root_is_not_in_its_home(
    monkeypatch: pytest.MonkeyPatch, user: int, folder: Path
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: user)
    monkeypatch.setenv("XDG_DATA_HOME", "/home/x/data")
    assert module.default_data_dir() == folder
