"""`kafeneio demo`: from the queue to the ledger in a house of its own, and all of it verified."""

from __future__ import annotations

import asyncio
import re
import secrets
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Final

import typer
from kafeneio.matchmaking.v1 import quick_match_pb2
from kafeneio.rules.v1 import game_pb2 as pb
from kafeneio.rules.v1 import rulebook_pb2

from kafeneio_client import records
from kafeneio_client.cli import tokens
from kafeneio_client.cli.demo_money import STAKE, Purse
from kafeneio_client.cli.demo_table import CLOCK, TableOfPrograms
from kafeneio_client.cli.faults import Faults
from kafeneio_client.cli.own_house import HouseFailed, OwnHouse, own_house
from kafeneio_client.cli.screen import Mistake, complain, escape, explain, say
from kafeneio_client.cli.verify import report
from kafeneio_client.client import Client, House
from kafeneio_client.errors import KafeneioError
from kafeneio_client.games import is_over
from kafeneio_client.programs import PROGRAMS
from kafeneio_client.terminal import variant_name

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
    leave: bool
    faults: Faults = field(default_factory=Faults)

    async def run(self) -> None:
        """Start a house, play, verify, stop it; what is off is in `faults`."""
        try:
            async with (
                asyncio.timeout(DEADLINE_SECONDS - _RESERVE_SECONDS),
                own_house(CLOCK) as own,
            ):
                say(f"A house of its own, `rules` at [bold]{escape(own.addresses['rules'])}[/].")
                async with own.open() as house:
                    await self._evening(house, own)
            say("The house has ended as it should.")
        except TimeoutError:
            self.faults.append(f"it was not over after {DEADLINE_SECONDS:.0f} s")
        except HouseFailed as failed:
            self.faults.append(str(failed))
        except KafeneioError as error:
            self.faults.append(explain(error))

    async def _evening(self, house: House, own: OwnHouse) -> None:
        def known_as(name: str) -> Client:
            return house.client(tokens.make(name, "player", own.settings))

        owner = house.client(tokens.make("demo", "service", own.settings))
        variant = await self._chosen(owner)
        clients = {name: known_as(name) for name in _names(variant.seats)}
        guest = known_as("guest")
        purse = Purse(owner, list(clients), list(clients.values()), self.faults)
        await purse.fill()
        game_id = await self._matched(clients)
        game = await guest.games.get(game_id)
        names = [seat.player_id for seat in game.seats]
        self.faults.expect(sorted(names) == sorted(clients), f"{names} sit at the table")
        say(
            f"{escape(variant_name(variant, 'en'))} to {game.terms.target}: game [bold]{game_id}[/]"
        )
        players = [clients[name] for name in names]
        purse = replace(purse, names=names, players=players)
        await purse.staked(game_id)
        words = [secrets.token_bytes(16) for _ in names]
        await self._join(players, game, words)
        table = TableOfPrograms(players, guest, game, self.seed, self.leave, self.faults)
        seen = await table.play()
        record = await guest.games.record(game_id)
        self._compare(record, game, words, seen)
        settlement = await purse.paid(game_id)
        forfeited = [one.seat for one in settlement.clock_forfeits]
        leaver = [len(names) - 1] if self.leave else []
        self.faults.expect(forfeited == leaver, f"the seats {forfeited} were forfeited")
        await purse.check(settlement, record.outcome, forfeited)
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

    async def _matched(self, clients: Mapping[str, Client]) -> str:
        """Everybody queues, and watches his ticket until there is a game; its id."""
        tickets = [
            (client, await client.queue.enqueue(self.variant, stake=STAKE, target=self.target))
            for client in clients.values()
        ]
        say(f"{len(tickets)} players queue with a stake of [bold]{STAKE}[/].")
        ends = await asyncio.gather(*(client.queue.final(one.ticket_id) for client, one in tickets))
        games = {ticket.game_id for ticket in ends}
        statuses = {ticket.status for ticket in ends}
        if statuses != {quick_match_pb2.TICKET_STATUS_MATCHED} or len(games) != 1:
            reasons = [quick_match_pb2.TicketEnd.Name(ticket.end) for ticket in ends]
            raise Mistake(f"The queue led to no game: {', '.join(reasons)}.")
        return games.pop()

    async def _join(self, players: Sequence[Client], game: pb.Game, words: Sequence[bytes]) -> None:
        """Every seat looks at the commitment, and answers it with a word of its own (R4)."""
        for seat, (player, word) in enumerate(zip(players, words, strict=True)):
            shown = (await player.games.get(game.game_id)).commitment
            self.faults.expect(
                len(shown) == 32 and shown == game.commitment,
                f"seat {seat} was shown another commitment",
            )
            await player.games.join(game.game_id, shown, word)
        say(f"All {len(players)} seats have joined; the secret is committed to.\n")

    def _compare(
        self,
        record: pb.Record,
        game: pb.Game,
        words: Sequence[bytes],
        seen: Sequence[pb.GameUpdate],
    ) -> None:
        """Whether the record is of the game that was agreed on and seen."""
        expect = self.faults.expect
        last = seen[-1].position
        expect(is_over(last) and last.HasField("outcome"), "the game has no outcome")
        expect(last.outcome.HasField("decided"), "the game was not decided")
        expect(record.outcome == last.outcome, "the record has another outcome")
        expect(record.commitment == game.commitment, "the record has another commitment")
        expect(list(record.words) == list(words), "the record has other words")
        expect(record.terms == game.terms, "the record has other terms")
        shown = [
            [f"{entry.seat} {entry.action.notation}" for entry in update.entries] for update in seen
        ]
        recorded = [list(row.entries) for row in record.rows]
        same = len(shown) == len(recorded) and all(
            len(row) == len(entries) and all(map(_covers, row, entries))
            for row, entries in zip(shown, recorded, strict=True)
        )
        expect(same, "the spectator saw other rows than the record has")

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
            self.faults.expect(report(records.load(path)), "the record is bad")
        for subject in (record.game_id, record):
            findings = await guest.games.verify(subject)
            self.faults.expect(not findings, f"the house finds the record bad: {list(findings)}")


