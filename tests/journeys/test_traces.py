"""From the queue to the start of a game it is one trace, whoever does what."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID

from kafeneio_runtime import tracing
from kafeneio_runtime.settings import Settings

from tests.fixtures.collector import CLIENT, CONSUMER, SERVER, collecting
from tests.journeys.evening import PLAYERS, evening

HOLD = "kafeneio.settlement.v1.SettlementService/HoldStakes"
CREATE = "kafeneio.rules.v1.GameService/CreateGame"
JOIN = "kafeneio.rules.v1.GameService/JoinGame"


async def test_the_making_of_a_game_is_one_trace(database_url: str, tmp_path: Path) -> None:
    async with collecting() as collector:
        chosen = Settings(otlp_endpoint=collector.endpoint)
        async with tracing.exporting(chosen, "house"), evening(database_url, tmp_path) as house:
            game_id = await house.matched()
            await house.join(game_id)
            await house.play(game_id, turns=2)
    trace = UUID(game_id).hex
    spans = [span for span in collector.spans if span.trace_id == trace]
    found = {(span.name, span.kind) for span in spans}
    # matchmaking asks settlement and rules, and they answer
    assert found >= {(HOLD, CLIENT), (HOLD, SERVER), (CREATE, CLIENT), (CREATE, SERVER)}
    # rules announces, and clock, settlement and matchmaking hear of it
    consumers = {
        span.attributes["messaging.consumer.group.name"]
        for span in spans
        if (span.name, span.kind) == ("process rules.events", CONSUMER)
    }
    assert len(consumers) >= 3
    # what the players ask for are traces of their own, which say what game they are about
    joins = collector.named(JOIN, SERVER)
    assert len(joins) == len(PLAYERS)
    assert {span.attributes["kafeneio.game_id"] for span in joins} == {game_id}
    for span in collector.spans:
        assert not any(player.encode() in span.raw for player in PLAYERS)
