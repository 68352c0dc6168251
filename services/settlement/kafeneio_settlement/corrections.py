"""Corrections of settled games (S6): what an operator proposes, and the movements that it means.

Pure. A correction never touches what was written: it reverses the settlement before it, transfer by
transfer, and settles the game anew from what was held at first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from kafeneio_settlement import payouts
from kafeneio_settlement.domain import (
    Game,
    Hold,
    Kind,
    Movement,
    Transfer,
    Verdict,
    out_of_escrow,
    restaked,
    reversal_id,
    settlement_id,
    undone,
)
from kafeneio_settlement.payouts import Payout, Result, Stakes


@dataclass(frozen=True, slots=True)
class Terms:
    """How a game ended, and for what stake and fee, by an operator; None where the hold was right.

    `winners` are seats and `void` a reason: one of them is empty.
    """

    winners: tuple[int, ...]
    void: str
    forfeited: tuple[int, ...] = ()
    stake: int | None = None
    fee_basis_points: int | None = None


@dataclass(frozen=True, slots=True)
class Correction:
    """What one operator has proposed; `approved_by` is the second one, who has done it."""

    game_id: UUID
    number: int
    corrects: int
    terms: Terms
    reason: str
    proposed_by: str
    proposed_at: datetime
    approved_by: str = ""
    approved_at: datetime | None = None
    version: int = 0


def corrected(game: Game, terms: Terms, rule_version: int) -> Verdict:
    """What the game should have paid, by the version of its rule that paid it.

    Raises NotPayableError, UnknownRuleError or TooLargeError.
    """
    result = Result(terms.winners, terms.void)
    name = game.finish.payout_rule if game.finish else ""
    hold = game.escrow
    if hold is None:
        return Verdict(name, rule_version, bool(terms.void), None)
    stakes = Stakes(terms.stake or hold.stake, len(hold.players))
    if terms.void:
        return Verdict(name, rule_version, True, payouts.everything_back(stakes))
    fee = hold.fee_basis_points if terms.fee_basis_points is None else terms.fee_basis_points
    out = frozenset(terms.forfeited)
    payout = payouts.pay(name, stakes, result, out, fee, rule_version)
    return Verdict(name, rule_version, payout.void, payout)


def reversal_movement(
    game_id: UUID, currency: str, version: int, transfers: Sequence[Transfer]
) -> Movement:
    """Everything that a settlement has moved moves back, the last first."""
    name = reversal_id(game_id, version)
    return Movement(name, Kind.REVERSAL, currency, undone(transfers), game_id)


def correction_movement(game_id: UUID, hold: Hold, payout: Payout, version: int) -> Movement:
    """The game is paid anew. After the reversal the escrow holds what was held at first; where the
    stake was wrong, the difference comes from each seat or goes back to it before."""
    transfers = (
        *restaked(game_id, hold.players, payout.stakes.stake - hold.stake),
        *out_of_escrow(game_id, hold.players, payout.shares, payout.fee),
    )
    name = settlement_id(game_id, version)
    return Movement(name, Kind.CORRECTION, hold.currency, transfers, game_id)
