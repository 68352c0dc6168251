"""A batch belongs to one turn: what its seat would see with the end of it stays unseen."""

from __future__ import annotations

import pytest
from kafeneio.rules.v1 import game_pb2 as pb
from kafeneio_games import registry
from kafeneio_games.cards import SHORT_PACK

from tests.harness import Rules
from tests.rules.moves import notation
from tests.rules.refusal import refusal

PEOPLE = ("eleni", "nikos", "maria", "petros")
TAKING = {
    "pilotta-classic": (["take"], ["pass"]),
    "pilotta-classic-2": (["take"], ["take", "pass"], ["take", "exchange"], ["pass"]),
    "belote": (["take"], ["pass"]),
    "belote-no-trump": (["take"], ["pass"]),
    "pilotta": (["80H"], ["pass"]),
    "coinche": (["80H"], ["pass"]),
}
LATER = (*SHORT_PACK, "declare", "recontra", "choose H", "take", "exchange", "pass")


async def forehand(rules: Rules, variant: str) -> tuple[pb.Game, str]:
    """A game of which nothing has been said, and the player who speaks first."""
    players = PEOPLE[: registry.variant(variant).seats]
    game = await rules.start(variant=variant, players=players)
    return game, players[game.position.turn.seat]


@pytest.mark.parametrize("variant", TAKING)
async def test_what_follows_is_refused_whatever_it_is(rules: Rules, variant: str) -> None:
    game, who = await forehand(rules, variant)
    before = await rules.get(game.game_id, who)
    for taking in TAKING[variant]:
        told = set[tuple[str, str, str]]()
        for text in LATER:
            batch = [notation(each) for each in (*taking, text)]
            act = rules.act(game.game_id, game.position.version, who, batch)
            legal = rules.legal(game.game_id, who, batch)
            for refused in (await refusal(act), await refusal(legal)):
                told.add((refused.code, refused.reason, str(sorted(refused.metadata.items()))))
        assert {each[:2] for each in told} == {("FAILED_PRECONDITION", "NOT_YOUR_TURN")}
        assert len(told) == 1
    assert await rules.get(game.game_id, who) == before


@pytest.mark.parametrize("variant", ["belote", "pilotta-classic"])
async def test_a_turn_is_told_as_one(rules: Rules, variant: str) -> None:
    game, who = await forehand(rules, variant)
    await rules.act(game.game_id, game.position.version, who, [notation("take")])
    events = [event.WhichOneof("event") for event in await rules.events(game.game_id)]
    assert events == ["game_started", "turn_started", "turn_ended", "turn_started"]
