"""TLS of the command: whom it believes, and what it shows, by the environment.

The variables are those of the services, so that a shell in which these run needs nothing more.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import grpc

from kafeneio_client.cli.screen import Mistake

SECURE: Final = "https://"
"""An edge that is spoken to over TLS."""
PLAIN: Final = "http://"
"""An edge without."""
_PORTS: Final = {SECURE: 443, PLAIN: 80}

_CA: Final = "KAFENEIO_TLS_CA_FILE"
_CERTIFICATE: Final = "KAFENEIO_TLS_CERTIFICATE_FILE"
_KEY: Final = "KAFENEIO_TLS_KEY_FILE"
_PEER: Final = "KAFENEIO_TLS_PEER_NAME"


def credentials(
    addresses: Mapping[str, str], environment: Mapping[str, str] | None = None
) -> grpc.ChannelCredentials | None:
    """For channels to a house at these addresses; None where TLS is neither set nor asked for.

    With a CA in the environment it is TLS, and whoever answers must show a certificate of that CA;
    without one, but with `https://`, a certificate that this computer trusts. With `http://` it is
    none. Mistake for files that can't be read.
    """
    found = os.environ if environment is None else environment
    ca, certificate, key = (found.get(name) for name in (_CA, _CERTIFICATE, _KEY))
    if any(address.startswith(PLAIN) for address in addresses.values()):
        return None
    if not ca and not any(address.startswith(SECURE) for address in addresses.values()):
        return None
    if bool(certificate) is not bool(key):
        raise Mistake(f"{_CERTIFICATE} and {_KEY} are set both, or neither.")
    return grpc.ssl_channel_credentials(
        _read(_CA, ca) if ca else None,
        _read(_KEY, key) if key else None,
        _read(_CERTIFICATE, certificate) if certificate else None,
    )


def peer_name(environment: Mapping[str, str] | None = None) -> str:
    """The name that the certificates carry where it is not the host of the address; else ""."""
    return (os.environ if environment is None else environment).get(_PEER, "")


def is_edge(address: str) -> bool:
    """Whether all services are at an address: what has a scheme is the edge."""
    return address.startswith((SECURE, PLAIN))


def bare(address: str) -> str:
    """An address without the scheme, with the port that the scheme has where none is given."""
    for scheme, port in _PORTS.items():
        if address.startswith(scheme):
            rest = address.removeprefix(scheme).rstrip("/")
            return rest if ":" in rest else f"{rest}:{port}"
    return address


def _read(name: str, file: str) -> bytes:
    try:
        return Path(file).read_bytes()
    except OSError as error:
        raise Mistake(f"{name}: {file} can't be read: {error.strerror}.") from error
