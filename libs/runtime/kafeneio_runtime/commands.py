"""Commands that the runtime adds to `kafeneio`."""

from __future__ import annotations

import sys
from datetime import timedelta

from kafeneio_runtime.auth import Role, development_key
from kafeneio_runtime.settings import Settings


def token(name: str, role: Role = Role.PLAYER, hours: float = 12) -> None:
    """Print a token for NAME, made with the development key of this computer's house.

    Every call needs one: `authorization: Bearer TOKEN`.
    """
    settings = Settings()
    made = development_key(settings).sign(
        name,
        role,
        timedelta(hours=hours),
        issuer=settings.token_issuer,
        audience=settings.token_audience,
    )
    sys.stdout.write(made + "\n")
