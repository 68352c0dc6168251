"""What `settlement` announces."""

from __future__ import annotations

from collections.abc import Sequence

from kafeneio.settlement.v1.events_pb2 import GameSettled, SettlementCorrected, SettlementEvent
from kafeneio_matchmaking.hearing import SETTLEMENT

from tests.harness import new_id
from tests.matchmaking.desk import Desk
from tests.matchmaking.listening import on_the_bus


def settled(game_id: str, sequence: int) -> SettlementEvent:
    """The payout of a game."""
    return SettlementEvent(
        event_id=new_id(),
        game_id=game_id,
        sequence=sequence,
        game_settled=GameSettled(settlement_version=1),
    )


def corrected(game_id: str, sequence: int) -> SettlementEvent:
    """A correction of it."""
    told = SettlementCorrected(settlement_version=2, corrects_version=1)
    return SettlementEvent(
        event_id=new_id(), game_id=game_id, sequence=sequence, settlement_corrected=told
    )


async def hear_money(desk: Desk, events: Sequence[SettlementEvent]) -> None:
    """The bus brings them."""
    await desk.hearing.hear_settlement(on_the_bus(events, SETTLEMENT))
