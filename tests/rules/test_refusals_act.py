"""What no seat may play: the entries of the house, of chance and of the table, in either form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pytest
from kafeneio.rules.v1 import actions_pb2
from kafeneio.rules.v1 import game_pb2 as pb

from tests.harness import new_id
from tests.rules.moves import notation
from tests.rules.refusal import Refused, refusal
from tests.rules.stage import Stage

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("refusals of acts"),
]

Action = actions_pb2.Action
UNREADABLE: Final = ("INVALID_ARGUMENT", "MALFORMED")
ILLEGAL: Final = ("FAILED_PRECONDITION", "ILLEGAL_ACTION")


def forfeit(reason: int) -> actions_pb2.Action:
    """A forfeit as a message; the reason may be one that does not exist."""
    body = b"" if reason == 0 else bytes((8, reason))
    return Action(forfeit=actions_pb2.Forfeit.FromString(body))


def void(reason: int) -> actions_pb2.Action:
    """An end as a message; the reason may be one that does not exist."""
    body = b"" if reason == 0 else bytes((8, reason))
    return Action(void_game=actions_pb2.VoidGame.FromString(body))


TABLE: Final[dict[str, actions_pb2.Action]] = {
    text: notation(text)
    for text in (
        "!resign",
        "!forfeit LEFT",
        "!forfeit CONNECTION_LOST",
        "!forfeit TIMEOUTS_EXCEEDED",
        "!void OPERATOR",
        "!void NO_SHOW",
        "!void HOUSE",
        "!void ALL_FORFEITED",
        "!cancel",
        "!",
        "opening 63",
        "opening 11",
        "-1 64",
        "-2 !cancel",
    )
} | {
    "resign_round": Action(resign_round=actions_pb2.ResignRound()),
    "forfeit LEFT": forfeit(actions_pb2.FORFEIT_REASON_LEFT),
    "forfeit without a reason": forfeit(0),
    "forfeit for a reason to come": forfeit(99),
    "void OPERATOR": void(actions_pb2.VOID_REASON_OPERATOR),
    "void without a reason": void(0),
    "void for a reason to come": void(99),
    "cancel_before_start": Action(cancel_before_start=actions_pb2.CancelBeforeStart()),
    "opening_throw": Action(opening_throw=actions_pb2.OpeningThrow(dice=(6, 3))),
}
NOT_CANONICAL: Final[dict[str, actions_pb2.Action]] = {
    repr(text): notation(text)
    for text in (
        "",
        " ",
        "13/8 ",
        " 13/8",
        "13/8\n-1 64",
        "13/8\n",
        "13/08",
        "13/8/5",
        "13-8",
        "25/20",
        "BAR/20",
        "6/0",
        "6/off(06)",
        "13/13",
        "8/13",
        "13/6",
        "٣/٢",
        "13/8\0",
        "PASS",
        "6",
        "641",
        "07",
        "9" * 300,
    )
}
DIFFERENT: Final[dict[str, actions_pb2.Action]] = {
    "two forms that differ": Action(
        move_checker=actions_pb2.MoveChecker(start=13, die=5), notation="13/7"
    ),
    "a move called a pass": Action(
        move_checker=actions_pb2.MoveChecker(start=13, die=5), notation="pass"
    ),
    "a pass called a resignation": Action(pass_turn=actions_pb2.Pass(), notation="!resign"),
    "an action to come": Action.FromString(b"\x4a\x00"),
    "nothing": Action(),
}
MALFORMED: Final = TABLE | NOT_CANONICAL | DIFFERENT
FORBIDDEN: Final[dict[str, tuple[actions_pb2.Action, str]]] = {
    "64": (notation("64"), "V2.9"),
    "11": (notation("11"), "V2.9"),
    "roll_dice": (Action(roll_dice=actions_pb2.RollDice(dice=(6, 4))), "V2.9"),
    "pass": (notation("pass"), "V2.3"),
    "pass_turn": (Action(pass_turn=actions_pb2.Pass()), "V2.3"),
    "both forms": (Action(pass_turn=actions_pb2.Pass(), notation="pass"), "V2.3"),
}


async def acted(stage: Stage, who: str, actions: Sequence[actions_pb2.Action]) -> Refused:
    """How a batch is refused; it has changed nothing, not even for who looks at the game."""
    game_id = stage.running.game_id
    before = await stage.rules.snapshot()
    refused = await refusal(stage.rules.act(game_id, stage.version, who, actions))
    assert await stage.rules.snapshot() == before
    assert await stage.rules.get(game_id) == stage.running
    return refused


@pytest.mark.parametrize("name", MALFORMED)
async def test_what_is_no_action_of_a_seat(stage: Stage, name: str) -> None:
    refused = await acted(stage, stage.mover, [MALFORMED[name]])
    assert refused.what == UNREADABLE
    assert refused.fields == ("actions[0]",)


@pytest.mark.parametrize("name", TABLE)
async def test_not_behind_a_good_move_either(stage: Stage, name: str) -> None:
    refused = await acted(stage, stage.mover, [stage.turn[0], TABLE[name]])
    assert refused.what == UNREADABLE
    assert refused.fields == ("actions[1]",)


@pytest.mark.parametrize("name", FORBIDDEN)
async def test_what_the_house_does_by_itself(stage: Stage, name: str) -> None:
    action, rule = FORBIDDEN[name]
    refused = await acted(stage, stage.mover, [action])
    assert refused.what == ILLEGAL
    assert refused.metadata == {"rule": rule}


async def test_after_a_whole_turn_nothing_follows(stage: Stage) -> None:
    refused = await acted(stage, stage.mover, [*stage.turn, notation("64")])
    assert refused.what == ("FAILED_PRECONDITION", "NOT_YOUR_TURN")


@pytest.mark.parametrize("name", [*TABLE, *FORBIDDEN])
async def test_a_waiting_seat_may_not_either(stage: Stage, name: str) -> None:
    action = TABLE[name] if name in TABLE else FORBIDDEN[name][0]
    refused = await acted(stage, stage.waiter, [action])
    assert refused.what == ("FAILED_PRECONDITION", "NOT_YOUR_TURN")
    assert refused.metadata == {"version": str(stage.version)}


@pytest.mark.parametrize("name", MALFORMED)
async def test_not_in_steps_that_are_only_thought_of(stage: Stage, name: str) -> None:
    request = pb.ListLegalActionsRequest(
        game_id=stage.running.game_id, after=[stage.turn[0], MALFORMED[name]]
    )
    refused = await refusal(stage.rules.ask(stage.rules.games.ListLegalActions, request, "eleni"))
    if stage.mover != "eleni":
        assert refused.what == ("FAILED_PRECONDITION", "NOT_YOUR_TURN")
        refused = await refusal(
            stage.rules.ask(stage.rules.games.ListLegalActions, request, stage.mover)
        )
    assert refused.what == UNREADABLE
    assert refused.fields == ("after[1]",)


async def test_the_request_id_of_a_refused_call_is_still_free(stage: Stage) -> None:
    game_id, request_id = stage.running.game_id, new_id()
    for action in (notation("!resign"), notation("64"), notation("pass")):
        refused = await refusal(
            stage.rules.act(game_id, stage.version, stage.mover, [action], request_id)
        )
        assert refused.reason in {"MALFORMED", "ILLEGAL_ACTION"}
    assert await stage.rules.get(game_id) == stage.running
