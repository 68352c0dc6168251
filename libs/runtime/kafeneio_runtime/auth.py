"""Tokens: who is calling, proven by a signature."""

import json
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Final, Never, TypeAlias

import jwt
import structlog
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from jwt.algorithms import OKPAlgorithm
from kafeneio.common.v1 import errors_pb2
from structlog.typing import FilteringBoundLogger

from kafeneio_runtime.clock import SystemTime, Time
from kafeneio_runtime.errors import unauthenticated
from kafeneio_runtime.secrets import load_or_create
from kafeneio_runtime.settings import Settings

# Not `logs.logger`: `logs` asks a call for its caller, and so imports this module.
_log: Final[FilteringBoundLogger] = structlog.get_logger(module=__name__)

ALGORITHMS: Final = ("EdDSA", "RS256")
_LONGEST_SUBJECT: Final = 64
_MOST_CACHED: Final = 20_000
_LOOK_AGAIN_SECONDS: Final = 10.0
"""Between two looks at the key file, so that forged key ids don't make us read all the time."""

KeySet: TypeAlias = Mapping[str, object]


class Role(StrEnum):
    """As what somebody calls."""

    PLAYER = "player"
    OPERATOR = "operator"
    SERVICE = "service"


_ROLES: Final = frozenset(role.value for role in Role)


@dataclass(frozen=True, slots=True)
class Caller:
    """Who is calling: `subject` is the player's id, or the name of an operator or service."""

    subject: str
    role: Role


class TokenVerifier:
    """Tells who a token speaks for. What it has verified it remembers until the token expires: a
    look costs 1 µs then instead of 300.
    """

    def __init__(
        self,
        jwks: KeySet,
        *,
        issuer: str,
        audience: str,
        time: Time | None = None,
        most_cached: int = _MOST_CACHED,
        look_again: Callable[[], KeySet] | None = None,
    ) -> None:
        """`jwks` is a JSON Web Key Set with Ed25519 and RSA public keys. Raises ValueError if it
        has none. `look_again` reads it anew when a token names a key that was not in it: providers
        change theirs.
        """
        self._keys = _usable(jwks)
        self._look_again = look_again
        self._look_not_before = 0.0
        self._issuer = issuer
        self._audience = audience
        self._time: Time = time or SystemTime()
        self._most_cached = most_cached
        self._cache: OrderedDict[str, tuple[Caller, float]] = OrderedDict()

    @classmethod
    def from_file(
        cls, path: Path, *, issuer: str, audience: str, time: Time | None = None
    ) -> "TokenVerifier":
        """With the keys in a JWKS file, which may change later. Raises OSError or ValueError if it
        can't be used.
        """

        def read() -> KeySet:
            keys: KeySet = json.loads(path.read_text("utf-8"))
            return keys

        return cls(read(), issuer=issuer, audience=audience, time=time, look_again=read)

    def verify(self, token: str) -> Caller:
        """Who `token` speaks for. Raises a TOKEN_INVALID or TOKEN_EXPIRED `Refusal`."""
        known = self._cache.get(token)
        if known is None:
            known = self._remember(token)
        caller, expires = known
        if self._time.now().timestamp() >= expires:
            _expired()
        return caller

    def _remember(self, token: str) -> tuple[Caller, float]:
        claims = self._claims(token)
        known = (_caller(claims), _seconds(claims["exp"]))
        self._cache[token] = known
        if len(self._cache) > self._most_cached:
            self._cache.popitem(last=False)
        return known

    def _claims(self, token: str) -> Mapping[str, object]:
        try:
            key = self._key(jwt.get_unverified_header(token)["kid"])
            claims: Mapping[str, object] = jwt.decode(
                token,
                key,
                algorithms=[key.algorithm_name],  # the key's own, never what the token says
                issuer=self._issuer,
                audience=self._audience,
                options={"require": ["exp", "iss", "aud", "sub", "role"]},
            )
        except jwt.ExpiredSignatureError:
            _expired()
        except (jwt.PyJWTError, KeyError, TypeError):
            _invalid()
        return claims

    def _key(self, key_id: str) -> jwt.PyJWK:
        """Raises KeyError if there is none of this id."""
        now = self._time.monotonic()
        if key_id not in self._keys and self._look_again and now >= self._look_not_before:
            self._look_not_before = now + _LOOK_AGAIN_SECONDS
            try:
                self._keys = _usable(self._look_again())
            except (OSError, ValueError) as error:
                _log.warning("the new keys are unusable, the old ones stay", exc_info=error)
            self._cache.clear()  # a key may have been withdrawn
        return self._keys[key_id]


