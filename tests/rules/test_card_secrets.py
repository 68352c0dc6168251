"""The cards of hands stand in no log, metric, event or row of the outbox."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

from kafeneio.rules.v1 import events_pb2
from kafeneio.rules.v1 import game_pb2 as pb
from kafeneio_games.cards import SHORT_PACK
from kafeneio_runtime.settings import Settings

from tests.harness import OPERATOR, SERVICE, STRANGER, Rules
from tests.rules.apart import apart, written
from tests.rules.card_games import FOUR
from tests.rules.computers import some_turn_of, whole_turn
from tests.rules.moves import latest, notation
from tests.rules.refusal import refusal

TRIED = ("JS", "7C")
"""Cards that everybody tries to play: a log names the rule that refuses, and not even these."""
WORDS_OF_CARDS = re.compile(r"(?<![0-9A-Za-z])(?:[2-9TJQKA][SHDC]){1,32}(?![0-9A-Za-z])")


async def play(rules: Rules) -> pb.Game:
    """A game of pilotta in which everything is asked and much is refused, up to its third hand or
    two hundred turns; seat 3 leaves early."""
    game = await rules.start(variant="pilotta", players=FOUR)
    position = game.position
    await refusal(rules.resign(game.game_id, FOUR[0], position.round))  # of a game of cards: never
    for number in range(200):
        seat = position.turn.seat
        if number == 20:
            await rules.forfeit(game.game_id, 3, "LEFT")
            position = (await rules.get(game.game_id)).position
        if number % 10 == 0:
            for who in (*FOUR, STRANGER, OPERATOR, SERVICE):
                await rules.get(game.game_id, who)
        if number >= 20 and seat == 3:
            turn = await whole_turn(rules, game.game_id, seat)
            answer = await rules.act(game.game_id, position.version, SERVICE, turn, as_seat=seat)
        else:
            who = FOUR[seat]
            legal = [each.notation for each in (await rules.legal(game.game_id, who)).actions]
            for text in (*TRIED, "recontra", "80C", "deal 7S8S/9STS/7H8H/9HTH//", "declare"):
                if text not in legal:
                    action = notation(text)
                    await refusal(rules.act(game.game_id, position.version, who, [action]))
            turn = await some_turn_of(rules, game.game_id, who)
            answer = await rules.act(game.game_id, position.version, who, turn)
        position = latest(answer)
        if position.status != pb.GAME_STATUS_RUNNING or position.round == 3:
            break
    assert position.round >= 2
    return game


async def test_no_card_of_a_hand_is_written_down(database_url: str, tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path)
    async with (
        apart(database_url, tmp_path) as house,
        Rules.connected(database_url, settings, house.address) as rules,
    ):
        game = await play(rules)
        metrics = await asyncio.to_thread(house.metrics)
        payloads = [row[0] for row in await rules.database.fetch("SELECT payload FROM outbox")]
        events = await rules.events(game.game_id)
        log = [entry for row in await rules.log_rows(game.game_id) for entry in row["entries"]]
        digests = [row["digest"] for row in await rules.log_rows(game.game_id)]
    lines = b"".join(house.lines)  # all of them: the process has ended

    deals = [entry for entry in log if entry.startswith("-1 deal ")]
    assert len(deals) >= 2
    assert {*re.findall("..", deals[0].removeprefix("-1 deal ").replace("/", ""))} == {*SHORT_PACK}
    assert len(payloads) == len(events) > 40
    told = "\n".join(
        [str(event) for event in events]
        + [str(events_pb2.GameEvent.FromString(payload)) for payload in payloads]
    )
    assert b"call answered" in lines
    assert b"NOT_RESIGNABLE" in lines
    for place, text, named in (
        ("logs", lines.decode(), set[str]()),
        ("metrics", metrics.decode(), set[str]()),
        ("events", told, set[str]()),
    ):
        assert set(WORDS_OF_CARDS.findall(text)) == named, place
        for digest in digests:
            assert not any(form in text.encode() for form in written(digest)), place
