"""A staked game as the fold of its log: match, current round, turns, forfeits, outcome.

A log's entries are:

    CHANCE   what the match or the game draws: "opening 63", "dealer 2", "64", "deal ..."
    a seat   an action of the round's game: "13/8", "90H", "JS", "pass"
             "!resign"            ends the round (VA9), at any time, on either player's turn
             "!forfeit REASON"    LEFT, CONNECTION_LOST or TIMEOUTS_EXCEEDED (X12, F)
    TABLE    "!void REASON"       NO_SHOW, HOUSE, OPERATOR or ALL_FORFEITED
             "!cancel"            void as CANCELLED
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from .game import (
    CHANCE,
    TABLE,
    AnyGame,
    Draw,
    Entry,
    OutOfOrder,
    Result,
    Seat,
    Unreadable,
    digest,
)
from .match import Match, Outcome

RESIGN: Final = "!resign"
CANCEL: Final = "!cancel"
FORFEIT_REASONS: Final = ("LEFT", "CONNECTION_LOST", "TIMEOUTS_EXCEEDED")
VOID_REASONS: Final = ("NO_SHOW", "HOUSE", "OPERATOR", "ALL_FORFEITED")
_FORFEITS: Final = {f"!forfeit {reason}": reason for reason in FORFEIT_REASONS}
_VOIDS: Final = {f"!void {reason}": reason for reason in VOID_REASONS} | {CANCEL: "CANCELLED"}


def forfeit_text(reason: str) -> str:
    """The entry's text for one of `FORFEIT_REASONS`; ValueError for another reason."""
    text = f"!forfeit {reason}"
    if text not in _FORFEITS:
        raise ValueError(f"no reason to forfeit: {reason[:40]}")
    return text


def void_text(reason: str) -> str:
    """The entry's text for one of `VOID_REASONS`; ValueError for another reason."""
    text = f"!void {reason}"
    if text not in _VOIDS:
        raise ValueError(f"no reason to void: {reason[:40]}")
    return text


@dataclass(frozen=True, slots=True)
class Forfeit:
    """A seat that left or was disconnected, and why (X12)."""

    seat: Seat
    reason: str


@dataclass(frozen=True, slots=True)
class LastRound:
    """The round before the running one, as it ended; `number` counts from 1."""

    number: int
    game: AnyGame
    state: Any
    result: Result


