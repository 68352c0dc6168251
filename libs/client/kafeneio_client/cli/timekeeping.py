"""Being at a table while somebody plays there, and telling what the clock does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from kafeneio.clock.v1 import clock_pb2 as pb
from kafeneio.rules.v1 import actions_pb2
from rich.text import Text

from kafeneio_client.cli.screen import complain, explain
from kafeneio_client.client import Client
from kafeneio_client.errors import KafeneioError
from kafeneio_client.terminal import Drawing

_INDENT: Final = " " * 7
_NTH: Final = {1: "first", 2: "second", 3: "third", 4: "fourth", 5: "fifth"}
_NOTHING_LEFT: Final = frozenset({"GAME_OVER", "SEAT_FORFEITED"})


class ClockLines:
    """What is new in a clock, as lines between the boards."""

    def __init__(self, drawing: Drawing) -> None:
        self._drawing = drawing
        self._shown = pb.Clock()

    def news(self, clock: pb.Clock) -> Iterator[Text]:
        """A line for each charge, for who went away or came back, and for who is out."""
        before = {one.seat: one for one in self._shown.seats}
        self._shown = clock
        for now in clock.seats:
            was = before.get(now.seat, pb.SeatClock(seat=now.seat, presence=now.presence))
            for told in self._told(was, now):
                text = Text(_INDENT).append("clock", "dim").append(": ")
                yield text.append_text(self._drawing.player(now.seat)).append(f" {told}")

    def _told(self, was: pb.SeatClock, now: pb.SeatClock) -> Iterator[str]:
        for charged in range(was.charged + 1, now.charged + 1):
            yield f"is charged a timeout, the {_NTH.get(charged, charged)} one"
        if was.presence == now.presence:
            return
        if now.presence == pb.PRESENCE_LOST:
            seconds = now.window.ToTimedelta().total_seconds()
            yield f"is away, and has {seconds:.0f} s of turns to come back"
        elif was.presence == pb.PRESENCE_LOST and now.presence == pb.PRESENCE_ATTACHED:
            yield "is back"
        elif now.presence == pb.PRESENCE_FORFEITED:
            reason = actions_pb2.ForfeitReason.Name(now.forfeit)
            yield f"is out of the game ({reason.removeprefix('FORFEIT_REASON_')})"


async def attend(
    client: Client, game_id: str, told: Callable[[pb.Clock], None] | None = None
) -> None:
    """Be at the table of a game from its start to its end; `told` hears of every change."""
    try:
        await client.games.started(game_id)
        async with client.clock.attending(game_id) as attendance:
            async for clock in attendance:
                if told is not None:
                    told(clock)
    except KafeneioError as error:
        if told is not None and getattr(error, "reason", "") not in _NOTHING_LEFT:
            complain(f"Nobody keeps the time of this game. {explain(error)}")
