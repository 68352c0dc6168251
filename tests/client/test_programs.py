"""Programs choose by what they see, and the same seed gives the same game."""

from __future__ import annotations

import asyncio

import grpc
import pytest
from kafeneio.rules.v1 import game_pb2 as pb
from kafeneio.rules.v1.actions_pb2 import (
    SUIT_HEARTS,
    Action,
    Bid,
    Declare,
    Discard,
    DrawStock,
    GoOut,
    LayOff,
    MoveChecker,
    Pass,
    PlayCard,
    Suit,
    TakeDiscard,
)
from kafeneio.rules.v1.views_pb2 import RummyView, TavliView, TrickCard, TrickView, View
from kafeneio_client import House, Refused, new_id
from kafeneio_client.programs import PROGRAMS, GreedyProgram, Player, Program, seen_after
from kafeneio_runtime.clock import ManualTime

from tests.client.fake_calls import Call, refuse, retry_in
from tests.client.fake_house import FakeHouse, serving


def view(own: dict[int, int], other: dict[int, int], game: str = "portes") -> View:
    """A board on which seat 0 is to move."""
    table = TavliView(game=game)
    for points in (own, other):
        table.sides.add().points.extend(points.get(p, 0) for p in range(26))
    return View(tavli=table)


def moves(*steps: tuple[int, int]) -> list[Action]:
    return [Action(move_checker=MoveChecker(start=start, die=die)) for start, die in steps]


@pytest.mark.parametrize(
    ("own", "other", "steps", "best"),
    [
        pytest.param({13: 3, 6: 3}, {20: 1}, [(13, 5), (6, 1), (13, 1)], (6, 1), id="hits"),
        pytest.param({13: 3, 8: 1, 6: 3}, {}, [(13, 5), (13, 4)], (13, 5), id="makes a point"),
        pytest.param({6: 3, 4: 3}, {}, [(6, 4), (4, 4)], (4, 4), id="bears off"),
        pytest.param({13: 2, 8: 3, 5: 2}, {}, [(13, 3), (8, 3)], (8, 3), id="stays together"),
    ],
)
def test_greedy_takes_what_it_sees(
    own: dict[int, int], other: dict[int, int], steps: list[tuple[int, int]], best: tuple[int, int]
) -> None:
    chosen = GreedyProgram(0).choose(view(own, other), 0, moves(*steps)).move_checker
    assert (chosen.start, chosen.die) == best


def test_greedy_takes_the_other_corner_into_account() -> None:
    fevga = view({13: 3, 20: 3}, {20: 1}, "fevga")
    chosen = GreedyProgram(0).choose(fevga, 0, moves((13, 5), (20, 1))).move_checker
    assert (chosen.start, chosen.die) == (13, 5), "his 20 is my 8 here"


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_any_program_plays_what_it_does_not_know(name: str) -> None:
    only = [Action(notation="pass")]
    assert PROGRAMS[name](0).choose(View(), 0, only) is only[0]
    assert seen_after(View(), 0, only[0]) == View()


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_the_same_seed_chooses_the_same(name: str) -> None:
    steps = moves(*[(start, 2) for start in range(3, 25)])
    table = view(dict.fromkeys(range(1, 25), 3), {})

    def chosen(seed: int) -> list[int]:
        program = PROGRAMS[name](seed)
        return [program.choose(table, 0, steps).move_checker.start for _ in range(20)]

    assert chosen(7) == chosen(7)
    assert chosen(7) != chosen(8)


def test_a_step_is_put_on_the_board_and_nothing_else_changes() -> None:
    before = view({13: 2, 1: 1}, {24: 15})
    after = seen_after(before, 0, moves((13, 5))[0])
    assert after.tavli.sides[0].points[13] == 1
    assert after.tavli.sides[0].points[8] == 1
    assert after.tavli.sides[1] == before.tavli.sides[1]
    assert before.tavli.sides[0].points[13] == 2
    off = seen_after(before, 0, moves((1, 6))[0])
    assert off.tavli.sides[0].points[0] == 1


async def whole_game(fake: FakeHouse, programs: tuple[Program, Program]) -> list[pb.GameUpdate]:
    """A game with a fixed id, so that its dice are the same each time."""
    async with serving(fake) as address, House(address) as house:
        games = [house.client(name).games for name in ("eleni", "nikos")]
        game_id = "0193f7a0-5c1e-7000-8000-000000000001"
        game = await games[0].create("portes", ["eleni", "nikos"], game_id=game_id)
        for seat in games:
            await seat.join(game_id, game.commitment, b"")
        await asyncio.gather(
            *(
                Player(house.client(name), game_id, seat, programs[seat]).play()
                for seat, name in enumerate(("eleni", "nikos"))
            )
        )
        return fake.tables[game_id].updates


async def test_the_same_seeds_play_the_same_game() -> None:
    greedy, chance = PROGRAMS["greedy"], PROGRAMS["random"]
    first = await whole_game(FakeHouse(), (greedy(1), chance(2)))
    again = await whole_game(FakeHouse(), (greedy(1), chance(2)))
    other = await whole_game(FakeHouse(), (greedy(1), chance(3)))
    assert first == again
    assert first != other


