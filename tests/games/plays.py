"""Staked games played at random from a seed, with the record that a house would keep."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import sha256
from random import Random

from kafeneio_games import chance
from kafeneio_games.game import Entry, Seat
from kafeneio_games.play import Play
from kafeneio_games.record import Record, Row
from kafeneio_games.registry import Variant

Act = Callable[[Play, Random], tuple[Entry, ...]]
TURNS_MAX = 5000


def random_act(play: Play, random: Random) -> tuple[Entry, ...]:
    """One whole turn of the prompted seat, each step any legal one."""
    seat, game, turn = play.prompted, play.game, play.turn
    assert seat is not None
    assert game is not None
    entries: list[Entry] = []
    while play.prompted == seat and play.turn == turn:
        action = random.choice(list(play.legal(seat)))
        entries.append(Entry(seat, game.write(action)))
        play = play.apply(entries[-1])
    return tuple(entries)


def record_of(
    variant: Variant,
    seed: int,
    target: int | None = None,
    options: Mapping[str, str] | None = None,
    act: Act = random_act,
    turns: int = TURNS_MAX,
) -> Record:
    """The record of a game of that many turns at most, played by `act`."""
    random = Random(seed)
    game_id, secret = sha256(b"game %d" % seed).digest()[:16], sha256(b"%d" % seed).digest()
    play = Play.begin(variant.build(options or {}, target))
    words = tuple(random.randbytes(random.randint(0, 64)) for _ in play.seats)
    draw = chance.ProvableDraw(secret, chance.context(game_id, words))
    rows: list[Row] = []
    while not play.over and play.turn <= turns:
        _, entries = play.advance(draw)
        entries = entries or act(play, random)
        play = play.apply_all(entries)
        rows.append(Row(len(rows) + 1, entries, play.digest()))
    return Record(
        game_id=game_id,
        variant=variant.id,
        edition=variant.edition,
        options=tuple(variant.settled_options(options or {}).items()),
        target=variant.settled_target(target),
        commitment=chance.commitment(secret),
        secret=secret,
        words=words,
        rows=tuple(rows),
        outcome=play.outcome,
    )


def log_of(record: Record) -> tuple[Entry, ...]:
    """All entries of a record in order."""
    return tuple(entry for row in record.rows for entry in row.entries)


def opponent(seat: Seat) -> Seat:
    """Of two."""
    return Seat(1 - seat)
