"""Whoever plays cards is told nothing of those that he may not see.

Of each game there are two: the unseen cards are dealt otherwise in the second, and the same is
played. Every byte that the viewer is told must be the same, but for ids and times.
"""

from __future__ import annotations

from random import Random

import pytest
from kafeneio_games.cards import SHORT_PACK

from tests.harness import Rules
from tests.rules.card_games import Deed, Packs, Script, passes, played, some_chance
from tests.rules.redeal import SPECTATOR, followed, hands, redealt

LENGTHS = (2, 9, 14, 20, 31)


@pytest.fixture
def rules(card_rules: Rules) -> Rules:
    """A house in which the test deals."""
    return card_rules


def some_script(seed: int, length: int) -> Script:
    """A hand that nobody wants, and so many calls of the next."""
    random = Random(seed)
    script = Script("pilotta", {}, some_chance(seed))
    return played(played(script, 4, random, passes), length, random)


async def compare(rules: Rules, packs: Packs, script: Script, viewer: int, seed: int) -> bool:
    """Plays a game and its like; whether there was one. Fails where the viewer can tell."""
    other = redealt(script, viewer, Random(seed))
    if other is None:
        return False
    first, second = [await followed(rules, packs, each, viewer) for each in (script, other)]
    assert [what for what, _ in first.heard] == [what for what, _ in second.heard]
    for (what, one), (_, two) in zip(first.heard, second.heard, strict=True):
        assert one == two, (len(script.deeds), what)
    return True


@pytest.mark.parametrize("viewer", [0, 1, 2, 3, SPECTATOR])
async def test_other_cards_change_nothing_that_is_told(
    rules: Rules, packs: Packs, viewer: int
) -> None:
    compared = 0
    for length in LENGTHS:
        script = some_script(10 * length + viewer, length)
        compared += await compare(rules, packs, script, viewer, length)
    assert compared >= 3


@pytest.mark.parametrize("viewer", [0, 1, 2, 3])
async def test_f5_who_is_out_is_told_no_more_than_a_spectator(
    rules: Rules, packs: Packs, viewer: int
) -> None:
    """His own cards, too, may then be others; also in what he was told before (F5)."""
    compared = 0
    for length in (0, 6, 14, 20):
        script = some_script(10 * length + viewer, length).then(Deed(viewer))
        script = played(script, 3, Random(length))
        compared += await compare(rules, packs, script, viewer, length)
    assert compared >= 3


async def test_f1_whose_partner_is_out_is_told_no_more_than_before(
    rules: Rules, packs: Packs
) -> None:
    compared = 0
    for length in (3, 12, 18):
        script = some_script(length, length).then(Deed(2), Deed(1))
        script = played(script, 5, Random(length))
        compared += await compare(rules, packs, script, 0, length)
    assert compared >= 2


async def test_the_other_seats_can_tell_these_games_apart(rules: Rules, packs: Packs) -> None:
    """Or all of this would show nothing."""
    script = some_script(3, 14)
    other = redealt(script, 0, Random(3))
    assert other is not None
    for seat in (1, 2, 3):
        first, second = [await followed(rules, packs, each, seat) for each in (script, other)]
        pairs = zip(first.heard, second.heard, strict=True)
        differ = {what for (what, one), (_, two) in pairs if one != two}
        if hands(script.plays()[-1])[seat] != hands(other.plays()[-1])[seat]:
            assert {"GetGame", "WatchGame 1", "WatchGame, after the end, 1"} <= differ


def test_these_games_have_everything_in_them() -> None:
    """A hand that nobody wanted, bids, declarations, cards, and every question of the auction."""
    did, stages = set[str](), set[str]()
    for viewer in (0, 1, 2, 3, SPECTATOR):
        for length in LENGTHS:
            script = some_script(10 * length + viewer, length)
            assert script.plays()[-1].round >= 2
            stages |= {play.state.stage.value for play in script.plays()}
            did |= {text for deed in script.deeds for text in deed.texts}
    assert did >= {"pass", "declare"}
    assert len(did & set(SHORT_PACK)) > 20
    assert stages == {"bidding", "contra", "recontra", "playing"}
