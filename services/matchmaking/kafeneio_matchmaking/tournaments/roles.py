"""Who may make which call of TournamentService."""

from __future__ import annotations

from typing import Final

from kafeneio_runtime.auth import Role

TOURNAMENTS: Final = "kafeneio.matchmaking.v1.TournamentService"

TOURNAMENT_ROLES: Final = {
    f"/{TOURNAMENTS}/{call}": frozenset(roles)
    for roles, calls in (
        (Role, "GetTournament ListTournaments WatchTournament"),
        (Role, "ListEntries ListStandings GetBracket"),
        ({Role.PLAYER}, "RegisterForTournament WithdrawFromTournament"),
        ({Role.OPERATOR}, "CreateTournament StartTournament DisqualifyEntry PauseTournament"),
        ({Role.OPERATOR}, "ResumeTournament CancelTournament CorrectTournament"),
    )
    for call in calls.split()
}
