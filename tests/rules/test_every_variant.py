"""Every variant of tavli over the API: what its rules refuse is refused by their ids."""

from __future__ import annotations

from random import Random
from typing import Final

import pytest
from kafeneio_games import registry
from kafeneio_games.game import Entry, Illegal, Seat, Unreadable
from kafeneio_games.play import Play

from tests.games.test_conformance import CONCEIVABLE
from tests.harness import SEATS, Rules
from tests.rules import referee
from tests.rules.moves import notation
from tests.rules.refusal import refusal

TURNS: Final = 60
TRIED: Final = 12
"""Actions of each turn that are held against the rules, and sent where they name a new one."""
EXPECTED: Final[dict[str, set[str]]] = {
    "portes": {"V2.1", "V2.3", "V3.2"},
    "plakoto": {"V2.1", "V4.3"},
    "fevga": {"V2.1", "V5.1", "V5.2"},
    "gulbara": {"V2.1", "V5.1", "V6.2"},
}


def refused_by(play: Play, seat: Seat, text: str) -> str | None:
    """The rule that refuses an action, by the rules themselves; None where none does."""
    try:
        play.apply(Entry(seat, text))
    except Illegal as illegal:
        return illegal.rule
    except Unreadable:  # some that can be thought of cannot be written
        return None
    return None


@pytest.mark.parametrize("variant", [each.id for each in registry.variants() if not each.hidden])
async def test_refusals_by_name(rules: Rules, variant: str) -> None:
    game = await rules.start(variant=variant)
    first = await anext(aiter(rules.watch(game.game_id)))
    play = referee.after(referee.beginning(game), first.update)
    version, chance, met = 1, Random(7), dict[str, set[str]]()
    for _ in range(TURNS):
        if play.over or play.prompted is None or play.game is None:
            break
        seat, rules_of = play.prompted, play.game
        conceivable = list(CONCEIVABLE[rules_of.name])
        for action in chance.sample(conceivable, min(TRIED, len(conceivable))):
            text = rules_of.write(action)
            rule = refused_by(play, seat, text)
            known = met.setdefault(rules_of.name.partition("@")[0], set())
            if rule is None or rule in known:
                continue
            known.add(rule)
            told = await refusal(rules.act(game.game_id, version, SEATS[seat], [notation(text)]))
            assert (told.code, told.reason) == ("FAILED_PRECONDITION", "ILLEGAL_ACTION")
            assert told.metadata["rule"] == rule
            assert (await rules.get(game.game_id)).position.version == version
        step = rules_of.write(chance.choice(list(play.legal(seat))))
        answer = await rules.act(game.game_id, version, SEATS[seat], [notation(step)])
        play, version = referee.after(play, answer.played), version + 1
        if answer.HasField("house"):
            play, version = referee.after(play, answer.house), version + 1
    assert met
    assert all(EXPECTED[name] <= rules_met for name, rules_met in met.items()), met
