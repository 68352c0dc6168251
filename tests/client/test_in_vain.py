"""`kafeneio queue` where not everybody sits down: whoever did waits on, in front of the queue."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from kafeneio.matchmaking.v1 import quick_match_pb2 as pb
from kafeneio_client import Money
from kafeneio_client.cli import queueing
from kafeneio_client.cli.app import app
from kafeneio_client.cli.options import Door
from typer.testing import CliRunner

from tests.client import plugins
from tests.client.fake_calls import Call
from tests.client.fake_house import FakeHouse, in_thread
from tests.client.fake_queue import FakeQueue

QUEUED, MATCHED, ENDED = (
    pb.TICKET_STATUS_QUEUED,
    pb.TICKET_STATUS_MATCHED,
    pb.TICKET_STATUS_ENDED,
)


class VainQueue(FakeQueue):
    """The ticket's versions are those of `story`; its games are called by them."""

    story: tuple[pb.TicketStatus.ValueType, ...] = ()

    async def WatchTicket(
        self, request: pb.WatchTicketRequest, context: Call
    ) -> AsyncIterator[pb.WatchTicketResponse]:
        for version in range(request.after_version + 1, len(self.story) + 1):
            ticket = pb.Ticket(version=version, status=self.story[version - 1])
            if ticket.status == MATCHED:
                ticket.game_id = f"game {version}"
            if ticket.status == ENDED:
                ticket.end = pb.TICKET_END_NO_SHOW
            yield pb.WatchTicketResponse(ticket=ticket)


@pytest.mark.parametrize(
    ("story", "games", "code", "said"),
    [
        ((QUEUED, MATCHED, QUEUED, MATCHED), ["game 2", "game 4"], 0, "in front of the queue"),
        ((QUEUED, MATCHED, ENDED), ["game 2"], 2, "you did not sit down in time"),
    ],
)
def test_in_vain(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    story: tuple[pb.TicketStatus.ValueType, ...],
    games: list[str],
    code: int,
    said: str,
) -> None:
    plugins.install(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    fake, seen = FakeHouse(), list[str]()
    fake.queue = queue = VainQueue(fake, fake.settlements)
    queue.story = story

    async def played(_door: Door, game_id: str, _stake: Money | None) -> bool:
        seen.append(game_id)
        return len(seen) == 1  # the first one never begins

    monkeypatch.setattr(queueing, "played", played)
    with in_thread(fake) as address:
        words = ("queue", "portes", "--as", "eleni", "--address", address)
        result = CliRunner().invoke(app, [*words, "--matchmaking", address], env={"COLUMNS": "200"})
    assert (seen, result.exit_code) == (games, code)
    assert said in result.output
