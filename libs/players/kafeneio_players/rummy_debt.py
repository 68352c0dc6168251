"""Jokers taken from the table that must still be used (K11), where no plan of one's own does it."""

from __future__ import annotations

from typing import Final

from kafeneio_games.cards import HIDDEN
from kafeneio_games.game import Seat
from kafeneio_games.koumkan import Koumkan, State
from kafeneio_games.melds import Meld
from kafeneio_games.rummy import Action
from kafeneio_games.rummy_hand import Laid, Stage
from kafeneio_games.rummy_view import RummyView

STEPS: Final = ("lay-offs", "melds", "swaps")


def paid(game: Koumkan, view: RummyView, seat: Seat) -> tuple[tuple[Action, ...], RummyView]:
    """Steps that use every joker owed, and the view after them; ValueError if there are none."""
    start = _as_seen(view, seat)
    met = {start}
    paths: list[tuple[State, tuple[Action, ...]]] = [(start, ())]
    while paths:
        state, path = paths.pop()
        if not state.owed:
            return path, game.view(state, seat)
        # The rules refuse whatever leads nowhere, so that this ends soon.
        for kind in reversed(STEPS):
            for action in game.legal_of(state, seat, kind):
                after = game.apply(state, seat, action)
                if after not in met:
                    met.add(after)
                    paths.append((after, (*path, action)))
    raise ValueError("a turn in which jokers are owed can always be ended")


def _as_seen(view: RummyView, seat: Seat) -> State:
    """A state in which the seat sees that view; what it does not see is not there."""
    hands = [(HIDDEN,) * count for count in view.counts]
    hands[seat] = view.hand
    return State(
        dealer=view.dealer,
        live=view.live,
        stage=Stage.PLAY,
        mover=seat,
        hands=tuple(hands),
        stock=(HIDDEN,) * view.stock_left,
        discards=() if view.discard_top is None else (view.discard_top,),
        turned=(),
        gone=(),
        reshuffles=view.reshuffles,
        out=None,
        result=None,
        table=tuple(
            # Every meld on the table was laid by somebody.
            Laid(seat if meld.owner is None else meld.owner, Meld(meld.kind, meld.cards))
            for meld in view.melds
        ),
        taken=view.taken,
        owed=view.owed,
    )
