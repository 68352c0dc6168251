"""`kafeneio demo`: programs play a whole game in a house of their own, and it is verified."""

from __future__ import annotations

import asyncio
import secrets
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final

import typer
from kafeneio.rules.v1 import game_pb2 as pb
from kafeneio.rules.v1 import rulebook_pb2
from rich.markup import escape

from kafeneio_client import records
from kafeneio_client.cli import tokens
from kafeneio_client.cli.own_house import HouseFailed, OwnHouse, own_house
from kafeneio_client.cli.screen import OUT, Mistake, complain, explain, say, signs
from kafeneio_client.cli.verify import report
from kafeneio_client.client import Client, House
from kafeneio_client.errors import KafeneioError
from kafeneio_client.programs import PROGRAMS, Player
from kafeneio_client.terminal import Drawing, variant_name
from kafeneio_client.watch import is_over

DEADLINE_SECONDS: Final = 120.0
# Kept back of the deadline, so that a house that hangs can still be stopped and told of.
_RESERVE_SECONDS: Final = 25.0


@dataclass(slots=True)
class Demo:
    """One demonstration: what is played, and everything that was off."""

    variant: str
    target: int
    seed: int
    save: Path | None
    faults: list[str] = field(default_factory=list)

    def expect(self, fine: bool, otherwise: str) -> None:
        """Note a fault unless everything is fine."""
        if not fine:
            self.faults.append(otherwise)

    async def run(self) -> None:
        """Start a house, play, verify, stop it; what is off is in `faults`."""
        try:
            async with asyncio.timeout(DEADLINE_SECONDS - _RESERVE_SECONDS), own_house() as own:
                say(f"A house of its own at [bold]{escape(own.rules_address)}[/].")
                async with House(own.rules_address) as house:
                    await self._evening(house, own)
            say("The house has ended as it should.")
        except TimeoutError:
            self.faults.append(f"it was not over after {DEADLINE_SECONDS:.0f} s")
        except HouseFailed as failed:
            self.faults.append(str(failed))
        except KafeneioError as error:
            self.faults.append(explain(error))

    async def _evening(self, house: House, own: OwnHouse) -> None:
        owner = house.client(tokens.make("demo", "service", own.settings))
        variant = await self._chosen(owner)
        names = _names(variant.seats)
        players = [house.client(tokens.make(name, "player", own.settings)) for name in names]
        guest = house.client(tokens.make("guest", "player", own.settings))
        game = await owner.games.create(variant.variant, names, target=self.target)
        say(
            f"{escape(variant_name(variant, 'en'))} to {game.terms.target}: "
            f"game [bold]{game.game_id}[/]"
        )
        words = [secrets.token_bytes(16) for _ in names]
        await self._join(players, game, words)
        seen = await self._played(players, guest, game.game_id)
        record = await guest.games.record(game.game_id)
        self._compare(record, game, words, seen)
        await self._verify(guest, record)

    async def _chosen(self, owner: Client) -> rulebook_pb2.Variant:
        """The variant as the house describes it."""
        known = [one.variant for one in await owner.rulebook.variants()]
        if self.variant not in known:
            raise Mistake(
                f"The house does not play {self.variant!r}. It plays: {', '.join(known)}."
            )
        variant = await owner.rulebook.variant(self.variant)
        least, most = variant.target_min, variant.target_max
        if self.target and not least <= self.target <= most:
            raise Mistake(f"{self.variant} is played to {least} to {most} points: --target.")
        return variant

    async def _join(self, players: Sequence[Client], game: pb.Game, words: Sequence[bytes]) -> None:
        """Every seat looks at the commitment, and answers it with a word of its own (R4)."""
        for seat, (player, word) in enumerate(zip(players, words, strict=True)):
            shown = (await player.games.get(game.game_id)).commitment
            self.expect(
                len(shown) == 32 and shown == game.commitment,
                f"seat {seat} was shown another commitment",
            )
            await player.games.join(game.game_id, shown, word)
        say(f"All {len(players)} seats have joined; the secret is committed to.\n")

    async def _played(
        self, players: Sequence[Client], guest: Client, game_id: str
    ) -> list[pb.GameUpdate]:
        """Let the programs play while a spectator draws; what the spectator saw."""
        kinds = list(PROGRAMS.values())
        try:
            async with asyncio.TaskGroup() as group:
                watching = group.create_task(_drawn(guest, game_id))
                for seat, player in enumerate(players):
                    program = kinds[seat % len(kinds)](self.seed + seat)
                    group.create_task(Player(player, game_id, seat, program).play())
        except ExceptionGroup as failures:
            raise failures.exceptions[0] from failures
        return watching.result()

    def _compare(
        self,
        record: pb.Record,
        game: pb.Game,
        words: Sequence[bytes],
        seen: Sequence[pb.GameUpdate],
    ) -> None:
        """Whether the record is of the game that was agreed on and seen."""
        last = seen[-1].position
        self.expect(is_over(last) and last.HasField("outcome"), "the game has no outcome")
        self.expect(last.outcome.HasField("decided"), "the game was not decided")
        self.expect(record.outcome == last.outcome, "the record has another outcome")
        self.expect(record.commitment == game.commitment, "the record has another commitment")
        self.expect(list(record.words) == list(words), "the record has other words")
        self.expect(record.terms == game.terms, "the record has other terms")
        shown = [
            [f"{entry.seat} {entry.action.notation}" for entry in update.entries] for update in seen
        ]
        recorded = [list(row.entries) for row in record.rows]
        self.expect(shown == recorded, "the spectator saw other rows than the record has")

    async def _verify(self, guest: Client, record: pb.Record) -> None:
        """Verify the record from its file, as anybody can, and have the house do so too."""
        with tempfile.TemporaryDirectory(prefix="kafeneio-record-") as folder:
            name = f"{record.game_id}.json"
            path = self.save or Path(folder) / name
            try:
                records.save(record, path)
            except OSError as error:
                raise Mistake(f"{path} can't be written: {error.strerror}.") from error
            say(f"[dim]kafeneio verify {escape(str(self.save or name))}[/]")
            self.expect(report(records.load(path)), "the record is bad")
        for subject in (record.game_id, record):
            findings = await guest.games.verify(subject)
            self.expect(not findings, f"the house finds the record bad: {list(findings)}")


