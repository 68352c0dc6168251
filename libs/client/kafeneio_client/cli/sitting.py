"""A person at a table in the terminal: sees what happens, types what to play."""

from __future__ import annotations

import asyncio
from typing import Final

from kafeneio.clock.v1 import clock_pb2
from kafeneio.rules.v1 import game_pb2 as pb

from kafeneio_client.cli.lines import Lines
from kafeneio_client.cli.screen import OUT, complain, escape, explain, say, sentence, signs
from kafeneio_client.cli.spelling import spelled
from kafeneio_client.cli.timekeeping import ClockLines, attend
from kafeneio_client.client import Client
from kafeneio_client.errors import Refused
from kafeneio_client.games import is_over
from kafeneio_client.terminal import Drawing, plain

_ALWAYS: Final = (
    "[bold]?[/] lists what is legal now; [bold]leave[/] gives the whole game up, and its stake; "
    "[bold]quit[/] goes away, which costs time once it is your turn."
)
HELP: Final = {
    "tavli": "Type your turn, one step after the other, e.g. [bold]13/8 8/5[/] ([bold]bar/20[/] "
    "enters, [bold]6/off[/] bears off); [bold]? 13/8[/] lists what is legal after it; "
    "[bold]resign[/] gives the round up.",
    "tricks": "Type what you say or play: [bold]90H[/] bids, [bold]capotH[/] all tricks, "
    "[bold]pass[/], [bold]contra[/], [bold]recontra[/]; [bold]take[/], [bold]choose H[/]; a card "
    "as [bold]JS[/] or [bold]10♥[/]; [bold]declare JS[/] declares before it.",
    "rummy": "Type what you do: [bold]draw[/], [bold]take[/]; [bold]meld run 4C*6C[/], [bold]meld "
    "group KSKD*[/], [bold]lay 7C 2[/], [bold]swap 3C 1[/]; [bold]discard 9S[/], [bold]out 9S[/].",
}


class Sitting:
    """One person in one seat of one game."""

    def __init__(self, client: Client, game: pb.Game, seat: int, lines: Lines) -> None:
        self._client = client
        self._game_id = game.game_id
        self._seat = seat
        self._lines = lines
        self._position = game.position
        self._drawing = Drawing.of(game, lower=seat, signs=signs())
        self._clock_lines = ClockLines(self._drawing)

    async def play(self) -> pb.Position | None:
        """Until the game is over (its last position), or the person has left it (None)."""
        self._help()
        self._show()
        following = asyncio.ensure_future(self._follow())
        typing = asyncio.ensure_future(self._listen())
        attending = asyncio.ensure_future(attend(self._client, self._game_id, self._tell_time))
        try:
            await asyncio.wait({following, typing}, return_when=asyncio.FIRST_COMPLETED)
            if not following.done() and not await typing:
                return None
            await following
            return self._position
        finally:
            tasks = (following, typing, attending)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _follow(self) -> None:
        """Show what happens, until the game is over."""
        if is_over(self._position):
            return
        async for update in self._client.games.watch(self._game_id, self._position.version):
            ended = update.position.round != self._position.round
            self._position = update.position
            OUT.print(self._drawing.happened(update.entries), end="", soft_wrap=True)
            if ended:
                OUT.print(self._drawing.last_round(self._position), end="", soft_wrap=True)
            self._show()

    def _help(self) -> None:
        kind = self._position.view.WhichOneof("table")
        if kind is not None:
            say(f"{HELP[kind]}\n{_ALWAYS}")

    def _tell_time(self, clock: clock_pb2.Clock) -> None:
        for line in self._clock_lines.news(clock):
            OUT.print(line, soft_wrap=True)

    def _show(self) -> None:
        """The whole table when it is this person's turn or all is over, else one line."""
        position = self._position
        if position.status == pb.GAME_STATUS_WAITING:
            say("Waiting for everybody to sit down.")
        elif self._is_mine() or is_over(position):
            OUT.print(self._drawing.position(position), end="", soft_wrap=True)
        elif position.HasField("turn"):
            OUT.print(self._drawing.prompt(position), end="", soft_wrap=True)

    def _is_mine(self) -> bool:
        return self._position.HasField("turn") and self._position.turn.seat == self._seat

    async def _listen(self) -> bool:
        """Do what is typed until the game is over (True), or the person leaves (False)."""
        while (line := await self._lines.next()) is not None:
            words = line.replace(",", " ").split()
            if [word.lower() for word in words] == ["quit"]:
                return False
            if words and await self._obey(words):
                return True
        return False

    async def _obey(self, words: list[str]) -> bool:
        """Do one line, and tell a refusal; whether the game is over with it."""
        games = self._client.games
        try:
            match [word.lower() for word in words]:
                case ["help"]:
                    self._help()
                case ["resign"]:
                    resigned = await games.resign(self._game_id, self._position.round)
                    return is_over(resigned.played.position)
                case ["leave"]:
                    await self._client.clock.leave(self._game_id)
                    return True  # or will be without this person, who may look on
                case ["?", *_]:
                    await self._list(spelled(self._position.view, words[1:]))
                case _:
                    steps = spelled(self._position.view, words)
                    acted = await games.act(self._game_id, self._position.version, steps)
                    return is_over(acted.played.position)
        except Refused as refused:
            self._tell(refused)
        return False

    def _tell(self, refused: Refused) -> None:
        if refused.reason == "MALFORMED":
            complain(sentence("; ".join(why for _, why in refused.violations) or refused.message))
        else:
            complain(explain(refused))
        if refused.reason in {"MALFORMED", "ILLEGAL_ACTION"}:
            say("[dim]? lists what is legal, help explains.[/]")

    async def _list(self, chosen: list[str]) -> None:
        legal = await self._client.games.legal_actions(self._game_id, chosen)
        if legal.complete:
            say("That is a whole turn: type it without the [bold]?[/].")
        else:
            between = " " if self._position.view.HasField("tavli") else ", "
            steps = between.join(plain(action.notation) for action in legal.actions)
            say(f"Legal now: [bold]{escape(steps)}[/]")
