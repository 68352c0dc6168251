"""Who enters a tournament, and who leaves it."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

import grpc
from kafeneio.common.v1 import errors_pb2
from kafeneio_runtime.errors import Reason, Refusal, failed, not_found
from kafeneio_runtime.ids import new_id

from kafeneio_matchmaking.players.gate import Gate
from kafeneio_matchmaking.players.storage import rating_of
from kafeneio_matchmaking.tournaments import course as courses
from kafeneio_matchmaking.tournaments.playing import go_on
from kafeneio_matchmaking.tournaments.states import (
    BEFORE,
    PLAYED,
    EntryEnd,
    EntryMove,
    EntryStatus,
    Status,
)
from kafeneio_matchmaking.tournaments.storage import Sheet
from kafeneio_matchmaking.tournaments.values import Entry, Tournament


async def locked(sheet: Sheet, tournament_id: UUID) -> Tournament:
    """A tournament that is to be changed. Raises TOURNAMENT_UNKNOWN."""
    return known(await sheet.lock(tournament_id), tournament_id)


def known(found: Tournament | None, tournament_id: UUID) -> Tournament:
    """A tournament that is there. Raises TOURNAMENT_UNKNOWN."""
    if found is None:
        reason = errors_pb2.ERROR_REASON_TOURNAMENT_UNKNOWN
        raise not_found(reason, f"there is no tournament {tournament_id}")
    return found


def wrong_status(reason: Reason, tournament: Tournament) -> Refusal:
    """Why something can't be done where a tournament stands."""
    status = tournament.status
    return failed(reason, f"the tournament is {status.value}", status=status.name)


async def register(
    sheet: Sheet, tournament: Tournament, player: str, partner: str, gate: Gate
) -> Entry:
    """The entry of a player in a locked tournament. Raises REGISTRATION_CLOSED, PARTNER_WRONG,
    ALREADY_REGISTERED, RATING_OUT_OF_RANGE, TOURNAMENT_FULL, or what the gate refuses him for."""
    if tournament.status is not Status.OPEN:
        raise wrong_status(errors_pb2.ERROR_REASON_REGISTRATION_CLOSED, tournament)
    if bool(partner) != (tournament.conditions.players_per_entry == 2):
        text = "name your partner" if not partner else "everybody plays for himself"
        raise failed(errors_pb2.ERROR_REASON_PARTNER_WRONG, text)
    own = await sheet.own(tournament.tournament_id, player)
    if own is not None:
        raise Refusal(
            grpc.StatusCode.ALREADY_EXISTS,
            errors_pb2.ERROR_REASON_ALREADY_REGISTERED,
            "you are registered already",
            metadata={"entry_id": str(own.entry_id)},
        )
    await _judge_rating(sheet, tournament, player)
    if tournament.entries >= tournament.conditions.max_entries:
        raise failed(errors_pb2.ERROR_REASON_TOURNAMENT_FULL, "there is no place left")
    other = await sheet.own(tournament.tournament_id, partner) if partner else None
    if other is not None and other.waits_for == player:
        await _admit_both(sheet, tournament, player, other, gate)
        return await sheet.complete(tournament, other, player)
    await gate.admit(sheet.connection, [player], tournament.conditions.game, beside=True)
    status = EntryStatus.WAITING_FOR_PARTNER if partner else EntryStatus.PAYING
    entry_id = new_id()
    await sheet.register(tournament, entry_id, player, partner, status)
    return await _as_written(sheet, entry_id)


async def _admit_both(
    sheet: Sheet, tournament: Tournament, player: str, other: Entry, gate: Gate
) -> None:
    """Raises PARTNER_WRONG where only the partner may not enter: why, the player is not told."""
    both, terms = [*other.players, player], tournament.conditions.game
    try:
        await gate.admit(sheet.connection, both, terms, beside=True)
    except Refusal as refusal:
        if refusal.metadata.get("player_id") == player:
            raise
        # Of two who are both refused he hears what is his own.
        await gate.admit(sheet.connection, [player], terms, beside=True)
        text = "your partner may not enter now"
        raise failed(errors_pb2.ERROR_REASON_PARTNER_WRONG, text) from refusal


