"""What `clock` knows: a staked game is a state, and events make the next one (X).

Pure: no wire, no store, no now(). Times are whole microseconds since the epoch. An event tells when
it happened where that was before `now`; so it may come late, and the state is as if it had not.
Only charges and forfeits are different: `rules` is asked first, so they are events of their own.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from itertools import islice

from kafeneio_clock.turns import Cause, CreditReason, Interval, Micros, Options, Turn
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
    Intent,
    Kept,
    Leaving,
    Lost,
    Outage,
    Paused,
    Pausing,
    Presence,
    Reason,
    Refused,
    Resumed,
    Resuming,
    RulesOutage,
    Seat,
    State,
    StreamEnded,
    Tick,
    TurnEnded,
    TurnPassed,
    TurnRuns,
    TurnStarted,
    Unreachable,
)


def begin(
    players: Iterable[str], options: Options, at: Micros, computers: Container[int] = ()
) -> State:
    """The clock of a game that starts: each player has as long to attend as he may be silent. The
    seats of `computers` are never waited for."""
    until = at + options.silent
    seats = (
        Seat("", Presence.OUT, at, computer=True)
        if number in computers
        else Seat(player, Presence.EXPECTED, at, until)
        for number, player in enumerate(players)
    )
    return State(options, tuple(seats), idle_since=at)


def never_started(options: Options) -> tuple[State, list[Announcement]]:
    """The clock of a game that ended before its start: closed, with no forfeits."""
    return State(options, (), closed=True), [Closed(())]


def next_deadline(state: State) -> Micros | None:
    """When something is to be done, if nothing happens before; None for a game that is over."""
    if state.closed:
        return None
    found = [seat.until for seat in state.seats if seat.until and not state.paused_since]
    found += [seat.intent.since for seat in state.seats if seat.intent is not None]
    if (expires := expiry(state)) is not None:
        found.append(expires)
    return min(found, default=None)


def overdue(state: State, now: Micros) -> bool:
    """Whether a timeout is to be charged if the turn still runs; so `rules` is to be asked."""
    expires = expiry(advance(state, Tick(), now)[0])
    return expires is not None and expires <= now


def advance(state: State, event: Event, now: Micros) -> tuple[State, list[Announcement]]:
    """The state after an event, and what is to be announced of it."""
    if state.closed:
        return state, []
    happening = _Happening(state, now)
    if isinstance(event, Outage):  # it moves what would else have ended meanwhile
        happening.outage(event)
    happening.expire()
    happening.take(event)
    return happening.state, happening.told


def expiry(state: State) -> Micros | None:
    """When the next timeout may be charged; None while nobody's time runs out."""
    turn = state.turn
    if turn is None or state.closed or state.paused_since:
        return None
    if state.seats[turn.seat].intent is not None:
        return None
    if state.seats[turn.seat].presence is Presence.OUT:
        return None
    crossing = turn.next_crossing(state.options)
    return None if crossing is None else crossing.due


_COUNTS: dict[Presence, Cause | None] = {
    Presence.EXPECTED: Cause.MOVE,
    Presence.ATTACHED: Cause.MOVE,
    Presence.LOST: Cause.AWAY,
    Presence.UNKNOWN: None,
    Presence.OUT: None,
}


