"""One game of the fake house: its log in memory, folded by the rules themselves."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field

from kafeneio.rules.v1 import actions_pb2, events_pb2, views_pb2
from kafeneio.rules.v1 import game_pb2 as pb
from kafeneio_client import records
from kafeneio_games.chance import ProvableDraw, commitment, context
from kafeneio_games.game import Entry, Seat
from kafeneio_games.play import Play
from kafeneio_games.record import Record, Row
from kafeneio_games.registry import build

SECRET = bytes(range(32))


@dataclass
class Table:
    """One game of the fake."""

    game_id: str
    terms: pb.Terms
    names: tuple[str, ...]
    words: dict[int, bytes] = field(default_factory=dict)
    play: Play | None = None
    draw: ProvableDraw | None = None
    updates: list[pb.GameUpdate] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def begin(self) -> None:
        words = tuple(self.words[seat] for seat in range(len(self.names)))
        self.draw = ProvableDraw(SECRET, context(uuid.UUID(self.game_id).bytes, words))
        options = dict(self.terms.options)
        self.play = Play.begin(build(self.terms.variant, 1, options, self.terms.target))
        self.house()

    def house(self) -> None:
        assert self.play is not None
        assert self.draw is not None
        play, entries = self.play.advance(self.draw)
        if entries:
            self.append(play, entries)

    def append(self, play: Play, entries: Iterable[Entry]) -> None:
        self.play = play
        rows = tuple(entries)
        self.rows.append(Row(len(self.rows) + 1, rows, play.digest()))
        update = pb.GameUpdate(position=self.position())
        for entry in rows:
            action = actions_pb2.Action(notation=entry.text)
            if entry.text == "!forfeit LEFT":
                action.forfeit.reason = actions_pb2.FORFEIT_REASON_LEFT
            start, slash, _ = entry.text.partition("/")
            if slash:
                action.move_checker.CopyFrom(move_of(entry.text, start))
            update.entries.add(seat=entry.seat).action.CopyFrom(action)
        self.updates.append(update)
        self.ring()

    def ring(self) -> None:
        """Wake everybody who waits for a change."""
        self.changed.set()
        self.changed = asyncio.Event()

    def position(self) -> pb.Position:
        play = self.play
        if play is None:
            return pb.Position(status=pb.GAME_STATUS_WAITING)
        status = pb.GAME_STATUS_FINISHED if play.over else pb.GAME_STATUS_RUNNING
        position = pb.Position(
            version=len(self.rows), status=status, round=play.round, score=play.score
        )
        if play.game is not None:
            state = play.view(None)
            view = views_pb2.TavliView(
                game="portes", mover=state.mover, rolled=state.rolled, dice=state.dice
            )
            for points in state.boards:
                view.sides.add().points.extend(points)
            position.view.tavli.CopyFrom(view)
        if play.prompted is not None:
            position.turn.CopyFrom(pb.Turn(turn=play.turn, seat=play.prompted))
        if play.outcome is not None:
            end = play.outcome
            decided = events_pb2.Decided(winners=end.winners, score=end.score, ending=end.ending)
            position.outcome.decided.CopyFrom(decided)
        return position

    def message(self) -> pb.Game:
        seats = [
            pb.SeatInfo(seat=seat, player_id=name, joined=seat in self.words)
            for seat, name in enumerate(self.names)
        ]
        return pb.Game(
            game_id=self.game_id,
            terms=self.terms,
            seats=seats,
            commitment=commitment(SECRET),
            position=self.position(),
        )

    def record(self) -> pb.Record:
        assert self.play is not None
        record = Record(
            game_id=uuid.UUID(self.game_id).bytes,
            variant=self.terms.variant,
            edition=1,
            options=tuple(sorted(self.terms.options.items())),
            target=self.terms.target,
            commitment=commitment(SECRET),
            secret=SECRET,
            words=tuple(self.words[seat] for seat in sorted(self.words)),
            rows=tuple(self.rows),
            outcome=self.play.outcome,
        )
        return records.to_message(record, self.names)


def move_of(text: str, start: str) -> actions_pb2.MoveChecker:
    """ "13/8" and "3/off(6)" as messages; good enough for what a program looks at."""
    point = 25 if start == "bar" else int(start)
    end = text.partition("/")[2]
    if end.endswith(")"):
        return actions_pb2.MoveChecker(start=point, die=int(end[-2]))
    return actions_pb2.MoveChecker(start=point, die=point - (0 if end == "off" else int(end)))


def begun() -> Table:
    """A game of eleni and nikos that has just begun."""
    terms = pb.Terms(variant="portes", edition=1, target=1)
    terms.options["rule_set"] = "zarclub"
    table = Table(
        "0193f7a0-5c1e-7000-8000-000000000001", terms, ("eleni", "nikos"), {0: b"", 1: b""}
    )
    table.begin()
    return table


def finished() -> Table:
    """Another one that is over: eleni has resigned at once."""
    table = begun()
    assert table.play is not None
    entry = Entry(Seat(0), "!resign")
    table.append(table.play.apply(entry), [entry])
    return table
