"""Records: all of a finished game, and nothing in them can be changed unseen."""

from __future__ import annotations

import hashlib
import hmac
import uuid
from collections.abc import Callable, Iterator
from itertools import count
from typing import Final, TypeAlias

from kafeneio.rules.v1 import actions_pb2
from kafeneio.rules.v1 import game_pb2 as pb

from tests.harness import SEATS, STRANGER, Rules
from tests.rules.moves import latest
from tests.rules.refusal import refusal

WORDS: Final = {SEATS[0]: b"", SEATS[1]: bytes(range(64))}


def dice(record: pb.Record) -> Iterator[int]:
    """R4, as anybody may write it down: every die of a game from its secret and words."""
    context = hashlib.sha256(
        b"kafeneio/chance/1"
        + uuid.UUID(record.game_id).bytes
        + b"".join(bytes([len(word)]) + word for word in record.words)
    ).digest()
    for block in count():
        message = context + block.to_bytes(8, "big")
        for byte in hmac.digest(record.secret, message, "sha256"):
            if byte < 252:
                yield 1 + byte % 6


async def finished(rules: Rules) -> tuple[pb.Game, pb.Record]:
    """A match with words, a refused call, turns in parts, a resignation, and played to its end."""
    game = await rules.create(target=3)
    for player, word in WORDS.items():
        request = pb.JoinGameRequest(
            request_id=str(uuid.uuid4()),
            game_id=game.game_id,
            commitment=game.commitment,
            word=word,
        )
        game = (await rules.ask(rules.games.JoinGame, request, player)).game
    position = await rules.play_turns(game, 6)
    who = SEATS[position.turn.seat]
    refused = await refusal(
        rules.act(game.game_id, position.version, who, [actions_pb2.Action(notation="pass")])
    )
    assert refused.reason == "ILLEGAL_ACTION"
    for step in await rules.whole_turn(game.game_id, who):
        position = latest(await rules.act(game.game_id, position.version, who, [step]))
    await rules.resign(game.game_id, SEATS[0], 1)
    await rules.play_to_end(await rules.get(game.game_id))
    return game, await rules.record(game.game_id)


async def test_the_record_is_what_was_played(rules: Rules) -> None:
    game, record = await finished(rules)
    updates = await rules.updates(game.game_id)
    over = await rules.get(game.game_id)
    assert record.game_id == game.game_id
    assert record.terms == game.terms
    assert dict(game.terms.options) == {"rule_set": "zarclub", "disconnect_points": "formula"}
    assert list(record.player_ids) == list(SEATS)
    assert list(record.words) == list(WORDS.values())
    assert record.commitment == game.commitment == hashlib.sha256(record.secret).digest()
    assert len(record.secret) == 32
    assert record.outcome == over.position.outcome
    assert record.reason == ""
    assert [row.version for row in record.rows] == list(range(1, len(updates) + 1))
    for row, update in zip(record.rows, updates, strict=True):
        assert row.at == update.at
        assert len(row.state_hash) == 32
        assert list(row.entries) == [
            f"{entry.seat} {entry.action.notation}" for entry in update.entries
        ]
    for who in (*SEATS, STRANGER):
        assert await rules.record(game.game_id, who) == record
    assert await rules.verify(record) == pb.VerifyRecordResponse(valid=True)
    assert await rules.verify(game.game_id) == pb.VerifyRecordResponse(valid=True)


async def test_every_die_follows_from_the_secret_and_the_words(rules: Rules) -> None:
    _, record = await finished(rules)
    thrown = [
        int(die)
        for row in record.rows
        for entry in row.entries
        if entry.startswith("-1 ")
        for die in entry.removeprefix("-1 ").removeprefix("opening ")
    ]
    assert len(thrown) > 100
    due = dice(record)
    assert thrown == [next(due) for _ in thrown]


Change: TypeAlias = Callable[[pb.Record], object]


def flipped(data: bytes) -> bytes:
    """The same with one bit turned."""
    return bytes([data[0] ^ 1]) + data[1:]


