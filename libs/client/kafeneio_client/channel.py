"""How a channel to a service is made, and how one call goes over it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Final, TypeVar

import grpc
import uuid_utils

from kafeneio_client.errors import from_rpc

Request = TypeVar("Request")
Response = TypeVar("Response")

DEADLINE_SECONDS: Final = 10.0
"""How long a unary call may take unless the caller says otherwise."""

# A server of the house calls pings more often than every 10 s an attack, so stay well above it.
_KEEPALIVE_MS: Final = 20_000
_GAME_HEADER: Final = "x-game-id"
_ID: Final = re.compile(r"[0-9a-f-]{36}")
_MESSAGE_BYTES_MAX: Final = 16 * 1024 * 1024

# gRPC itself sends a call again that no server has answered. That is safe: whatever changes
# something carries a request id. Streams are left out, because `watch` resumes them itself.
_STREAMS: Final = (
    ("kafeneio.rules.v1.GameService", "WatchGame"),
    ("kafeneio.rules.v1.GameService", "WatchComputerTurns"),
    ("kafeneio.settlement.v1.WalletService", "WatchWallet"),
    ("kafeneio.matchmaking.v1.QuickMatchService", "WatchTicket"),
    ("kafeneio.matchmaking.v1.TableService", "WatchTable"),
    ("kafeneio.matchmaking.v1.TableService", "WatchTables"),
    ("kafeneio.matchmaking.v1.TournamentService", "WatchTournament"),
    ("kafeneio.clock.v1.ClockService", "Attend"),
)
_SERVICE_CONFIG: Final = {
    "methodConfig": [
        {
            "name": [{}],
            "retryPolicy": {
                "maxAttempts": 5,
                "initialBackoff": "0.1s",
                "maxBackoff": "2s",
                "backoffMultiplier": 3,
                "retryableStatusCodes": ["UNAVAILABLE"],
            },
        },
        {"name": [{"service": service, "method": method} for service, method in _STREAMS]},
    ]
}


def open_channel(
    address: str, credentials: grpc.ChannelCredentials | None = None, server_name: str = ""
) -> grpc.aio.Channel:
    """A channel to "host:port"; with `credentials` over TLS, and then to a server whose certificate
    carries `server_name`, or else the host. Call it in a running event loop."""
    options: list[tuple[str, str | int]] = [
        ("grpc.service_config", json.dumps(_SERVICE_CONFIG)),
        ("grpc.enable_retries", 1),
        ("grpc.keepalive_time_ms", _KEEPALIVE_MS),
        ("grpc.keepalive_timeout_ms", 10_000),
        ("grpc.http2.max_pings_without_data", 0),
        # A house that restarts is back within seconds: do not wait the two minutes of the default.
        ("grpc.initial_reconnect_backoff_ms", 100),
        ("grpc.min_reconnect_backoff_ms", 1_000),
        ("grpc.max_reconnect_backoff_ms", 1_000),
        ("grpc.max_receive_message_length", _MESSAGE_BYTES_MAX),
        ("grpc.max_send_message_length", _MESSAGE_BYTES_MAX),
    ]
    if server_name:
        options.append(("grpc.ssl_target_name_override", server_name))
    if credentials is None:
        return grpc.aio.insecure_channel(address, options=options)
    return grpc.aio.secure_channel(address, credentials, options=options)


def new_id() -> str:
    """A new UUID, version 7: for games, and for requests."""
    return str(uuid_utils.uuid7())


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls which service: what every call over a channel has in common."""

    address: str
    token: str
    deadline: float
    headers: tuple[tuple[str, str], ...] = ()

    @property
    def metadata(self) -> tuple[tuple[str, str], ...]:
        """What goes along with each call."""
        shown = (("authorization", f"Bearer {self.token}"),) if self.token else ()
        return (*shown, *self.headers)

    def about(self, game_id: str) -> tuple[tuple[str, str], ...]:
        """What goes along with a call about a game: one replica has it at hand, and by this header
        a load balancer finds that one.
        """
        if not _ID.fullmatch(game_id):  # the house will say so; a header can't hold any text
            return self.metadata
        return (*self.metadata, (_GAME_HEADER, game_id))

    async def call(
        self,
        method: grpc.aio.UnaryUnaryMultiCallable[Request, Response],
        request: Request,
        request_id: str = "",
    ) -> Response:
        """The answer, or a KafeneioError that knows the `request_id`."""
        try:
            told = self.about(getattr(request, "game_id", ""))
            return await method(request, timeout=self.deadline, metadata=told)
        except grpc.aio.AioRpcError as error:
            raise from_rpc(error, self.address, request_id) from error
