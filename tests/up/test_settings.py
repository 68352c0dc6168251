"""Mistakes in what is set for `make up`."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from kafeneio_up.alone import alone, check_free
from kafeneio_up.main import main, misspelt
from kafeneio_up.process import StartError


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


def test_two_houses_do_not_share_a_folder(tmp_path: Path) -> None:
    with alone(tmp_path), pytest.raises(StartError, match="is open on"), alone(tmp_path):
        raise AssertionError("it is somebody's")
    with alone(tmp_path):
        assert (tmp_path / "lock").exists(), "and it is free again"


def test_a_port_that_is_taken_is_found_before_anything_starts() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(StartError, match=f"Port {port} can't be used"):
            check_free([port])
    check_free([port])
