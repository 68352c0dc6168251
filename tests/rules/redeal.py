"""The same game with the unseen cards dealt otherwise, and what one viewer is told of a game."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import replace
from random import Random
from typing import Any, Final

import grpc
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp
from kafeneio.rules.v1 import game_pb2 as pb
from kafeneio_games.game import Refusal
from kafeneio_games.play import Play

from tests.harness import SERVICE, Rules
from tests.rules.card_games import FOUR, CardTable, Packs, Script, Stacked
from tests.rules.moves import notation
from tests.rules.refusal import Refused
from tests.rules.sights import SPECTATOR, TRICKS, Sight
from tests.rules.streams import next_update

TRIES: Final = 400


def redealt(script: Script, viewer: int, random: Random, sight: Sight = TRICKS) -> Script | None:
    """The script with other cards wherever the viewer has not seen them by its end, so that all
    that he knows is the same; None where no try succeeds."""
    plays = script.plays()
    facts = [sight.public(play) for play in plays]
    unseen = {
        number: sorted(set(sight.deck) - sight.seen(plays, number, viewer))
        for number in range(1, plays[-1].round + 1)
    }
    for attempt in range(TRIES):
        packs = list(script.chance.packs)
        for number, cards in unseen.items():
            # Many cards at first; where that is against what was played, a few.
            some = random.sample(cards, len(cards) if attempt < TRIES // 4 else min(3, len(cards)))
            to = dict(zip(some, random.sample(some, len(some)), strict=True))
            packs[number - 1] = tuple(to.get(card, card) for card in packs[number - 1])
        other = replace(script, chance=Stacked(script.chance.dealer, packs))
        try:
            found = other.plays()
        except Refusal:
            continue
        if [sight.public(play) for play in found] == facts and sight.hands(
            found[-1]
        ) != sight.hands(plays[-1]):
            return other
    return None


# --- what a viewer is told -------------------------------------------------------------------

IDS: Final = {"game_id", "commitment", "event_id"}


def plain(message: Message) -> Message:
    """A copy without what differs between any two games: ids, commitments, times."""
    copy = type(message)()
    copy.CopyFrom(message)
    _clear(copy)
    return copy


def _clear(message: Any) -> None:
    for field, value in message.ListFields():
        if field.name in IDS:
            message.ClearField(field.name)
        elif field.message_type is not None:
            if field.message_type.GetOptions().map_entry:
                continue
            for inner in value if field.is_repeated else [value]:
                if isinstance(inner, Timestamp):
                    inner.Clear()
                else:
                    _clear(inner)


async def told(call: Awaitable[Any]) -> bytes:
    """Every byte of an answer, or of a refusal with its details, but for ids and times."""
    try:
        answer = await call
    except grpc.aio.AioRpcError as error:
        refused = replace(Refused.of(error), request_id="")
        return repr((refused, error.details())).encode()
    return plain(answer).SerializeToString(deterministic=True)


class Viewer:
    """One who follows a game, asks for everything at every version, and tries what is refused."""

    def __init__(self, table: CardTable, viewer: int, sight: Sight) -> None:
        self.table = table
        self.sight = sight
        self.viewer = viewer
        self.heard: list[tuple[str, bytes]] = []

    @property
    def who(self) -> str:
        """His name; a spectator's is of nobody at the table."""
        return "stranger" if self.viewer == SPECTATOR else FOUR[self.viewer]

    async def hear(self, what: str, call: Awaitable[Any]) -> None:
        """Keeps what comes back."""
        self.heard.append((what, await told(call)))

    async def look(self, play: Play) -> None:
        """Asks for what anybody may ask for, and tries to act."""
        rules, game_id = self.table.rules, self.table.game_id
        await self.hear(
            "GetGame", rules.ask(rules.games.GetGame, pb.GetGameRequest(game_id=game_id), self.who)
        )
        await self.hear("ListLegalActions", rules.legal(game_id, self.who))
        await self.hear(
            "ListLegalActions of a kind", rules.legal(game_id, self.who, kind="play_card")
        )
        if self.viewer != SPECTATOR and play.prompted == self.viewer:
            await self.try_to_act(play)

    async def try_to_act(self, play: Play) -> None:
        """Sends what will be refused: cards that he does not hold or may not play, calls that are
        not due, and good ones with a bad one behind."""
        rules, game_id, game = self.table.rules, self.table.game_id, play.game
        assert game is not None
        version = await self.table.version()
        seat = play.seats[self.viewer]
        # Who is out may do nothing, also what is legal for the computer in his seat.
        legal = [] if play.forfeited(seat) else [game.write(each) for each in play.legal(seat)]
        cards = [self.sight.play + card for card in self.sight.deck[version % 5 :: 5]]
        for text in (*self.sight.tried, *cards):
            if text not in legal:
                action = notation(text)
                await self.hear(f"Act {text}", rules.act(game_id, version, self.who, [action]))
                await self.hear(f"after {text}", rules.legal(game_id, self.who, [action]))
        behind = [notation(text) for text in (*legal[:1], "recontra")]
        await self.hear("Act, and more", rules.act(game_id, version, self.who, behind))

    async def history(self, name: str) -> None:
        """Watches the whole game up to here, and its last row alone."""
        rules, version = self.table.rules, await self.table.version()
        for after in (0, version - 1):
            stream, at = rules.watch(self.table.game_id, self.who, after), after
            while at < version:
                update = await next_update(stream)
                at = update.position.version
                self.heard.append((f"{name} {at}", plain(update).SerializeToString()))
            stream.cancel()


async def followed(
    rules: Rules, packs: Packs, script: Script, viewer: int, sight: Sight = TRICKS
) -> Viewer:
    """All that a viewer is told of a game from its start to the end of the script; one who leaves,
    from then on."""
    plays = script.plays()
    leaver = viewer != SPECTATOR and plays[-1].forfeited(plays[-1].seats[viewer])
    table = await CardTable.open(rules, packs, script)
    eyes = Viewer(table, viewer, sight)
    for number, deed in enumerate((None, *script.deeds)):
        play = plays[number]
        answer = None if deed is None else await table.do(deed)
        if not leaver or play.forfeited(play.seats[viewer]):
            own = deed is not None and deed.seat == viewer and not leaver
            if answer is not None and own:
                eyes.heard.append(("Act", plain(answer).SerializeToString(deterministic=True)))
            await eyes.look(play)
    await eyes.history("WatchGame")
    game_id, games = table.game_id, rules.games
    events = pb.ListEventsRequest(game_id=game_id, page_size=500)
    as_anybody = pb.GetGameRequest(game_id=game_id)
    if viewer != SPECTATOR:
        await eyes.hear("Resign", rules.resign(game_id, eyes.who, plays[-1].round))
    await eyes.hear("GetRecord", rules.record(game_id, eyes.who))
    await eyes.hear("GetTurn", rules.turn(game_id))
    await eyes.hear("ListEvents", rules.ask(games.ListEvents, events))
    await eyes.hear("GetGame of a service", rules.ask(games.GetGame, as_anybody, SERVICE))
    await rules.abort(table.game_id)
    await eyes.look(plays[-1])
    await eyes.history("WatchGame, after the end,")
    return eyes
