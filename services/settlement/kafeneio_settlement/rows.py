"""Between rows and values: games, settlements and corrections as they are stored."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from asyncpg import Record

from kafeneio_settlement.corrections import Correction, Terms
from kafeneio_settlement.domain import (
    Closing,
    Finish,
    Forfeit,
    Game,
    Hold,
    Problem,
    State,
)

_encode: Final = json.JSONEncoder(check_circular=False).encode
_NOBODY: Final = _encode({"forfeits": []})


@dataclass(frozen=True, slots=True)
class Settled:
    """A settlement that was done; `shares` is None where no stakes were held."""

    version: int
    payout_rule: str
    rule_version: int
    void: bool
    shares: tuple[int, ...] | None
    fee: int
    transaction_id: UUID | None
    resolved_by: str
    reason: str
    at: datetime
    stake: int | None = None
    approved_by: str = ""
    reversal_id: UUID | None = None


def finish_text(finish: Finish | None) -> str | None:
    """What `rules` said, as it is kept."""
    if finish is None:
        return None
    return _encode(
        {
            "winners": finish.winners,
            "score": finish.score,
            "ending": finish.ending,
            "void": finish.void,
            "forfeits": _forfeit_values(finish.forfeits),
            "variant": finish.variant,
            "payout_rule": finish.payout_rule,
        }
    )


def closing_text(closing: Closing | None) -> str | None:
    """What `clock` said, as it is kept."""
    if closing is None:
        return None
    return _encode({"forfeits": _forfeit_values(closing.forfeits)}) if closing.forfeits else _NOBODY


def _forfeit_values(forfeits: tuple[Forfeit, ...]) -> list[dict[str, object]]:
    return [{"seat": each.seat, "reason": each.reason} for each in forfeits]


def _forfeits(values: list[dict[str, Any]]) -> tuple[Forfeit, ...]:
    return tuple(Forfeit(value["seat"], value["reason"]) for value in values)


def _finish(text: str) -> Finish:
    value = json.loads(text)
    value["winners"], value["score"] = tuple(value["winners"]), tuple(value["score"])
    value["forfeits"] = _forfeits(value["forfeits"])
    return Finish(**value)


def _closing(text: str) -> Closing:
    return Closing(_forfeits(json.loads(text)["forfeits"]))


def game_of(row: Record) -> Game:
    """A row of `games`."""
    hold = None
    if row["stake"] is not None:
        players = tuple(row["players"])
        hold = Hold(players, row["currency"], row["stake"], row["fee_basis_points"])
    closed = row["closed"]
    return Game(
        game_id=row["game_id"],
        state=State(row["state"]),
        hold=hold,
        held_at=row["held_at"],
        released=row["released"],
        seated=None if row["seated"] is None else tuple(row["seated"]),
        started_at=row["started_at"],
        finish=None if row["finished"] is None else _finish(row["finished"]),
        finished_at=row["finished_at"],
        closing=None if closed is None else _closing(closed),
        closed_at=row["closed_at"],
        problem=None if row["problem"] is None else Problem(row["problem"]),
        announced=row["announced"],
    )


def settled_of(row: Record) -> Settled:
    """A row of `settlements`."""
    return Settled(
        version=row["version"],
        payout_rule=row["payout_rule"],
        rule_version=row["rule_version"],
        void=row["void"],
        shares=None if row["shares"] is None else tuple(row["shares"]),
        fee=row["fee"] or 0,
        transaction_id=row["transaction_id"],
        resolved_by=row["resolved_by"] or "",
        reason=row["reason"] or "",
        at=row["at"],
        stake=row["stake"],
        approved_by=row["approved_by"] or "",
        reversal_id=row["reversal_id"],
    )


def correction_of(row: Record) -> Correction:
    """A row of `corrections` joined with its approval, if there is one."""
    return Correction(
        game_id=row["game_id"],
        number=row["number"],
        corrects=row["corrects"],
        terms=Terms(
            winners=tuple(row["winners"]),
            void=row["void"],
            forfeited=tuple(row["forfeited"]),
            stake=row["stake"],
            fee_basis_points=row["fee_basis_points"],
        ),
        reason=row["reason"],
        proposed_by=row["proposed_by"],
        proposed_at=row["at"],
        approved_by=row["approved_by"] or "",
        approved_at=row["approved_at"],
        version=row["version"] or 0,
    )
