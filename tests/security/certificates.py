"""A certificate authority for tests, and what it signs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Final

import grpc
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

DAY: Final = timedelta(days=1)
HOST: Final = "127.0.0.1"


@dataclass(frozen=True)
class Certified:
    """A certificate and its key, in files and in memory."""

    certificate: Path
    key: Path

    @property
    def pair(self) -> tuple[bytes, bytes]:
        """(key, certificate), as gRPC takes them."""
        return self.key.read_bytes(), self.certificate.read_bytes()


class Authority:
    """Signs certificates for the house of a test."""

    def __init__(self, folder: Path, name: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _named(f"{name} CA")
        now = datetime.now(UTC)
        made = (
            _builder(self._name, self._name, self._key, now - DAY, now + DAY)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .sign(self._key, hashes.SHA256())
        )
        self.file = folder / "ca.pem"
        self.file.write_bytes(made.public_bytes(serialization.Encoding.PEM))

    @property
    def pem(self) -> bytes:
        """The certificate of the authority."""
        return self.file.read_bytes()

    def sign(
        self,
        name: str,
        *,
        host: str = HOST,
        names: Sequence[str] = (),
        begin: timedelta = -DAY,
        end: timedelta = DAY,
    ) -> Certified:
        """A certificate for `name` and other `names`, for both ends of a connection, at `host`;
        valid from `begin` to `end`, counted from now.
        """
        key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
        told: list[x509.GeneralName] = [x509.DNSName(each) for each in (name, *names)]
        if host:
            told.append(x509.IPAddress(ip_address(host)))
        uses = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
        made = (
            _builder(_named(name), self._name, key, now + begin, now + end)
            .add_extension(x509.SubjectAlternativeName(told), critical=False)
            .add_extension(x509.ExtendedKeyUsage(uses), critical=False)
            .sign(self._key, hashes.SHA256())
        )
        certified = Certified(self._folder / f"{name}.pem", self._folder / f"{name}.key")
        certified.certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
        certified.key.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
        return certified

    def settings(self, certified: Certified) -> dict[str, object]:
        """The settings of a process that speaks mutual TLS with it."""
        return {
            "tls_certificate_file": certified.certificate,
            "tls_key_file": certified.key,
            "tls_ca_file": self.file,
        }

    def credentials(self, certified: Certified | None = None) -> grpc.ChannelCredentials:
        """Those of a client that trusts this authority, with or without a certificate."""
        key, certificate = certified.pair if certified else (None, None)
        return grpc.ssl_channel_credentials(self.pem, key, certificate)


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _builder(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePrivateKey,
    begin: datetime,
    end: datetime,
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(begin)
        .not_valid_after(end)
    )
