"""Tokens: keys, the cache, and where the keys come from. (What a bad token gets:
test_interceptors.)
"""

import json
from datetime import timedelta
from pathlib import Path

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from kafeneio_runtime.auth import (
    Caller,
    DevelopmentKey,
    Role,
    TokenVerifier,
    development_key,
    token_verifier,
)
from kafeneio_runtime.clock import ManualTime, SystemTime
from kafeneio_runtime.errors import Refusal

from tests.runtime.house import KEY, settings, token, verifier

NAMES = {"issuer": "kafeneio", "audience": "kafeneio"}


def _rsa_set(key: rsa.RSAPrivateKey) -> dict[str, object]:
    public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key()))
    return {"keys": [{**public, "kid": "idp-1", "alg": "RS256"}]}


def test_a_token_of_an_identity_provider_with_rsa() -> None:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    claims = {**jwt.decode(token(), options={"verify_signature": False})}
    made = jwt.encode(claims, key, algorithm="RS256", headers={"kid": "idp-1"})
    verify = TokenVerifier(_rsa_set(key), issuer="kafeneio", audience="kafeneio").verify
    assert verify(made) == Caller("nikos", Role.PLAYER)


def test_a_verified_token_is_not_verified_again(monkeypatch: pytest.MonkeyPatch) -> None:
    subject, made = verifier(), token()
    caller = subject.verify(made)

    def forbid(*_: object, **__: object) -> None:
        raise AssertionError("verified again")

    monkeypatch.setattr(jwt, "decode", forbid)
    assert subject.verify(made) is caller


def test_a_cached_token_expires() -> None:
    time = ManualTime(start=SystemTime().now())
    subject, made = verifier(time), token(minutes=5)
    assert subject.verify(made).subject == "nikos"
    time.advance(299)
    assert subject.verify(made).subject == "nikos"
    time.advance(2)
    with pytest.raises(Refusal) as caught:
        subject.verify(made)
    assert caught.value.reason_name == "TOKEN_EXPIRED"


def test_the_cache_is_bounded() -> None:
    subject = TokenVerifier(KEY.jwks(), issuer="kafeneio", audience="kafeneio", most_cached=3)
    for number in range(10):
        assert subject.verify(token(f"player {number}")).subject == f"player {number}"
    assert len(subject._cache) == 3


def test_bad_tokens_are_not_cached() -> None:
    subject = verifier()
    for number in range(5):
        with pytest.raises(Refusal):
            subject.verify(f"garbage {number}")
    assert not subject._cache


@pytest.mark.parametrize(
    "keys", [{}, {"keys": []}, {"keys": [{"kty": "oct", "k": "AAAA", "kid": "1"}]}]
)
def test_a_key_set_without_a_usable_key_is_refused(keys: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="key"):
        TokenVerifier(keys, issuer="kafeneio", audience="kafeneio")


def test_keys_for_other_algorithms_are_left_out() -> None:
    curve = ec.generate_private_key(ec.SECP256R1())
    public = json.loads(jwt.algorithms.ECAlgorithm.to_jwk(curve.public_key()))
    keys = {"keys": [*_listed(KEY.jwks()), {**public, "kid": "ec", "alg": "ES256"}]}
    claims = jwt.decode(token(), options={"verify_signature": False})
    made = jwt.encode(claims, curve, algorithm="ES256", headers={"kid": "ec"})
    with pytest.raises(Refusal) as caught:
        TokenVerifier(keys, issuer="kafeneio", audience="kafeneio").verify(made)
    assert caught.value.reason_name == "TOKEN_INVALID"


def _listed(keys: dict[str, object]) -> list[object]:
    found = keys["keys"]
    assert isinstance(found, list)
    return found


def test_the_development_key_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "keys" / "token.pem"
    made = DevelopmentKey.load_or_create(path).sign("eleni", Role.OPERATOR, timedelta(minutes=1))
    again = DevelopmentKey.load_or_create(path)
    subject = TokenVerifier(again.jwks(), issuer="kafeneio", audience="kafeneio")
    assert subject.verify(made) == Caller("eleni", Role.OPERATOR)
    assert path.stat().st_mode & 0o077 == 0


def test_the_private_half_is_in_no_text() -> None:
    key = DevelopmentKey(Ed25519PrivateKey.generate())
    [public] = _listed(key.jwks())
    assert isinstance(public, dict)
    assert "d" not in public
    assert len(repr(key)) < 40


def test_a_file_that_is_no_key_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "token.pem"
    path.write_bytes(b"nonsense")
    path.chmod(0o600)
    with pytest.raises(ValueError):
        DevelopmentKey.load_or_create(path)


def _write(file: Path, *keys: DevelopmentKey) -> None:
    file.write_text(json.dumps({"keys": [each for key in keys for each in _listed(key.jwks())]}))


def test_keys_that_come_later_are_found(tmp_path: Path) -> None:
    file, time = tmp_path / "jwks.json", ManualTime(start=SystemTime().now())
    old, new = KEY, DevelopmentKey(Ed25519PrivateKey.generate())
    _write(file, old)
    subject = TokenVerifier.from_file(file, issuer="kafeneio", audience="kafeneio", time=time)
    of_old = old.sign("nikos", Role.PLAYER, timedelta(hours=1))
    of_new = new.sign("eleni", Role.PLAYER, timedelta(hours=1))
    assert subject.verify(of_old).subject == "nikos"
    with pytest.raises(Refusal):
        subject.verify(of_new)
    _write(file, new)
    with pytest.raises(Refusal):  # it has just looked, and does not look at every forged key
        subject.verify(of_new)
    time.advance(10)
    assert subject.verify(of_new).subject == "eleni"
    with pytest.raises(Refusal):  # its key was withdrawn, and what was cached with it
        subject.verify(of_old)


def test_a_key_file_that_has_become_unusable_changes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "jwks.json"
    _write(file, KEY)
    subject = TokenVerifier.from_file(file, issuer="kafeneio", audience="kafeneio")
    file.write_text("half writ")
    with pytest.raises(Refusal):
        subject.verify(
            DevelopmentKey(Ed25519PrivateKey.generate()).sign("x", Role.PLAYER, timedelta(hours=1))
        )
    assert subject.verify(token()).subject == "nikos"


def test_the_settings_say_where_the_keys_are(tmp_path: Path) -> None:
    house = settings(data_dir=tmp_path, token_issuer="here", token_audience="there")
    made = development_key(house).sign(
        "nikos", Role.PLAYER, timedelta(minutes=1), issuer="here", audience="there"
    )
    assert token_verifier(house).verify(made).subject == "nikos"
    file = tmp_path / "jwks.json"
    file.write_text(json.dumps(KEY.jwks()))
    assert token_verifier(settings(token_keys_file=file)).verify(token()).subject == "nikos"
