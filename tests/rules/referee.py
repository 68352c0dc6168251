"""Judges what the API tells of a game by the rules themselves: the pure games, and the contract.

Nothing here knows the service: a game is its terms and the rows that were told.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias

from kafeneio.rules.v1 import actions_pb2, events_pb2
from kafeneio.rules.v1 import game_pb2 as pb
from kafeneio_games.game import Entry, Seat
from kafeneio_games.play import Play
from kafeneio_games.registry import build

CHANCE: Final = -1
TABLE: Final = -2
Told: TypeAlias = tuple[object, ...]


def texts(update: pb.GameUpdate) -> list[tuple[int, str]]:
    """Who did what in a row."""
    return [(entry.seat, entry.action.notation) for entry in update.entries]


def beginning(game: pb.Game) -> Play:
    """A game before anything has happened."""
    terms = game.terms
    match = build(terms.variant, terms.edition, dict(terms.options), terms.target)
    return Play.begin(match, tuple(map(Seat, computers_of(game))))


def computers_of(game: pb.Game) -> list[int]:
    """The seats that computers play from the start."""
    return [seat.seat for seat in game.seats if seat.computer and not seat.forfeit]


def after(play: Play, update: pb.GameUpdate) -> Play:
    """The game after a row."""
    return play.apply_all(tuple(Entry(Seat(seat), text) for seat, text in texts(update)))


def check_position(position: pb.Position, play: Play) -> None:
    """A position is what the rules make of the rows before it."""
    assert list(position.score) == list(play.score)
    assert position.round == play.round
    assert list(position.to_act) == [seat for seat in play.to_act if seat >= 0]
    assert position.view_hash == play.view_digest(None)
    if play.prompted is None:
        assert not position.HasField("turn")
    else:
        assert (position.turn.turn, position.turn.seat) == (play.turn, play.prompted)
    if play.game is not None:
        table = position.view.tavli
        state = play.view(None)
        assert table.game == "portes"
        assert [bytes(side.points) for side in table.sides] == list(state.boards)
        assert all(sum(side.points) == 15 for side in table.sides)
        assert (table.mover, tuple(table.rolled), tuple(table.dice)) == (
            state.mover,
            state.rolled,
            state.dice,
        )
    assert [(each.seat, each.reason, each.computer) for each in position.forfeits] == [
        (
            each.seat,
            actions_pb2.ForfeitReason.Value(f"FORFEIT_REASON_{each.reason}"),
            each.seat in play.computers,
        )
        for each in play.forfeits
    ]
    check_last_round(position, play)
    over = play.outcome is not None
    assert position.HasField("outcome") is over
    assert (position.status == pb.GAME_STATUS_RUNNING) is not over


def check_last_round(position: pb.Position, play: Play) -> None:
    """The round before this one is told as it ended."""
    assert position.HasField("last_round") is (play.last is not None)
    if play.last is not None:
        told = position.last_round
        result = play.last.result
        assert (told.round, list(told.points)) == (play.last.number, list(result.points))
        assert told.ending == result.ending
        assert told.round == position.round - 1
        assert not told.HasField("view"), "of an open game there is nothing to show"


def check_rows(game: pb.Game, updates: Sequence[pb.GameUpdate]) -> Play:
    """The rows of a whole game, or of its beginning: numbered, each of one kind, each position
    right. The game after them."""
    play, prompt = beginning(game), None
    for number, update in enumerate(updates, 1):
        assert update.position.version == number
        check_kind(update, prompt)
        play = after(play, update)
        check_position(update.position, play)
        prompt = update.position.turn.seat if update.position.HasField("turn") else None
    return play


def check_kind(update: pb.GameUpdate, prompt: int | None) -> None:
    """One row is what one call did, or all that the house did by itself then."""
    did = texts(update)
    assert did
    if did[0][1].startswith("!"):
        assert len(did) == 1
    elif prompt is None:  # the house: throws, and passes of seats that cannot move
        assert {text for seat, text in did if seat >= 0} <= {"pass"}
        assert did[-1][0] == CHANCE, "it ends with a throw that somebody can play"
    else:
        assert {seat for seat, _ in did} == {prompt}
        assert 1 <= len(did) <= 4
        assert not any(text == "pass" for _, text in did)


def expected_events(game: pb.Game, updates: Iterable[pb.GameUpdate]) -> list[Told]:
    """What the contract wants announced of these rows: (version, kind, content ...)."""
    told: list[Told] = []
    prompt: tuple[int, int] | None = None
    gone = 0
    for update in updates:
        position = update.position
        version = position.version
        turn = (position.turn.turn, position.turn.seat) if position.HasField("turn") else None
        if version == 1 and not texts(update)[0][1].startswith("!"):
            players = [seat.player_id for seat in game.seats]
            told.append((version, "game_started", game.terms.variant, players, "S4"))
        if prompt is not None and prompt != turn:
            told.append((version, "turn_ended", *prompt))
        for forfeit in position.forfeits[gone:]:
            told.append((version, "seat_forfeit_recorded", forfeit.seat, forfeit.reason))
        gone = len(position.forfeits)
        if turn is not None and prompt != turn:
            told.append((version, "turn_started", *turn))
        if position.status == pb.GAME_STATUS_FINISHED:  # whoever cancels knows
            told.append((version, "game_finished", game.terms.variant, "S4"))
        prompt = turn
    return told


def told_events(events: Iterable[events_pb2.GameEvent]) -> list[Told]:
    """Events in the same form."""
    told: list[Told] = []
    for event in events:
        kind = event.WhichOneof("event")
        content: Told = ()
        if kind == "game_started":
            started = event.game_started
            content = (started.variant, list(started.player_ids), started.payout_rule)
        elif kind == "turn_started":
            content = (event.turn_started.turn, event.turn_started.seat)
        elif kind == "turn_ended":
            content = (event.turn_ended.turn, event.turn_ended.seat)
        elif kind == "seat_forfeit_recorded":
            recorded = event.seat_forfeit_recorded
            content = (recorded.seat, recorded.reason)
        elif kind == "game_finished":
            content = (event.game_finished.variant, event.game_finished.payout_rule)
        told.append((event.version, str(kind), *content))
    return told


def check_events(
    game: pb.Game, updates: Sequence[pb.GameUpdate], events: Sequence[events_pb2.GameEvent]
) -> None:
    """The events of a game tell its rows, in order and without a gap."""
    assert told_events(events) == expected_events(game, updates)
    assert [event.sequence for event in events] == list(range(1, len(events) + 1))
    assert {event.game_id for event in events} <= {game.game_id}
    assert len({event.event_id for event in events}) == len(events)
    for event in events:
        if event.HasField("game_started"):
            assert list(event.game_started.computer_seats) == computers_of(game)
        elif event.HasField("game_finished"):
            assert event.game_finished.forfeits == updates[-1].position.forfeits
    times = {update.position.version: update.at for update in updates}
    assert all(event.occurred_at == times[event.version] for event in events)
    check_numbering(events)


def check_numbering(events: Iterable[events_pb2.GameEvent]) -> None:
    """Prompts are numbered from 1, and each is over before the next begins."""
    running, count = 0, 0
    for event in events:
        if event.HasField("turn_started"):
            assert running == 0
            count += 1
            running = count
            assert event.turn_started.turn == count
        elif event.HasField("turn_ended"):
            assert event.turn_ended.turn == running
            running = 0
