"""The whole service beside a tiny model in memory: after every step each wallet holds what the
model says, and what is refused there is refused here.

The machine's steps are calls and events, of many games at once; some are sent again, at once or at
any later time, and some events come before what they follow. The service lives in a process of its
own and is killed with SIGKILL at failpoints on either side of any step's commit; then it starts
again, and the step is sent again.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any, ClassVar, Final, TypeVar

import asyncpg
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)
from kafeneio_runtime.bus import Event

from tests.rules.refusal import Refused
from tests.settlement.house import SECOND, House, Says, new_id
from tests.settlement.model import Game, Model
from tests.settlement.mortal import Killed, Mortal
from tests.settlement.operators import result_request, verify
from tests.settlement.test_failpoints import failpoints
from tests.settlement.tournament_steps import TournamentSteps

Result = TypeVar("Result")

NAMES: Final = ("a", "b", "c")
LEFT: Final = ((1, "LEFT"),)
BEFORE: Final = "before_commit"
COMMITTED: Final = "committed"
amounts = st.sampled_from((1, 7, 50, 120))
players = st.sampled_from(range(len(NAMES)))
games = st.integers(0, 4)
crashes = st.sampled_from(("", "", "", "", BEFORE, COMMITTED))


class Machine(TournamentSteps):
    """Steps on a replica that all examples share; each has players of its own."""

    mortal: ClassVar[Mortal]
    database: ClassVar[asyncpg.Connection[asyncpg.Record]]
    loop: ClassVar[asyncio.AbstractEventLoop]
    numbers: ClassVar[Iterator[int]] = itertools.count()
    hit: ClassVar[set[str]] = set()

    def __init__(self) -> None:
        super().__init__()
        number = next(self.numbers)
        self.names = [f"{name}{number}" for name in NAMES]
        self.model = Model()
        self.games: list[Game] = []
        self.tournaments = []
        self.fees_before = self.fees()

    def wait(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Runs a coroutine to its end."""
        return self.loop.run_until_complete(work)

    def fees(self) -> int:
        """What the house has taken so far."""
        query = "SELECT balance FROM accounts WHERE account = 'house:fees'"
        return self.wait(self.database.fetchval(query)) or 0

    def wallets(self) -> dict[str, int]:
        """What the players of this example have."""
        rows = self.wait(
            self.database.fetch(
                "SELECT substr(account, 8) AS who, balance FROM accounts"
                " WHERE account = ANY ($1::text[])",
                [f"player:{name}" for name in self.names],
            )
        )
        return {row["who"]: row["balance"] for row in rows}

    def answered(
        self, name: str, *arguments: Any, crash: str = "", scene: str = "", **options: Any
    ) -> bool:
        """Whether a step is answered and not refused; it is killed before or after its commit if
        the step comes to one, and done again."""
        failpoint = f"settlement.{scene or name}.{crash}" if crash else None
        if failpoint is None:
            return self.mortal.do(name, *arguments, **options) is None
        before = self.wallets()
        self.mortal.die_at(failpoint)
        try:
            refused = self.mortal.do(name, *arguments, **options)
        except Killed:
            self.hit.add(failpoint)
            after = self.wallets()
            if crash == BEFORE:
                assert after == before, "nothing of it is done"
            self.mortal.start()
            again: Refused | None = self.mortal.do(name, *arguments, **options)
            if crash == COMMITTED:
                assert self.wallets() == after, "all of it was done"
            return again is None
        self.mortal.die_at(None)
        return refused is None

    @initialize(some=st.sampled_from((1, 200, 500)))
    def everybody_has_something(self, some: int) -> None:
        for player in range(len(NAMES)):
            self.deposit(player, some, False, "")

    @rule(player=players, amount=amounts, twice=st.booleans(), crash=crashes)
    def deposit(self, player: int, amount: int, twice: bool, crash: str) -> None:
        who, request_id = self.names[player], new_id()
        for _ in range(1 + twice):
            assert self.answered("deposit", who, amount, request_id=request_id, crash=crash)
        self.model.money[who] = self.model.money.get(who, 0) + amount

    @rule(player=players, amount=amounts, twice=st.booleans(), crash=crashes)
    def withdraw(self, player: int, amount: int, twice: bool, crash: str) -> None:
        who, request_id = self.names[player], new_id()
        possible = self.model.money.get(who, -1) >= amount
        for _ in range(1 + twice):
            done = self.answered("withdraw", who, amount, request_id=request_id, crash=crash)
            assert done is possible
        if possible:
            self.model.money[who] -= amount

    @rule(player=players, crash=st.sampled_from((BEFORE, COMMITTED)))
    def kill_the_sealer(self, player: int, crash: str) -> None:
        who, request_id = self.names[player], new_id()
        self.mortal.die_at(f"settlement.seal.{crash}")
        try:
            self.mortal.do("deposit", who, 5, request_id=request_id)
            self.mortal.wait_for_death()
        except Killed:
            self.hit.add(f"settlement.seal.{crash}")
        self.mortal.start()
        assert self.answered("deposit", who, 5, request_id=request_id)
        self.model.money[who] = self.model.money.get(who, 0) + 5

    @rule(player=players, lifted=st.booleans())
    def suspend(self, player: int, lifted: bool) -> None:
        who = self.names[player]
        known = who in self.model.money
        assert self.answered("suspend", who, lifted) is known
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
        crash=crashes,
    )
    def hold(
        self, seats: list[int], stake: int, fee: int, winner: int, end: str, twice: bool, crash: str
    ) -> None:
        pair = (self.names[seats[0]], self.names[seats[1]])
        says, request_id = Says(new_id()), new_id()
        possible = self.model.can_hold(pair, stake)
        for _ in range(1 + twice):
            done = self.answered(
                "hold",
                says.game_id,
                crash=crash,
                players=pair,
                stake=stake,
                fee=fee,
                request_id=request_id,
            )
            assert done is possible
        if not possible:
            return
        for who in pair:
            self.model.money[who] -= stake
        out = LEFT if end in ("left", "differ") else ()
        self.games.append(
            Game(
                says=says,
                seats=pair,
                stake=stake,
                fee=fee,
                start=says.started(pair),
                finish=says.finished(winner, void="OPERATOR" if end == "void" else "", out=out),
                closing=says.closed(LEFT if end == "left" else ()),
                winner=winner,
                void=end == "void",
                out=bool(out),
                differ=end == "differ",
            )
        )

    def pick(self, number: int) -> Game | None:
        """One of the games, the newest first."""
        return self.games[-1 - number] if number < len(self.games) else None

    @rule(number=games, crash=crashes)
    def release(self, number: int, crash: str) -> None:
        if game := self.pick(number):
            possible = game.state in ("held", "released")
            assert self.answered("release", game.says.game_id, new_id(), crash=crash) is possible
            if game.state == "held":
                self.model.release(game)

    @rule(number=games, crash=crashes)
    def start(self, number: int, crash: str) -> None:
        game = self.pick(number)
        if game and game.state != "released":
            self.answered("publish", game.start, crash=crash, scene="settle")
            if game.state == "held":
                game.state = "started"

    @rule(
        number=games,
        witness=st.sampled_from(("finish", "closing")),
        twice=st.booleans(),
        crash=crashes,
    )
    def speak(self, number: int, witness: str, twice: bool, crash: str) -> None:
        game = self.pick(number)
        if not game or game.state == "released":
            return
        event: Event = getattr(game, witness)
        self.answered("publish", *[event] * (1 + twice), crash=crash, scene="settle")
        self.model.heard(game, witness)

    @rule(seats=st.permutations(range(len(NAMES))), winner=st.integers(0, 1), crash=crashes)
    def play(self, seats: list[int], winner: int, crash: str) -> None:
        before = len(self.games)
        self.hold(seats, 50, 1000, winner, "played", False, crash)
        if len(self.games) > before:
            self.start(0, crash)
            self.speak(0, "finish", False, crash)
            self.speak(0, "closing", True, crash)

    @rule(number=games, void=st.booleans(), crash=crashes)
    def resolve(self, number: int, void: bool, crash: str) -> None:
        if game := self.pick(number):
            resolution = 2 if void else 1
            done = self.answered(
                "resolve", game.says.game_id, resolution, request_id=new_id(), crash=crash
            )
            assert done is (game.state == "mismatch")
            if done:
                self.model.end(game, void=void)

    @rule(number=games, winner=st.sampled_from((None, 0, 1)), crash=crashes)
    def propose(self, number: int, winner: int | None, crash: str) -> None:
        if game := self.pick(number):
            request_id, game_id = new_id(), game.says.game_id
            if winner is None:
                done = self.answered("void", game_id, request_id=request_id, crash=crash)
            else:
                request = result_request(game_id, winners=(winner,), request_id=request_id)
                done = self.answered("correct", request, crash=crash)
            assert done is (game.state == "settled")
            if done:
                game.proposed.append((game.version, winner))

    @rule(number=games, correction=st.integers(1, 3), same=st.booleans(), crash=crashes)
    def approve(self, number: int, correction: int, same: bool, crash: str) -> None:
        game = self.pick(number)
        if game and game.state == "settled":
            known = correction <= len(game.proposed)
            current = known and game.proposed[correction - 1][0] == game.version
            done = self.answered(
                "approve",
                game.says.game_id,
                correction,
                who="operator" if same else SECOND,
                request_id=new_id(),
                crash=crash,
            )
            assert done is (current and not same)
            if done:
                self.model.approve(game, correction)

    @invariant()
    def every_wallet_holds_what_the_model_says(self) -> None:
        """And so do the house's fees."""
        assert self.wallets() == self.model.money
        assert self.fees() - self.fees_before == self.model.fees

    def teardown(self) -> None:
        """What is in escrow is the stakes of games, and the fees of tournaments, that go on."""
        for game in self.games:
            account = f"escrow:{game.says.game_id}"
            held = self.wait(
                self.database.fetchval("SELECT balance FROM accounts WHERE account = $1", account)
            )
            over = game.state in ("settled", "released")
            assert held == (0 if over else 2 * game.stake)
        for tournament in self.tournaments:
            account = f"escrow:{tournament.tournament_id}"
            held = self.wait(
                self.database.fetchval("SELECT balance FROM accounts WHERE account = $1", account)
            )
            fees = tournament.entry_fee * len(tournament.entries)
            assert (held or 0) == (fees if tournament.state == "open" else 0)


