"""Between messages and values: what clients send and get."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from datetime import datetime
from typing import TypeAlias

from google.protobuf.timestamp_pb2 import Timestamp
from kafeneio.rules.v1 import actions_pb2, events_pb2, game_pb2
from kafeneio_games import fevga, gulbara, plakoto, portes, tavli
from kafeneio_games.game import AnyGame, Entry, Seat
from kafeneio_games.match import OpeningThrow, Outcome, read_opening, write_opening
from kafeneio_games.play import CANCEL, RESIGN, Forfeit, Play, forfeit_text, void_text
from kafeneio_runtime.bus import Event
from kafeneio_runtime.errors import malformed

from kafeneio_rules.domain import (
    Finished,
    Happening,
    Started,
    Status,
    Terms,
    TurnEnded,
    TurnStarted,
)
from kafeneio_rules.storage import Header

STATUSES = {
    Status.WAITING: game_pb2.GAME_STATUS_WAITING,
    Status.RUNNING: game_pb2.GAME_STATUS_RUNNING,
    Status.FINISHED: game_pb2.GAME_STATUS_FINISHED,
    Status.CANCELLED: game_pb2.GAME_STATUS_CANCELLED,
}
STATUS_NAMES = {number: status.value for status, number in STATUSES.items()}


@functools.lru_cache(maxsize=1024)
def timestamp(moment: datetime) -> Timestamp:
    """A time of the database as a message. Shared: it must not be changed."""
    message = Timestamp()
    message.FromDatetime(moment)
    return message


def forfeit_reason(name: str) -> actions_pb2.ForfeitReason.ValueType:
    """A reason of X12 as a number of the contract."""
    return actions_pb2.ForfeitReason.Value(f"FORFEIT_REASON_{name}")


def forfeit_name(reason: actions_pb2.ForfeitReason.ValueType) -> str:
    """The inverse of `forfeit_reason`."""
    return actions_pb2.ForfeitReason.Name(reason).removeprefix("FORFEIT_REASON_")


def void_reason(name: str) -> actions_pb2.VoidReason.ValueType:
    """A reason for which a game is void as a number of the contract."""
    return actions_pb2.VoidReason.Value(f"VOID_REASON_{name}")


# --- actions ---------------------------------------------------------------------------------


@functools.lru_cache(maxsize=4096)
def entry_action(text: str) -> actions_pb2.Action:
    """The text of a log entry as a message. Shared: it must not be changed."""
    message = actions_pb2.Action(notation=text)
    if text == RESIGN:
        message.resign_round.SetInParent()
    elif text == CANCEL:
        message.cancel_before_start.SetInParent()
    elif text.startswith("!forfeit "):
        message.forfeit.reason = forfeit_reason(text.removeprefix("!forfeit "))
    elif text.startswith("!void "):
        message.void_game.reason = void_reason(text.removeprefix("!void "))
    elif text.startswith("opening "):
        message.opening_throw.dice.extend(read_opening(text).dice)
    else:
        _fill(message, tavli.read(text))
    return message


def _fill(message: actions_pb2.Action, action: tavli.Action) -> None:
    match action:
        case tavli.Roll(first, second):
            message.roll_dice.dice.extend((first, second))
        case tavli.MoveChecker(start, die):
            message.move_checker.start = start
            message.move_checker.die = die
        case tavli.Pass():
            message.pass_turn.SetInParent()


def action_text(game: AnyGame, action: actions_pb2.Action, field: str) -> str:
    """What a player sends, as a log entry's text; `field` names it in a refusal.

    Raises a MALFORMED refusal where it is no action of this game, or its two forms differ.
    """
    kind = action.WhichOneof("action")
    text = action.notation
    try:
        written = text if kind is None else _written(action, kind)
        game.read(written)
    except ValueError as unreadable:  # `Unreadable`, or a reason that has no name
        raise malformed(field, str(unreadable)) from unreadable
    if text and text != written:
        raise malformed(field, f"the message says {written!r}, its notation {text!r}")
    return written


def _written(action: actions_pb2.Action, kind: str) -> str:
    """The notation of an action's message."""
    match kind:
        case "roll_dice":
            return "".join(map(str, action.roll_dice.dice))
        case "move_checker":
            move = action.move_checker
            return tavli.write(tavli.MoveChecker(move.start, move.die))
        case "pass_turn":
            return tavli.write(tavli.PASS)
        case "opening_throw":
            return write_opening(OpeningThrow(tuple(action.opening_throw.dice)))
        case "resign_round":
            return RESIGN
        case "forfeit":
            return forfeit_text(forfeit_name(action.forfeit.reason))
        case "void_game":
            name = actions_pb2.VoidReason.Name(action.void_game.reason)
            return void_text(name.removeprefix("VOID_REASON_"))
    return CANCEL