def row_where(record: pb.Record, text: str) -> pb.RecordRow:
    """A row in the middle with an entry that begins so."""
    found = [row for row in record.rows if row.entries[0].startswith(text)]
    return found[len(found) // 2]


def reroll(record: pb.Record) -> None:
    row = row_where(record, "-1 ")
    row.entries[-1] = "-1 11" if row.entries[-1] != "-1 11" else "-1 22"


def reopen(record: pb.Record) -> None:
    record.rows[0].entries[0] = "-1 opening 66"


def move(text: str) -> Change:
    """Another move in the middle of the game."""

    def change(record: pb.Record) -> None:
        row = next(row for row in record.rows[6:] if "/" in row.entries[0])
        row.entries[0] = f"{row.entries[0][0]} {text}"

    return change


def other_seat(record: pb.Record) -> None:
    row = next(row for row in record.rows if "/" in row.entries[0])
    row.entries[0] = f"{1 - int(row.entries[0][0])}{row.entries[0][1:]}"


def swap_rows(record: pb.Record) -> None:
    rows = [pb.RecordRow.FromString(row.SerializeToString()) for row in record.rows]
    rows[3], rows[4] = rows[4], rows[3]
    del record.rows[:]
    record.rows.extend(rows)


def merge_rows(record: pb.Record) -> None:
    record.rows[1].entries.extend(record.rows[2].entries)
    record.rows[1].state_hash = record.rows[2].state_hash
    del record.rows[2]
    for number, row in enumerate(record.rows, 1):
        row.version = number


def repeat_row(record: pb.Record) -> None:
    record.rows.add().CopyFrom(record.rows[-1])


def one_more(record: pb.Record) -> None:
    record.rows.add(version=len(record.rows) + 1, entries=["0 13/8"], state_hash=bytes(32))


def winner(record: pb.Record) -> None:
    decided = record.outcome.decided
    decided.winners[0] = 1 - decided.winners[0]


def void(reason: int) -> Change:
    """Says that the game was void, perhaps for a reason that nobody knows."""

    def change(record: pb.Record) -> None:
        record.outcome.Clear()
        record.outcome.MergeFromString(bytes((16, reason)))

    return change


def put(field: str, value: Callable[[pb.Record], object]) -> Change:
    """Another value in a field of the record."""
    return lambda record: setattr(record, field, value(record))


def word(index: int, value: bytes) -> Change:
    """Another word."""
    return lambda record: record.words.__setitem__(index, value)


def other_chance(record: pb.Record) -> None:
    record.secret = bytes(32)
    record.commitment = hashlib.sha256(record.secret).digest()


TAMPERED: Final[dict[str, Change]] = {
    "another game": put("game_id", lambda record: "01980000-0000-7000-8000-ffffffffffff"),
    "another variant": lambda record: setattr(record.terms, "variant", "chess"),
    "another edition": lambda record: setattr(record.terms, "edition", 2),
    "an option that does not exist": lambda record: record.terms.options.update({"x": "y"}),
    "another target": lambda record: setattr(record.terms, "target", 5),
    "a smaller target": lambda record: setattr(record.terms, "target", 1),
    "another commitment": put("commitment", lambda record: flipped(record.commitment)),
    "no commitment": put("commitment", lambda record: b""),
    "another secret": put("secret", lambda record: flipped(record.secret)),
    "no secret": put("secret", lambda record: b""),
    "secret and commitment of another game": other_chance,
    "another word": word(1, b"another"),
    "a word where there was none": word(0, b"\0"),
    "words changed over": lambda record: record.words.reverse(),
    "a word less": lambda record: record.words.pop(),
    "a word more": lambda record: record.words.append(b""),
    "another roll": reroll,
    "another opening throw": reopen,
    "a move that is not legal": move("bar/24"),
    "a move that cannot be read": move("hello"),
    "a pass": move("pass"),
    "a roll for a move": move("64"),
    "a forfeit for a move": move("!forfeit LEFT"),
    "a move of the other seat": other_seat,
    "an entry that is none": lambda record: record.rows[4].entries.append("hello"),
    "an entry of a seat that there is not": lambda record: record.rows[4].entries.append("7 13/8"),
    "an entry more": lambda record: record.rows[1].entries.append("0 6/5"),
    "an entry less": lambda record: record.rows[1].entries.pop(),
    "a row without entries": lambda record: record.rows[4].ClearField("entries"),
    "another hash": lambda record: setattr(
        record.rows[5], "state_hash", flipped(record.rows[5].state_hash)
    ),
    "a hash that is too short": lambda record: setattr(record.rows[5], "state_hash", b"x"),
    "rows changed over": swap_rows,
    "two rows in one": merge_rows,
    "a row less": lambda record: record.rows.pop(7),
    "the last row less": lambda record: record.rows.pop(),
    "no rows": lambda record: record.ClearField("rows"),
    "the last row twice": repeat_row,
    "a row after the end": one_more,
    "a number too high": lambda record: setattr(record.rows[9], "version", 11),
    "a number twice": lambda record: setattr(record.rows[9], "version", 9),
    "another winner": winner,
    "two winners": lambda record: record.outcome.decided.winners.extend(
        [1 - record.outcome.decided.winners[0]]
    ),
    "another score": lambda record: record.outcome.decided.score.__setitem__(0, 9),
    "another ending": lambda record: setattr(record.outcome.decided, "ending", "forfeit"),
    "no outcome": lambda record: record.ClearField("outcome"),
    "no end in the outcome": lambda record: record.outcome.Clear(),
    "void": void(actions_pb2.VOID_REASON_OPERATOR),
    "void for no reason": void(0),
    "void for a reason to come": void(99),
}
SHOWN_IN: Final = {
    "another hash": 6,
    "a number too high": 11,
    "a number twice": 9,
    "an entry more": 2,
    "another opening throw": 1,
}


async def test_a_record_that_was_tampered_with_is_found_bad(rules: Rules) -> None:
    _, record = await finished(rules)
    passed, unnamed, elsewhere = [], [], []
    for name, change in TAMPERED.items():
        bad = pb.Record()
        bad.CopyFrom(record)
        change(bad)
        assert bad != record, name
        verdict = await rules.verify(bad)
        if verdict.valid:
            passed.append(name)
        if not verdict.findings or not all(finding.text for finding in verdict.findings):
            unnamed.append(name)
        row = SHOWN_IN.get(name)
        if row is not None and row not in {finding.version for finding in verdict.findings}:
            elsewhere.append((name, verdict.findings))
    assert (passed, unnamed, elsewhere) == ([], [], [])
    assert (await rules.verify(record)).valid
