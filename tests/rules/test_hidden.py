"""Whoever plays cards is told nothing of those that he may not see.

Of each game there are two: the unseen cards are dealt otherwise in the second, and the same is
played. Every byte that the viewer is told must be the same, but for ids and times.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from _pytest.mark import ParameterSet
from kafeneio_games import rummy_hand
from kafeneio_games.cards import SHORT_PACK

from tests.harness import SEATS, Rules
from tests.rules.card_games import Deed, Packs, Script, passes, played, some_chance
from tests.rules.moves import latest, notation
from tests.rules.redeal import followed, redealt
from tests.rules.refusal import refusal
from tests.rules.sights import RUMMY, SPECTATOR, TRICKS, Sight, trick_hands

LENGTHS = (2, 9, 14, 20, 31)


def rest(seat: int) -> ParameterSet:
    """A seat that sees as others do: looked at in the drills."""
    return pytest.param(seat, marks=pytest.mark.drill)


@pytest.fixture
def rules(card_rules: Rules) -> Rules:
    """A house in which the test deals."""
    return card_rules


def some_script(seed: int, length: int) -> Script:
    """A hand that nobody wants, and so many calls of the next."""
    random = Random(seed)
    script = Script("pilotta", {}, some_chance(seed))
    return played(played(script, 4, random, passes), length, random)


async def compare(
    rules: Rules, packs: Packs, script: Script, viewer: int, seed: int, sight: Sight = TRICKS
) -> bool:
    """Plays a game and its like; whether there was one. Fails where the viewer can tell."""
    other = redealt(script, viewer, Random(seed), sight)
    if other is None:
        return False
    first, second = [await followed(rules, packs, each, viewer, sight) for each in (script, other)]
    assert [what for what, _ in first.heard] == [what for what, _ in second.heard]
    for (what, one), (_, two) in zip(first.heard, second.heard, strict=True):
        assert one == two, (len(script.deeds), what)
    return True


@pytest.mark.parametrize("viewer", [0, *(rest(seat) for seat in (1, 2, 3)), SPECTATOR])
async def test_other_cards_change_nothing_that_is_told(
    rules: Rules, packs: Packs, viewer: int
) -> None:
    compared = 0
    for length in LENGTHS:
        script = some_script(10 * length + viewer, length)
        compared += await compare(rules, packs, script, viewer, length)
    assert compared >= 3


@pytest.mark.parametrize("viewer", [0, *(rest(seat) for seat in (1, 2, 3))])
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


@pytest.mark.parametrize("viewer", [0, *(rest(seat) for seat in (1, 2)), SPECTATOR])
async def test_in_rummy_too(rules: Rules, packs: Packs, viewer: int) -> None:
    """Also what a card of the stock is, whoever draws it."""
    for length in (5, 16):
        random = Random(length)
        chance = some_chance(length, 2, rummy_hand.PACK)
        script = played(Script("koumkan", {"players": "3"}, chance), length, random)
        assert await compare(rules, packs, script, viewer, length, RUMMY)


async def test_f5_in_rummy_who_is_out_is_told_no_more_than_a_spectator(
    rules: Rules, packs: Packs
) -> None:
    chance = some_chance(4, 2, rummy_hand.PACK)
    script = played(Script("koumkan", {"players": "3"}, chance), 7, Random(4)).then(Deed(1))
    script = played(script, 6, Random(4))
    assert await compare(rules, packs, script, 1, 4, RUMMY)


@pytest.mark.parametrize("variant", ["koumkan", "thanasis", "dynamitis"])
async def test_a_card_cannot_be_guessed_before_it_is_drawn(
    database_url: str, keys: Path, variant: str
) -> None:
    """A refusal changes nothing: what may follow a draw would tell the card, again and again."""
    async with Rules.serve(database_url, keys) as rules:
        game = await rules.start(variant=variant)
        version, mover = game.position.version, SEATS[game.position.turn.seat]
        before = await rules.snapshot()
        for card in RUMMY.deck:
            batch = [notation("draw"), notation(f"discard {card}")]
            refused = await refusal(rules.act(game.game_id, version, mover, batch))
            assert refused.what == ("INVALID_ARGUMENT", "MALFORMED"), card
            assert refused.fields == ("actions[0]",)
            refused = await refusal(rules.legal(game.game_id, mover, batch))
            assert refused.fields == ("after[0]",)
        refused = await refusal(rules.legal(game.game_id, mover, [notation("draw")]))
        assert refused.what == ("INVALID_ARGUMENT", "MALFORMED")
        assert await rules.snapshot() == before
        answer = await rules.act(game.game_id, version, mover, [notation("draw")])
        assert len(latest(answer).view.rummy.hand) == 11
        own = await rules.legal(game.game_id, mover, kind="discard")
        assert {action.discard.card for action in own.actions} <= {*latest(answer).view.rummy.hand}


async def test_the_other_seats_can_tell_these_games_apart(rules: Rules, packs: Packs) -> None:
    """Or all of this would show nothing."""
    script = some_script(3, 14)
    other = redealt(script, 0, Random(3))
    assert other is not None
    for seat in (1, 2, 3):
        first, second = [await followed(rules, packs, each, seat) for each in (script, other)]
        pairs = zip(first.heard, second.heard, strict=True)
        differ = {what for (what, one), (_, two) in pairs if one != two}
        if trick_hands(script.plays()[-1])[seat] != trick_hands(other.plays()[-1])[seat]:
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