@pytest.fixture
def machine(database_url: str, keys: Path) -> Iterator[type[Machine]]:
    """The machine on a replica of its own."""
    Machine.loop = asyncio.new_event_loop()
    Machine.mortal = Mortal(database_url, keys)
    Machine.database = Machine.loop.run_until_complete(
        asyncpg.connect(database_url, server_settings={"search_path": "settlement"})
    )
    yield Machine
    Machine.mortal.stop()
    Machine.loop.run_until_complete(checked(database_url, keys, Machine))
    Machine.loop.run_until_complete(Machine.database.close())
    Machine.loop.close()


async def checked(url: str, keys: Path, machine: type[Machine]) -> None:
    """The ledger is whole, and as it was sealed, whoever was killed."""
    async with House.serve(url, keys) as house:
        rows = await house.database.fetch("SELECT account FROM accounts WHERE balance < 0")
        sides = await house.database.fetch(
            "SELECT DISTINCT debit_account FROM transfers WHERE debit_balance < 0"
        )
        house.debtors |= {row[0] for row in (*rows, *sides)}
        await house.check_ledger()
        assert not (await verify(house)).faults


def test_the_house_is_the_model(machine: type[Machine]) -> None:
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=12,
            stateful_step_count=40,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
    assert next(machine.numbers) >= 12
    assert machine.mortal.deaths >= len(machine.hit)
    tour(machine)
    assert machine.hit == failpoints(), "it has died at every place where it can"


def tour(machine: type[Machine]) -> None:
    """Once through everything, dying on both sides of each commit."""
    for crash in (BEFORE, COMMITTED):
        steps = machine()
        steps.everybody_has_something(500)
        steps.deposit(0, 120, True, crash)
        steps.withdraw(0, 120, True, crash)
        steps.kill_the_sealer(0, crash)
        steps.hold([0, 1, 2], 50, 0, 0, "played", False, crash)
        steps.release(0, crash)
        steps.hold([0, 1, 2], 50, 0, 0, "differ", False, "")
        steps.speak(0, "finish", False, crash)
        steps.speak(0, "closing", False, crash)
        steps.resolve(0, True, crash)
        steps.play([1, 2, 0], 1, crash)
        steps.propose(0, None, crash)
        steps.propose(0, 0, crash)
        steps.approve(0, 2, False, crash)
        steps.tour_of_tournaments(crash)
        steps.every_wallet_holds_what_the_model_says()
        steps.teardown()
