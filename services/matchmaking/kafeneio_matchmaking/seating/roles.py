"""Who may make which call of TableService."""

from __future__ import annotations

from typing import Final

from kafeneio_runtime.auth import Role

TABLES: Final = "kafeneio.matchmaking.v1.TableService"

TABLE_ROLES: Final = {
    f"/{TABLES}/{call}": frozenset(roles)
    for roles, calls in (
        ({Role.PLAYER}, "CreateTable JoinTable LeaveTable SetReady"),
        (Role, "GetTable ListTables WatchTable WatchTables"),
    )
    for call in calls.split()
}
