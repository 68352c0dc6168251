"""Mistakes in what is set for `make up`."""

from __future__ import annotations

import pytest
from kafeneio_up.main import main, misspelt


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("KAFENEIO_UP_REPLICAS", "0"),
        ("KAFENEIO_UP_PORT", "99999"),
        ("KAFENEIO_UP_RATE", "much"),
        ("KAFENEIO_CLOCK_MOVE_SECONDS", "inf"),
    ],
)
def test_a_setting_that_can_not_be_used_is_named(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit) as caught:
        main()
    assert str(caught.value.code).startswith(f"{name}: ")
    assert "\n" not in str(caught.value.code)


def test_a_name_that_means_nothing_is_found() -> None:
    given = {"KAFENEIO_UP_RELICAS": "3", "KAFENEIO_UP_REPLICAS": "2", "KAFENEIO_UP": "1", "UP": "1"}
    assert misspelt(given) == ["KAFENEIO_UP", "KAFENEIO_UP_RELICAS"]
