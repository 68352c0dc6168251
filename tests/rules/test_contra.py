"""A contra carries the bid that it answers, so it may be sent without a version (A16)."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

import pytest
from kafeneio.rules.v1 import actions_pb2
from kafeneio.rules.v1 import game_pb2 as pb

from tests.harness import OPERATOR, SERVICE, STRANGER, Rules, new_id
from tests.rules.card_games import FOUR, CardTable, Deed, Packs, Script, some_chance
from tests.rules.moves import latest, notation
from tests.rules.referee import texts
from tests.rules.refusal import Refused, outcome_of, refusal

# The dealer is seat 3, so seat 0 speaks first. Contra may be said at any time.
CHANCE = some_chance(1, 2)
CHANCE.dealer = 3
AUCTION = Script("pilotta", {"contra_timing": "any_time"}, CHANCE).then(Deed(0, ("80S",)))
ILLEGAL = ("FAILED_PRECONDITION", "ILLEGAL_ACTION")


def contra(bid: int) -> actions_pb2.Action:
    """The answer to that bid of the auction."""
    return actions_pb2.Action(contra=actions_pb2.Contra(bid=bid))


@pytest.fixture
def rules(card_rules: Rules) -> Rules:
    """A house in which the test deals."""
    return card_rules


@pytest.fixture
def pair(card_pair: tuple[Rules, Rules]) -> tuple[Rules, Rules]:
    """Two replicas of one."""
    return card_pair


async def opened(rules: Rules, packs: Packs, *deeds: Deed) -> CardTable:
    """A game in which seat 0 has bid 80 in spades, and what else."""
    table = await CardTable.open(rules, packs, AUCTION.then(*deeds))
    await table.follow()
    return table


@pytest.mark.parametrize("action", [contra(1), notation("contra 1")])
async def test_it_stands_whatever_else_was_said(
    rules: Rules, packs: Packs, action: actions_pb2.Action
) -> None:
    """Said by who is not asked, on the bid that stands, by one who has not seen the passes."""
    table = await opened(rules, packs, Deed(1, ("pass",)), Deed(2, ("pass",)))
    answer = await rules.act(table.game_id, 0, FOUR[1], [action])
    assert texts(answer.played) == [(1, "contra 1")]
    assert answer.played.position.version == 5
    assert answer.played.position.view.tricks.contract.multiplier == 2
    assert answer.played.position.turn.seat == 2, "the calling side is asked for a recontra"


async def test_it_is_refused_where_its_bid_stands_no_more(rules: Rules, packs: Packs) -> None:
    table = await opened(rules, packs, Deed(1, ("pass",)), Deed(2, ("90S",)))
    before = await rules.snapshot()
    refused = await refusal(rules.act(table.game_id, 0, FOUR[1], [contra(1)]))
    assert refused.what == ILLEGAL
    assert refused.metadata == {"rule": "P16"}
    assert await rules.snapshot() == before
    answer = await rules.act(table.game_id, 0, FOUR[1], [contra(2)])
    assert texts(answer.played) == [(1, "contra 2")]


async def test_with_a_version_it_is_judged_like_any_action(rules: Rules, packs: Packs) -> None:
    table = await opened(rules, packs, Deed(1, ("pass",)))
    refused = await refusal(rules.act(table.game_id, 2, FOUR[1], [contra(1)]))
    assert refused.what == ("ABORTED", "STALE_VERSION")
    assert refused.metadata == {"version": "3"}
    answer = await rules.act(table.game_id, 3, FOUR[1], [contra(1)])
    assert answer.played.position.version == 4


async def test_nothing_else_may_be_sent_without_a_version(rules: Rules, packs: Packs) -> None:
    table = await opened(rules, packs)
    before = await rules.snapshot()
    for actions in (
        [notation("pass")],
        [notation("90S")],
        [contra(1), notation("pass")],
        [notation("pass"), contra(1)],
        [contra(1), contra(1)],
    ):
        refused = await refusal(rules.act(table.game_id, 0, FOUR[1], actions))
        assert refused.what == ("ABORTED", "STALE_VERSION"), actions
    assert await rules.snapshot() == before


@pytest.mark.parametrize(
    ("action", "what"),
    [
        (contra(2), ILLEGAL),
        (notation("contra 01"), ("INVALID_ARGUMENT", "MALFORMED")),
        (notation("contra "), ("INVALID_ARGUMENT", "MALFORMED")),
        (notation("contra x"), ("INVALID_ARGUMENT", "MALFORMED")),
        (
            actions_pb2.Action(contra=actions_pb2.Contra(bid=1), notation="contra 2"),
            ("INVALID_ARGUMENT", "MALFORMED"),
        ),
        (
            actions_pb2.Action(pass_turn=actions_pb2.Pass(), notation="contra 1"),
            ("INVALID_ARGUMENT", "MALFORMED"),
        ),
    ],
)
async def test_one_that_is_none(
    rules: Rules, packs: Packs, action: actions_pb2.Action, what: tuple[str, str]
) -> None:
    table = await opened(rules, packs)
    before = await rules.snapshot()
    refused = await refusal(rules.act(table.game_id, 0, FOUR[1], [action]))
    assert refused.what == what
    assert await rules.snapshot() == before


async def test_who_may_not_say_it(rules: Rules, packs: Packs) -> None:
    table = await opened(rules, packs)
    before = await rules.snapshot()
    for who, what in (
        (FOUR[0], ("FAILED_PRECONDITION", "NOT_YOUR_TURN")),
        (FOUR[2], ("FAILED_PRECONDITION", "NOT_YOUR_TURN")),
        (STRANGER, ("PERMISSION_DENIED", "NOT_YOUR_SEAT")),
        (SERVICE, ("PERMISSION_DENIED", "NOT_YOUR_SEAT")),
        (OPERATOR, ("PERMISSION_DENIED", "ROLE_REQUIRED")),
    ):
        assert (await refusal(rules.act(table.game_id, 0, who, [contra(1)]))).what == what, who
    assert await rules.snapshot() == before


async def test_before_the_start_after_the_end_and_where_there_is_none(
    rules: Rules, packs: Packs
) -> None:
    waiting = await rules.create(variant="pilotta", players=FOUR)
    refused = await refusal(rules.act(waiting.game_id, 0, FOUR[1], [contra(1)]))
    assert refused.reason == "GAME_NOT_STARTED"
    await rules.cancel(waiting.game_id)
    refused = await refusal(rules.act(waiting.game_id, 0, FOUR[1], [contra(1)]))
    assert refused.reason == "GAME_CANCELLED"
    table = await opened(rules, packs)
    await rules.abort(table.game_id)
    refused = await refusal(rules.act(table.game_id, 0, FOUR[1], [contra(1)]))
    assert refused.reason == "GAME_OVER"
    refused = await refusal(rules.act(new_id(), 0, FOUR[1], [contra(1)]))
    assert refused.reason == "GAME_UNKNOWN"


async def test_in_tavli_there_is_no_contra(database_url: str, keys: Path) -> None:
    async with Rules.serve(database_url, keys) as rules:
        game = await rules.start()
        who = ("eleni", "nikos")[game.position.turn.seat]
        for action in (contra(1), notation("contra 1")):
            refused = await refusal(rules.act(game.game_id, 0, who, [action]))
            assert refused.what == ("INVALID_ARGUMENT", "MALFORMED")


async def test_sent_again_it_is_the_same(pair: tuple[Rules, Rules], packs: Packs) -> None:
    table = await opened(pair[0], packs, Deed(1, ("pass",)))
    request_id = new_id()
    answers = await asyncio.gather(
        *(pair[n % 2].act(table.game_id, 0, FOUR[3], [contra(1)], request_id) for n in range(10))
    )
    assert all(each == answers[0] for each in answers)
    await pair[1].act(table.game_id, 4, FOUR[0], [notation("pass")])
    before = await pair[0].snapshot()
    for rules in pair:
        again = await rules.act(table.game_id, 0, FOUR[3], [contra(1)], request_id)
        assert again == answers[0]
        other = await refusal(rules.act(table.game_id, 0, FOUR[3], [contra(2)], request_id))
        assert other.what == ("ALREADY_EXISTS", "REQUEST_ID_REUSED")
    assert await pair[0].snapshot() == before


async def test_a16_a_contra_and_a_higher_bid_at_once(
    pair: tuple[Rules, Rules], packs: Packs
) -> None:
    """Whichever comes first stands; the other is refused, and says why."""
    won = Counter[str]()
    for number in range(10):
        table = await opened(pair[0], packs, Deed(1, ("pass",)))
        await pair[1].get(table.game_id)
        bid, answered = await asyncio.gather(
            outcome_of(pair[number % 2].act(table.game_id, 3, FOUR[2], [notation("90S")])),
            outcome_of(pair[1 - number % 2].act(table.game_id, 0, FOUR[3], [contra(1)])),
        )
        if isinstance(answered, Refused):
            assert isinstance(bid, pb.ActResponse)
            assert answered.what == ILLEGAL
            assert answered.metadata == {"rule": "P16"}
            won["bid"] += 1
        else:
            assert isinstance(bid, Refused)
            assert bid.what == ("ABORTED", "STALE_VERSION")
            won["contra"] += 1
        assert len(await pair[0].log_rows(table.game_id)) == 4
    assert won.total() == 10


async def test_a_contra_and_a_pass_at_once(pair: tuple[Rules, Rules], packs: Packs) -> None:
    """A pass is nothing to a contra: it stands before it and behind it."""
    for number in range(8):
        table = await opened(pair[0], packs)
        await pair[1].get(table.game_id)
        passed, answered = await asyncio.gather(
            outcome_of(pair[number % 2].act(table.game_id, 2, FOUR[1], [notation("pass")])),
            pair[1 - number % 2].act(table.game_id, 0, FOUR[3], [contra(1)]),
        )
        assert texts(answered.played) == [(3, "contra 1")]
        if isinstance(passed, Refused):
            assert passed.what == ("ABORTED", "STALE_VERSION")
            assert latest(answered).version == 3
        else:
            assert latest(answered).version == 4


async def test_a_computer_says_it_too(rules: Rules, packs: Packs) -> None:
    table = await opened(rules, packs, Deed(3))
    await rules.act(table.game_id, 3, FOUR[1], [notation("pass")])
    refused = await refusal(rules.act(table.game_id, 0, FOUR[3], [contra(1)]))
    assert refused.what == ("PERMISSION_DENIED", "NOT_YOUR_SEAT")
    refused = await refusal(rules.act(table.game_id, 0, SERVICE, [contra(1)], as_seat=1))
    assert refused.what == ("PERMISSION_DENIED", "NOT_YOUR_SEAT")
    answer = await rules.act(table.game_id, 0, SERVICE, [contra(1)], as_seat=3)
    assert texts(answer.played) == [(3, "contra 1")]
