"""The whole service beside a tiny model in memory: after every step each wallet holds what the
model says, and what is refused there is refused here.

The machine's steps are calls and events, of many games at once; some are sent again, at once or at
any later time, and some events come before what they follow.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Coroutine, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Final, TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test
from kafeneio_runtime.bus import Event

from tests.rules.refusal import Refused, outcome_of
from tests.settlement.house import House, Says, new_id

Result = TypeVar("Result")

NAMES: Final = ("a", "b", "c")
LEFT: Final = ((1, "LEFT"),)
amounts = st.sampled_from((1, 7, 50, 120))
players = st.sampled_from(range(len(NAMES)))
games = st.integers(0, 9)


@dataclass
class Model:
    """What each has, and where each game stands."""

    money: dict[str, int] = field(default_factory=dict)
    suspended: set[str] = field(default_factory=set)
    fees: int = 0

    def can_hold(self, seats: tuple[str, str], stake: int) -> bool:
        """Whether a hold is answered."""
        return all(who not in self.suspended and self.money.get(who, -1) >= stake for who in seats)


@dataclass
class Game:
    """A game of the model: its stake while that is in escrow."""

    says: Says
    seats: tuple[str, str]
    stake: int
    fee: int
    finish: Event
    closing: Event
    winner: int
    void: bool
    out: bool
    differ: bool
    start: Event
    state: str = "held"
    witnesses: set[str] = field(default_factory=set)


class Machine(RuleBasedStateMachine):
    """Steps on a house that all examples share; each has players of its own."""

    house: ClassVar[House]
    loop: ClassVar[asyncio.AbstractEventLoop]
    numbers: ClassVar[Iterator[int]] = itertools.count()

    def __init__(self) -> None:
        super().__init__()
        number = next(self.numbers)
        self.names = [f"{name}{number}" for name in NAMES]
        self.model = Model()
        self.games: list[Game] = []
        self.fees_before = self.do(self.fees())

    def do(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Runs a coroutine to its end."""
        return self.loop.run_until_complete(work)

    async def fees(self) -> int:
        """What the house has taken so far."""
        found = await self.house.database.fetchval(
            "SELECT balance FROM accounts WHERE account = 'house:fees'"
        )
        return found or 0

    def refused(self, call: Coroutine[Any, Any, object]) -> bool:
        """Whether a call is refused."""
        return isinstance(self.do(outcome_of(call)), Refused)

    @rule(player=players, amount=amounts, twice=st.booleans())
    def deposit(self, player: int, amount: int, twice: bool) -> None:
        who, request_id = self.names[player], new_id()
        for _ in range(1 + twice):
            assert not self.refused(self.house.deposit(who, amount, request_id=request_id))
        self.model.money[who] = self.model.money.get(who, 0) + amount

    @rule(player=players, amount=amounts, twice=st.booleans())
    def withdraw(self, player: int, amount: int, twice: bool) -> None:
        who, request_id = self.names[player], new_id()
        possible = self.model.money.get(who, -1) >= amount
        for _ in range(1 + twice):
            call = self.house.withdraw(who, amount, request_id=request_id)
            assert self.refused(call) is not possible
        if possible:
            self.model.money[who] -= amount

    @rule(player=players, lifted=st.booleans())
    def suspend(self, player: int, lifted: bool) -> None:
        who = self.names[player]
        known = who in self.model.money
        assert self.refused(self.house.suspend(who, lifted)) is not known
        if known and lifted:
            self.model.suspended.discard(who)
        elif known:
            self.model.suspended.add(who)

    @rule(
        seats=st.permutations(range(len(NAMES))),
        stake=amounts,
        fee=st.sampled_from((0, 1000)),
        winner=st.integers(0, 1),
        end=st.sampled_from(("played", "void", "left", "differ")),
        twice=st.booleans(),
    )
    def hold(
        self, seats: list[int], stake: int, fee: int, winner: int, end: str, twice: bool
    ) -> None:
        pair = (self.names[seats[0]], self.names[seats[1]])
        says, request_id = Says(new_id()), new_id()
        possible = self.model.can_hold(pair, stake)
        for _ in range(1 + twice):
            call = self.house.hold(
                says.game_id, players=pair, stake=stake, fee=fee, request_id=request_id
            )
            assert self.refused(call) is not possible
        if possible:
            for who in pair:
                self.model.money[who] -= stake
            self.games.append(
                Game(
                    says=says,
                    seats=pair,
                    stake=stake,
                    fee=fee,
                    start=says.started(pair),
                    finish=says.finished(
                        winner,
                        void="OPERATOR" if end == "void" else "",
                        out=LEFT if end in ("left", "differ") else (),
                    ),
                    closing=says.closed(LEFT if end == "left" else ()),
                    winner=winner,
                    void=end == "void",
                    out=end in ("left", "differ"),
                    differ=end == "differ",
                )
            )

    def pick(self, number: int) -> Game | None:
        """One of the games, the newest first."""
        return self.games[-1 - number] if number < len(self.games) else None

    @rule(number=games)
    def release(self, number: int) -> None:
        if game := self.pick(number):
            possible = game.state in ("held", "released")
            assert self.refused(self.house.release(game.says.game_id)) is not possible
            if game.state == "held":
                self.give_back(game, "released")

    def give_back(self, game: Game, state: str) -> None:
        """Both stakes."""
        for who in game.seats:
            self.model.money[who] += game.stake
        game.state = state

    @rule(number=games)
    def start(self, number: int) -> None:
        game = self.pick(number)
        if game and game.state != "released":
            self.do(self.house.publish(game.start))
            if game.state == "held":
                game.state = "started"

    @rule(number=games, witness=st.sampled_from(("finish", "closing")), twice=st.booleans())
    def speak(self, number: int, witness: str, twice: bool) -> None:
        game = self.pick(number)
        if not game or game.state == "released":
            return
        event: Event = getattr(game, witness)
        self.do(self.house.publish(*[event] * (1 + twice)))
        game.witnesses.add(witness)
        if game.state in ("held", "started", "pending"):
            game.state = "pending"
            if len(game.witnesses) == 2:
                self.end(game)

    def end(self, game: Game) -> None:
        """Both have spoken."""
        if game.differ:
            game.state = "mismatch"
        elif game.void:
            self.give_back(game, "settled")
        else:
            self.win(game)

    def win(self, game: Game) -> None:
        """The winner takes all but the fee."""
        fee = 0 if game.out else 2 * game.stake * game.fee // 10_000
        self.model.money[game.seats[game.winner]] += 2 * game.stake - fee
        self.model.fees += fee
        game.state = "settled"

    @rule(number=games, void=st.booleans())
    def resolve(self, number: int, void: bool) -> None:
        if game := self.pick(number):
            resolution = 2 if void else 1
            call = self.house.resolve(game.says.game_id, resolution)  # type: ignore[arg-type] # its numbers
            assert self.refused(call) is (game.state != "mismatch")
            if game.state == "mismatch" and void:
                self.give_back(game, "settled")
            elif game.state == "mismatch":
                self.win(game)

    @invariant()
    def every_wallet_holds_what_the_model_says(self) -> None:
        """And so do the house's fees."""
        rows = self.do(
            self.house.database.fetch(
                "SELECT substr(account, 8) AS who, balance FROM accounts"
                " WHERE account = ANY ($1::text[])",
                [f"player:{name}" for name in self.names],
            )
        )
        assert {row["who"]: row["balance"] for row in rows} == self.model.money
        assert self.do(self.fees()) - self.fees_before == self.model.fees

    def teardown(self) -> None:
        """What is in escrow is the stakes of games that are not over."""
        for game in self.games:
            held = self.do(
                self.house.database.fetchval(
                    "SELECT balance FROM accounts WHERE account = $1",
                    f"escrow:{game.says.game_id}",
                )
            )
            over = game.state in ("settled", "released")
            assert held == (0 if over else 2 * game.stake)


@pytest.fixture
def machine(database_url: str, keys: Path) -> Iterator[type[Machine]]:
    """The machine on a house of its own."""
    Machine.loop = asyncio.new_event_loop()
    stack = AsyncExitStack()
    Machine.house = Machine.loop.run_until_complete(
        stack.enter_async_context(House.serve(database_url, keys))
    )
    yield Machine
    Machine.loop.run_until_complete(Machine.house.check_ledger())
    Machine.loop.run_until_complete(stack.aclose())
    Machine.loop.close()


def test_the_house_is_the_model(machine: type[Machine]) -> None:
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=25,
            stateful_step_count=25,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
    assert next(machine.numbers) >= 25
