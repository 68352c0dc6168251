"""The race at the deadline (X11): actions, expiries, losses, returns, forfeits, pauses, the end of
the game and restarts, in every order that Hypothesis finds.

It is the firing of the service itself that runs here, on a clock in memory and a `rules` that is
only a log. Wherever it waits (for a commit, for an answer) it stands still until the machine lets
it go on, and meanwhile anything may happen; several replicas may be at it at once.
"""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from typing import Any, Final, cast
from uuid import UUID

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)
from kafeneio_clock import codec, domain
from kafeneio_clock.due import Firing, Seen, intended
from kafeneio_clock.keeper import Decide
from kafeneio_clock.peer import RunningTurn, UnreachableError
from kafeneio_clock.rows import Due, Row
from kafeneio_clock.turns import Cause
from kafeneio_clock.values import (
    Announcement,
    Attached,
    Charged,
    Closed,
    Event,
    Forfeited,
    Leaving,
    Lost,
    Outage,
    Pausing,
    Presence,
    Reason,
    Resuming,
    StreamEnded,
    Tick,
    TurnStarted,
)
from kafeneio_runtime.errors import Refusal

from tests.clock.race import PLAYERS, QUICK, Commit, Flight, Here, Log, Question

SEATS = st.integers(0, len(PLAYERS) - 1)
GAME: Final = UUID(int=7)