async def _as_written(sheet: Sheet, entry_id: UUID) -> Entry:
    entry = await sheet.entry(entry_id)
    assert entry is not None, "it was written just now"
    return entry


async def _judge_rating(sheet: Sheet, tournament: Tournament, player: str) -> None:
    low, high = tournament.conditions.min_rating, tournament.conditions.max_rating
    if low is None and high is None:
        return
    found = await rating_of(sheet.connection, tournament.conditions.game.variant, [player])
    value = found[player].value
    if (low is not None and value < low) or (high is not None and value > high):
        raise failed(
            errors_pb2.ERROR_REASON_RATING_OUT_OF_RANGE,
            "your rating is not among those that may enter",
            player_id=player,
            rating=str(value),
        )


async def withdraw(sheet: Sheet, tournament: Tournament, player: str) -> Entry:
    """A player's entry in a locked tournament after he has left. Raises NOT_REGISTERED, ENTRY_OVER
    or TOURNAMENT_OVER."""
    entry = await sheet.own(tournament.tournament_id, player)
    if entry is None:
        reason = errors_pb2.ERROR_REASON_NOT_REGISTERED
        raise failed(reason, "you are not registered for this tournament")
    if tournament.status in BEFORE:
        return await _leave_before(sheet, tournament, entry, EntryEnd.WITHDRAWN)
    return await _leave_after(sheet, tournament, entry, EntryMove.WITHDRAW, [EntryStatus.ENTERED])


async def disqualify(sheet: Sheet, tournament: Tournament, entry_id: UUID, reason: str) -> Entry:
    """An entry of a locked tournament after an operator has taken it out. Raises ENTRY_UNKNOWN,
    ENTRY_OVER or TOURNAMENT_OVER."""
    entry = await sheet.entry(entry_id)
    if entry is None or entry.tournament_id != tournament.tournament_id:
        text = f"the tournament has no entry {entry_id}"
        raise not_found(errors_pb2.ERROR_REASON_ENTRY_UNKNOWN, text)
    if tournament.status in BEFORE:
        return await _leave_before(sheet, tournament, entry, EntryEnd.REMOVED, reason)
    may = [EntryStatus.ENTERED, EntryStatus.WITHDRAWN]
    return await _leave_after(sheet, tournament, entry, EntryMove.DISQUALIFY, may, reason)


async def _leave_before(
    sheet: Sheet, tournament: Tournament, entry: Entry, end: EntryEnd, reason: str = ""
) -> Entry:
    if entry.status in (EntryStatus.LEAVING, EntryStatus.ENDED):
        raise _over(entry)
    return await sheet.move_entry(tournament, entry, EntryMove.LEAVE, end, reason)


async def _leave_after(
    sheet: Sheet,
    tournament: Tournament,
    entry: Entry,
    move: EntryMove,
    may: Sequence[EntryStatus],
    reason: str = "",
) -> Entry:
    if tournament.status not in PLAYED:
        raise wrong_status(errors_pb2.ERROR_REASON_TOURNAMENT_OVER, tournament)
    if entry.status not in may:
        raise _over(entry)
    seed, out = entry.seed, move is EntryMove.DISQUALIFY
    assert seed is not None, "who has entered has a seed once it has started"
    await go_on(sheet, tournament, lambda course: courses.leave(course, seed, disqualified=out))
    await sheet.move_entry(tournament, entry, move, reason=reason)
    return await _as_written(sheet, entry.entry_id)


def _over(entry: Entry) -> Refusal:
    reason = errors_pb2.ERROR_REASON_ENTRY_OVER
    return failed(reason, f"the entry is {entry.status.value}", status=entry.status.name)