# --- positions -------------------------------------------------------------------------------


TavliState: TypeAlias = portes.State | plakoto.State | fevga.State | gulbara.State


def put_view(message: game_pb2.Position, play: Play, viewer: Seat | None) -> None:
    """What a seat, or a spectator, sees of the running round; nothing before the first one."""
    if play.game is None:
        return
    seen: TavliState = play.view(viewer)
    table = message.view.tavli
    table.game = play.game.name.partition("@")[0]
    table.mover = seen.mover
    table.rolled.extend(seen.rolled)
    table.dice.extend(seen.dice)
    for board in seen.boards:
        table.sides.add().points.extend(board)
    match seen:
        case plakoto.State():
            for side, points in zip(table.sides, seen.pinned, strict=True):
                side.pinned.extend(points)
        case gulbara.State():
            table.received.extend(seen.received)
            table.throws.extend(seen.throws)


def outcome(value: Outcome) -> game_pb2.Outcome:
    """How a game ended."""
    if value.void is not None:
        # A cancelled game has that for its status, and no reason beside it.
        if value.void == "CANCELLED":
            return game_pb2.Outcome()
        return game_pb2.Outcome(void_reason=void_reason(value.void))
    decided = events_pb2.Decided(winners=value.winners, score=value.score, ending=value.ending)
    return game_pb2.Outcome(decided=decided)


def forfeits(values: Iterable[Forfeit]) -> list[events_pb2.SeatForfeitRecorded]:
    """Seats that are out."""
    return [
        events_pb2.SeatForfeitRecorded(seat=value.seat, reason=forfeit_reason(value.reason))
        for value in values
    ]


def position(
    play: Play, version: int, since: datetime | None, viewer: Seat | None
) -> game_pb2.Position:
    """A game at one version, as one seat or a spectator may see it."""
    message = game_pb2.Position()
    put_position(message, play, version, since, viewer)
    return message


def put_position(
    message: game_pb2.Position,
    play: Play,
    version: int,
    since: datetime | None,
    viewer: Seat | None,
) -> None:
    """`position`, into an empty message: in its place in an answer it need not be copied."""
    message.version = version
    message.status = STATUSES[Status.of(play, version)]
    message.score.extend(play.score)
    message.view_hash = play.view_digest(viewer)
    if version:
        message.round = play.round
        message.to_act.extend(seat for seat in play.to_act if seat >= 0)
        put_view(message, play, viewer)
    if play.prompted is not None and since is not None:
        turn = message.turn
        turn.turn = play.turn
        turn.seat = play.prompted
        turn.since.CopyFrom(timestamp(since))
    if play.outcome is not None:
        message.outcome.CopyFrom(outcome(play.outcome))
    if play.forfeits:
        message.forfeits.extend(forfeits(play.forfeits))


def row(at: datetime, game: AnyGame | None, entries: Iterable[Entry], viewer: Seat | None) -> bytes:
    """A row, less what the viewer may not see, as a GameUpdate without a position, serialised.

    Serialised messages one after the other read as one message with all of their fields; so it is
    put together of parts that are made once and used in many rows.
    """
    shown = [_log_entry(entry.seat, _shown(game, entry, viewer)) for entry in entries]
    return _at(at) + b"".join(shown)


