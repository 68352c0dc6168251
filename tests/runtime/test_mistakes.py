"""A person's mistakes end a process with a sentence, and no traceback."""

from __future__ import annotations

import errno

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


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (OSError(errno.EADDRINUSE, "Address already in use"), "port is in use"),
        (RuntimeError("Failed to bind to address 127.0.0.1:50051"), "port is in use"),
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
