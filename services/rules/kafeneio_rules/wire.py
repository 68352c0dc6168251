"""Between messages and values: what clients send and get."""

from __future__ import annotations

import functools
from collections.abc import Container, Iterable, Iterator
from datetime import datetime
from typing import Any

from google.protobuf.timestamp_pb2 import Timestamp
from kafeneio.rules.v1 import actions_pb2, events_pb2, game_pb2, views_pb2
from kafeneio_games.game import AnyGame, Entry, Seat, Unreadable
from kafeneio_games.match import OPENING, OpeningThrow, Outcome, read_opening, write_opening
from kafeneio_games.play import CANCEL, RESIGN, Forfeit, Play, forfeit_text, void_text
from kafeneio_games.target_match import DEALER, read_dealer, write_dealer
from kafeneio_runtime.bus import Event
from kafeneio_runtime.errors import malformed

from kafeneio_rules import rummy_wire
from kafeneio_rules.domain import (
    Finished,
    ForfeitRecorded,
    Happening,
    Started,
    Status,
    Terms,
    TurnEnded,
    TurnStarted,
)
from kafeneio_rules.families import CODECS, Family, family, game_id
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


def entry_action(game: AnyGame | None, text: str) -> actions_pb2.Action:
    """The text of a log entry as a message; `game` is the round's. Shared: not to be changed."""
    return _entry_action(None if game is None else family(game), text)


@functools.lru_cache(maxsize=4096)
def _entry_action(kin: Family | None, text: str) -> actions_pb2.Action:
    message = actions_pb2.Action(notation=text)
    if text == RESIGN:
        message.resign_round.SetInParent()
    elif text == CANCEL:
        message.cancel_before_start.SetInParent()
    elif text.startswith("!forfeit "):
        message.forfeit.reason = forfeit_reason(text.removeprefix("!forfeit "))
    elif text.startswith("!void "):
        message.void_game.reason = void_reason(text.removeprefix("!void "))
    elif text.startswith(OPENING):
        message.opening_throw.dice.extend(read_opening(text).dice)
    elif text.startswith(DEALER):
        message.first_dealer.seat = read_dealer(text)
    else:
        assert kin is not None, "without a round only the table and the match act"
        CODECS[kin].fill(message, text)
    return message


def legal_actions(play: Play, seat: Seat, kind: str) -> Iterator[actions_pb2.Action]:
    """What a seat may do now, lazily; only actions of one kind (a field of Action) if it is named.

    Shared messages: not to be changed.
    """
    game = play.game
    assert game is not None, "a running round has a game"
    for action in CODECS[family(game)].candidates(game, play.state, seat, kind):
        message = entry_action(game, game.write(action))
        if not kind or message.WhichOneof("action") == kind:
            yield message


def reveals(game: AnyGame, text: str) -> bool:
    """Whether an action shows its seat a card that it has not seen."""
    return family(game) is Family.RUMMY and text == rummy_wire.DRAW


def action_text(game: AnyGame, action: actions_pb2.Action, field: str) -> str:
    """What a player sends, as a log entry's text; `field` names it in a refusal.

    Raises a MALFORMED refusal where it is no action of this game, or its two forms differ.
    """
    text = action.notation
    try:
        written = text if action.WhichOneof("action") is None else _written(game, action)
        game.read(written)
    except ValueError as unreadable:  # `Unreadable`, or a reason that has no name
        raise malformed(field, str(unreadable)) from unreadable
    if text and text != written:
        raise malformed(field, f"the message says {written!r}, its notation {text!r}")
    return CODECS[family(game)].settled(written)


def _written(game: AnyGame, action: actions_pb2.Action) -> str:
    """The notation of an action's message; `Unreadable` where this game knows none such."""
    text = CODECS[family(game)].written(action) or _of_the_table(action)
    if text is None:
        raise Unreadable(f"{game_id(game)} has no action {action.WhichOneof('action')!r}")
    return text


def _of_the_table(action: actions_pb2.Action) -> str | None:
    match action.WhichOneof("action"):
        case "opening_throw":
            return write_opening(OpeningThrow(tuple(action.opening_throw.dice)))
        case "first_dealer":
            return write_dealer(Seat(action.first_dealer.seat))
        case "resign_round":
            return RESIGN
        case "forfeit":
            return forfeit_text(forfeit_name(action.forfeit.reason))
        case "void_game":
            name = actions_pb2.VoidReason.Name(action.void_game.reason)
            return void_text(name.removeprefix("VOID_REASON_"))
        case "cancel_before_start":
            return CANCEL
    return None


# --- positions -------------------------------------------------------------------------------


def put_view(message: views_pb2.View, game: AnyGame, seen: Any) -> None:
    """What `Game.view` of a round shows."""
    CODECS[family(game)].put_view(message, game_id(game), seen)


