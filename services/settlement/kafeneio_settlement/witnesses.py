"""What the two witnesses of a game's end make of it, in whatever order they speak. Pure."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from kafeneio_settlement.domain import Closing, Finish, Game, Problem, State, Verdict, by_rules


class Witness(NamedTuple):
    """What events said of one game; None where nothing was said."""

    game_id: UUID
    seated: tuple[str, ...] | None = None
    started_at: datetime | None = None
    finish: Finish | None = None
    finished_at: datetime | None = None
    closing: Closing | None = None
    closed_at: datetime | None = None

    def joined(self, later: Witness) -> Witness:
        """Both, in one; what was said first counts."""
        start = self if self.seated is not None else later
        end = self if self.finish is not None else later
        close = self if self.closing is not None else later
        return Witness(
            self.game_id,
            *(start.seated, start.started_at),
            *(end.finish, end.finished_at),
            *(close.closing, close.closed_at),
        )


def heard(game: Game, said: Witness) -> Game:
    """What is known of a game after that. What was said first stays; the same game where nothing of
    it is new."""
    changes: dict[str, Any] = {}
    if game.seated is None and said.seated is not None:
        changes |= {"seated": said.seated, "started_at": said.started_at}
    if game.finish is None and said.finish is not None:
        changes |= {"finish": said.finish, "finished_at": said.finished_at}
    if game.closing is None and said.closing is not None:
        changes |= {"closing": said.closing, "closed_at": said.closed_at}
    if not changes:
        return game
    if game.state not in (State.SETTLED, State.MISMATCH):  # else paid, or for an operator to decide
        ends = game.ending or said.finish is not None or said.closing is not None
        changes["state"] = State.PENDING if ends else State.STARTED
    return game._replace(**changes)


def judged(game: Game) -> Verdict | Problem | None:
    """What is to be done with a game: nothing (yet, or any more), to pay it, or to pay nobody."""
    if game.state is not State.PENDING or game.finish is None or game.closing is None:
        return None
    if set(game.finish.forfeits) != set(game.closing.forfeits):
        return Problem.FORFEITS_DIFFER
    if game.escrow is not None and game.seated not in (None, game.escrow.players):
        return Problem.PLAYERS_DIFFER
    if game.released and not game.finish.void:
        return Problem.STAKES_RELEASED
    return by_rules(game) or Problem.NOT_PAYABLE
