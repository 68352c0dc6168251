"""A player who may enter nothing any more leaves the queue."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from kafeneio_matchmaking.domain import End, TicketMove, sources
from kafeneio_matchmaking.players.standing import BARRED
from kafeneio_matchmaking.storage import Work
from kafeneio_matchmaking.tickets import Change

WAITS: Final = "status IN ('waiting_for_partner', 'queued')"

# A ticket that was in a match when its player was suspended comes back into the queue if that is
# undone. It is not paired again.
OF_BARRED: Final = (
    f"SELECT player_id FROM tickets WHERE {WAITS} AND player_id IN ({BARRED}) LIMIT $1"
)


async def take_out(work: Work, player_id: str, end: End) -> None:
    """End the ticket with which a player waits, if he does; a partner's who waits with him ends,
    too."""
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
    """Players who wait in the queue, and may enter nothing."""
    rows = await work.connection.fetch(OF_BARRED, limit)
    return [row["player_id"] for row in rows]
