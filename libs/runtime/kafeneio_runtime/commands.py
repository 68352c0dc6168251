"""Commands that the runtime adds to `kafeneio`."""

from __future__ import annotations

import sys
from datetime import timedelta

from kafeneio_runtime.auth import Role, development_key, is_subject
from kafeneio_runtime.mistakes import read_settings


def token(name: str, role: Role = Role.PLAYER, hours: float = 12) -> None:
    """Print a token for NAME, made with the development key of this computer's house.

    Every call needs one: `authorization: Bearer TOKEN`.
    """
    if not is_subject(name):
        raise SystemExit("A name has 1 to 64 characters that can be printed.")
    if hours <= 0:
        raise SystemExit("A token is good for some hours: --hours is more than 0.")
    settings = read_settings()
    made = development_key(settings).sign(
        name,
        role,
        timedelta(hours=hours),
        issuer=settings.token_issuer,
        audience=settings.token_audience,
    )
    sys.stdout.write(made + "\n")
