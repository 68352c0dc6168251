"""Rummy: a seat that has lost is in the game no more, while the others play on."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import pytest
from kafeneio.rules.v1 import game_pb2 as pb
from kafeneio_games import rummy_hand
from kafeneio_games.cards import Card, read_cards

from tests.harness import SERVICE, STRANGER, Rules
from tests.rules.card_games import FOUR, CardTable, Deed, Packs, Script, Stacked, some_chance
from tests.rules.moves import notation
from tests.rules.refusal import refusal

# Seat 0 goes out with its first turn; seat 1 then counts 100, more than the 51 played to; seat 2
# counts 25, twos and threes.
HANDS = ("7S7H7D8S8H8D9S9H9DAC", "KSKHKDKCQSQHQDQCJSJH", "2S2H2D2C2S3S3H3D3C3S", "4C", "7C")
OUT = (
    *("draw", "meld group 7S7H7D", "meld group 8S8H8D", "meld group 9S9H9D"),
    *("lay 7C 1", "discard AC"),
)


def pack() -> tuple[Card, ...]:
    """The hands, the turned card and the next one; then the rest."""
    first = [card for hand in HANDS for card in read_cards(hand)]
    rest = Counter(rummy_hand.PACK) - Counter(first)
    return (*first, *rest.elements())


@dataclass
class Knocked:
    """A game of three, in its second hand, in which seat 1 takes no part."""

    rules: Rules
    game_id: str


@pytest.fixture
async def knocked(card_rules: Rules, packs: Packs) -> Knocked:
    """Such a game."""
    later = some_chance(1, 3, rummy_hand.PACK).packs
    chance = Stacked(2, [pack(), *later])
    script = Script("koumkan", {"players": "3"}, chance).then(Deed(0, OUT[:1]), Deed(0, OUT[1:]))
    table = await CardTable.open(card_rules, packs, script, target=51)
    await table.follow()
    return Knocked(card_rules, table.game_id)


async def test_the_others_play_on(knocked: Knocked) -> None:
    position = (await knocked.rules.get(knocked.game_id)).position
    assert position.status == pb.GAME_STATUS_RUNNING
    assert (position.round, list(position.score)) == (2, [0, 100, 25])
    assert list(position.view.rummy.live) == [0, 2]
    assert list(position.view.rummy.counts) == [10, 0, 10]
    last = position.last_round
    assert (last.round, list(last.points), last.ending) == (1, [0, 100, 25], "went-out")
    assert [end.deadwood for end in last.view.rummy.ends] == [0, 100, 25], "shown to all (K24)"


async def test_who_has_lost_can_neither_leave_nor_play(knocked: Knocked) -> None:
    rules, game_id = knocked.rules, knocked.game_id
    position = (await rules.get(game_id)).position
    before = await rules.snapshot()
    refused = await refusal(rules.forfeit(game_id, 1, "LEFT"))
    assert refused.what == ("FAILED_PRECONDITION", "SEAT_ELIMINATED")
    refused = await refusal(rules.act(game_id, position.version, FOUR[1], [notation("draw")]))
    assert refused.what == ("FAILED_PRECONDITION", "NOT_YOUR_TURN")
    assert (await refusal(rules.legal(game_id, FOUR[1]))).reason == "NOT_YOUR_TURN"
    refused = await refusal(rules.resign(game_id, FOUR[1], 2))
    assert refused.code == "FAILED_PRECONDITION"
    assert await rules.snapshot() == before


async def test_he_sees_what_a_spectator_sees(knocked: Knocked) -> None:
    own = (await knocked.rules.get(knocked.game_id, FOUR[1])).position
    spectators = (await knocked.rules.get(knocked.game_id, STRANGER)).position
    assert (own.view, own.view_hash) == (spectators.view, spectators.view_hash)
    assert list(own.last_round.view.rummy.hand) != [], "of his own last hand he sees the end"
    assert list(spectators.last_round.view.rummy.hand) == []
    assert (await knocked.rules.get(knocked.game_id, SERVICE)).position == spectators


async def test_f3_the_last_one_left_wins(knocked: Knocked) -> None:
    rules, game_id = knocked.rules, knocked.game_id
    await rules.forfeit(game_id, 2, "LEFT")
    over = (await rules.get(game_id)).position
    assert list(over.outcome.decided.winners) == [0]
    finished = (await rules.events(game_id))[-1].game_finished
    assert [(each.seat, each.computer) for each in finished.forfeits] == [(2, False)]
