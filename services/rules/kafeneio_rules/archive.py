"""Records of finished games, and verdicts on records."""

from __future__ import annotations

import asyncio
from typing import Final
from uuid import UUID

from kafeneio.common.v1 import errors_pb2
from kafeneio.rules.v1 import game_pb2
from kafeneio_client import records
from kafeneio_games.record import Problem, Record, Row, verify
from kafeneio_runtime.errors import exhausted, failed

from kafeneio_rules.live import LiveGames
from kafeneio_rules.sight import Sight
from kafeneio_rules.table import Table

WAITING_MOST: Final = 8
"""Records that may wait for their verdict; a long one takes a second."""


class Archive:
    """What can be asked about games that are over.

    Verifying is work for the processor, on records that anybody may bring: one at a time, in a
    thread, so that who plays does not wait for it.
    """

    def __init__(self, live: LiveGames, sight: Sight) -> None:
        self._live = live
        self._sight = sight
        self._judging = asyncio.Lock()
        self._waiting = 0

    async def record(self, game_id: UUID) -> game_pb2.Record:
        """The whole of a game that the caller has seen to its end; raises GAME_NOT_OVER,
        GAME_UNKNOWN, GAME_CANCELLED."""
        if not (await self._sight.table(await self._live.fresh(game_id))).play.over:
            raise failed(errors_pb2.ERROR_REASON_GAME_NOT_OVER, "the game is not over yet")
        table = await self._live.history(game_id)
        message = records.to_message(self._value(table), table.header.players)
        message.reason = table.header.reason
        for row, step in zip(message.rows, table.steps, strict=True):
            row.at.FromDatetime(step.at)
        return message

    async def verdict(self, record: game_pb2.Record) -> game_pb2.VerifyRecordResponse:
        """What is wrong with a record; raises RATE_LIMITED where too many wait already."""
        if self._waiting >= WAITING_MOST:
            raise exhausted("too many records are being verified", retry_after=5)
        self._waiting += 1
        try:
            async with self._judging:
                problems = await asyncio.to_thread(_judge, record)
        finally:
            self._waiting -= 1
        response = game_pb2.VerifyRecordResponse(valid=not problems)
        for problem in problems:
            text = f"{problem.kind}: {problem.detail}"
            response.findings.add(version=problem.version or 0, text=text)
        return response

    def _value(self, table: Table) -> Record:
        header, terms = table.header, table.header.terms
        assert terms is not None, "a tombstone has no table"
        rows = [Row(each.step.version, each.step.entries, each.digest) for each in table.steps]
        return Record(
            game_id=header.game_id.bytes,
            variant=terms.variant,
            edition=terms.edition,
            options=terms.options,
            target=terms.target,
            commitment=header.commitment,
            secret=self._live.secret(table),
            words=tuple(word or b"" for word in header.words),
            rows=tuple(rows),
            outcome=table.play.outcome,
            computers=header.computers,
        )


def _judge(record: game_pb2.Record) -> tuple[Problem, ...]:
    try:
        return verify(records.from_message(record))
    except ValueError as error:  # not even to be read: that is a verdict, too
        return (Problem("MALFORMED", None, str(error)),)