@dataclass(frozen=True, slots=True)
class Play:
    """Everything about a staked game that its log determines.

    `game` and `state` are those of round number `round` (from 1), None while that round waits for
    its opening throw; once all is over they stay as they were at the end.  `turn` is the number of
    the last prompt, 0 before the first; it counts through the whole match.  `outcome` is there when
    all is over.  `awaited` is whom `state` prompts, found once per state.  `computers` are the
    seats that computers play: those of the table from its start, and those that were forfeited
    where the rules let a computer play on (F1).  `last` is the round before this one.
    """

    match: Match
    game: AnyGame | None = None
    state: Any = None
    round: int = 1
    turn: int = 0
    forfeits: tuple[Forfeit, ...] = ()
    outcome: Outcome | None = None
    awaited: Seat | None = None
    computers: tuple[Seat, ...] = ()
    last: LastRound | None = None

    @classmethod
    def begin(cls, match: Match, computers: tuple[Seat, ...] = ()) -> Play:
        """The play of a match of which nothing has happened yet, with computers in those seats."""
        return cls(match, computers=computers)._opened()

    # ------------------------------------------------------------ what is going on

    @property
    def seats(self) -> tuple[Seat, ...]:
        """All seats, in order of play."""
        return tuple(sorted(seat for side in self.match.sides for seat in side))

    @property
    def over(self) -> bool:
        """Whether the staked game is decided or void."""
        return self.outcome is not None

    @property
    def score(self) -> tuple[int, ...]:
        """The match's points by side."""
        return self.match.score

    @property
    def to_act(self) -> tuple[Seat, ...]:
        """As in `Game`; (CHANCE,) also while an opening throw is due."""
        if self.outcome is not None:
            return ()
        return (CHANCE,) if self.game is None else self.game.to_act(self.state)

    @property
    def prompted(self) -> Seat | None:
        """The seat whose move is awaited; None while the house must move, and when over."""
        return None if self.outcome is not None or self.game is None else self.awaited

    @property
    def chance_due(self) -> bool:
        """Whether an opening throw, a roll or a deal is what comes next."""
        return self.to_act == (CHANCE,)

    def legal(self, seat: Seat) -> Iterator[Any]:
        """The game actions open to `seat` now; none for a waiting seat or when all is over.

        The match's own chance actions are not among them.
        """
        if self.outcome is None and self.game is not None:
            yield from self.game.legal(self.state, seat)

    def forfeited(self, seat: Seat | None) -> bool:
        """Whether the seat's player is out of the game."""
        return any(forfeit.seat == seat for forfeit in self.forfeits)

    def view(self, seat: Seat | None, computer: bool = False) -> Any:
        """The game's view for `seat`; a spectator (None) and a forfeited seat see alike (F5).

        The `computer` that plays for a forfeited seat sees the seat's own. None while no round is
        on the table.
        """
        if self.game is None:
            return None
        return self.game.view(self.state, seat if computer else self.eyes(seat))

    def last_view(self, seat: Seat | None, computer: bool = False) -> Any:
        """The same of the end of the round before this one; None in the first."""
        if self.last is None:
            return None
        viewer = seat if computer else self.eyes(seat)
        return self.last.game.view(self.last.state, viewer)

    def eyes(self, seat: Seat | None) -> Seat | None:
        """As whom a player looks: one whose seat was forfeited as a spectator, None (F5)."""
        return None if self.forfeited(seat) else seat

    def digest(self) -> bytes:
        """SHA-256 of all that has happened; never shown before the end, for it knows secrets."""
        standing = self.match.standing
        return digest((standing, self.round, self.turn, self.state, self.forfeits, self.outcome))

    def view_digest(self, seat: Seat | None, computer: bool = False) -> bytes:
        """SHA-256 of what `view` shows, and the score; a client compares it with its own."""
        return digest((self.match.score, self.round, self.turn, self.view(seat, computer)))

    # ------------------------------------------------------------ the fold

    def apply(self, entry: Entry) -> Play:
        """The play after one entry, or a `Refusal` and nothing changed."""
        if self.outcome is not None:
            raise OutOfOrder("OVER", "the game is over")
        if entry.text.startswith("!"):
            return self._table_entry(entry)
        if self.game is None:
            if entry.seat != CHANCE:
                raise OutOfOrder("NO_ROUND", "the round is not opened yet")
            return replace(self, match=self.match.opened(entry.text))._opened()
        action = self.game.read(entry.text)
        return self._moved(self.game, self.game.apply(self.state, entry.seat, action))

    def apply_all(self, entries: tuple[Entry, ...]) -> Play:
        """`apply` for each in turn: all of them, or the first refusal."""
        play = self
        for entry in entries:
            play = play.apply(entry)
        return play

    def house_moves(self, draw: Draw) -> tuple[Entry, ...]:
        """What the house must enter by itself now; see `advance`."""
        return self.advance(draw)[1]

    def advance(self, draw: Draw) -> tuple[Play, tuple[Entry, ...]]:
        """The play after all that the house must do by itself, and those entries.

        Opening throws, rolls and deals, and forced passes (VA17), until a seat is prompted or all
        is over; () when a seat is prompted already.
        """
        play, entries = self, list[Entry]()
        while (entry := play._house_move(draw)) is not None:
            play = play.apply(entry)
            entries.append(entry)
        return play, tuple(entries)

    def _house_move(self, draw: Draw) -> Entry | None:
        if self.outcome is not None or self.prompted is not None:
            return None
        game = self.game
        if game is None:
            return Entry(CHANCE, self.match.chance(draw))
        (seat,) = self.to_act
        if seat == CHANCE:
            return Entry(CHANCE, game.write(game.chance(self.state, draw)))
        (forced,) = game.legal(self.state, seat)
        return Entry(seat, game.write(forced))

    def _opened(self) -> Play:
        """With the match's next round on the table, if the match knows who opens it."""
        following = self.match.next()
        if following is None:
            return replace(self, game=None, state=None)
        game = following.game
        return replace(self, game=game)._prompt(game, game.start(following.first, following.live))

    def _prompt(self, game: AnyGame, state: Any) -> Play:
        """With a new state, and a new turn number if it begins a prompt."""
        awaited = game.prompted(state)
        fresh = awaited is not None and not game.mid_turn(state)
        return Play(
            self.match,
            game,
            state,
            self.round,
            self.turn + fresh,
            self.forfeits,
            self.outcome,
            awaited,
            self.computers,
            self.last,
        )

    def _moved(self, game: AnyGame, state: Any) -> Play:
        """With a new state of the round; a result goes to the match, which opens the next round."""
        result = game.result(state)
        if result is None:
            return self._prompt(game, state)
        return replace(self, match=self.match.after(result))._settled(game, state, result)

    def _settled(self, game: AnyGame, state: Any, result: Result) -> Play:
        """After a round that ended so: all over, or on to the next."""
        outcome = self.match.outcome()
        if outcome is not None:
            return replace(self, state=state, outcome=outcome)
        last = LastRound(self.round, game, state, result)
        return replace(self, round=self.round + 1, last=last)._opened()

    def _table_entry(self, entry: Entry) -> Play:
        if entry.text in _VOIDS:
            if entry.seat != TABLE:
                raise OutOfOrder("NOT_THE_HOUSE", "only the house voids a game")
            return replace(self, outcome=Outcome((), self.score, "void", _VOIDS[entry.text]))
        if entry.text != RESIGN and entry.text not in _FORFEITS:
            raise Unreadable(f"no entry reads {entry.text[:40]!r}")
        if entry.seat not in self.seats:
            raise OutOfOrder("NOT_A_SEAT", f"there is no seat {entry.seat}")
        if self.forfeited(entry.seat):
            raise OutOfOrder("FORFEITED", "this seat is forfeited already")
        if entry.seat in self.computers:
            raise OutOfOrder("FORFEITED", "a computer plays this seat, and never leaves")
        running = self.match.next()
        if running is not None and entry.seat not in running.live:
            raise OutOfOrder("ELIMINATED", "this seat has lost the game already")
        if entry.text == RESIGN:
            return self._resigned(entry.seat)
        return self._forfeited(Forfeit(entry.seat, _FORFEITS[entry.text]))

    def _resigned(self, seat: Seat) -> Play:
        if self.game is None:
            raise OutOfOrder("NO_ROUND", "no round is being played")
        if self.game.concession(self.state, seat) is None:
            raise OutOfOrder("NOT_RESIGNABLE", "this game cannot be resigned")
        return self._moved(self.game, self.game.resign(self.state, seat))

    def _forfeited(self, forfeit: Forfeit) -> Play:
        """What it does to the round, then to the match; the game says if it goes on (F1-F3)."""
        play = replace(self, forfeits=(*self.forfeits, forfeit))
        game = self.game
        if game is None:
            match = self.match.withdraw(forfeit.seat)
            return replace(play, match=match, outcome=match.outcome())
        state = game.withdraw(self.state, forfeit.seat)
        result = game.result(state)
        if result is not None:
            match = self.match.after(result).withdraw(forfeit.seat)
            return replace(play, match=match)._settled(game, state, result)
        match = self.match.withdraw(forfeit.seat)
        if state is self.state:
            return replace(play, match=match)._replaced(forfeit.seat)
        play = replace(play, match=match, outcome=match.outcome())
        same_prompt = game.prompted(state) == self.awaited != forfeit.seat
        return replace(play, state=state) if same_prompt else play._prompt(game, state)

    def _replaced(self, seat: Seat) -> Play:
        """A computer plays on for a seat, in the turn that is running; void without people (F1)."""
        play = replace(self, computers=(*self.computers, seat))
        if len(play.computers) < len(self.seats):
            return play
        return replace(play, outcome=Outcome((), self.score, "void", "ALL_FORFEITED"))
