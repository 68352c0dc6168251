"""Koum-kan, Thanasis and Dynamitis at the calls: kinds of actions in pages, and the blind draw.

A drawn card is seen before anything else is judged: whether a step after it is refused would tell
which card it is, and a refusal changes nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Final, TypeVar

import pytest
from kafeneio.rules.v1 import actions_pb2, views_pb2
from kafeneio.rules.v1 import game_pb2 as pb
from kafeneio_games.cards import read_cards
from kafeneio_games.chance import ProvableDraw
from kafeneio_games.rummy_hand import PACK

from tests.harness import SERVICE, STRANGER, Rules
from tests.rules.moves import latest, notation
from tests.rules.refusal import refusal

T = TypeVar("T")
THREE: Final = ("eleni", "nikos", "maria")
KINDS: Final = ("draw_stock", "take_discard", "lay_meld", "lay_off", "swap_joker", "discard")
"""The kinds of Koum-kan, in the order in which its actions are listed."""
OTHER_KINDS: Final = ("go_out", "put_back", "reshuffle", "deal", "bid", "move_checker", "meld", "?")
FIRST: Final = read_cards("4S5S6S7S8S****9D")
"""What the first player holds: there are hundreds of ways to meld of it."""
SECOND: Final = read_cards("4H5H6H7H8H9HTHJHQHKH")
DRAW: Final = actions_pb2.Action(draw_stock=actions_pb2.DrawStock())


class Rich(ProvableDraw):
    """The last seat deals, and the first two get these hands; the third what is left."""

    def below(self, n: int) -> int:
        """The last one."""
        self.position += 1
        return n - 1

    def shuffled(self, cards: Sequence[T]) -> tuple[T, ...]:
        """The pack with these hands on top."""
        self.position += 1
        assert len(cards) == len(PACK)
        first = (*FIRST, *SECOND)
        pack: Any = (*first, *(Counter(PACK) - Counter(first)).elements())
        return tuple(pack)


@pytest.fixture
async def rich(database_url: str, keys: Path) -> AsyncIterator[Rules]:
    """A house that deals so."""
    async with Rules.serve(database_url, keys, lambda secret, stream: Rich(secret, stream)) as made:
        yield made


async def begin(rules: Rules, variant: str = "koumkan", **options: str) -> pb.Game:
    """A game of three that has started."""
    options["players"] = "3"
    return await rules.start(variant=variant, players=THREE, options=options)


async def act(rules: Rules, game_id: str, *texts: str) -> pb.Position:
    """Whoever is prompted plays a batch; the position after it."""
    turn = await rules.turn(game_id)
    who = THREE[turn.turn.seat]
    batch = [notation(text) for text in texts]
    return latest(await rules.act(game_id, turn.version, who, batch))


async def pages(
    rules: Rules, who: str, request: pb.ListLegalActionsRequest
) -> list[list[actions_pb2.Action]]:
    """All pages of a list."""
    found: list[list[actions_pb2.Action]] = []
    while True:
        page = await rules.ask(rules.games.ListLegalActions, request, who)
        assert not page.complete
        found.append(list(page.actions))
        if not page.next_page_token:
            return found
        request.page_token = page.next_page_token


# ---------------------------------------------------------------- kinds, in pages


async def check_kinds(rules: Rules, game_id: str, seat: int, *after: str) -> set[str]:
    """Each kind alone is its part of the whole, whatever the size of the pages; which there are."""
    who, steps = THREE[seat], [notation(text) for text in after]

    def request(kind: str, size: int) -> pb.ListLegalActionsRequest:
        return pb.ListLegalActionsRequest(game_id=game_id, after=steps, kind=kind, page_size=size)

    whole = [*chain(*await pages(rules, who, request("", 500)))]
    together: list[actions_pb2.Action] = []
    for kind in KINDS:
        for size in (0, 500, 7):
            found = await pages(rules, who, request(kind, size))
            assert all(len(page) == (size or 500) for page in found[:-1])
            assert len(found[-1]) <= (size or 500)
            listed = [*chain(*found)]
            assert {action.WhichOneof("action") for action in listed} <= {kind}
            assert listed == [each for each in whole if each.WhichOneof("action") == kind]
        together += listed
    assert together == whole
    assert len({action.notation for action in whole}) == len(whole)
    for kind in OTHER_KINDS:
        assert await pages(rules, who, request(kind, 0)) == [[]]
    return {str(action.WhichOneof("action")) for action in whole}


async def test_each_kind_alone_is_its_part_of_the_whole(rich: Rules) -> None:
    game_id = (await begin(rich)).game_id
    assert await check_kinds(rich, game_id, 0) == {"draw_stock", "take_discard"}
    await act(rich, game_id, "draw")
    request = pb.ListLegalActionsRequest(game_id=game_id, kind="lay_meld")
    (first, *more) = await pages(rich, THREE[0], request)
    assert len(first) == 500, "without a number a page has five hundred"
    assert more
    assert await check_kinds(rich, game_id, 0) == {"lay_meld", "discard"}
    meld = "meld run 4S*6S"
    all_kinds = {"lay_meld", "lay_off", "swap_joker", "discard"}
    assert await check_kinds(rich, game_id, 0, meld) == all_kinds
    await act(rich, game_id, meld)
    assert await check_kinds(rich, game_id, 0) == all_kinds
    rest = await check_kinds(rich, game_id, 0, "swap 5S 1", "meld run 7S8S*")
    assert rest == all_kinds - {"swap_joker"}


async def test_a_kind_of_the_two_games_without_melds(rules: Rules) -> None:
    for variant in ("thanasis", "dynamitis"):
        game = await begin(rules, variant)
        who = THREE[game.position.turn.seat]
        for kind in (*KINDS, *OTHER_KINDS):
            listed = await rules.legal(game.game_id, who, kind=kind)
            assert [each.notation for each in listed.actions] == ["draw"] * (kind == "draw_stock")
        await act(rules, game.game_id, "draw")
        whole = (await rules.legal(game.game_id, who)).actions
        outs = (await rules.legal(game.game_id, who, kind="go_out")).actions
        discards = (await rules.legal(game.game_id, who, kind="discard")).actions
        assert [*outs, *discards] == list(whole)
        hand = (await rules.get(game.game_id, who)).position.view.rummy.hand
        assert [each.discard.card for each in discards] == list(dict.fromkeys(hand))


async def test_a_page_is_good_as_long_as_the_version_stays(rich: Rules) -> None:
    game_id = (await begin(rich)).game_id
    await act(rich, game_id, "draw")
    request = pb.ListLegalActionsRequest(game_id=game_id, kind="lay_meld", page_size=5)
    page = await rich.ask(rich.games.ListLegalActions, request, THREE[0])
    request.page_token = page.next_page_token
    await act(rich, game_id, "meld run 4S5S6S")
    refused = await refusal(rich.ask(rich.games.ListLegalActions, request, THREE[0]))
    assert refused.what == ("ABORTED", "STALE_VERSION")


async def test_nobody_else_may_list_anything(rich: Rules) -> None:
    game_id = (await begin(rich)).game_id
    for kind in ("", *KINDS):
        for who in (STRANGER, SERVICE):
            assert (await refusal(rich.legal(game_id, who, kind=kind))).reason == "NOT_YOUR_SEAT"
        for who in THREE[1:]:
            assert (await refusal(rich.legal(game_id, who, kind=kind))).reason == "NOT_YOUR_TURN"


# ---------------------------------------------------------------- the blind draw

BLIND: Final = (
    ("draw", "discard 9D"),
    ("draw", "discard 9C"),
    ("draw", "draw"),
    ("draw", "take"),
    ("draw", "meld run 4S5S6S", "discard 9D"),
)


@pytest.mark.parametrize("variant", ["koumkan", "thanasis", "dynamitis"])
async def test_nothing_can_follow_a_draw(rules: Rules, variant: str) -> None:
    game = await begin(rules, variant)
    game_id, position = game.game_id, game.position
    who = THREE[position.turn.seat]
    before = await rules.snapshot()
    for texts in (*BLIND, ("draw", *["discard 9D"] * 31)):
        batch = [notation(text) for text in texts]
        for actions in (batch, [DRAW, *batch[1:]]):
            sent = await refusal(rules.act(game_id, position.version, who, actions))
            thought = await refusal(rules.legal(game_id, who, actions))
            for refused, field in ((sent, "actions[0]"), (thought, "after[0]")):
                assert refused.what == ("INVALID_ARGUMENT", "MALFORMED")
                assert refused.fields == (field,)
    assert await rules.snapshot() == before
    assert (await rules.turn(game_id)).turn == position.turn


@pytest.mark.parametrize("draw", [notation("draw"), DRAW])
async def test_no_look_at_what_a_draw_would_bring(rules: Rules, draw: actions_pb2.Action) -> None:
    for variant in ("koumkan", "thanasis", "dynamitis"):
        game = await begin(rules, variant)
        who = THREE[game.position.turn.seat]
        before = await rules.snapshot()
        for kind in ("", "discard", "lay_meld", "go_out"):
            refused = await refusal(rules.legal(game.game_id, who, [draw], kind=kind))
            assert refused.what == ("INVALID_ARGUMENT", "MALFORMED")
            assert refused.fields == ("after[0]",)
        assert await rules.snapshot() == before
        listed = actions_pb2.Action(notation="draw", draw_stock=DRAW.draw_stock)
        assert (await rules.legal(game.game_id, who)).actions[0] == listed
        await rules.act(game.game_id, game.position.version, who, [draw])


async def test_a_draw_that_comes_later_is_no_better(rich: Rules) -> None:
    """After the top discard was taken, or a card was drawn, there is nothing more to draw."""
    game_id = (await begin(rich)).game_id
    who = THREE[0]
    for texts, place in ((("take", "draw"), 1), (("take", "meld run 4S5S6S", "draw"), 2)):
        batch = [notation(text) for text in texts]
        assert (await refusal(rich.legal(game_id, who, batch))).fields == (f"after[{place}]",)
        version = (await rich.turn(game_id)).version
        refused = await refusal(rich.act(game_id, version, who, batch))
        assert refused.what == ("FAILED_PRECONDITION", "ILLEGAL_ACTION")
        assert refused.metadata == {"rule": "K34"}
    position = await act(rich, game_id, "draw")
    again = await refusal(rich.act(game_id, position.version, who, [DRAW]))
    assert again.metadata == {"rule": "K34"}
    assert (await refusal(rich.legal(game_id, who, [DRAW]))).fields == ("after[0]",)
    tried = [notation("discard 9D"), DRAW]
    late = await refusal(rich.act(game_id, position.version, who, tried))
    assert late.what == ("FAILED_PRECONDITION", "NOT_YOUR_TURN"), "it is another one's then"


async def test_a_whole_turn_with_the_top_discard_is_one_batch(rich: Rules) -> None:
    """What lies open can be thought of: it is seen already."""
    game_id = (await begin(rich)).game_id
    top = (await rich.get(game_id)).position.view.rummy.discard_top
    steps = ("take", "meld run 4S5S6S", "lay 7S 1")
    rest = await rich.legal(game_id, THREE[0], [notation(text) for text in steps], kind="discard")
    assert f"discard {top}" not in [each.notation for each in rest.actions], "K19"
    complete = [notation(text) for text in (*steps, "discard 9D")]
    assert (await rich.legal(game_id, THREE[0], complete)).complete
    position = await act(rich, game_id, *steps, "discard 9D")
    assert (position.turn.turn, position.turn.seat) == (2, 1)
    assert position.view.rummy.stage == views_pb2.RUMMY_STAGE_DRAW


async def test_a_computer_draws_as_blind(rules: Rules) -> None:
    options = {"players": "3"}
    game = await rules.start(variant="koumkan", players=THREE, computers=[0, 1], options=options)
    turn = await rules.turn(game.game_id)
    if turn.turn.seat == 2:
        await act(rules, game.game_id, "draw")
        hand = (await rules.get(game.game_id, THREE[2])).position.view.rummy.hand
        await act(rules, game.game_id, f"discard {hand[0]}")
        turn = await rules.turn(game.game_id)
    seat, batch = turn.turn.seat, [DRAW, notation("discard 9D")]
    before = await rules.snapshot()
    sent = await refusal(rules.act(game.game_id, turn.version, SERVICE, batch, as_seat=seat))
    assert sent.fields == ("actions[0]",)
    thought = await refusal(rules.legal(game.game_id, SERVICE, [DRAW], as_seat=seat))
    assert thought.fields == ("after[0]",)
    assert await rules.snapshot() == before
    await rules.act(game.game_id, turn.version, SERVICE, [DRAW], as_seat=seat)
    hand = (await rules.get(game.game_id, SERVICE, as_seat=seat)).position.view.rummy.hand
    assert len(hand) == 11
