"""Laws of the pure core, on random games. A unit of time is small here: a period has 31."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)
from kafeneio_clock import codec, domain
from kafeneio_clock.turns import Cause, Options
from kafeneio_clock.values import (
    Announcement,
    Attached,
    Charged,
    Closed,
    Confirmed,
    ConnectionLost,
    ConnectionRestored,
    Credited,
    Event,
    Finished,
    Forfeit,
    Forfeited,
    ForfeitRecorded,
    Heard,
    Leaving,
    Lost,
    Outage,
    Presence,
    Reason,
    State,
    StreamEnded,
    Tick,
    TurnEnded,
    TurnRuns,
    TurnStarted,
)

QUICK = Options(move=30, grace=1, timeouts=5, silent=12, unknown=20)
PLAYERS = ("eleni", "nikos", "maria", "petros")
SEATS = st.integers(0, 3)


@dataclass
class Watched:
    """One seat as a person with a stopwatch would keep it, unit by unit."""

    presence: str = "there"
    until: int | None = None
    away: int = 0
    used: int = 0
    owed: list[Cause] = field(default_factory=list)
    charged: int = 0
    forgiven: int = 0

    def step(self, now: int, on_turn: bool) -> None:
        """One unit of time, up to `now`."""
        if on_turn and self.presence == "there":
            self.used += 1
            if self.used > QUICK.period:  # more than a period has passed
                self.used = 1
                self.owed.append(Cause.MOVE)
        if on_turn and self.presence == "lost":
            self.away += 1
            if self.away % QUICK.move == 0:
                self.owed.append(Cause.AWAY)
        if self.until is not None and now >= self.until:
            self.presence, self.until = "lost", None


class Games(RuleBasedStateMachine):
    """A game of four, in some seats computers, kept by the core and by a stopwatch; for a seat that
    is forfeited a computer plays on."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 1_000
        self.state = domain.begin(PLAYERS, QUICK, self.now)
        self.computers: set[int] = set()
        self.seats = [Watched(until=self.now + QUICK.silent) for _ in PLAYERS]
        self.turn = 0
        self.on_turn: int | None = None
        self.told: list[Announcement] = []

    @initialize(computers=st.sets(SEATS, max_size=3))
    def sit_down(self, computers: set[int]) -> None:
        self.state = domain.begin(PLAYERS, QUICK, self.now, computers)
        self.computers = computers
        for number in computers:
            self.seats[number] = Watched("out")

    def happen(self, event: Event) -> list[Announcement]:
        self.state, told = domain.advance(self.state, event, self.now)
        self.told += told
        return told

    @property
    def running(self) -> bool:
        return not self.state.closed

    def out(self, seat: int) -> bool:
        return self.seats[seat].presence == "out"

    # --- time ----------------------------------------------------------------------------

    @rule(units=st.integers(1, 70))
    def wait(self, units: int) -> None:
        for _ in range(units):
            self.now += 1
            for number, seat in enumerate(self.seats):
                seat.step(self.now, self.on_turn == number)

    @precondition(lambda self: self.running)
    @rule(units=st.integers(1, 100))
    def be_out(self, units: int) -> None:
        """No replica is alive: nobody's time runs."""
        began = self.now
        self.now += units
        for seat in self.seats:
            if seat.until is not None and seat.until > began:
                expected = self.state.seats[self.seats.index(seat)].epoch == 0
                more = QUICK.silent if expected else QUICK.unknown
                seat.until = max(seat.until, self.now + more)
        self.happen(Outage(began, self.now))
        again = self.happen(Outage(began, self.now))  # told twice it is credited once
        assert not any(isinstance(each, Credited) for each in again)

    # --- presence ------------------------------------------------------------------------

    @precondition(lambda self: self.running)
    @rule(number=SEATS)
    def attach(self, number: int) -> None:
        self.happen(Attached(number, "here"))
        if not self.out(number):
            self.seats[number].presence, self.seats[number].until = "there", None

    @precondition(lambda self: self.running)
    @rule(number=SEATS, kind=st.sampled_from(["close", "house", "heard"]), stale=st.booleans())
    def tell(self, number: int, kind: str, stale: bool) -> None:
        """A stream ends, or lives; perhaps one that a newer one has replaced."""
        seat, epoch = self.seats[number], self.state.seats[number].epoch - stale
        if epoch < 1:
            return
        event: Event = Heard(number, epoch, "here")
        if kind == "close":
            event = Lost(number, epoch, self.now)
        elif kind == "house":
            event = StreamEnded(number, epoch, self.now)
        before = domain.advance(self.state, Tick(), self.now)[0]
        self.happen(event)
        if stale:
            assert self.state == before, "an old epoch is ignored"
        elif kind == "heard" and not self.out(number):
            seat.presence, seat.until = "there", None
        elif seat.presence == "there" and seat.until is None:
            seat.presence = "lost" if kind == "close" else "unknown"
            seat.until = self.now + QUICK.unknown if kind == "house" else None

    # --- the game ------------------------------------------------------------------------

    @precondition(lambda self: self.running)
    @rule(number=SEATS)
    def prompt(self, number: int) -> None:
        """A move, and the next prompt."""
        if self.on_turn is not None:
            self.happen(TurnEnded(self.turn, self.now))
            seat = self.seats[self.on_turn]
            seat.owed, seat.used = [], 0
            if seat.until is not None and self.state.seats[self.on_turn].epoch == 0:
                seat.until = max(seat.until, self.now + QUICK.silent)
        self.turn += 1
        self.on_turn = number
        self.happen(TurnStarted(self.turn, number, self.now))

    @precondition(lambda self: self.running)
    @rule()
    def fire(self) -> None:
        """A replica looks, however late: charges come, one for each period that is over."""
        before = len(self.told)
        self.happen(Tick())
        if self.on_turn is not None and domain.overdue(self.state, self.now):
            self.happen(TurnRuns(self.turn, self.now))
            if self.state.seats[self.on_turn].intent is not None:
                self.happen(Confirmed(self.on_turn))
                why = self.state.forfeits[-1].reason
                self.happen(ForfeitRecorded(self.on_turn, why, computer=True))
        charges = [each for each in self.told[before:] if isinstance(each, Charged)]
        if self.on_turn is None or self.out(self.on_turn):
            assert charges == []
            return
        seat = self.seats[self.on_turn]
        due = seat.owed[: QUICK.timeouts - seat.charged]
        assert [each.cause for each in charges] == due
        assert all(each.seat == self.on_turn for each in charges), "nobody pays off turn"
        seat.charged += len(due)
        seat.owed = []
        if seat.charged == QUICK.timeouts:
            seat.presence, seat.until = "out", None

    @precondition(lambda self: self.running)
    @rule(number=SEATS)
    def leave(self, number: int) -> None:
        was_out = self.out(number)
        told = self.happen(Leaving(number, "request"))
        told += self.happen(Confirmed(number))
        if not was_out:
            told += self.happen(ForfeitRecorded(number, Reason.LEFT, computer=True))
        assert sum(isinstance(each, Forfeited) for each in told) == (not was_out)
        self.seats[number].presence, self.seats[number].until = "out", None

    @precondition(lambda self: self.running and self.turn > 3)
    @rule()
    def finish(self) -> None:
        self.happen(Finished())
        self.on_turn = None
        forfeits = [each for each in self.told if isinstance(each, Forfeited)]
        closed = self.told[-1]
        assert isinstance(closed, Closed)
        assert [(each.seat, each.reason) for each in closed.forfeits] == [
            (each.seat, each.reason) for each in forfeits
        ]

    # --- always --------------------------------------------------------------------------

    @invariant()
    def never_more_than_five(self) -> None:
        for number in range(len(PLAYERS)):
            charges = [
                each.charged
                for each in self.told
                if isinstance(each, Charged) and each.seat == number
            ]
            assert charges == list(range(1, len(charges) + 1))
            assert len(charges) <= QUICK.timeouts
            assert len([e for e in self.told if isinstance(e, Forfeited) and e.seat == number]) < 2

    @invariant()
    def a_computer_is_never_charged(self) -> None:
        about = [
            each.seat
            for each in self.told
            if isinstance(each, Charged | ConnectionLost | ConnectionRestored | Forfeited)
        ]
        assert not self.computers & set(about)
        for number, seat in enumerate(self.state.seats):
            assert seat.computer == self.out(number)
            if self.out(number):
                assert (seat.until, seat.intent) == (0, None)

    @invariant()
    def closed_is_silent(self) -> None:
        if self.state.closed:
            assert domain.next_deadline(self.state) is None
            for event in (Tick(), Attached(0, "x"), TurnStarted(99, 0, self.now), Finished()):
                assert domain.advance(self.state, event, self.now + 999) == (self.state, [])

    @invariant()
    def stored_as_it_is(self) -> None:
        assert codec.read(codec.write(self.state)) == self.state

    @invariant()
    def never_without_a_deadline(self) -> None:
        """A game in which somebody's time runs is looked at again."""
        if self.running and self.on_turn is not None and not self.out(self.on_turn):
            assert domain.next_deadline(self.state) is not None


