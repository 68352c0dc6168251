"""Three play Koum-kan, and whatever one of them is told names no card that he may not know.

Not in what he asks and hears, nor in events and metrics: no other one's draw, no card of the stock,
not the order in which the discards were shuffled. What `rules` writes to its log is looked at where
it runs in a process of its own, with its other tests.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Final, TypeAlias

from google.protobuf.message import Message
from kafeneio.clock.v1 import events_pb2 as clock_events
from kafeneio.rules.v1 import actions_pb2, events_pb2, game_pb2, views_pb2
from kafeneio.settlement.v1 import events_pb2 as settlement_events
from kafeneio_client.client import Client
from kafeneio_runtime import bus
from prometheus_client import generate_latest

from tests.journeys.evening import PATIENCE, Evening, evening
from tests.journeys.rummy import UNHURRIED, leave, rows
from tests.journeys.rummy_books import HIDDEN, Books, Recorded, cards_in, named

SEED: Final = 21
"""With it somebody goes out in the first hand, after a reshuffle."""
Entries: TypeAlias = tuple[tuple[int, str], ...]
PLAYERS: Final = ("eleni", "nikos", "maria")
SPECTATOR: Final = "zoe"
VIEWERS: Final = (0, 1, 2, None)
STEPS: Final = 225
STEPS_OF_TWO: Final = 12
MOVES: Final = frozenset(("draw", "take", "meld", "lay", "swap", "discard"))
EVENTS: Final[dict[str, type[Message]]] = {
    "rules.events": events_pb2.GameEvent,
    "clock.events": clock_events.ClockEvent,
    "settlement.events": settlement_events.SettlementEvent,
}


@dataclass(frozen=True)
class Page:
    """What may be told of a row of the log: `reads` are its entries as each viewer may see them,
    `hand` is the hand in which they were made, `after` the one on the table then."""

    reads: dict[int | None, Entries]
    hand: Books
    after: Books
    last: Books | None

    def known(self, viewer: int | None) -> set[str]:
        """Every card of which the row may tell."""
        last = set() if self.last is None else self.last.known(viewer)
        return self.hand.known(viewer) | self.after.known(viewer) | last

    def check_position(self, position: game_pb2.Position, viewer: int | None) -> None:
        """It shows what there is to be seen, and nothing else."""
        known = self.known(viewer) | self.after.check(position.view.rummy, viewer)
        assert position.HasField("last_round") is (self.last is not None)
        if self.last is not None:
            known |= self.last.check(position.last_round.view.rummy, viewer)
        assert named(position) <= known

    def check(self, update: game_pb2.GameUpdate, viewer: int | None) -> None:
        """The row as a viewer was told it; one of a call that the house went on has no position."""
        entries = [(each.seat, each.action.notation) for each in update.entries]
        assert entries == list(self.reads[viewer])
        for entry in update.entries:
            assert named(entry) == cards_in(entry.action.notation), "both forms tell the same"
            assert set(entry.action.reshuffle.cards) <= {HIDDEN}
            assert named(entry) <= self.known(viewer)
        if update.HasField("position"):
            self.check_position(update.position, viewer)


def for_all(seat: int, text: str) -> dict[int | None, Entries]:
    """An entry that reads alike for everybody."""
    return dict.fromkeys(VIEWERS, ((seat, text),))


@dataclass
class Table:
    """A game that is played here, with its own books."""

    house: Evening
    game_id: str
    shuffled: list[tuple[str, ...]]
    seats: list[str] = field(default_factory=list)
    books: Books = field(default_factory=lambda: Books(3, [0, 1, 2]))
    last: Books | None = None
    version: int = 0
    pages: dict[int, Page] = field(default_factory=dict)
    did: Counter[str] = field(default_factory=Counter)
    left: dict[int, int] = field(default_factory=dict)
    unseen: int = 0
    """How often a card was drawn of which nobody else may know."""

    async def begin(self) -> None:
        """All sit down, and the first hand is dealt."""
        await self.house.join(self.game_id)
        self.seats = await self.house.seats(self.game_id)
        dealer = (await self.house.position(self.game_id)).view.rummy.dealer
        self.deal((-1, f"dealer {dealer}"))

    def client(self, seat: int | None) -> Client:
        """Of a player or a spectator."""
        return self.house.client(SPECTATOR if seat is None else self.seats[seat])

    # ------------------------------------------------------------ the books

    def write(self, reads: dict[int | None, Entries], hand: Books) -> None:
        """The next row."""
        self.version += 1
        self.pages[self.version] = Page(reads, hand, self.books.copy(), self.last)

    def deal(self, *before: tuple[int, str]) -> None:
        """The house deals: each sees his own cards and the one that is turned."""
        pack, live = self.shuffled[-1], self.books.live
        self.books = Books.dealt(pack, 3, live)
        reads: dict[int | None, Entries] = {}
        for viewer in VIEWERS:
            groups = ["".join(self.books.hands[seat]) for seat in range(3)]
            groups = [
                group if seat == viewer else HIDDEN * len(self.books.hands[seat])
                for seat, group in enumerate(groups)
            ]
            rest = HIDDEN * len(self.books.stock)
            text = "/".join((*groups, self.books.pile[0], rest))
            reads[viewer] = (*before, (-1, f"deal {text}"))
        self.write(reads, self.books.copy())

    def played(self, seat: int, text: str) -> None:
        """A move, and what the house does then."""
        self.did[text.split(" ")[0]] += 1
        same = for_all(seat, text)
        if text == "draw" and not self.books.stock:
            self.write(same, self.books.copy())
            stock = self.shuffled[-1]
            self.books.reshuffle(stock)
            self.books.play(seat, text)
            hidden = f"reshuffle {HIDDEN * len(stock)}"
            self.write(for_all(-1, hidden), self.books.copy())
            self.did["reshuffle"] += 1
            return
        others = [each for each in VIEWERS if each != seat]
        unknown = set.intersection(*(self.books.unknown(each) for each in others))
        self.books.play(seat, text)
        if text == "draw":
            self.unseen += self.books.hands[seat][-1] in unknown
        hand = self.books.copy()
        if self.books.over:
            self.did["end"] += 1
            self.last, self.books = hand, Books(3, self.books.live)
            self.write(same, hand)
            self.deal()
        else:
            self.write(same, hand)

    # ------------------------------------------------------------ the game

    async def step(self, text: str, seat: int) -> None:
        """A move; its answer tells nothing but what it may."""
        answer = await self.client(seat).games.act(self.game_id, self.version, [text])
        version = self.version + 1
        self.played(seat, text)
        self.pages[version].check(answer.played, seat)
        assert answer.HasField("house") is (self.version > version)
        if answer.HasField("house"):
            self.pages[self.version].check(answer.house, seat)

    async def look(self) -> int:
        """All look at the game; the seat on turn."""
        page = self.pages[self.version]
        for viewer in VIEWERS:
            game = await self.client(viewer).games.get(self.game_id)
            assert game.position.version == self.version
            page.check_position(game.position, self.eyes(viewer, self.version))
            turn = game.position.turn.seat
            game.ClearField("position")
            assert named(game) == set()
        return turn

    async def leave(self, seat: int) -> None:
        """A seat leaves; from now on its player looks on."""
        await leave(self.house, self.game_id, seat)
        self.books.leave(seat)
        reads = for_all(seat, "!forfeit LEFT")
        self.write(reads, self.books.copy())
        self.left[seat] = self.version

    def eyes(self, viewer: int | None, version: int) -> int | None:
        """As which seat somebody looked when that was the version."""
        gone = viewer is not None and version >= self.left.get(viewer, version + 1)
        return None if gone else viewer

    async def choices(self, seat: int) -> list[str]:
        """What the seat on turn may do; it names its own cards only."""
        legal = await self.client(seat).games.legal_actions(self.game_id)
        hand = Counter(self.books.hands[seat])
        for action in legal.actions:
            assert Counter(action.lay_meld.cards) <= hand
            one = (action.lay_off.card, action.swap_joker.card, action.discard.card)
            assert {card for card in one if card} <= hand.keys()
            assert named(action) <= hand.keys()
        return [action.notation for action in legal.actions]


def choose(choices: Sequence[str], random: Random) -> str:
    """Any of them, but the rare ones rather."""
    kinds: dict[str, list[str]] = {}
    for text in choices:
        kinds.setdefault(text.split(" ")[0], []).append(text)
    for kind, share in (("swap", 1), ("take", 0.15), ("draw", 1), ("lay", 0.7), ("meld", 0.35)):
        if kind in kinds and random.random() < share:
            return random.choice(kinds[kind])
    return random.choice(kinds["discard"])


@dataclass
class Ears:
    """Streams that were open all the time: what each of them was told, and with what version it was
    so far."""

    heard: dict[int | None, list[game_pb2.GameUpdate]] = field(default_factory=dict)
    rang: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def listen(self, table: Table, viewer: int | None) -> None:
        """Until the game is over."""
        told = self.heard.setdefault(viewer, [])
        async for update in table.client(viewer).games.watch(table.game_id):
            async with self.rang:
                told.append(update)
                self.rang.notify_all()

    async def caught_up(self, version: int) -> None:
        """Once all have heard so much."""
        async with asyncio.timeout(PATIENCE), self.rang:
            await self.rang.wait_for(
                lambda: (
                    len(self.heard) == len(VIEWERS)
                    and all(len(told) == version for told in self.heard.values())
                )
            )


async def hear_events(house: Evening, told: list[Message]) -> None:
    """All that the services announce, in words."""
    for subject, kind in EVENTS.items():

        async def hear(events: Sequence[bus.Event], kind: type[Message] = kind) -> None:
            told.extend(kind.FromString(event.payload) for event in events)

        await house.bus.subscribe(subject, "secrets", hear)


async def test_nobody_is_told_of_a_card_that_he_may_not_know(
    database_url: str, tmp_path: Path
) -> None:
    shuffled: list[tuple[str, ...]] = []
    random, ears, announced = Random(SEED), Ears(), list[Message]()
    options = {"players": str(len(PLAYERS))}
    async with evening(
        database_url, tmp_path, lambda secret, context: Recorded(SEED, shuffled), **UNHURRIED
    ) as house:
        await hear_events(house, announced)
        game_id = await house.matched(201, variant="koumkan", players=PLAYERS, options=options)
        table = Table(house, game_id, shuffled)
        await table.begin()
        async with asyncio.TaskGroup() as group:
            for viewer in VIEWERS:
                group.create_task(ears.listen(table, viewer))
            for steps, leaver in ((STEPS, 2), (STEPS_OF_TWO, 1)):
                for _ in range(steps):
                    seat = await table.look()
                    await table.step(choose(await table.choices(seat), random), seat)
                await ears.caught_up(table.version)
                await table.leave(leaver)
                await table.look()

        for viewer, told in ears.heard.items():
            assert [update.position.version for update in told] == [*table.pages]
            for update in told:
                version = update.position.version
                table.pages[version].check(update, table.eyes(viewer, version))
        looking_on = await rows(house, game_id, SPECTATOR)
        assert looking_on == ears.heard[None]
        assert await rows(house, game_id, table.seats[0]) == ears.heard[0]
        for seat in (1, 2):
            assert await rows(house, game_id, table.seats[seat]) == looking_on, "F5"
        check_commits(looking_on)
        await house.paid(game_id)

    assert table.did.keys() == {*MOVES, "reshuffle", "end"}
    assert table.unseen > 30, "there was something to tell"
    assert len(set(map(type, announced))) == len(EVENTS)
    assert set[str]().union(*map(named, announced)) == set()
    assert cards_in(generate_latest().decode()) == set()


def check_commits(log: Sequence[game_pb2.GameUpdate]) -> None:
    """Where the house is to shuffle or to deal it does so in the same commit: no other call, and no
    forfeit, ever finds the table like that."""
    waiting = (views_pb2.RUMMY_STAGE_RESHUFFLE, views_pb2.RUMMY_STAGE_DEAL)
    stages = [update.position.view.rummy.stage for update in log]
    places = [place for place, stage in enumerate(stages) if stage in waiting]
    assert {stages[place] for place in places} == set(waiting)
    for place in places:
        (entry,) = log[place + 1].entries
        assert entry.seat == -1
        assert log[place + 1].at == log[place].at


def test_a_card_that_is_told_would_be_found() -> None:
    """Or all of this would show nothing."""
    books = Books.dealt(["7H", *["2C"] * 9, *["8D"] * 10, "KS", "9C", "*"], 2, [0, 1])
    assert books.known(0) == {"7H", "2C", "KS"}
    assert books.unknown(0) == {"8D", "9C", "*"}
    assert books.unknown(None) == {"7H", "2C", "8D", "9C", "*"}
    books.play(0, "draw")
    assert "9C" in books.known(0) - books.known(1)
    entry = game_pb2.LogEntry(seat=1)
    for tell in (
        actions_pb2.Action(notation="reshuffle 9C??"),
        actions_pb2.Action(reshuffle=actions_pb2.Reshuffle(cards=["?", "9C"])),
        actions_pb2.Action(discard=actions_pb2.Discard(card="9C")),
        actions_pb2.Action(notation="deal ??/9C8D/?"),
    ):
        entry.action.CopyFrom(tell)
        assert "9C" in named(game_pb2.GameUpdate(entries=[entry])) - books.known(1)
    assert cards_in("lay * 2 low, meld run 4C*6C; 9CX 19C") == {"*", "4C", "6C"}
