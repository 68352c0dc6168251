"""One game as it is kept in memory: the end of its log, folded, and what is shown of its rows."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from uuid import UUID

from kafeneio.rules.v1 import events_pb2, game_pb2
from kafeneio_games import registry
from kafeneio_games.chance import ProvableDraw
from kafeneio_games.game import Seat, read_entry, write_entry
from kafeneio_games.play import Play
from kafeneio_runtime import audit
from kafeneio_runtime.ids import new_id
from kafeneio_runtime.outbox import Announcement

from kafeneio_rules import wire
from kafeneio_rules.domain import Change, Status, Step
from kafeneio_rules.storage import Append, Header, Request, Row, StoredRow

KEPT_STEPS: Final = 32


@dataclass(slots=True)
class DatedStep:
    """A row with its time, and what was made of it so far to be sent, by viewer."""

    step: Step
    at: datetime
    since: datetime | None
    by_house: bool
    digest: bytes
    updates: dict[Seat | None, bytes] = field(default_factory=dict)

    def update(self, viewer: Seat | None) -> bytes:
        """The row as one seat or a spectator may see it: a GameUpdate, serialised once."""
        play = self.step.play
        viewer = eyes(play, viewer)
        update = self.updates.get(viewer)
        if update is None:
            message = game_pb2.GameUpdate()
            wire.put_position(message.position, play, self.step.version, self.since, viewer)
            update = self.entries(viewer) + message.SerializeToString()
            self.updates[viewer] = update
        return update

    def entries(self, viewer: Seat | None) -> bytes:
        """The row without the position after it: a GameUpdate, serialised."""
        play = self.step.play
        game = play.game
        if game is None and play.last is not None:  # a drawn round, before the next opening throw
            game = play.last.game
        return wire.row(self.at, game, self.step.entries, eyes(play, viewer))


def eyes(play: Play, viewer: Seat | None) -> Seat | None:
    """As whom a viewer looks: a seat that is out sees what a spectator sees (F5), and so does
    everybody where nothing is hidden."""
    if play.game is None or not play.game.hidden:
        return None
    return play.eyes(viewer)


@dataclass(slots=True)
class Table:
    """The end of one log, folded.

    `about` is what its events say of the game, `steps` are its last rows, `drawn` and `sequence`
    the counts after the last, `requests` the version that each call wrote with the digest of its
    body, `dice` its chance once that was asked for.
    """

    header: Header
    play: Play
    about: events_pb2.GameStarted
    version: int = 0
    drawn: int = 0
    sequence: int = 0
    since: datetime | None = None
    steps: deque[DatedStep] = field(default_factory=lambda: deque(maxlen=KEPT_STEPS))
    requests: dict[tuple[str, UUID], tuple[bytes, int]] = field(default_factory=dict)
    dice: ProvableDraw | None = field(default=None, repr=False)

    @classmethod
    def begin(cls, header: Header, keep_all: bool = False) -> Table:
        """The table of a game of which nothing has been played."""
        terms = header.terms
        assert terms is not None, "a tombstone has no table"
        variant = registry.variant(terms.variant, terms.edition)
        match = variant.build(dict(terms.options), terms.target)
        play = Play.begin(match, header.computers)
        about = events_pb2.GameStarted(
            variant=variant.id,
            player_ids=header.players,
            payout_rule=variant.payout,
            computer_seats=header.computers,
        )
        table = cls(header, play, about)
        if keep_all:
            table.steps = deque()
        return table

    @classmethod
    def fold(cls, header: Header, rows: Iterable[StoredRow]) -> Table:
        """The table of a stored game; for the few rows of one that is about to start."""
        table = cls.begin(header)
        for stored in rows:
            table.take(stored)
        return table

    def take(self, stored: StoredRow) -> None:
        """The next row of the log."""
        entries = tuple(map(read_entry, stored.row.entries))
        step = Step(stored.row.version, entries, self.play.apply_all(entries))
        by_house = stored.request is None
        self._add(DatedStep(step, stored.at, None, by_house, stored.row.digest))
        self.drawn, self.sequence = stored.row.drawn, stored.row.sequence
        self._answered(stored.request, stored.row.version)

    @property
    def status(self) -> Status:
        """Where the game stands."""
        return Status.of(self.play, self.version)

    def position(self, seat: Seat | None) -> game_pb2.Position:
        """Where it stands, as a seat or a spectator may see it."""
        return wire.position(self.play, self.version, self.since, eyes(self.play, seat))

    def message(self, player: str) -> game_pb2.Game:
        """The game as a player, perhaps without a seat in it, may see it."""
        return wire.game(self.header, self.position(self.seat_of(player)), self.play)

    def message_for_computer(self, seat: Seat) -> game_pb2.Game:
        """The game as the computer in a seat may see it: a forfeited seat's own hand, too."""
        stands = wire.position(self.play, self.version, self.since, seat, computer=True)
        return wire.game(self.header, stands, self.play)

    def seat_of(self, player: str) -> Seat | None:
        """Where a player sits. Nobody is a computer, whatever he is called."""
        return self.header.seat_of(player)

    def append(self, change: Change, drawn: int, request: Request | None, reason: str) -> Append:
        """What is to be written for a change; `drawn` is the count after it."""
        *_, last = change.steps
        sequence, rows, announcements = self.sequence, [], []
        game_id = str(self.game_id)
        absent = () if self.version else self.header.absent
        for step in change.steps:
            for version, happening in change.happenings:
                if version == step.version:
                    sequence += 1
                    message = wire.event(sequence, version, happening, game_id, self.about, absent)
                    kind = message.WhichOneof("event") or ""
                    announcements.append(
                        Announcement(
                            new_id(), self.game_id, sequence, kind, message.SerializeToString()
                        )
                    )
            rows.append(
                Row(
                    step.version,
                    tuple(map(write_entry, step.entries)),
                    step.play.digest(),
                    drawn if step is last else self.drawn,
                    sequence,
                )
            )
        status = Status.of(last.play, last.version)
        return Append(
            self.game_id,
            tuple(rows),
            request,
            tuple(announcements),
            status,
            last.play.outcome,
            reason,
            len(last.play.computers) > len(self.play.computers),
            None if request is None else audit.entry_of_call(),
        )

    @property
    def game_id(self) -> UUID:
        """The game."""
        return self.header.game_id

    def advance(self, change: Change, append: Append, at: datetime) -> list[DatedStep]:
        """Take over what has been committed; the new rows."""
        for step, row in zip(change.steps, append.rows, strict=True):
            own = row is append.rows[0] and append.request is not None
            self._add(DatedStep(step, at, None, not own, row.digest))
        self.drawn, self.sequence = append.rows[-1].drawn, append.rows[-1].sequence
        self._answered(append.request, append.rows[0].version)
        return list(self.steps)[-len(change.steps) :]

    def _add(self, dated: DatedStep) -> None:
        step = dated.step
        if step.play.turn != self.play.turn:
            self.since = dated.at
        dated.since = self.since
        self.play, self.version = step.play, step.version
        self.steps.append(dated)

    def _answered(self, request: Request | None, version: int) -> None:
        if request is not None:
            self.requests[request.caller, request.request_id] = (request.digest, version)
