"""Secrets stay in their files and open only where they belong."""

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafeneio_runtime.secrets import (
    SealBroken,
    Vault,
    chance_key,
    decode_key,
    load_or_create,
    load_or_create_key,
    new_secret,
)

from tests.runtime.house import settings


@given(secret=st.binary(max_size=200), place=st.binary(max_size=20))
def test_what_is_sealed_opens_in_its_place(secret: bytes, place: bytes) -> None:
    vault = Vault(new_secret())
    assert vault.open(vault.seal(secret, place), place) == secret


@given(secret=st.binary(min_size=1, max_size=50), data=st.data())
def test_it_opens_nowhere_else_and_not_when_touched(secret: bytes, data: st.DataObject) -> None:
    vault = Vault(new_secret())
    sealed = vault.seal(secret, b"game 7")
    index = data.draw(st.integers(0, len(sealed) - 1))
    touched = sealed[:index] + bytes([sealed[index] ^ 1]) + sealed[index + 1 :]
    for wrong, place in ((sealed, b"game 8"), (touched, b"game 7"), (sealed[:5], b"game 7")):
        with pytest.raises(SealBroken):
            vault.open(wrong, place)
    with pytest.raises(SealBroken):
        Vault(new_secret()).open(sealed, b"game 7")


def test_the_same_secret_is_never_sealed_alike() -> None:
    vault = Vault(new_secret())
    assert len({vault.seal(b"six six", b"game 7") for _ in range(50)}) == 50


def test_a_key_has_32_bytes() -> None:
    with pytest.raises(ValueError, match="32"):
        Vault(b"short")
    assert len({new_secret() for _ in range(50)}) == 50


def test_a_key_file_is_made_once_and_for_us_only(tmp_path: Path) -> None:
    path = tmp_path / "keys" / "chance.key"
    key = load_or_create_key(path)
    assert load_or_create_key(path) == key
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert [each.name for each in path.parent.iterdir()] == ["chance.key"]


def test_who_starts_at_once_gets_the_same_key(tmp_path: Path) -> None:
    path = tmp_path / "chance.key"
    with ThreadPoolExecutor(8) as pool:
        keys = set(pool.map(lambda _: load_or_create_key(path), range(32)))
    assert len(keys) == 1


def test_a_key_file_that_others_may_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "chance.key"
    load_or_create(path, lambda: b"x")
    path.chmod(0o644)
    with pytest.raises(PermissionError):
        load_or_create(path, lambda: b"x")


@pytest.mark.parametrize("text", ["", "not base64!", "c2hvcnQ="])
def test_a_bad_key_is_not_shown(text: str) -> None:
    with pytest.raises(ValueError) as caught:
        decode_key(text)
    assert not text or text not in str(caught.value)


def test_the_key_of_the_settings_wins(tmp_path: Path) -> None:
    chosen = settings(data_dir=tmp_path, chance_key="QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUE=")
    assert chance_key(chosen) == b"A" * 32
    assert len(chance_key(settings(data_dir=tmp_path))) == 32
    assert "QUFB" not in repr(chosen)
