"""Secrets: made from the system's randomness, kept in files that only we read, sealed before they
are stored.
"""

import base64
import binascii
import os
import secrets
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from kafeneio_runtime.settings import Settings

SECRET_BYTES: Final = 32
_NONCE_BYTES: Final = 12


class SealBroken(Exception):  # noqa: N818 (says what happened)
    """Sealed bytes that this key did not seal, or not for this place."""


def new_secret() -> bytes:
    """32 bytes that nobody can guess."""
    return secrets.token_bytes(SECRET_BYTES)


class Vault:
    """Seals secrets for storage with AES-256-GCM: neither readable nor exchangeable without the
    key.
    """

    def __init__(self, key: bytes) -> None:
        """Raises ValueError unless `key` has 32 bytes."""
        if len(key) != SECRET_BYTES:
            raise ValueError(f"a key has {SECRET_BYTES} bytes, not {len(key)}")
        self._cipher = AESGCM(key)

    def __repr__(self) -> str:
        return "Vault()"

    def seal(self, secret: bytes, associated: bytes) -> bytes:
        """`secret`, sealed for the place that `associated` names (the game's id): it opens nowhere
        else.
        """
        nonce = secrets.token_bytes(_NONCE_BYTES)
        return nonce + self._cipher.encrypt(nonce, secret, associated)

    def open(self, sealed: bytes, associated: bytes) -> bytes:
        """What was sealed. Raises SealBroken if it was tampered with, or sealed for another place
        or by another key.
        """
        try:
            return self._cipher.decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], associated)
        except (InvalidTag, ValueError):
            raise SealBroken("these bytes were not sealed here for this place") from None


def load_or_create_key(path: Path) -> bytes:
    """The 32-byte key in the file at `path`, made at the first call. Raises ValueError on a damaged
    file.
    """
    return decode_key(load_or_create(path, lambda: base64.b64encode(new_secret())).decode("ascii"))


def chance_key(settings: Settings) -> bytes:
    """The key that seals the secrets of chance: from the settings, or of the data folder, made at
    the first call.

    Raises ValueError, without telling the text, if what is set is no key.
    """
    if settings.chance_key is not None:
        return decode_key(settings.chance_key.get_secret_value())
    return load_or_create_key(settings.data_dir / "keys" / "chance.key")


def decode_key(text: str) -> bytes:
    """The key written in Base64, as settings and files have it. Raises ValueError without telling
    the text.
    """
    try:
        key = base64.b64decode(text.strip(), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if len(key) != SECRET_BYTES:
        raise ValueError(f"not a key: expected the Base64 of {SECRET_BYTES} bytes")
    return key


def load_or_create(path: Path, make: Callable[[], bytes]) -> bytes:
    """The bytes in the file at `path`, which is made with `make()` if there is none.

    Only we can read the file, it appears whole or not at all, and of two processes that start at
    once both get the same bytes. Raises PermissionError if others may read a file that exists.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not path.exists():
        _publish(path, make())
    mode = path.stat().st_mode
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise PermissionError(f"{path} may be read by others (mode {stat.filemode(mode)})")
    return path.read_bytes()


def _publish(path: Path, content: bytes) -> None:
    draft = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(draft, path)  # unlike a rename, fails if somebody was faster: his is the one
        except FileExistsError:
            return
    finally:
        draft.unlink()
