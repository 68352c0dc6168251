"""Where the other services are, and how one calls them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Final

import grpc

from kafeneio_runtime import tracing
from kafeneio_runtime.auth import Role, development_key
from kafeneio_runtime.clock import SystemTime, Time
from kafeneio_runtime.settings import Settings
from kafeneio_runtime.tls import identity

_TOKEN_LIFETIME: Final = timedelta(hours=1)
_RENEW_BEFORE: Final = timedelta(minutes=10)

_SERVICE_CONFIG: Final = {
    # Replicas are called in turn; one that is gone is left out.
    "loadBalancingConfig": [{"round_robin": {}}],
    # What a replica took with it is asked again of another. That is safe: what changes something
    # carries a request id.
    "methodConfig": [
        {
            "name": [{}],
            "retryPolicy": {
                "maxAttempts": 3,
                "initialBackoff": "0.05s",
                "maxBackoff": "0.5s",
                "backoffMultiplier": 4,
                "retryableStatusCodes": ["UNAVAILABLE"],
            },
        }
    ],
}
_OPTIONS: Final = (
    ("grpc.service_config", json.dumps(_SERVICE_CONFIG)),
    ("grpc.keepalive_time_ms", 10_000),
    ("grpc.keepalive_permit_without_calls", 1),
    # Peers come back on the same address after a restart: look again soon.
    ("grpc.max_reconnect_backoff_ms", 1_000),
    # Or on another: a name is looked up whenever a connection ends, at most so often.
    ("grpc.dns_min_time_between_resolutions_ms", 2_000),
)


class UnknownServiceError(LookupError):
    """Nobody has said where that service is."""


class Directory:
    """The addresses of the services by name, one channel to each, and the token that this process
    shows them.

    A house learns the addresses of its own services when they open, so `tell` may come late: a
    channel is opened when it is first asked for.
    """

    def __init__(self, settings: Settings, name: str, time: Time | None = None) -> None:
        """`name` is who calls, as the others see it. Raises TlsError where the certificates of the
        settings can't be used.
        """
        self._settings = settings
        self._identity = identity(settings)
        self._name = name
        self._time: Time = time or SystemTime()
        self._addresses: dict[str, str] = {
            service: address
            for service, address in (
                ("rules", settings.rules_address),
                ("clock", settings.clock_address),
                ("settlement", settings.settlement_address),
                ("matchmaking", settings.matchmaking_address),
            )
            if address is not None
        }
        self._channels: dict[str, grpc.aio.Channel] = {}
        self._token = ""
        self._renew_at = 0.0

    def tell(self, addresses: Mapping[str, str]) -> None:
        """Where services are, by name; for those that the settings do not name."""
        for service, address in addresses.items():
            self._addresses.setdefault(service, address)

    def channel(self, service: str) -> grpc.aio.Channel:
        """The channel to a service. Raises UnknownServiceError where nobody knows its address."""
        if service not in self._channels:
            if service not in self._addresses:
                raise UnknownServiceError(f"KAFENEIO_{service.upper()}_ADDRESS is not set")
            self._channels[service] = self._open(self._addresses[service])
        return self._channels[service]

    def _open(self, address: str) -> grpc.aio.Channel:
        traced = tracing.interceptors()
        if self._identity is None:
            return grpc.aio.insecure_channel(address, options=_OPTIONS, interceptors=traced)
        options = (*_OPTIONS, *self._identity.channel_options())
        credentials = self._identity.channel()
        return grpc.aio.secure_channel(address, credentials, options=options, interceptors=traced)

    def metadata(self) -> tuple[tuple[str, str], ...]:
        """What goes with each call: the token of a service. Raises OSError where its file can't be
        read.
        """
        if self._time.monotonic() >= self._renew_at:
            self._renew_at = self._time.monotonic() + _RENEW_BEFORE.total_seconds()
            self._token = self._new_token()
        return (("authorization", f"Bearer {self._token}"),)

    async def close(self) -> None:
        """Close all channels."""
        for channel in self._channels.values():
            await channel.close()

    def _new_token(self) -> str:
        file = self._settings.service_token_file
        if file is not None:  # whoever rotates it writes a new one in time
            return file.read_text("utf-8").strip()
        return development_key(self._settings).sign(
            self._name,
            Role.SERVICE,
            _TOKEN_LIFETIME,
            issuer=self._settings.token_issuer,
            audience=self._settings.token_audience,
        )