TestGames = Games.TestCase
TestGames.settings = settings(max_examples=100, stateful_step_count=30, deadline=None)


def lost_and_back(lengths: list[tuple[int, int]], fired: bool) -> tuple[State, list[Announcement]]:
    """One turn in which seat 0 is there and away by turns; fired in time, or once at the end."""
    state, told = domain.begin(("eleni", "nikos"), QUICK, 0), list[Announcement]()
    now = 0

    def happen(event: Event) -> None:
        nonlocal state
        state, more = domain.advance(state, event, now)
        told.extend(more)

    def fire() -> None:
        if domain.overdue(state, now):
            happen(TurnRuns(1, now))
            if state.seats[0].intent is not None:
                happen(Confirmed(0))

    happen(Attached(0, "here"))
    happen(Attached(1, "here"))
    happen(TurnStarted(1, 0, now))
    for there, gone in lengths:
        for length, change in ((there, "lose"), (gone, "attach")):
            end = now + length
            while fired and (due := domain.next_deadline(state)) is not None and due <= end:
                now = due
                fire()
            now = end
            epoch = state.seats[0].epoch
            happen(Lost(0, epoch, now) if change == "lose" else Attached(0, "here"))
    fire()
    return state, [each for each in told if isinstance(each, Charged | Forfeited)]


