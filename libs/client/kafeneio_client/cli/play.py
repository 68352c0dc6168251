"""`kafeneio play`: a person plays in the terminal, against computers, programs or other people."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import shlex
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import Annotated, Final

import typer
from kafeneio.matchmaking.v1 import quick_match_pb2
from kafeneio.rules.v1 import game_pb2 as pb
from kafeneio.rules.v1 import rulebook_pb2

from kafeneio_client import records
from kafeneio_client.cli import tokens
from kafeneio_client.cli.lines import Lines
from kafeneio_client.cli.options import (
    DEFAULT_ADDRESS,
    Address,
    As,
    ClockAddress,
    Door,
    MatchmakingAddress,
    Token,
    house_rules,
)
from kafeneio_client.cli.screen import Mistake, complain, escape, say
from kafeneio_client.cli.sitting import Sitting
from kafeneio_client.cli.timekeeping import attend
from kafeneio_client.client import Client, House
from kafeneio_client.programs import PROGRAMS, Player

COMPUTER: Final = "computer"
"""A player of the house."""

PROGRAM: Final = "program"
"""A simple one that plays here, as long as the person sits there."""

_JOIN_MINUTES: Final = 10  # the longest that a house waits: a friend has to type a command first
_WORD_BYTES_MAX: Final = 64


class Skill(StrEnum):
    """Which program plays."""

    GREEDY = "greedy"
    RANDOM = "random"


@dataclass(frozen=True, slots=True)
class Evening:
    """What was asked for on the command line."""

    door: Door
    game_id: str
    word: bytes
    variant: str = ""
    against: tuple[str, ...] = ()
    target: int = 0
    options: Mapping[str, str] = field(default_factory=dict)
    skill: Skill = Skill.GREEDY
    inviting: bool = True

    async def run(self) -> bool:
        """Find or make the game, sit down, and play it; whether it is over."""
        async with self.door.house() as house:
            client = house.client(self.door.token)
            shown = await client.games.get(self.game_id or await self._new(house, client))
            seat = self._own_seat(shown)
            if self.inviting and shown.position.status == pb.GAME_STATUS_WAITING:
                self._invite(shown)
            async with self._programs(house, shown):
                game, word = await self._sit_down(client, shown, seat)
                lines = Lines()
                lines.start()
                end = await Sitting(client, game, seat, lines).play()
            if end is None:
                say("The game goes on without you. Come back with:")
                say(f"  [bold]{escape(self._command(game, self.door.name, came_back=True))}[/]")
            elif end.status == pb.GAME_STATUS_FINISHED:
                await _check(client, shown, seat, word)
            return end is not None

    async def _new(self, house: House, client: Client) -> str:
        """Find or open a table; the id of its game."""
        variant = await client.rulebook.variant(self.variant)
        if self.against == (COMPUTER,):
            return await self._against_the_house(client)
        return await self._opened(house, variant)

    async def _against_the_house(self, client: Client) -> str:
        ticket = await client.queue.play_house(
            self.variant, target=self.target, options=self.options
        )
        ticket = await client.queue.final(ticket.ticket_id)
        if ticket.status != quick_match_pb2.TICKET_STATUS_MATCHED:
            end = quick_match_pb2.TicketEnd.Name(ticket.end).removeprefix("TICKET_END_")
            raise Mistake(f"The house has no table: {end}.")
        return ticket.game_id

    async def _opened(self, house: House, variant: rulebook_pb2.Variant) -> str:
        """Open a table for people and programs. That is for services: it takes another token."""
        seats = int(self.options.get("players", variant.seats))
        others = [name for name in self.against if name not in (COMPUTER, PROGRAM)]
        free = seats - 1 - len(others)
        if free < 0:
            raise Mistake(f"{self.variant} has {seats} seats: that is too many people.")
        if others and len(others) == len(self.against) and free:
            raise Mistake(
                f"{self.variant} has {seats} seats: say who takes them all, with "
                f"--against NAME, --against {COMPUTER} or --against {PROGRAM}."
            )
        kind = PROGRAM if PROGRAM in self.against else COMPUTER
        names = [self.door.name, *others, *(f"{kind}-{number}" for number in range(1, free + 1))]
        if len(set(names)) < len(names):
            raise Mistake("Everybody at a table needs a name of his own: say yours with --as NAME.")
        owner = house.client(tokens.make("kafeneio-play", "service"))
        timeout = timedelta(minutes=_JOIN_MINUTES)
        game = await owner.games.create(
            self.variant,
            names,
            target=self.target,
            options=self.options,
            join_timeout=timeout,
            computer_seats=range(seats - free, seats) if kind == COMPUTER else (),
        )
        return game.game_id

    def _own_seat(self, game: pb.Game) -> int:
        for one in game.seats:
            if one.player_id == self.door.name:
                return one.seat
        names = ", ".join(one.player_id for one in game.seats)
        raise Mistake(f"{self.door.name} has no seat in this game. Say who you are, --as: {names}.")

    def _invite(self, game: pb.Game) -> None:
        """Tell what the others have to type."""
        say(f"Game [bold]{game.game_id}[/]")
        for one in game.seats:
            if not (one.joined or one.player_id == self.door.name or _is_program(one)):
                say(f"For {escape(one.player_id)}:")
                say(f"  [bold]{escape(self._command(game, one.player_id))}[/]")

    def _command(self, game: pb.Game, name: str, *, came_back: bool = False) -> str:
        words = ["kafeneio", "play", "--game", game.game_id, "--as", name]
        if self.door.address != DEFAULT_ADDRESS:
            words += ["--address", self.door.address]
        for service, address in self.door.others.items():
            words += [f"--{service}", address]
        if came_back and any(map(_is_program, game.seats)):
            words += ["--against", PROGRAM]
        return shlex.join(words)

    @contextlib.asynccontextmanager
    async def _programs(self, house: House, game: pb.Game) -> AsyncIterator[None]:
        """The programs of this table, playing as long as the person sits here."""
        seats = [one for one in game.seats if PROGRAM in self.against and _is_program(one)]
        clients = [house.client(tokens.make(one.player_id)) for one in seats]
        players = [
            await self._seated(client, game, seat)
            for client, seat in zip(clients, seats, strict=True)
        ]
        try:
            async with asyncio.TaskGroup() as group:
                tasks: list[asyncio.Task[object]] = []
                for client, player in zip(clients, players, strict=True):
                    tasks.append(group.create_task(player.play()))
                    tasks.append(group.create_task(attend(client, game.game_id)))
                yield
                for task in tasks:
                    task.cancel()
        except ExceptionGroup as failures:
            raise failures.exceptions[0] from failures

    async def _seated(self, client: Client, game: pb.Game, seat: pb.SeatInfo) -> Player:
        """One program in its seat."""
        if game.position.status == pb.GAME_STATUS_WAITING and not seat.joined:
            await client.games.join(game.game_id, game.commitment, secrets.token_bytes(16))
        program = PROGRAMS[self.skill](secrets.randbits(32))
        return Player(client, game.game_id, seat.seat, program)

    async def _sit_down(
        self, client: Client, shown: pb.Game, seat: int
    ) -> tuple[pb.Game, bytes | None]:
        """Join where that is due; the game, and the word that it was joined with just now."""
        if shown.position.status != pb.GAME_STATUS_WAITING or shown.seats[seat].joined:
            return await client.games.get(shown.game_id), None
        return await client.games.join(shown.game_id, shown.commitment, self.word), self.word


async def _check(client: Client, shown: pb.Game, seat: int, word: bytes | None) -> None:
    """Verify the game that was just played, against what this seat was shown before it."""
    record = await client.games.record(shown.game_id)
    problems = [problem.detail for problem in records.verify(record)]
    if record.commitment != shown.commitment:
        problems.append("the commitment is not the one that was shown before the game")
    if word is not None and list(record.words)[seat : seat + 1] != [word]:
        problems.append("the word of your seat is not the one that you brought")
    for problem in problems:
        complain(f"The record is bad: {problem}.")
    if problems:
        raise typer.Exit(1)
    say(
        "[green]Verified:[/] every throw follows from the secret that was committed to before "
        f"the game. Again: [bold]kafeneio verify {shown.game_id}[/]"
    )


def _is_program(seat: pb.SeatInfo) -> bool:
    return seat.player_id.startswith(f"{PROGRAM}-")


def play(
    variant: Annotated[
        str, typer.Argument(help="What `kafeneio variants` lists.", show_default=False)
    ] = "",
    against: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A person, [bold]computer[/] or [bold]program[/].",
            show_default=COMPUTER,
        ),
    ] = None,
    game: Annotated[
        str, typer.Option("--game", metavar="ID", help="Sit down at a game that exists.")
    ] = "",
    target: Annotated[int, typer.Option(min=0, help="Points; 0 is the usual number.")] = 0,
    option: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="A house rule, as `kafeneio variants` lists them."),
    ] = None,
    program: Annotated[Skill, typer.Option(help="Which program.")] = Skill.GREEDY,
    word: Annotated[
        str, typer.Option(help="Your part of the dice's secret; a random one else.")
    ] = "",
    address: Address = DEFAULT_ADDRESS,
    clock: ClockAddress = "",
    matchmaking: MatchmakingAddress = "",
    token: Token = "",
    name: As = "",
) -> None:
    """Play in the terminal, against the computer, a program or other people.

    [dim]kafeneio play pilotta[/]                              against the computer

    [dim]kafeneio play portes --as nikos --against eleni[/]    against eleni

    [dim]kafeneio play --game ID --as eleni[/]                 what eleni types
    """
    if bool(variant) == bool(game):
        raise Mistake("Say what to play (`kafeneio play portes`), or which game with --game ID.")
    if len(word.encode()) > _WORD_BYTES_MAX:
        raise Mistake(f"A word has {_WORD_BYTES_MAX} bytes at the most.")
    evening = Evening(
        door=Door.of(address, token, name, clock=clock, matchmaking=matchmaking),
        variant=variant,
        game_id=game,
        against=tuple(against or ([] if game else [COMPUTER])),
        target=target,
        options=house_rules(option or ()),
        skill=program,
        word=word.encode() or secrets.token_bytes(16),
    )
    asyncio.run(evening.run())