def _covers(shown: str, recorded: str) -> bool:
    """Whether an entry is what a spectator saw of it, who sees "?" for a hidden card."""
    if "?" not in shown:
        return shown == recorded
    pattern = re.escape(shown).replace(r"\?", r"(?:[2-9TJQKA][SHDC]|\*|\d+)")
    return re.fullmatch(pattern, recorded) is not None


def _names(seats: int) -> list[str]:
    kinds = list(PROGRAMS)
    return [f"{kinds[seat % len(kinds)]}-{seat + 1}" for seat in range(seats)]


def demo(
    variant: Annotated[str, typer.Argument(help="What to play.")] = "portes",
    target: Annotated[
        int, typer.Option(min=0, help="Points to play to; 0 is the usual number.")
    ] = 0,
    seed: Annotated[int, typer.Option(help="The programs' seed; the dice have none.")] = 1,
    leave: Annotated[
        bool, typer.Option("--leave", envvar="LEAVE", help="One leaves in the middle.")
    ] = False,
    save: Annotated[
        Path | None, typer.Option("--save", metavar="FILE", help="Keep the record.")
    ] = None,
) -> None:
    """Let programs queue, stake, play a whole game and be paid, and verify all of it.

    The house is started for it, on free ports and in a folder of its own, and stopped in the end.
    Everything goes through the public API. Its clock is in a hurry; one program is late once, and
    charged for it. Exit code 1 if anything is off.

    [dim]kafeneio demo portes --target 3[/]

    [dim]kafeneio demo portes --leave[/]
    """
    demonstration = Demo(variant, target, seed, save, leave)
    asyncio.run(demonstration.run())
    for fault in demonstration.faults:
        complain(f"Off: {fault}")
    if demonstration.faults:
        raise typer.Exit(1)
