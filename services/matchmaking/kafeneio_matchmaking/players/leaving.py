"""A player who may enter nothing any more leaves the queue, or the table at which he sits."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from kafeneio_matchmaking.domain import End, TicketMove, sources
from kafeneio_matchmaking.players.standing import BARRED
from kafeneio_matchmaking.seating import domain
from kafeneio_matchmaking.seating.domain import TableStatus
from kafeneio_matchmaking.seating.storage import Tables
from kafeneio_matchmaking.storage import Work
from kafeneio_matchmaking.tickets import Change

WAITS: Final = "status IN ('waiting_for_partner', 'queued')"

# At a table whose game is not being set up, or is no more.
SITS: Final = """
    SELECT player_id, table_id FROM places JOIN tables ON table_id = places.id
    WHERE kind = 'table' AND tables.status = 'open'
"""

# A ticket that was in a match when its player was suspended comes back into the queue if that is
# undone, and a table is open again. It is not paired again, and he can't agree to play.
OF_BARRED: Final = f"""
    SELECT player_id FROM (
        SELECT player_id FROM tickets WHERE {WAITS} UNION ALL SELECT player_id FROM ({SITS}) AS sits
    ) AS waiting
    WHERE player_id IN ({BARRED}) LIMIT $1
"""


async def take_out(work: Work, player_id: str, end: End) -> None:
    """End the ticket with which a player waits, if he does; a partner's who waits with him ends,
    too. From an open table he is gone as if he had left it."""
    await _end_ticket(work, player_id, end)
    await _leave_table(work, player_id)


async def _leave_table(work: Work, player_id: str) -> None:
    table_id: UUID | None = await work.connection.fetchval(
        f"SELECT table_id FROM ({SITS}) AS sits WHERE player_id = $1", player_id
    )
    if table_id is None:
        return
    tables = Tables.of(work)
    table = await tables.locked(table_id)
    if table is None or table.status is not TableStatus.OPEN or player_id not in table.players:
        return  # he has left meanwhile, or his game is being set up
    await tables.save(table, domain.left(table, player_id))


async def _end_ticket(work: Work, player_id: str, end: End) -> None:
    ticket_id: UUID | None = await work.connection.fetchval(
        f"SELECT ticket_id FROM tickets WHERE player_id = $1 AND {WAITS}", player_id
    )
    found = None if ticket_id is None else await work.ticket(ticket_id)
    if found is None:
        return
    ticket, partner = await work.locked(found)
    if ticket.status in sources(TicketMove.CANCEL):
        changes = [Change(ticket.ticket_id, end=end)]
        if partner is not None:
            changes.append(Change(partner.ticket_id, end=End.PARTNER_LEFT))
        await work.move(TicketMove.CANCEL, changes)


async def barred_who_wait(work: Work, limit: int) -> list[str]:
    """Players who wait in the queue or at a table, and may enter nothing."""
    rows = await work.connection.fetch(OF_BARRED, limit)
    return [row["player_id"] for row in rows]