class _Happening:
    """One event on its way through a state; lives no longer than `advance`."""

    def __init__(self, state: State, now: Micros) -> None:
        self.state = state
        self.now = now
        self.told: list[Announcement] = []

    def take(self, event: Event) -> None:
        match event:
            case TurnStarted():
                self._turn_started(event)
            case TurnEnded(turn, at):
                self._turn_ended(turn, at)
            case ForfeitRecorded(seat, reason, computer):
                self._recorded(seat, reason, computer)
            case Finished():
                if self.state.turn is not None:
                    self._over(self.state.turn, self.now)
                self.state = self.state._replace(turn=None, closed=True)
                self.told.append(Closed(self.state.forfeits))
            case Attached(seat, replica):
                self._present(seat, replica, self.state.seats[seat].epoch + 1)
            case Heard(seat, epoch, replica):
                if self._is_current(seat, epoch):
                    self._present(seat, replica, epoch)
            case Lost(seat, epoch, since):
                if self._is_current(seat, epoch, Presence.ATTACHED):
                    self._lose(seat, since)
            case StreamEnded(seat, epoch, since):
                if self._is_current(seat, epoch, Presence.ATTACHED):
                    until = self.now + self.state.options.unknown
                    self._turn_to(seat, Presence.UNKNOWN, since, until=until)
            case RulesOutage(began, ended):
                self._credit(Interval(began, ended), CreditReason.RULES_OUTAGE)
            case Unreachable():
                expires = expiry(self.state)
                if not self.state.silent_since and expires is not None and expires <= self.now:
                    self.state = self.state._replace(silent_since=self.now)
            case TurnRuns(turn, asked):
                self._rules_answered()
                self._charge(turn, asked)
            case TurnPassed():
                self.state = self.state._replace(silent_since=0)
            case Leaving(seat, request):
                self._leaving(seat, request)
            case Confirmed(seat):
                if self.state.seats[seat].intent is not None:
                    self._forfeit(seat)
            case Refused(seat):
                self._change(seat, intent=None)
            case Pausing(why):
                if not self.state.paused_since:
                    self.state = self.state._replace(paused_since=self.now)
                    self.told.append(Paused(why))
            case Resuming():
                if self.state.paused_since:
                    self._resume()
            case Outage() | Tick():
                pass

    # --- presence ----------------------------------------------------------------------------

    def outage(self, outage: Outage) -> None:
        """Nobody's time ran meanwhile."""
        away = Interval(outage.began, outage.ended)
        self._prolong(away)
        self._credit(away, CreditReason.CLOCK_OUTAGE)

    def _prolong(self, stopped: Interval) -> None:
        """Nobody could come back meanwhile, so there is as much time for that from its end on."""
        options = self.state.options
        for number, seat in enumerate(self.state.seats):
            if seat.until and seat.until > stopped.began:
                more = options.silent if seat.presence is Presence.EXPECTED else options.unknown
                self._change(number, until=max(seat.until, stopped.ended + more))

    def expire(self) -> None:
        """Who was expected, or may come back, has not."""
        if self.state.paused_since:
            return
        for number, seat in enumerate(self.state.seats):
            if seat.until and seat.until <= self.now:
                self._lose(number, seat.until)

    def _is_current(self, number: int, epoch: int, *presence: Presence) -> bool:
        seat = self.state.seats[number]
        if seat.epoch != epoch or seat.presence is Presence.OUT:
            return False  # X8, or a late word from a stream that a newer one has replaced
        return not presence or seat.presence in presence

    def _present(self, number: int, replica: str, epoch: int) -> None:
        seat = self.state.seats[number]
        if seat.presence is Presence.OUT:
            return
        if seat.presence is Presence.LOST:
            self.told.append(ConnectionRestored(number))
        if seat.presence in (Presence.EXPECTED, Presence.ATTACHED):  # he was there all the time
            self._change(number, presence=Presence.ATTACHED, epoch=epoch, replica=replica, until=0)
            return
        self._turn_to(number, Presence.ATTACHED, self.now, epoch=epoch, replica=replica)

    def _lose(self, number: int, since: Micros) -> None:
        self._turn_to(number, Presence.LOST, since)
        self.told.append(ConnectionLost(number, self.state.seats[number].since))

    def _turn_to(
        self,
        number: int,
        presence: Presence,
        at: Micros,
        *,
        until: Micros = 0,
        epoch: int | None = None,
        replica: str = "",
    ) -> None:
        """Presence changes, at a moment that may have been a while ago."""
        seat, turn = self.state.seats[number], self.state.turn
        at = max(at, seat.since)
        if turn is not None and turn.seat == number:
            if seat.presence is Presence.UNKNOWN:
                self._tell_credit(number, turn.still(Interval(seat.since, at)))
            turn = turn.turned(_COUNTS[presence], at)
            self.state = self.state._replace(turn=turn)
        self._change(
            number,
            presence=presence,
            since=at,
            until=until,
            replica=replica,
            epoch=seat.epoch if epoch is None else epoch,
        )

    # --- turns -------------------------------------------------------------------------------

    def _turn_started(self, event: TurnStarted) -> None:
        if self.state.turn is not None:
            self._turn_ended(self.state.turn.number, event.at)
        seat = self.state.seats[event.seat]
        turn = Turn(event.turn, event.seat, event.at, seat.away)
        # We may hear of it when more has happened since: before that he was there, or it is
        # forgotten who was at fault that he was not.
        if seat.since > event.at and seat.presence in (Presence.LOST, Presence.UNKNOWN):
            turn = turn.turned(Cause.MOVE, event.at)
        turn = turn.turned(_COUNTS[seat.presence], max(event.at, seat.since))
        self.state = self.state._replace(turn=turn, idle_since=0)

    def _turn_ended(self, number: int, at: Micros) -> None:
        turn = self.state.turn
        if turn is None or turn.number != number:
            return
        turn = self._over(turn, at)
        seat = self.state.seats[turn.seat]
        # What was crossed and not charged is forgiven: the move is in the log (X11).
        if (away := turn.away(at)) != seat.away:
            self._change(turn.seat, away=away)
        if seat.presence is Presence.EXPECTED:  # an accepted action is a sign of life
            self._change(turn.seat, until=max(seat.until, at + self.state.options.silent))
        self.state = self.state._replace(turn=None, silent_since=0, idle_since=at)

    def _over(self, turn: Turn, at: Micros) -> Turn:
        """The running turn as it is when it ends: less the time in which the game is paused."""
        if self.state.paused_since:
            paused = Interval(self.state.paused_since, at)
            turn, used = turn.credited(paused, CreditReason.PAUSED)
            if used:
                self.told.append(Credited(turn.seat, used, CreditReason.PAUSED))
        if not turn.turned(None, at).is_ordinary(self.state.options):
            self.told.append(Kept(turn, at))
        return turn

    # --- charges and forfeits ----------------------------------------------------------------

    def _rules_answered(self) -> None:
        since = self.state.silent_since
        if since:
            self.state = self.state._replace(silent_since=0)
            self._credit(Interval(since, self.now), CreditReason.RULES_UNREACHABLE)

    def _charge(self, number: int, asked: Micros) -> None:
        turn = self.state.turn
        if turn is None or turn.number != number:
            return
        seat = self.state.seats[turn.seat]
        if seat.intent is not None or seat.presence is Presence.OUT or self.state.paused_since:
            return
        charged = seat.charged
        for crossing in islice(turn.crossings(self.state.options), turn.charged, None):
            if crossing.due > asked:
                break
            if charged + 1 >= self.state.options.timeouts:
                gone = crossing.cause is Cause.AWAY
                reason = Reason.CONNECTION_LOST if gone else Reason.TIMEOUTS_EXCEEDED
                self._change(turn.seat, intent=Intent(reason, self.now, number))
                break
            charged += 1
            self.told.append(Charged(turn.seat, number, charged, crossing.cause))
        turn = turn._replace(charged=turn.charged + charged - seat.charged)
        self._change(turn.seat, charged=charged)
        self.state = self.state._replace(turn=turn)

    def _leaving(self, number: int, request: str) -> None:
        seat = self.state.seats[number]
        if seat.presence is not Presence.OUT and seat.intent is None:
            self._change(number, intent=Intent(Reason.LEFT, self.now, 0, request))

    def _recorded(self, number: int, reason: Reason, computer: bool) -> None:
        """A forfeit stands in the log. One that we did not ask for is not ours to announce, which
        settlement will see; but the player's time is over."""
        seat = self.state.seats[number]
        if seat.intent is not None and seat.intent.reason is reason:
            self._forfeit(number)
        elif seat.presence is not Presence.OUT:
            self._turn_to(number, Presence.OUT, self.now)
        self._change(number, intent=None, computer=computer)

    def _forfeit(self, number: int) -> None:
        seat = self.state.seats[number]
        intent = seat.intent
        assert intent is not None, "nobody is announced to be out whom we did not ask for"
        if intent.reason is not Reason.LEFT:
            away = intent.reason is Reason.CONNECTION_LOST
            cause = Cause.AWAY if away else Cause.MOVE
            charged = self.state.options.timeouts
            self._change(number, charged=charged)
            self.told.append(Charged(number, intent.turn, charged, cause))
        self._turn_to(number, Presence.OUT, self.now)
        self._change(number, intent=None)
        forfeit = Forfeit(number, intent.reason, intent.request)
        self.state = self.state._replace(forfeits=(*self.state.forfeits, forfeit))
        self.told.append(Forfeited(number, intent.reason))

    # --- credits -----------------------------------------------------------------------------

    def _credit(self, interval: Interval, reason: CreditReason) -> None:
        """Time of the running move or absence, charged to nobody (X10)."""
        turn = self.state.turn
        if turn is None:
            return
        turn, used = turn.credited(interval, reason)
        self.state = self.state._replace(turn=turn)
        if used:
            self.told.append(Credited(turn.seat, used, reason))

    def _resume(self) -> None:
        """The running move keeps what it had left."""
        paused = Interval(self.state.paused_since, self.now)
        self.state = self.state._replace(paused_since=0)
        self._prolong(paused)
        self._credit(paused, CreditReason.PAUSED)
        self.told.append(Resumed())

    def _tell_credit(self, number: int, duration: Micros) -> None:
        if duration > 0:
            self.told.append(Credited(number, duration, CreditReason.STREAM_ENDED))

    def _change(self, number: int, **changes: object) -> None:
        seats = self.state.seats
        seat = seats[number]._replace(**changes)  # type: ignore[arg-type] # named by the callers
        self.state = self.state._replace(seats=(*seats[:number], seat, *seats[number + 1 :]))