@functools.lru_cache(maxsize=1024)
def _at(moment: datetime) -> bytes:
    return game_pb2.GameUpdate(at=timestamp(moment)).SerializeToString()


@functools.lru_cache(maxsize=4096)
def _log_entry(seat: Seat, text: str) -> bytes:
    entry = game_pb2.LogEntry(seat=seat, action=entry_action(text))
    return game_pb2.GameUpdate(entries=[entry]).SerializeToString()


def _shown(game: AnyGame | None, entry: Entry, viewer: Seat | None) -> str:
    if game is None or not game.hidden or entry.text.startswith(("!", "opening ")):
        return entry.text
    return str(game.show(game.read(entry.text), viewer))


# --- events ----------------------------------------------------------------------------------


def event(
    sequence: int, version: int, happening: Happening, game_id: str, about: events_pb2.GameStarted
) -> events_pb2.GameEvent:
    """An event of the outbox, without its id and its time, which the database gives."""
    message = events_pb2.GameEvent(game_id=game_id, sequence=sequence, version=version)
    match happening:
        case Started():
            message.game_started.CopyFrom(about)
        case TurnStarted(turn, seat):
            message.turn_started.turn = turn
            message.turn_started.seat = seat
        case TurnEnded(turn, seat):
            message.turn_ended.turn = turn
            message.turn_ended.seat = seat
        case Forfeit(seat, reason):
            message.seat_forfeit_recorded.seat = seat
            message.seat_forfeit_recorded.reason = forfeit_reason(reason)
        case Finished(end, gone):
            finished = message.game_finished
            finished.variant = about.variant
            finished.payout_rule = about.payout_rule
            finished.forfeits.extend(forfeits(gone))
            if end.void is not None:
                finished.void_reason = void_reason(end.void)
            else:
                finished.decided.CopyFrom(outcome(end).decided)
    return message


def stored_event(stored: Event) -> events_pb2.GameEvent:
    """An event as consumers get it."""
    message = events_pb2.GameEvent.FromString(stored.payload)
    message.event_id = str(stored.id)
    message.occurred_at.FromDatetime(stored.occurred_at)
    return message


# --- terms and records -----------------------------------------------------------------------


def terms(value: Terms) -> game_pb2.Terms:
    """What was agreed, every option named."""
    return game_pb2.Terms(
        variant=value.variant,
        edition=value.edition,
        options=dict(value.options),
        target=value.target,
    )


def summary(header: Header) -> game_pb2.GameSummary:
    """A game in a list."""
    assert header.terms is not None, "tombstones are not listed"
    message = game_pb2.GameSummary(
        game_id=str(header.game_id),
        terms=terms(header.terms),
        player_ids=header.players,
        status=STATUSES[header.status],
        created_at=timestamp(header.created_at),
    )
    if header.outcome is not None:
        message.outcome.CopyFrom(outcome(header.outcome))
    return message


def game(header: Header, stands: game_pb2.Position, gone: Iterable[Forfeit]) -> game_pb2.Game:
    """A game with its terms and its position."""
    assert header.terms is not None, "a tombstone is no game"
    assert header.join_by is not None, "a game is always due at some time"
    message = game_pb2.Game(
        game_id=str(header.game_id),
        terms=terms(header.terms),
        commitment=header.commitment,
        created_at=timestamp(header.created_at),
        join_by=timestamp(header.join_by),
        position=stands,
    )
    out = {forfeit.seat: forfeit_reason(forfeit.reason) for forfeit in gone}
    for seat, (player, word) in enumerate(zip(header.players, header.words, strict=True)):
        message.seats.add(
            seat=seat, player_id=player, joined=word is not None, forfeit=out.get(Seat(seat))
        )
    return message
