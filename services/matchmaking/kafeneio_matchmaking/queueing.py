"""The queue as a source of matches: what becomes of tickets."""

from __future__ import annotations

from typing import Final

from prometheus_client import Histogram

from kafeneio_matchmaking.domain import End, TicketMove
from kafeneio_matchmaking.matching import OPERATOR, Finish, Match, MatchStatus
from kafeneio_matchmaking.storage import Work
from kafeneio_matchmaking.tickets import Change

QUEUE_WAIT: Final = Histogram(
    "kafeneio_queue_wait_seconds",
    "From queueing until the game was there.",
    ["variant"],
    buckets=(0.1, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 3600),
)


class QueueSource:
    """Tickets get their game, go back to their old place, or end."""

    async def over(self, work: Work, match: Match) -> None:
        """The tickets have a game; or all is as it was, but for who is to blame."""
        if match.status is MatchStatus.UNDONE:
            await _back(work, match)
            return
        now = await work.now()
        for ticket in await work.move(TicketMove.MATCH, _with_game(match)):
            if ticket.house_seat is not None:
                continue  # he has waited for nobody
            QUEUE_WAIT.labels(ticket.terms.variant).observe(
                max((now - ticket.queued_at).total_seconds(), 0)
            )

    async def started(self, work: Work, match: Match) -> None:
        """The tickets are over."""
        await work.move(TicketMove.START, _with_game(match))

    async def finished(self, work: Work, match: Match, finish: Finish) -> None:
        """Before its start: who has joined is in the queue again, at his old place (F6). What an
        operator has called off is not tried again by itself."""
        if finish.started:
            return
        if finish.void == OPERATOR:
            was_in = match.match_id
            over = [Change(ticket, was_in, end=End.CALLED_OFF) for ticket, _ in match.tickets]
            await work.move(TicketMove.REFUSE, over)
        else:
            await _back(work, match)


def _with_game(match: Match) -> list[Change]:
    was_in = match.match_id
    return [Change(ticket, was_in, was_in, match.game_id) for ticket, _ in match.tickets]


async def _back(work: Work, match: Match) -> None:
    was_in = match.match_id
    gone = [Change(ticket, was_in, end=end) for ticket, end in match.tickets if end]
    back = [Change(ticket, was_in) for ticket, end in match.tickets if not end]
    await work.move(TicketMove.REFUSE, gone)
    await work.move(TicketMove.RETURN, back)
