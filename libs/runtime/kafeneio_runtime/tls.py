"""TLS: what a process shows of itself, and whom it believes.

Off until a certificate is named. With a CA it is mutual: a client without a certificate of that CA
is turned away before its first call, and a peer that shows another one is not called. Who calls is
still said by the token alone; the certificate says that he may knock.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, TypeVar

import grpc
from cryptography import x509
from cryptography.hazmat.primitives import serialization

from kafeneio_runtime.settings import PREFIX, Settings

_SOON: Final = timedelta(days=14)

Thing = TypeVar("Thing")


class TlsError(ValueError):
    """The certificates of the settings can't be used; the text says which file, and why."""


@dataclass(frozen=True, slots=True)
class Identity:
    """A certificate (with those of the authorities between it and the root), its key, and the CA
    that the others are held against; all PEM. Without `ca` clients need no certificate, and peers
    are held against the roots of the system.
    """

    certificate: bytes
    key: bytes = field(repr=False)
    ca: bytes | None
    peer_name: str | None
    """The name that the certificates of peers carry, where it is not the host of their address."""
    expires: datetime

    def expires_soon(self, now: datetime) -> bool:
        """Whether a new certificate should have come by now."""
        return self.expires - now < _SOON

    def server(self) -> grpc.ServerCredentials:
        """For a port that listens."""
        return grpc.ssl_server_credentials(
            [(self.key, self.certificate)], self.ca, require_client_auth=self.ca is not None
        )

    def channel(self) -> grpc.ChannelCredentials:
        """For a channel to a peer."""
        return grpc.ssl_channel_credentials(self.ca, self.key, self.certificate)

    def channel_options(self) -> tuple[tuple[str, str], ...]:
        """What goes with it."""
        if self.peer_name is None:
            return ()
        return (("grpc.ssl_target_name_override", self.peer_name),)


def identity(settings: Settings, now: datetime | None = None) -> Identity | None:
    """What the settings name, read; None where they name nothing. Raises TlsError where something
    is missing, unreadable, expired, or does not belong together.

    Files are read once: a process is started anew for new ones, as a rolling restart does.
    """
    named = {
        "TLS_CERTIFICATE_FILE": settings.tls_certificate_file,
        "TLS_KEY_FILE": settings.tls_key_file,
    }
    missing = [f"{PREFIX}{name}" for name, file in named.items() if file is None]
    if len(missing) == len(named) and settings.tls_ca_file is None:
        return None
    if missing:
        raise TlsError(f"TLS needs {' and '.join(missing)}")
    certificate = _file("TLS_CERTIFICATE_FILE", settings.tls_certificate_file)
    key = _file("TLS_KEY_FILE", settings.tls_key_file)
    ca = None if settings.tls_ca_file is None else _file("TLS_CA_FILE", settings.tls_ca_file)
    now = now or datetime.now(UTC)
    own = _certificates("TLS_CERTIFICATE_FILE", certificate)[0]
    _check_valid("TLS_CERTIFICATE_FILE", own, now)
    _check_key(own, key)
    if ca is not None:
        for each in _certificates("TLS_CA_FILE", ca):
            _check_valid("TLS_CA_FILE", each, now)
    return Identity(certificate, key, ca, settings.tls_peer_name, own.not_valid_after_utc)


def _file(name: str, file: Path | None) -> bytes:
    assert file is not None, "those that are named are read"
    try:
        return file.read_bytes()
    except OSError as error:
        raise TlsError(f"{PREFIX}{name}: {file} can't be read: {error.strerror}") from None


def _certificates(name: str, pem: bytes) -> list[x509.Certificate]:
    return _read(name, "certificates", lambda: x509.load_pem_x509_certificates(pem))


def _check_valid(name: str, certificate: x509.Certificate, now: datetime) -> None:
    begin, end = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    if now > end:
        raise TlsError(f"{PREFIX}{name}: the certificate has expired on {end:%Y-%m-%d}")
    if now < begin:
        raise TlsError(f"{PREFIX}{name}: the certificate is valid from {begin:%Y-%m-%d} on")


def _check_key(certificate: x509.Certificate, pem: bytes) -> None:
    key = _read(
        "TLS_KEY_FILE",
        "a key without a password",
        lambda: serialization.load_pem_private_key(pem, password=None),
    )
    if key.public_key() != certificate.public_key():
        raise TlsError(f"{PREFIX}TLS_KEY_FILE: the key is not that of the certificate")


def _read(name: str, what: str, read: Callable[[], Thing]) -> Thing:
    try:
        return read()
    except (ValueError, TypeError):  # a TypeError where a key has a password
        # What was found instead may be a key: not even the library's words are repeated.
        raise TlsError(f"{PREFIX}{name} does not hold {what} in PEM") from None