def _usable(jwks: KeySet) -> dict[str | None, jwt.PyJWK]:
    try:
        keys = jwt.PyJWKSet.from_dict(dict(jwks)).keys
    except (jwt.PyJWTError, TypeError) as error:
        raise ValueError(f"no usable key set: {error}") from None
    usable = {key.key_id: key for key in keys if key.algorithm_name in ALGORITHMS}
    if not usable:
        raise ValueError(f"the key set has no key for {' or '.join(ALGORITHMS)}")
    return usable


def is_subject(text: str) -> bool:
    """Whether it may be the name of a player, operator or service: 1 to 64 characters that can be
    printed and stored.
    """
    return 0 < len(text) <= _LONGEST_SUBJECT and text.isprintable()


def _caller(claims: Mapping[str, object]) -> Caller:
    subject, role = claims["sub"], claims["role"]
    if not isinstance(subject, str) or not is_subject(subject):
        _invalid()
    if not isinstance(role, str) or role not in _ROLES:
        _invalid()
    return Caller(subject, Role(role))


def _seconds(value: object) -> float:
    if not isinstance(value, int | float):
        _invalid()
    return float(value)


def _expired() -> Never:
    raise unauthenticated(errors_pb2.ERROR_REASON_TOKEN_EXPIRED, "the token has expired") from None


def _invalid() -> Never:
    # Which check failed is nothing that a forger should learn.
    raise unauthenticated(
        errors_pb2.ERROR_REASON_TOKEN_INVALID, "the token is not one of this house"
    ) from None


def token_verifier(settings: Settings) -> "TokenVerifier":
    """With the keys that the settings name, or the development key. Raises OSError or ValueError if
    they are unusable.
    """
    issuer, audience = settings.token_issuer, settings.token_audience
    if settings.token_keys_file is not None:
        return TokenVerifier.from_file(settings.token_keys_file, issuer=issuer, audience=audience)
    return TokenVerifier(development_key(settings).jwks(), issuer=issuer, audience=audience)


def development_key(settings: Settings) -> "DevelopmentKey":
    """The key of the house's data folder, made at the first call."""
    return DevelopmentKey.load_or_create(settings.data_dir / "keys" / "token.pem")


class DevelopmentKey:
    """The key with which a house that has no identity provider signs its own tokens."""

    def __init__(self, private: Ed25519PrivateKey) -> None:
        self._private = private
        self._public = json.loads(OKPAlgorithm.to_jwk(private.public_key()))
        # The public key is the id: a new key has another, and tokens of the old one are refused as
        # such.
        self._key_id: str = self._public["x"][:16]

    def __repr__(self) -> str:
        return f"DevelopmentKey({self._key_id})"

    @classmethod
    def load_or_create(cls, path: Path) -> "DevelopmentKey":
        """The key in the file at `path`, made at the first call. Raises ValueError on a damaged
        file.
        """
        private = serialization.load_pem_private_key(load_or_create(path, _new_pem), password=None)
        if not isinstance(private, Ed25519PrivateKey):
            raise ValueError(f"{path} has no Ed25519 key")
        return cls(private)

    def sign(
        self,
        subject: str,
        role: Role,
        lifetime: timedelta,
        *,
        issuer: str = "kafeneio",
        audience: str = "kafeneio",
    ) -> str:
        """A token for `subject`, valid from now for `lifetime`."""
        now = datetime.now(UTC)
        claims = {
            "iss": issuer,
            "aud": audience,
            "sub": subject,
            "role": role.value,
            "iat": now,
            "exp": now + lifetime,
        }
        return jwt.encode(claims, self._private, algorithm="EdDSA", headers={"kid": self._key_id})

    def jwks(self) -> dict[str, object]:
        """The public half as a JSON Web Key Set."""
        return {"keys": [{**self._public, "kid": self._key_id, "alg": "EdDSA", "use": "sig"}]}


def _new_pem() -> bytes:
    return Ed25519PrivateKey.generate().private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