LENGTHS = st.lists(st.tuples(st.integers(0, 80), st.integers(0, 80)), max_size=8)


@settings(max_examples=300, deadline=None)
@given(LENGTHS)
def test_fired_late_changes_nothing_but_the_time(lengths: list[tuple[int, int]]) -> None:
    prompt, told = lost_and_back(lengths, fired=True)
    late, told_late = lost_and_back(lengths, fired=False)
    assert told == told_late
    assert prompt.forfeits == late.forfeits
    if not prompt.forfeits:
        assert prompt == late


@settings(max_examples=300, deadline=None)
@given(st.lists(st.integers(1, 60), min_size=1, max_size=12))
def test_many_short_absences_cost_what_one_long_one_costs(lengths: list[int]) -> None:
    _, short = lost_and_back([(0, length) for length in lengths], fired=True)
    _, long = lost_and_back([(0, sum(lengths))], fired=True)
    assert short == long
    charges = [each for each in long if isinstance(each, Charged)]
    assert len(charges) == min(QUICK.timeouts, sum(lengths) // QUICK.move)


@settings(max_examples=300, deadline=None)
@given(
    lengths=st.lists(
        st.tuples(st.integers(1, 60), st.integers(0, 90), st.sampled_from(["lose", "attach"])),
        max_size=10,
    )
)
def test_no_charge_accrues_off_turn(lengths: list[tuple[int, int, str]]) -> None:
    """Whatever a seat does while the other one thinks costs it nothing."""
    state, now = domain.begin(("eleni", "nikos"), QUICK, 0), 0
    for seat in (0, 1):
        state, _ = domain.advance(state, Attached(seat, "here"), now)
    for turn, (own, other, change) in enumerate(lengths, 1):
        state, _ = domain.advance(state, TurnStarted(2 * turn, 1, now), now)
        epoch = state.seats[0].epoch
        event: Event = Attached(0, "here") if change == "attach" else Lost(0, epoch, now)
        state, _ = domain.advance(state, event, now)
        now += other
        before = (state.seats[0].charged, state.seats[0].away)
        state, told = domain.advance(state, TurnRuns(2 * turn, now), now)
        assert all(each.seat == 1 for each in told if isinstance(each, Charged))
        state, _ = domain.advance(state, TurnEnded(2 * turn, now), now)
        assert (state.seats[0].charged, state.seats[0].away) == before
        state, _ = domain.advance(state, TurnStarted(2 * turn + 1, 0, now), now)
        now += min(own, 20)
        state, _ = domain.advance(state, TurnEnded(2 * turn + 1, now), now)


def test_a_forfeit_that_nobody_here_asked_for_is_not_announced() -> None:
    state = domain.begin(("eleni", "nikos"), QUICK, 0)
    state, told = domain.advance(state, ForfeitRecorded(0, Reason.LEFT), 5)
    assert told == []
    state, told = domain.advance(state, Finished(), 6)
    assert told == [Closed(())]


def test_a_forfeit_is_announced_once() -> None:
    state = domain.begin(("eleni", "nikos"), QUICK, 0)
    state, _ = domain.advance(state, Leaving(0, "a"), 1)
    state, told = domain.advance(state, ForfeitRecorded(0, Reason.LEFT), 2)
    assert told == [Forfeited(0, Reason.LEFT)]
    state, told = domain.advance(state, Confirmed(0), 3)
    assert told == []
    state, told = domain.advance(state, Finished(), 4)
    assert told == [Closed((Forfeit(0, Reason.LEFT, "a"),))]


def test_presence_names() -> None:
    """Stored: a name that changed would be unreadable in old rows."""
    assert {each.value for each in Presence} == {"expected", "attached", "unknown", "lost", "out"}