async def test_a_hurried_program_waits_as_long_as_it_is_told() -> None:
    async def too_many(call: Call) -> None:
        code = grpc.StatusCode.RESOURCE_EXHAUSTED
        await refuse(call, code, "RATE_LIMITED", "too many calls", retry_in(3))

    fake, time = FakeHouse(), ManualTime()
    async with serving(fake) as address, House(address) as house:
        game = await house.client("eleni").games.create("portes", ["eleni", "nikos"])
        for name in ("eleni", "nikos"):
            game = await house.client(name).games.join(game.game_id, game.commitment, b"")
        seat = game.position.turn.seat
        client = house.client(game.seats[seat].player_id)
        fake.fail("Act", too_many)
        player = Player(client, game.game_id, seat, GreedyProgram(0), time)
        answering = asyncio.create_task(player.answer(game.position))
        await time.until_sleeping()
        time.advance(3)
        await answering
    requests = [one for one in fake.requests if isinstance(one, pb.ActRequest)]
    assert len(requests) == 2
    assert requests[0] == requests[1], "a call that is sent again keeps its request id"


@pytest.mark.parametrize("reason", ["STALE_VERSION", "GAME_OVER"])
async def test_a_game_that_moved_on_is_no_trouble(reason: str) -> None:
    async def refused(call: Call) -> None:
        await refuse(call, grpc.StatusCode.ABORTED, reason, "it moved on")

    asked = await answered(refused)
    assert asked.calls["ListLegalActions"] == 1
    assert "Act" not in asked.calls


async def test_any_other_refusal_is_raised() -> None:
    async def refused(call: Call) -> None:
        await refuse(call, grpc.StatusCode.PERMISSION_DENIED, "NOT_YOUR_SEAT", "not yours")

    with pytest.raises(Refused):
        await answered(refused)


async def answered(fault: object) -> FakeHouse:
    """The house that was asked, when a program's look at the legal actions is refused."""
    fake = FakeHouse()
    fake.fail("ListLegalActions", fault)  # type: ignore[arg-type]
    position = pb.Position(status=pb.GAME_STATUS_RUNNING, turn=pb.Turn(turn=1, seat=0))
    async with serving(fake) as address, House(address) as house:
        await Player(house.client("eleni"), new_id(), 0, GreedyProgram(0)).answer(position)
    return fake


def card(text: str) -> Action:
    return Action(play_card=PlayCard(card=text))


def bid(value: int, suit: Suit.ValueType, capot: bool = False) -> Action:
    return Action(bid=Bid(value=value, suit=suit, capot=capot))


PASS = Action(pass_turn=Pass())
STRONG = TrickView(hand=["JH", "9H", "AH", "8H", "7S", "8D", "9C", "7C"])
WEAK = TrickView(hand=["7H", "8H", "QS", "8S", "7S", "8D", "9C", "7C"])
LED = TrickView(hand=["AS", "7S"], trick=[TrickCard(seat=3, card="TS")])
LEADING = TrickView(hand=["AS", "7S"])


@pytest.mark.parametrize(
    ("table", "actions", "best"),
    [
        pytest.param(STRONG, [PASS, bid(80, SUIT_HEARTS), bid(90, SUIT_HEARTS)], 1, id="bids"),
        pytest.param(STRONG, [bid(0, SUIT_HEARTS, True), PASS], 1, id="no capot"),
        pytest.param(WEAK, [bid(80, SUIT_HEARTS), PASS], 1, id="passes"),
        pytest.param(LED, [card("AS"), card("7S"), Action(declare=Declare())], 2, id="declares"),
        pytest.param(LED, [card("AS"), card("7S")], 1, id="follows low"),
        pytest.param(LEADING, [card("7S"), card("AS")], 1, id="leads high"),
    ],
)
def test_greedy_takes_what_it_sees_of_cards(
    table: TrickView, actions: list[Action], best: int
) -> None:
    assert GreedyProgram(0).choose(View(tricks=table), 0, actions) is actions[best]


def discard(text: str) -> Action:
    return Action(discard=Discard(card=text))


DRAW = Action(draw_stock=DrawStock())
HAND = RummyView(game="koumkan", hand=["KS", "KD", "9C", "4H", "*"])


@pytest.mark.parametrize(
    ("actions", "best"),
    [
        pytest.param([discard("KS"), discard("9C"), discard("*")], 1, id="keeps pairs and jokers"),
        pytest.param([discard("9C"), Action(go_out=GoOut(card="9C"))], 1, id="goes out"),
        pytest.param([discard("9C"), Action(lay_off=LayOff(card="4H", meld=1))], 1, id="lays off"),
        pytest.param([Action(take_discard=TakeDiscard()), DRAW], 1, id="draws"),
    ],
)
def test_greedy_plays_rummy(actions: list[Action], best: int) -> None:
    assert GreedyProgram(0).choose(View(rummy=HAND), 0, actions) is actions[best]
