"""Finds out who is calling, and whether the method is for him."""

from collections.abc import Callable, Mapping
from typing import Final

from kafeneio.common.v1 import errors_pb2

from kafeneio_runtime.auth import Role, TokenVerifier
from kafeneio_runtime.calls import Call, Method
from kafeneio_runtime.errors import forbidden, unauthenticated
from kafeneio_runtime.interceptors.base import Gate

_SCHEME: Final = "bearer "


class Auth(Gate):
    """`roles` says for every method, by its path on the wire, who may call it."""

    def __init__(self, verifier: TokenVerifier, roles: Mapping[str, frozenset[Role]]) -> None:
        self._verifier = verifier
        self._roles = {path(name): allowed for name, allowed in roles.items()}

    def check(self, method: Method) -> Callable[[Call], None]:
        """Raises ValueError if nothing says who may call `method`: better no server than an open
        one.
        """
        allowed = self._roles.get(method.full)
        if not allowed:
            raise ValueError(f"no role is named that may call {method.full}")
        listed = ", ".join(sorted(role.value for role in allowed))
        verify = self._verifier.verify

        def admit(call: Call) -> None:
            caller = verify(_token(call))
            if caller.role not in allowed:
                raise forbidden(
                    errors_pb2.ERROR_REASON_ROLE_REQUIRED,
                    f"this call is for: {listed}",
                    roles=listed,
                )
            call.caller = caller

        return admit


def path(name: str) -> str:
    """A method's name as it is on the wire, with its leading slash."""
    return name if name.startswith("/") else f"/{name}"


def _token(call: Call) -> str:
    value = call.metadata.get("authorization")
    if not isinstance(value, str) or value[: len(_SCHEME)].lower() != _SCHEME:
        raise unauthenticated(
            errors_pb2.ERROR_REASON_TOKEN_MISSING, "send `authorization: Bearer <token>`"
        )
    return value[len(_SCHEME) :].strip()