class Races(RuleBasedStateMachine):
    """A game of three. A unit of time is small: a period has 31."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 1_000
        self.refused = 0
        self.wrong: list[Exception] = []
        self.state = domain.begin(PLAYERS, QUICK, self.now)
        self.version = 1
        self.heard = 0
        self.log = Log()
        self.told: list[Announcement] = []
        self.flights: list[Flight] = []
        self.ran_when_asked: dict[int, int] = {}
        """Until when a turn had lasted, as far as a clock was told that it still ran."""
        self.lost_for = [0] * len(PLAYERS)
        self.fresh_firing()

    @initialize()
    def begin(self) -> None:
        for seat in range(len(PLAYERS)):
            self.happen(Attached(seat, "here"))
        self.log.move(self.now)

    def fresh_firing(self) -> None:
        """The firing of a replica; nothing of it outlives the process."""
        fake = cast("Any", self)
        self.firing = Firing(fake, fake, fake, fake, cast("Any", Here()), fake)

    def happen(self, *events: Event, now: int | None = None) -> None:
        """Events to the clock, in one commit, as of a moment."""
        for event in events:
            before = self.state
            self.state, told = domain.advance(self.state, event, now or self.now)
            self.told += told
            self.version += self.state != before
            for each in told:
                try:
                    self.judge(each)
                except (AssertionError, LookupError) as error:
                    self.wrong.append(error)  # the firing would take it for a failure of its own

    # --- what the firing talks to ------------------------------------------------------------

    async def apply(
        self, game_id: UUID, decide: Decide, rest: float | None = None, row: Row | None = None
    ) -> Row:
        """The keeper: a change is judged and made at the moment of its commit, or by what was read
        where that is still so."""
        await Commit()
        if row is not None and row.version == self.version:
            self.happen(*decide(row.state, row.now), now=row.now)
            return self.row()
        self.happen(*decide(self.state, self.now))
        return self.row()

    async def turn(self, game_id: UUID) -> RunningTurn:
        """GetTurn."""
        found: RunningTurn = await Question("turn")
        return found

    async def forfeit(
        self, game_id: UUID, seat: int, reason: Reason, turn: int, request: UUID
    ) -> None:
        """ForfeitSeat."""
        await Question("forfeit", (seat, reason, turn, request))

    async def catch_up(self, game_id: UUID) -> None:
        """The consumer: ListEvents, and a commit."""
        events = await Question("events")
        await Commit()
        self.hear(cast("int", events))

    def monotonic(self) -> float:
        """Time: nobody here sleeps."""
        return float(self.now)

    def row(self) -> Row:
        return Row(GAME, self.version, self.heard, 0, self.state, self.now)

    def hear(self, until: int) -> None:
        """What the log tells, in order and once."""
        for event, at in self.log.events[self.heard : until]:
            self.heard += 1
            assert at <= self.now
            self.happen(event)

    # --- steps -------------------------------------------------------------------------------

    def go_on(self, flight: Flight, answer: object = None) -> None:
        """Until it waits again, or ends."""
        try:
            if isinstance(answer, Exception):
                flight.at = cast("Commit | Question", flight.work.throw(answer))
            else:
                flight.at = cast("Commit | Question", flight.work.send(answer))
        except (StopIteration, Refusal):
            self.flights.remove(flight)
        except UnreachableError:  # a Leave: the player is told to try again
            self.flights.remove(flight)

    def decide(self, question: Question) -> None:
        """`rules` looks into the log: this is the moment that counts."""
        question.decided = True
        if question.kind == "turn":
            runs = 0 if self.log.finished else self.log.turn
            self.ran_when_asked[runs] = self.now
            question.answer = RunningTurn(runs, cancelled=False, outages=())
        elif question.kind == "forfeit":
            seat, reason, turn, request = question.arguments
            question.answer = self.log.record(seat, reason, turn, request, self.now)
            self.refused += isinstance(question.answer, Refusal)
        else:
            question.answer = len(self.log.events)

    @rule(units=st.integers(1, 40))
    def wait(self, units: int) -> None:
        """Time passes."""
        for number, seat in enumerate(self.state.seats):
            # EXPECTED and UNKNOWN may turn into LOST within that time.
            if seat.presence is not Presence.ATTACHED:
                self.lost_for[number] += units
        self.now += units

    @precondition(lambda self: not self.log.finished)
    @rule()
    def act(self) -> None:
        self.log.move(self.now)

    @rule(count=st.integers(1, 4))
    def deliver(self, count: int) -> None:
        """The bus brings something."""
        self.hear(self.heard + count)

    @precondition(lambda self: not self.log.finished and self.log.turn > 2)
    @rule()
    def end(self) -> None:
        self.log.finish(self.now)

    @rule()
    def look(self) -> None:
        """A replica finds the clock due; another one may be at it already."""
        deadline = domain.next_deadline(self.state)
        if deadline is not None and deadline <= self.now:
            row = self.row()
            due = Due(GAME, row.version, self.heard, 0, self.state, self.now, deadline)
            self.start(self.firing.fire(due, Seen((), {})))

    @rule(late=st.integers(0, 2))
    def run_out(self, late: int) -> None:
        """Time passes until something is due, and a replica finds it."""
        deadline = domain.next_deadline(self.state)
        if deadline is not None:
            self.wait(max(0, deadline - self.now) + late)
            self.look()

    @precondition(lambda self: self.flights)
    @rule()
    def land(self) -> None:
        """What was begun first comes to its end."""
        flight = self.flights[0]
        while flight in self.flights:
            self.step(0, "answer")

    @rule(seat=SEATS)
    def leave(self, seat: int) -> None:
        self.happen(Leaving(seat, str(UUID(int=100 + seat))))
        if self.state.closed or self.state.seats[seat].intent is None:
            return
        intent = self.state.seats[seat].intent
        assert intent is not None
        self.start(self.firing.forfeit(GAME, seat, intent))

    def start(self, work: Coroutine[object, object, object]) -> None:
        flight = Flight(work)
        self.flights.append(flight)
        self.go_on(flight)

    @precondition(lambda self: self.flights)
    @rule(which=st.integers(0, 9), how=st.sampled_from(["decide", "answer", "fail"]))
    def step(self, which: int, how: str) -> None:
        """A commit is made; `rules` decides, or its answer comes, or is lost on either way."""
        flight = self.flights[which % len(self.flights)]
        if isinstance(flight.at, Question):
            if how == "fail":
                self.go_on(flight, UnreachableError("lost on the way"))
                return
            if not flight.at.decided:
                self.decide(flight.at)
                if how == "decide":
                    return
            self.go_on(flight, flight.at.answer)
        else:
            self.go_on(flight)

    @rule(seat=SEATS)
    def lose(self, seat: int) -> None:
        self.happen(Lost(seat, self.state.seats[seat].epoch, self.now))

    @rule(seat=SEATS)
    def come_back(self, seat: int) -> None:
        self.happen(Attached(seat, "here"))

    @rule(seat=SEATS)
    def house_ends_a_stream(self, seat: int) -> None:
        self.happen(StreamEnded(seat, self.state.seats[seat].epoch, self.now))

    @rule(units=st.integers(0, 50))
    def restart(self, units: int) -> None:
        """The process dies in the middle of everything, and the row is read again."""
        for flight in self.flights:
            flight.work.close()
        self.flights.clear()
        self.fresh_firing()
        self.state = codec.read(codec.write(self.state))
        began, self.now = self.now, self.now + units
        if units and not self.state.closed:
            self.happen(Outage(began, self.now))

    @rule(stop=st.booleans())
    def pause(self, stop: bool) -> None:
        self.happen(Pausing("why") if stop else Resuming())

    # --- what must hold ----------------------------------------------------------------------

    def judge(self, told: Announcement) -> None:
        """Everything that is announced is true by the log at that moment."""
        if isinstance(told, Charged):
            assert told.turn in self.ran_when_asked, "nobody had looked into the log"
            charges = [each for each in self.told if isinstance(each, Charged)]
            ours = [each for each in charges if each.seat == told.seat]
            assert [each.charged for each in ours] == list(range(1, len(ours) + 1))
            assert len(ours) <= QUICK.timeouts
            started = next(
                event
                for event, _ in self.log.events
                if isinstance(event, TurnStarted) and event.turn == told.turn
            )
            assert told.seat == started.seat
            lasted = self.ran_when_asked[told.turn] - started.at
            moves = [e for e in ours if e.turn == told.turn and e.cause is Cause.MOVE]
            assert len(moves) * QUICK.period < lasted or not moves, "it ran for as long by the log"
            aways = [each for each in ours if each.cause is Cause.AWAY]
            assert len(aways) * QUICK.move <= self.lost_for[told.seat]
            last = told.charged == QUICK.timeouts  # the intention may be older than a pause
            assert last or not self.state.paused_since, "a paused game charges nobody"
            if last:
                assert self.log.forfeits[told.seat] is not Reason.LEFT
        elif isinstance(told, Forfeited):
            assert self.log.forfeits[told.seat] is told.reason
            same = [each for each in self.told if isinstance(each, Forfeited)]
            assert sum(each.seat == told.seat for each in same) == 1
        elif isinstance(told, Closed):
            assert self.log.finished
            closing = {each.seat: each.reason for each in told.forfeits}
            assert closing == self.log.forfeits, "the two witnesses agree"

    @invariant()
    def nothing_untrue_was_announced(self) -> None:
        for error in self.wrong:
            raise error

    @invariant()
    def who_is_out_is_in_the_log(self) -> None:
        for number, seat in enumerate(self.state.seats):
            assert seat.presence is not Presence.OUT or number in self.log.forfeits

    @invariant()
    def what_is_due_is_looked_at_again(self) -> None:
        state = self.state
        if intended(state):
            assert domain.next_deadline(state) is not None

    def teardown(self) -> None:
        """When nothing stands in the way any more, everything that was begun comes to its end."""
        self.nothing_untrue_was_announced()
        if not self.log.events:
            return
        for _ in range(40):
            self.hear(len(self.log.events))
            while self.flights:
                self.step(0, "answer")
            if not intended(self.state):
                break
            self.look()
        assert not intended(self.state)
        self.hear(len(self.log.events))
        assert self.state.closed == self.log.finished
        self.nothing_untrue_was_announced()
        announced = {each.seat for each in self.told if isinstance(each, Forfeited)}
        assert announced == set(self.log.forfeits)


TestRaces = Races.TestCase
TestRaces.settings = settings(max_examples=300, stateful_step_count=40, deadline=None)


def test_the_machine_reaches_what_it_is_about() -> None:
    """A charge, a forfeit for time and a move that comes first, by hand: else a machine that never
    gets there would be content."""
    machine = Races()
    machine.begin()
    machine.deliver(1)
    for _ in range(QUICK.timeouts):
        machine.wait(32)
        machine.look()
        while machine.flights:
            machine.step(0, "answer")
    assert machine.log.forfeits == {0: Reason.TIMEOUTS_EXCEEDED}
    assert _charges(machine.told) == [(0, 1), (0, 2)]
    machine.act()
    machine.deliver(4)
    machine.wait(32)
    machine.look()
    machine.act()  # in the log before `rules` decides
    while machine.flights:
        machine.step(0, "answer")
    assert len(_charges(machine.told)) == QUICK.timeouts
    turn = machine.state.turn
    assert turn is not None
    assert turn.number == machine.log.turn == 3
    machine.happen(Tick())
    machine.deliver(4)
    for _ in range(2):
        machine.run_out(0)
        while machine.flights and not intended(machine.state):
            machine.step(0, "answer")
    machine.act()  # before the forfeit is recorded
    while machine.flights:
        machine.step(0, "answer")
    assert machine.refused == 1
    assert machine.log.forfeits == {0: Reason.TIMEOUTS_EXCEEDED}
    assert not intended(machine.state)
    machine.teardown()


def _charges(told: Sequence[Announcement]) -> list[tuple[int, int]]:
    return [(each.seat, each.charged) for each in told if isinstance(each, Charged)]
