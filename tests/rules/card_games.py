"""Games of cards with a known pack: what is played in them, thought out before it is sent.

A test's own house deals what the test wants: `Packs` is its chance, and knows each game by the
context of its stream.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, Final, TypeAlias, TypeVar, cast

from kafeneio.rules.v1 import game_pb2 as pb
from kafeneio_games.cards import SHORT_PACK, Card
from kafeneio_games.chance import ProvableDraw, context
from kafeneio_games.game import Entry, Seat
from kafeneio_games.play import Play, forfeit_text
from kafeneio_games.registry import build

from tests.harness import SERVICE, Rules, new_id
from tests.rules.moves import notation

T = TypeVar("T")
FOUR: Final = ("eleni", "nikos", "maria", "petros")
Pack: TypeAlias = tuple[Card, ...]
Choose: TypeAlias = Callable[[Play, Random], Sequence[str]]


@dataclass
class Stacked:
    """Chance that is known: who deals first, then one pack after the other.

    `position` counts what has been drawn, so that a house that starts anew goes on.
    """

    dealer: int
    packs: Sequence[Pack]
    position: int = 0

    def below(self, n: int) -> int:
        """The first dealer; nothing else is drawn in these games."""
        assert self.position == 0
        self.position += 1
        return self.dealer % n

    def shuffled(self, cards: Sequence[T]) -> tuple[T, ...]:
        """The next pack."""
        pack: Any = self.packs[self.position - 1]
        assert sorted(pack) == sorted(map(str, cards))
        self.position += 1
        return tuple(pack)


@dataclass
class Packs:
    """The chance of a house in which a test deals."""

    stacked: dict[bytes, Stacked] = field(default_factory=dict)

    def __call__(self, secret: bytes, stream: bytes) -> ProvableDraw:
        """The chance of the game with that context, in the place of the house's own."""
        return cast(ProvableDraw, replace(self.stacked[stream]))

    def stack(self, game_id: str, words: Sequence[bytes], chance: Stacked) -> None:
        """What is drawn in a game whose seats will say these words."""
        self.stacked[context(uuid.UUID(game_id).bytes, words)] = replace(chance)


@dataclass(frozen=True)
class Deed:
    """One call of a game: a batch of a seat, or where there is none its forfeit."""

    seat: int
    texts: tuple[str, ...] = ()

    @property
    def entries(self) -> tuple[Entry, ...]:
        """What it writes."""
        return tuple(Entry(Seat(self.seat), text) for text in self.texts or (forfeit_text("LEFT"),))


@dataclass(frozen=True)
class Script:
    """A game as it is going to be: its terms, its chance, and the calls in order."""

    variant: str
    options: Mapping[str, str]
    chance: Stacked
    deeds: tuple[Deed, ...] = ()
    computers: tuple[int, ...] = ()

    def plays(self) -> list[Play]:
        """The position before the first deed and after each; raises what the rules refuse."""
        draw = replace(self.chance)
        match = build(self.variant, 1, self.options, None)
        play, _ = Play.begin(match, tuple(map(Seat, self.computers))).advance(draw)
        found = [play]
        for deed in self.deeds:
            play = play.apply_all(deed.entries)
            if not play.over and play.prompted is None:
                play, _ = play.advance(draw)
            found.append(play)
        return found

    def then(self, *deeds: Deed) -> Script:
        """With more to come."""
        return replace(self, deeds=(*self.deeds, *deeds))


def some_chance(seed: int, hands: int = 40, pack: Pack = SHORT_PACK) -> Stacked:
    """A dealer and packs by chance, the same ones for the same seed."""
    random = Random(seed)
    packs = [tuple(random.sample(pack, len(pack))) for _ in range(hands)]
    return Stacked(random.randrange(4), packs)


def some_deed(play: Play, random: Random) -> tuple[str, ...]:
    """Something that the prompted seat may do: passes often, bids low, declares what it can."""
    seat, game = play.prompted, play.game
    assert seat is not None
    assert game is not None
    legal = [game.write(action) for action in play.legal(seat)]
    if "declare" in legal and random.random() < 0.8:
        cards = [text for text in legal if text != "declare"]
        return ("declare", random.choice(cards)) if random.random() < 0.5 else ("declare",)
    if "pass" in legal and random.random() < (0.6 if len(legal) > 2 else 0.4):
        return ("pass",)
    shown = [text for text in legal if text.startswith(("meld", "lay", "swap"))]
    return (random.choice(shown or legal[:8]),)


def passes(play: Play, random: Random) -> tuple[str, ...]:
    """Nothing to say."""
    return ("pass",)


def played(script: Script, count: int, random: Random, choose: Choose = some_deed) -> Script:
    """The script with so many more calls, as far as the game goes."""
    for _ in range(count):
        play = script.plays()[-1]
        if play.over:
            break
        assert play.prompted is not None
        script = script.then(Deed(play.prompted, tuple(choose(play, random))))
    return script


@dataclass
class CardTable:
    """A game of four that follows a script."""

    rules: Rules
    game: pb.Game
    script: Script
    gone: set[int] = field(default_factory=set)

    @classmethod
    async def open(cls, rules: Rules, packs: Packs, script: Script, target: int = 0) -> CardTable:
        """A game that has begun; every person's word is his name."""
        game_id, players = new_id(), FOUR[: len(script.plays()[0].seats)]
        computers = script.computers
        words = [b"" if seat in computers else who.encode() for seat, who in enumerate(players)]
        packs.stack(game_id, words, script.chance)
        game = await rules.create(
            game_id=game_id,
            variant=script.variant,
            options=script.options,
            players=players,
            target=target,
            computers=computers,
        )
        for seat, player in enumerate(players):
            if seat not in computers:
                game = await rules.join(game, player)
        return cls(rules, game, script, set(computers))

    @property
    def game_id(self) -> str:
        """Of the game."""
        return self.game.game_id

    async def version(self) -> int:
        """The current one."""
        return (await self.rules.turn(self.game_id)).version

    async def do(self, deed: Deed) -> pb.ActResponse | None:
        """Sends a call; of a seat that a computer plays by now, as its service."""
        if not deed.texts:
            await self.rules.forfeit(self.game_id, deed.seat, "LEFT")
            self.gone.add(deed.seat)
            return None
        computer = deed.seat in self.gone
        return await self.rules.act(
            self.game_id,
            await self.version(),
            SERVICE if computer else FOUR[deed.seat],
            [notation(text) for text in deed.texts],
            as_seat=deed.seat if computer else None,
        )

    async def follow(self) -> None:
        """Sends the whole script."""
        for deed in self.script.deeds:
            await self.do(deed)