async def _drawn(guest: Client, game_id: str) -> list[pb.GameUpdate]:
    """Draw the table after each turn, as the stream of a spectator shows it."""
    game = await guest.games.get(game_id)
    drawing = Drawing.of(game, signs=signs())
    seen: list[pb.GameUpdate] = []
    async for update in guest.games.watch(game_id):
        seen.append(update)
        OUT.print(drawing.happened(update.entries), end="", soft_wrap=True)
        if update.position.HasField("turn") or is_over(update.position):
            OUT.print(drawing.position(update.position), soft_wrap=True)
    return seen


def _names(seats: int) -> list[str]:
    kinds = list(PROGRAMS)
    return [f"{kinds[seat % len(kinds)]}-{seat + 1}" for seat in range(seats)]


def demo(
    variant: Annotated[str, typer.Argument(help="What to play.")] = "portes",
    target: Annotated[
        int, typer.Option(min=0, help="Points to play to; 0 is the usual number.")
    ] = 0,
    seed: Annotated[int, typer.Option(help="The programs' seed; the dice have none.")] = 1,
    save: Annotated[
        Path | None, typer.Option("--save", metavar="FILE", help="Keep the record.")
    ] = None,
) -> None:
    """Let programs play a whole game in a house of their own, and verify it.

    The house is started for it, on free ports and in a folder of its own, and stopped in the end.
    Everything goes through the public API. Exit code 1 if anything is off.

    [dim]kafeneio demo portes --target 3[/]
    """
    demonstration = Demo(variant, target, seed, save)
    asyncio.run(demonstration.run())
    for fault in demonstration.faults:
        complain(f"Off: {fault}")
    if demonstration.faults:
        raise typer.Exit(1)
