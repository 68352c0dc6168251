"""What one seat, or a spectator, may know of a deal of belote (B13), and the deal's arithmetic."""

from __future__ import annotations

from collections.abc import Iterator

from . import trick_play
from .belote_declarations import DeclarationRules, scoring_side
from .belote_play import SEATS, State, can_declare, prompted
from .belote_scoring import Counted, DealResult, Pair
from .game import Result, Seat
from .trick_actions import write
from .trick_play import Announced, TrickPlay
from .trick_view import Contract, Declared, SideSheet, TrickView
from .tricks import side_of


def view(
    state: State,
    seat: Seat | None,
    game: str,
    rules: DeclarationRules,
    sheet: tuple[SideSheet, ...] | None,
) -> TrickView:
    """What `seat`, or a spectator, may know; `sheet` is the arithmetic of a finished deal."""
    play, result = state.play, state.result
    hands = state.hands if play is None else play.hands
    played = () if play is None else trick_play.completed(play)
    return TrickView(
        game=game,
        stage=state.stage,
        dealer=state.dealer,
        seat=seat,
        hand=hands[seat] if hands and seat is not None else (),
        counts=tuple(map(len, hands)) or (0,) * len(SEATS),
        calls=tuple([(caller, write(call)) for caller, call in state.calls]),
        turned=state.turned[0] if state.turned else None,
        contract=state.contract,
        prompted=prompted(state),
        trick=() if play is None else trick_play.on_table(play),
        last_trick=played[-len(SEATS) :],
        played=played,
        tricks=(0, 0) if play is None else play.tricks,
        points=(0, 0) if play is None else play.points,
        declarations=() if play is None else _shown(play, state.contract, seat, rules),
        belote=() if play is None else play.belote,
        can_declare=seat is not None and can_declare(state, seat, rules),
        result=None if result is None else Result(result.points, result.ending),
        sheet=sheet,
    )


def _shown(
    play: TrickPlay, contract: Contract | None, seat: Seat | None, rules: DeclarationRules
) -> tuple[Declared, ...]:
    """The declarations as `seat` may know them (B13).

    Kinds only, until the first card of the second trick; then the cards of the side that scores.
    The other side's are never shown, and everybody knows his own.
    """
    compared = len(play.played) + len(play.trick) > len(SEATS)
    if contract is None or not play.announced:
        return ()
    scoring = scoring_side(play.announced, contract, rules) if compared else None
    found: list[Declared] = []
    for entry in play.announced:
        scored = side_of(entry.seat) == scoring if compared else None
        seen = bool(scored) or entry.seat == seat
        found.extend(_told(entry, seen, scored))
    return tuple(found)


def _told(entry: Announced, seen: bool, scored: bool | None) -> Iterator[Declared]:
    for one in entry.found:
        if seen:
            yield Declared(entry.seat, one.kind, one.points, one.cards, scored)
        else:
            yield Declared(entry.seat, one.kind, 0, (), scored)


# ---------------------------------------------------------------- the arithmetic


def sheet_of(
    counted: Counted, result: DealResult, exact: Pair, value: int
) -> tuple[SideSheet, ...]:
    """The arithmetic by side; `exact` are the marks unrounded, `value` what the winner gains."""
    return tuple(
        [
            SideSheet(
                tricks=counted.cards[side],
                declarations=counted.won[side],
                belote=counted.belote[side],
                contract=value if side == result.winner else 0,
                total=exact[side],
                marked=result.points[side],
            )
            for side in (0, 1)
        ]
    )


def classic_sheet(state: State) -> tuple[SideSheet, ...] | None:
    """The arithmetic of a finished deal without bids; None before, and when nobody took."""
    if state.counted is None or state.result is None:
        return None
    first, second = state.result.points
    return sheet_of(state.counted, state.result, (first, second), 0)
