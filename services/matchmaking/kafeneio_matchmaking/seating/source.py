"""A table as a source of matches: what becomes of it."""

from __future__ import annotations

from kafeneio_matchmaking.domain import End
from kafeneio_matchmaking.matching import Finish, Match, MatchStatus
from kafeneio_matchmaking.seating import domain
from kafeneio_matchmaking.seating.domain import Table, TableEnd, TableStatus
from kafeneio_matchmaking.seating.storage import Tables
from kafeneio_matchmaking.storage import Work


class TableSource:
    """Tables get their game, are open again, or close."""

    async def over(self, work: Work, match: Match) -> None:
        """The table has a game; or it is open again, without who is to blame."""
        tables, table = await _own(work, match)
        if table is None:
            return
        if match.status is MatchStatus.UNDONE:
            await tables.save(table, domain.reopened(table, _ends(match)))
        else:
            await tables.save(table, domain.matched(table, match.game_id))

    async def started(self, work: Work, match: Match) -> None:
        """Its players are free."""
        tables, table = await _own(work, match)
        if table is not None:
            await tables.save(table, domain.begun(table))

    async def finished(self, work: Work, match: Match, finish: Finish) -> None:
        """Closed; or, where the game has not started, open again (F6)."""
        tables, table = await _own(work, match)
        if table is None:
            return
        if finish.started:
            await tables.save(table, domain.closed(table, TableEnd.PLAYED))
        else:
            await tables.save(table, domain.reopened(table, _ends(match)))


async def _own(work: Work, match: Match) -> tuple[Tables, Table | None]:
    """The table, locked, if the match is still that of it."""
    assert match.source_id is not None, "a table's match names it"
    tables = Tables.of(work)
    table = await tables.locked(match.source_id)
    if table is None or table.match_id != match.match_id or table.status is TableStatus.CLOSED:
        return tables, None
    return tables, table


def _ends(match: Match) -> dict[str, End]:
    return {seat.player_id: seat.end for seat in match.seats if seat.end is not None}
