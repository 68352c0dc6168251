"""Who may make which call of PlayerService."""

from __future__ import annotations

from typing import Final

from kafeneio_runtime.auth import Role

PLAYERS: Final = "kafeneio.matchmaking.v1.PlayerService"
PLAYER_ROLES: Final = {
    f"/{PLAYERS}/{call}": frozenset(roles)
    for roles, calls in (
        (Role, "GetRating ListLeaderboard"),
        ({Role.PLAYER}, "ReportPlayer BlockPlayer UnblockPlayer ListBlocked SetLimits"),
        ({Role.PLAYER, Role.OPERATOR}, "GetLimits"),
        ({Role.OPERATOR}, "SuspendPlayer LiftSuspension ListSuspensions ListReports CloseReport"),
        ({Role.OPERATOR}, "ListPairFlags GetPairStatistics"),
    )
    for call in calls.split()
}