def outcome(value: Outcome) -> game_pb2.Outcome:
    """How a game ended."""
    if value.void is not None:
        # A cancelled game has that for its status, and no reason beside it.
        if value.void == "CANCELLED":
            return game_pb2.Outcome()
        return game_pb2.Outcome(void_reason=void_reason(value.void))
    decided = events_pb2.Decided(winners=value.winners, score=value.score, ending=value.ending)
    return game_pb2.Outcome(decided=decided)


def forfeits(
    values: Iterable[Forfeit], computers: Container[Seat]
) -> list[events_pb2.SeatForfeitRecorded]:
    """Seats that are out, and whether a computer plays on."""
    return [
        events_pb2.SeatForfeitRecorded(
            seat=value.seat,
            reason=forfeit_reason(value.reason),
            computer=value.seat in computers,
        )
        for value in values
    ]


def position(
    play: Play,
    version: int,
    since: datetime | None,
    viewer: Seat | None,
    computer: bool = False,
) -> game_pb2.Position:
    """A game at one version, as one seat, its computer, or a spectator may see it."""
    message = game_pb2.Position()
    put_position(message, play, version, since, viewer, computer)
    return message


def put_position(
    message: game_pb2.Position,
    play: Play,
    version: int,
    since: datetime | None,
    viewer: Seat | None,
    computer: bool = False,
) -> None:
    """`position`, into an empty message: in its place in an answer it need not be copied."""
    message.version = version
    message.status = STATUSES[Status.of(play, version)]
    message.score.extend(play.score)
    if version:
        message.round = play.round
        message.to_act.extend(seat for seat in play.to_act if seat >= 0)
    if version and play.game is not None:
        put_view(message.view, play.game, play.view(viewer, computer))
    message.view_hash = play.view_digest(viewer, computer)
    if play.last is not None:
        last = message.last_round
        last.round = play.last.number
        last.points.extend(play.last.result.points)
        last.ending = play.last.result.ending
        if play.last.game.hidden:
            put_view(last.view, play.last.game, play.last_view(viewer, computer))
    if play.prompted is not None and since is not None:
        turn = message.turn
        turn.turn = play.turn
        turn.seat = play.prompted
        turn.since.CopyFrom(timestamp(since))
    if play.outcome is not None:
        message.outcome.CopyFrom(outcome(play.outcome))
    if play.forfeits:
        message.forfeits.extend(forfeits(play.forfeits, play.computers))


def row(at: datetime, game: AnyGame | None, entries: Iterable[Entry], viewer: Seat | None) -> bytes:
    """A row, less what the viewer may not see, as a GameUpdate without a position, serialised.

    Serialised messages one after the other read as one message with all of their fields; so it is
    put together of parts that are made once and used in many rows.
    """
    kin = None if game is None else family(game)
    shown = [_log_entry(kin, entry.seat, _shown(game, entry, viewer)) for entry in entries]
    return _at(at) + b"".join(shown)


@functools.lru_cache(maxsize=1024)
def _at(moment: datetime) -> bytes:
    return game_pb2.GameUpdate(at=timestamp(moment)).SerializeToString()


@functools.lru_cache(maxsize=4096)
def _log_entry(kin: Family | None, seat: Seat, text: str) -> bytes:
    entry = game_pb2.LogEntry(seat=seat, action=_entry_action(kin, text))
    return game_pb2.GameUpdate(entries=[entry]).SerializeToString()


def _shown(game: AnyGame | None, entry: Entry, viewer: Seat | None) -> str:
    if game is None or not game.hidden or entry.text.startswith(("!", OPENING, DEALER)):
        return entry.text
    return str(game.show(game.read(entry.text), viewer))


# --- events ----------------------------------------------------------------------------------


def event(
    sequence: int,
    version: int,
    happening: Happening,
    game_id: str,
    about: events_pb2.GameStarted,
    absent: Iterable[Seat] = (),
) -> events_pb2.GameEvent:
    """An event of the outbox, without its id and its time, which the database gives. `absent` are
    the seats that have not joined."""
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
        case ForfeitRecorded(Forfeit(seat, reason), computer):
            message.seat_forfeit_recorded.seat = seat
            message.seat_forfeit_recorded.reason = forfeit_reason(reason)
            message.seat_forfeit_recorded.computer = computer
        case Finished(end, gone, computers):
            finished = message.game_finished
            finished.variant = about.variant
            finished.payout_rule = about.payout_rule
            finished.forfeits.extend(forfeits(gone, computers))
            finished.absent_seats.extend(absent)
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


def game(header: Header, stands: game_pb2.Position, play: Play) -> game_pb2.Game:
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
    out = {forfeit.seat: forfeit_reason(forfeit.reason) for forfeit in play.forfeits}
    for seat, (player, word) in enumerate(zip(header.players, header.words, strict=True)):
        message.seats.add(
            seat=seat,
            player_id=player,
            joined=word is not None,
            forfeit=out.get(Seat(seat)),
            computer=seat in play.computers,
        )
    return message
