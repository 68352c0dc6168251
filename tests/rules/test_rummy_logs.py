"""What is hidden in a hand of rummy stands in no log line, metric, event or row of the outbox: no
card of a deal, none that is drawn, not the new stock, nor where a turned joker goes back.
"""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Final

from kafeneio.rules.v1 import events_pb2
from kafeneio.rules.v1 import game_pb2 as pb
from kafeneio_runtime.settings import Settings

from tests.harness import OPERATOR, SERVICE, STRANGER, Rules
from tests.rules.apart import apart, written
from tests.rules.moves import latest, notation
from tests.rules.refusal import refusal

THREE: Final = ("eleni", "nikos", "maria")
WORDS_OF_CARDS: Final = re.compile(r"(?<![0-9A-Za-z])(?:[2-9TJQKA][SHDC]|\*)+(?![0-9A-Za-z])")
TRIED: Final = ("discard QC", "discard *", "meld run 4C5C6C", "swap 3C 1", "lay * 1 low", "out 7H")
"""Refused in most hands, for one rule or another."""


async def begin(rules: Rules, variant: str) -> pb.Game:
    """A game of three."""
    return await rules.start(variant=variant, players=THREE, options={"players": "3"})


async def with_put_back(rules: Rules) -> pb.Game:
    """A game of Dynamitis in whose first deal a joker or a two was turned, which nobody can plan
    here: one in nine is such a game."""
    for _ in range(200):
        game = await begin(rules, "dynamitis")
        async for response in rules.watch(game.game_id, THREE[0]):
            entries = response.update.entries
            placed = [each.action for each in entries if each.action.HasField("put_back")]
            break
        for action in placed:
            assert action.notation == "put-back ?"
            assert not action.put_back.HasField("place")
        if placed:
            return game
    raise AssertionError("no joker was turned in 200 deals")


async def play(rules: Rules, game: pb.Game, turns: int) -> pb.Position:
    """So many turns: each draws, tries what is refused, lays melds where there are any, discards
    what comes first. In the twentieth the last seat leaves."""
    position = game.position
    for number in range(turns):
        if number == 20:
            await rules.forfeit(game.game_id, 2, "LEFT")
            position = (await rules.get(game.game_id)).position
        who = THREE[position.turn.seat]
        answer = await rules.act(game.game_id, position.version, who, [notation("draw")])
        if answer.HasField("house"):
            for entry in answer.house.entries:
                assert set(entry.action.notation.removeprefix("reshuffle ")) == {"?"}
        position = latest(answer)
        if position.round > game.position.round:
            return position  # the second time that the stock was empty
        if number % 20 == 0:
            for looking in (*THREE, STRANGER, OPERATOR, SERVICE):
                await rules.get(game.game_id, looking)
            legal = [each.notation for each in (await rules.legal(game.game_id, who)).actions]
            for text in TRIED:
                if text not in legal:
                    action = notation(text)
                    await refusal(rules.act(game.game_id, position.version, who, [action]))
            melds = (await rules.legal(game.game_id, who, kind="lay_meld")).actions
            if melds:
                answer = await rules.act(game.game_id, position.version, who, melds[:1])
                position = latest(answer)
        discards = (await rules.legal(game.game_id, who, kind="discard")).actions
        position = latest(await rules.act(game.game_id, position.version, who, discards[:1]))
    return position


async def test_nothing_hidden_is_written_down(database_url: str, tmp_path: Path) -> None:
    async with (
        apart(database_url, tmp_path) as house,
        Rules.connected(database_url, Settings(data_dir=tmp_path), house.address) as rules,
    ):
        games = [await begin(rules, "koumkan"), await with_put_back(rules)]
        positions = [await play(rules, game, 85) for game in games]
        metrics = await asyncio.to_thread(house.metrics)
        payloads = [row[0] for row in await rules.database.fetch("SELECT payload FROM outbox")]
        events = [event for game in games for event in await rules.events(game.game_id)]
        rows = [row for game in games for row in await rules.log_rows(game.game_id)]
        log = [entry for row in rows for entry in row["entries"]]
    lines = b"".join(house.lines)  # all of them: the process has ended

    assert all(position.version > 150 for position in positions)
    kinds = {re.sub(r"^-?\d ([a-z!-]+).*", r"\1", entry) for entry in log}
    assert kinds >= {"dealer", "deal", "put-back", "draw", "discard", "reshuffle", "!forfeit"}
    assert any(re.fullmatch(r"-1 put-back \d+", entry) for entry in log)
    assert any(re.fullmatch(r"-1 reshuffle [^?]{100,}", entry) for entry in log)

    told = [*events, *map(events_pb2.GameEvent.FromString, payloads)]
    assert len(told) > 600
    assert lines.count(b"ILLEGAL_ACTION") > 5
    for place, text in (
        ("logs", lines.decode()),
        ("metrics", metrics.decode()),
        ("events", "\n".join(map(str, told))),
    ):
        assert WORDS_OF_CARDS.findall(text) == [], place
        assert not re.search("put.?back|reshuffle", text, re.IGNORECASE), place
        for row in rows:
            assert not any(form in text.encode() for form in written(row["digest"])), place
