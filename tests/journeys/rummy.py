"""Rummy at the tables of an evening: hands that a test deals, and what leaving may change (F3)."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar

from google.protobuf.message import Message
from kafeneio.rules.v1 import actions_pb2, events_pb2, game_pb2, views_pb2
from kafeneio_client.programs import RandomProgram
from kafeneio_games.cards import Card, read_cards
from kafeneio_games.chance import ProvableDraw
from kafeneio_games.rummy_hand import HAND_SIZE, PACK

from tests.journeys.evening import STAKE, Evening, evening

T = TypeVar("T")
Hand: TypeAlias = tuple[Card, ...]
Plan: TypeAlias = Sequence[Sequence[Hand]]
"""For each deal of a game the hands in order of the seats that take part."""

VARIANTS: Final = ("koumkan", "thanasis", "dynamitis")
FEE_BASIS_POINTS: Final = 250
UNHURRIED: Final[dict[str, Any]] = {
    "fee_basis_points": FEE_BASIS_POINTS,
    "clock_silent_seconds": 600.0,
    "clock_unknown_seconds": 600.0,
}
"""A house that takes a fee. Who does not attend is there, and waited for."""

LEFT: Final = actions_pb2.FORFEIT_REASON_LEFT
CONNECTION_LOST: Final = actions_pb2.FORFEIT_REASON_CONNECTION_LOST
TIMEOUTS_EXCEEDED: Final = actions_pb2.FORFEIT_REASON_TIMEOUTS_EXCEEDED


def cards(text: str) -> Hand:
    """ "4C 5C *"."""
    return read_cards(text.replace(" ", ""))


# With the queen of clubs turned and twos wild or not:
OUT: Final = cards("AS 2S 3S  4H 5H 6H  7D 8D 9D TD")
"""Goes out with whatever it draws."""
HEAVY: Final = cards("KS KS KH KH  JS JS JH JH  9S 9H")
HEAVY_TOO: Final = cards("KC KC KD KD  JC JC JD JD  9C 9D")
HEAVY_AS_WELL: Final = cards("TS TS TH TH  8S 8S 8H 8H  6S 6S")
"""Nothing in them fits: 98, 98 and 84 points, more than 51."""
LIGHT: Final = cards("3C 3C 3D 3D  4C 4C 4D 4D  5C 5D")
"""38 points in Koum-kan; elsewhere 3-4-5 of both suits is used up, and 14 are left."""
LIGHT_TOO: Final = cards("3S 3H 3H  4S 4S  5S 5S 5H  7S 7S")
"""46 points in Koum-kan, and less elsewhere."""
TURNED: Final = Card("QC")


class Stacked(ProvableDraw):
    """The hands are those of a plan, and the turned card is `TURNED`.

    `position` counts what has been drawn; after the last deal of the plan it is repeated.
    """

    def __init__(self, plan: Plan, dealer: int) -> None:
        super().__init__(bytes(32), b"")
        self._plan = plan
        self._dealer = dealer

    def below(self, n: int) -> int:
        """The first dealer."""
        self.position += 1
        return self._dealer % n

    def shuffled(self, cards: Sequence[T]) -> tuple[T, ...]:
        """The planned pack; of discards the same order."""
        self.position += 1
        if len(cards) < len(PACK):
            return tuple(cards)
        hands = self._plan[min(self.position - 2, len(self._plan) - 1)]
        first = [*(card for hand in hands for card in hand), TURNED]
        rest = Counter(PACK) - Counter(first)
        pack: Any = (*first, *rest.elements())
        assert len(pack) == len(cards), "no card is dealt more often than it is there"
        return tuple(pack)


@dataclass
class Deals:
    """What is dealt in a game that starts now; the last seat deals first, or another one."""

    plan: Plan = ()
    dealer: int = -1

    def __call__(self, secret: bytes, context: bytes) -> Stacked:
        """The chance of a game."""
        return Stacked(self.plan, self.dealer)


@asynccontextmanager
async def dealt(
    url: str, folder: Path, deals: Deals, settings: Mapping[str, Any] = UNHURRIED
) -> AsyncIterator[Evening]:
    """A house in which a test deals."""
    async with evening(url, folder, draws=deals, **settings) as opened:
        yield opened


# ---------------------------------------------------------------- playing


async def seated(house: Evening, variant: str, players: int) -> str:
    """A game to 51 points that has started, from the queue; each has never played here before."""
    guests = [f"guest-{uuid.uuid4()}" for _ in range(players)]
    options = {"players": str(players)}
    game_id = await house.matched(51, variant=variant, players=guests, options=options)
    await house.join(game_id)
    return game_id


async def view_of(house: Evening, game_id: str, seat: int | None = None) -> views_pb2.RummyView:
    """The table as a seat or a spectator sees it."""
    who = "zoe" if seat is None else (await house.seats(game_id))[seat]
    return (await house.client(who).games.get(game_id)).position.view.rummy


async def act(house: Evening, game_id: str, *steps: str) -> game_pb2.Position:
    """Whoever is prompted plays steps; the position after them and what the house did then."""
    position = await house.position(game_id)
    client = house.client((await house.seats(game_id))[position.turn.seat])
    answer = await client.games.act(game_id, position.version, steps)
    return (answer.house if answer.HasField("house") else answer.played).position


async def goes_out(house: Evening, game_id: str) -> game_pb2.Position:
    """Whoever is prompted was dealt `OUT`, draws, and goes out with what he has drawn."""
    seat = (await house.position(game_id)).turn.seat
    drawn = await draws(house, game_id)
    if (await view_of(house, game_id, seat)).game != "koumkan":
        return await act(house, game_id, f"out {drawn}")
    melds = ("meld run AS2S3S", "meld run 4H5H6H", "meld run 7D8D9DTD")
    return await act(house, game_id, *melds, f"discard {drawn}")


async def draws(house: Evening, game_id: str) -> str:
    """Whoever is prompted draws from the stock; the card."""
    seat = (await house.position(game_id)).turn.seat
    before = Counter((await view_of(house, game_id, seat)).hand)
    await act(house, game_id, "draw")
    (drawn,) = (Counter((await view_of(house, game_id, seat)).hand) - before).elements()
    return drawn


async def passes(house: Evening, game_id: str) -> game_pb2.Position:
    """Whoever is prompted draws and discards what he has drawn."""
    return await act(house, game_id, f"discard {await draws(house, game_id)}")


class Patient(RandomProgram):
    """Plays by lot, and never so that a hand could end: whoever is eliminated cannot leave."""

    def choose(
        self, view: views_pb2.View, seat: int, actions: Sequence[actions_pb2.Action]
    ) -> actions_pb2.Action:
        """Melds only out of a full hand, and does not go out."""
        kinds = ("go_out",) if len(view.rummy.hand) >= HAND_SIZE else SHRINKING
        return super().choose(
            view, seat, [each for each in actions if each.WhichOneof("action") not in kinds]
        )


SHRINKING: Final = ("go_out", "lay_meld", "lay_off")


# ---------------------------------------------------------------- leaving


async def leave(house: Evening, game_id: str, seat: int) -> game_pb2.Position:
    """A seat leaves, and F3 and F5 happen to the letter; the position after it."""
    leaver = house.client((await house.seats(game_id))[seat])
    before = await house.position(game_id)
    await leaver.clock.leave(game_id)
    after = await house.position(game_id)
    check_left(before, after, seat)
    own = await leaver.games.get(game_id)
    assert own == await house.client("zoe").games.get(game_id), "F5"
    assert own.seats[seat].forfeit == LEFT
    assert not any(each.computer for each in own.seats)
    return after


def check_left(before: game_pb2.Position, after: game_pb2.Position, seat: int) -> None:
    """F3: nothing changes but that the seat is out, its hand is gone, and perhaps the turn."""
    old, new = before.view.rummy, after.view.rummy
    live = [each for each in old.live if each != seat]
    assert after.version == before.version + 1
    assert list(after.score) == list(before.score)
    assert after.round == before.round
    assert after.forfeits[:-1] == before.forfeits
    assert after.forfeits[-1] == events_pb2.SeatForfeitRecorded(seat=seat, reason=LEFT)
    assert list(new.live) == live
    held = [0 if place == seat else count for place, count in enumerate(old.counts)]
    assert list(new.counts) == held
    lying = ("dealer", "stock_left", "reshuffles", "discard_top", "discard_count", "turned")
    assert same(old, new, *lying, "melds", "opened")
    assert not new.ends, "no hand is shown"
    if len(live) == 1:
        assert after.status == game_pb2.GAME_STATUS_FINISHED
        assert list(after.outcome.decided.winners) == live
        assert after.outcome.decided.ending == "forfeit"
        assert not after.HasField("turn")
    elif before.turn.seat == seat:
        assert after.turn.seat == following(seat, live)
        assert after.turn.turn == before.turn.turn + 1
        assert after.turn.since.ToNanoseconds() > before.turn.since.ToNanoseconds()
        assert new.stage == views_pb2.RUMMY_STAGE_DRAW
        assert (new.mover, new.drawn, new.taken, new.owed) == (after.turn.seat, False, "", 0)
    else:
        assert after.turn == before.turn, "the same turn, since the same moment"
        assert same(old, new, "stage", "mover", "drawn", "taken", "owed")


def same(one: Message, two: Message, *fields: str) -> bool:
    """Whether two messages agree in some fields."""
    return all(getattr(one, name) == getattr(two, name) for name in fields)


def following(seat: int, live: Sequence[int]) -> int:
    """The next one who is left, in order of play."""
    return next((each for each in live if each > seat), live[0])


# ---------------------------------------------------------------- the end


async def check_pot(house: Evening, game_id: str, winner: int, fee: bool = False) -> None:
    """S3: the winner has the stakes of all, less the fee if there is one; the books are right."""
    seats = await house.seats(game_id)
    pot = len(seats) * STAKE.minor_units
    won = pot - STAKE.minor_units - (pot * FEE_BASIS_POINTS // 10_000 if fee else 0)
    expected = dict.fromkeys(seats, -STAKE.minor_units) | {seats[winner]: won}
    assert await house.paid(game_id) == expected


async def check_witnesses(
    house: Evening, game_id: str, gone: Sequence[tuple[int, actions_pb2.ForfeitReason.ValueType]]
) -> None:
    """`rules` and `clock` have told of the same forfeits, in events and at the end."""
    rules = [event async for event in house.service.games.events(game_id)]
    recorded = [each.seat_forfeit_recorded for each in rules if each.HasField(RECORDED)]
    assert [(each.seat, each.reason) for each in recorded] == list(gone)
    assert not any(each.computer for each in recorded)
    finished = rules[-1].game_finished
    assert list(finished.forfeits) == recorded
    assert finished.payout_rule == "S3"

    clock = [event async for event in house.service.clock.events(game_id)]
    told = [event.seat_forfeited for event in clock if event.HasField("seat_forfeited")]
    assert sorted((each.seat, each.reason) for each in told) == sorted(gone)
    assert list(clock[-1].clock_closed.forfeits) == told
    assert clock[-1].HasField("clock_closed")


RECORDED: Final = "seat_forfeit_recorded"


async def rows(house: Evening, game_id: str, who: str) -> list[game_pb2.GameUpdate]:
    """The log of a game that is over, as somebody sees it now."""
    return [update async for update in house.client(who).games.watch(game_id)]
