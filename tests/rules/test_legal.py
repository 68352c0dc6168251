"""ListLegalActions: what may be done now, or after steps that were not sent."""

from __future__ import annotations

import pytest
from kafeneio.rules.v1 import actions_pb2
from kafeneio.rules.v1 import game_pb2 as pb
from kafeneio_games import portes

from tests.harness import OPERATOR, SEATS, SERVICE, STRANGER, Rules
from tests.rules.moves import latest, notation, seen
from tests.rules.refusal import refusal


def by_the_rules(state: portes.State) -> list[str]:
    """What the rules allow the mover, in their order."""
    game = portes.Portes()
    return [game.write(action) for action in game.legal(state, state.mover)]


async def test_it_is_what_the_rules_allow_at_every_step_of_a_game(rules: Rules) -> None:
    game = await rules.start()
    position, asked, doubles = game.position, 0, 0
    while position.status == pb.GAME_STATUS_RUNNING:
        who = SEATS[position.turn.seat]
        state, chosen = seen(position), list[actions_pb2.Action]()
        doubles += len(state.dice) == 4
        while True:
            answer = await rules.legal(game.game_id, who, chosen)
            assert (answer.version, answer.seat) == (position.version, position.turn.seat)
            assert answer.next_page_token == ""
            asked += 1
            rest = by_the_rules(state)
            if chosen and (state.mover != position.turn.seat or not state.dice):
                assert answer.complete
                assert list(answer.actions) == []
                break
            assert not answer.complete
            assert [action.notation for action in answer.actions] == rest
            chosen.append(answer.actions[-1])
            step = portes.Portes().read(chosen[-1].notation)
            state = portes.Portes().apply(state, state.mover, step)
        position = latest(await rules.act(game.game_id, position.version, who, chosen))
    assert doubles > 0
    assert asked > 100


async def test_whoever_looks_on_sees_what_the_mover_may_do(rules: Rules) -> None:
    game = await rules.start()
    seat = game.position.turn.seat
    own = await rules.legal(game.game_id, SEATS[seat])
    for who in (STRANGER, OPERATOR, SERVICE):
        assert await rules.legal(game.game_id, who) == own
        assert await rules.legal(game.game_id, who, own.actions[:1]) == await rules.legal(
            game.game_id, SEATS[seat], own.actions[:1]
        )
    refused = await refusal(rules.legal(game.game_id, SEATS[1 - seat]))
    assert refused.what == ("FAILED_PRECONDITION", "NOT_YOUR_TURN")


async def test_looking_changes_nothing(rules: Rules) -> None:
    game = await rules.start()
    before = await rules.snapshot()
    await rules.whole_turn(game.game_id, SEATS[game.position.turn.seat])
    assert await rules.snapshot() == before
    assert await rules.get(game.game_id) == game


@pytest.mark.parametrize("size", [1, 2, 500])
async def test_pages(rules: Rules, size: int) -> None:
    game = await rules.start()
    who = SEATS[game.position.turn.seat]
    first = (await rules.legal(game.game_id, who)).actions[0]
    for after in ([], [first]):
        whole = (await rules.legal(game.game_id, who, after)).actions
        assert len(whole) > 1
        found: list[actions_pb2.Action] = []
        request = pb.ListLegalActionsRequest(game_id=game.game_id, after=after, page_size=size)
        while True:
            page = await rules.ask(rules.games.ListLegalActions, request, who)
            assert len(page.actions) == min(size, len(whole) - len(found))
            found += page.actions
            if not page.next_page_token:
                break
            request.page_token = page.next_page_token
        assert found == list(whole)


async def test_a_page_is_good_as_long_as_the_version_stays(rules: Rules) -> None:
    game = await rules.start()
    seat = game.position.turn.seat
    request = pb.ListLegalActionsRequest(game_id=game.game_id, page_size=1)
    page = await rules.ask(rules.games.ListLegalActions, request, SEATS[seat])
    request.page_token = page.next_page_token
    assert await rules.ask(rules.games.ListLegalActions, request, SEATS[seat])
    await rules.act(game.game_id, game.position.version, SEATS[seat], page.actions)
    refused = await refusal(rules.ask(rules.games.ListLegalActions, request, SEATS[seat]))
    assert refused.what == ("ABORTED", "STALE_VERSION")
    assert refused.metadata == {"version": str(game.position.version + 1)}


async def test_after_the_first_checker_the_rest_of_the_turn(rules: Rules) -> None:
    game = await rules.start()
    who = SEATS[game.position.turn.seat]
    turn = await rules.whole_turn(game.game_id, who)
    answer = await rules.act(game.game_id, game.position.version, who, turn[:1])
    thought = await rules.legal(game.game_id, who)
    assert thought.version == answer.played.position.version
    assert turn[1] in thought.actions
    rest = await rules.legal(game.game_id, who, turn[1:])
    assert rest.complete


@pytest.mark.parametrize(("action", "rule"), [("pass", "V2.3"), ("64", "V2.9"), ("bar/20", "V2.1")])
async def test_illegal_steps_have_their_rule(rules: Rules, action: str, rule: str) -> None:
    game = await rules.start()
    who = SEATS[game.position.turn.seat]
    refused = await refusal(rules.legal(game.game_id, who, [notation(action)]))
    assert refused.what == ("FAILED_PRECONDITION", "ILLEGAL_ACTION")
    assert refused.metadata == {"rule": rule}
