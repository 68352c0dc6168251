"""A person's mistakes end a process with a sentence, and no traceback."""

from __future__ import annotations

import errno
import socket
from pathlib import Path

import asyncpg
import pytest
from kafeneio_runtime.mistakes import read_settings, spoken


def test_a_setting_that_cannot_be_read_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KAFENEIO_RULES_PORT", "abc")
    with pytest.raises(SystemExit) as ended:
        read_settings()
    assert "KAFENEIO_RULES_PORT" in str(ended.value)


def test_a_secret_setting_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KAFENEIO_CHANCE_KEY", "c2hvcnQ=")
    with pytest.raises(SystemExit) as ended:
        read_settings()
    assert "c2hvcnQ" not in str(ended.value)
    assert "KAFENEIO_CHANCE_KEY" in str(ended.value)


def test_keys_that_cannot_be_read_are_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("KAFENEIO_TOKEN_KEYS_FILE", str(tmp_path / "none.json"))
    with pytest.raises(SystemExit, match="KAFENEIO_TOKEN_KEYS_FILE"):
        read_settings()


@pytest.mark.parametrize("url", ["http://secret@host", "host:4222", "nats://", "nats://a,http://b"])
def test_what_is_no_address_of_nats_is_refused(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("KAFENEIO_NATS_URL", url)
    with pytest.raises(SystemExit, match=r"KAFENEIO_NATS_URL: .*nats://user") as ended:
        read_settings()
    assert "secret@" not in str(ended.value)


@pytest.mark.parametrize("url", ["nats://u:p@host:4222", "tls://a:1, nats://b", "nats://[::1]:1"])
def test_addresses_of_nats(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, url: str) -> None:
    monkeypatch.setenv("KAFENEIO_NATS_URL", url)
    monkeypatch.setenv("KAFENEIO_DATA_DIR", str(tmp_path))
    found = read_settings().nats_url
    assert found is not None
    assert found.get_secret_value() == url


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (OSError(errno.EADDRINUSE, "Address already in use"), "port can't be opened"),
        (RuntimeError("Failed to bind to address 127.0.0.1:50051"), "port can't be opened"),
        (socket.gaierror(-2, "Name or service not known"), "KAFENEIO_HOST"),
        (ConnectionRefusedError("Connection refused"), "KAFENEIO_DATABASE_URL"),
        (asyncpg.InvalidPasswordError("no"), "KAFENEIO_DATABASE_URL"),
        (asyncpg.UndefinedTableError("no games"), "kafeneio migrate"),
        (PermissionError("/x is private"), "/x is private"),
    ],
)
def test_what_a_person_can_mend_is_a_sentence(error: Exception, told: str) -> None:
    with pytest.raises(SystemExit, match=told), spoken():
        raise error


@pytest.mark.parametrize("error", [ValueError("ours"), RuntimeError("ours"), KeyError("ours")])
def test_our_own_mistakes_keep_their_traceback(error: Exception) -> None:
    with pytest.raises(type(error)), spoken():
        raise error
