"""What the conformance suite asks of belote: all that can be written, and what is conserved."""

from __future__ import annotations

from typing import Any, Final

from kafeneio_games import trick_actions, tricks
from kafeneio_games.belote_play import State
from kafeneio_games.cards import HIDDEN, SHORT_PACK, Card, Deal
from kafeneio_games.trick_view import Stage

OF_BELOTE: Final[tuple[Any, ...]] = (
    *trick_actions.CARDS.values(),
    *trick_actions.CHOICES.values(),
    *trick_actions.CAPOTS.values(),
    *(trick_actions.Bid(value, suit) for value in range(70, 670, 10) for suit in "SHDCX"),
    *(trick_actions.Bid(value, "H") for value in (1, 75, 85, 155, 645, 655, 999)),
    *(trick_actions.Contra(bid) for bid in range(70)),
    *(trick_actions.PASS, trick_actions.RECONTRA, trick_actions.TAKE),
    *(trick_actions.EXCHANGE, trick_actions.DECLARE),
    *(trick_actions.Choose("X"), trick_actions.Capot("X"), trick_actions.PlayCard(Card("2S"))),
    *(trick_actions.Choose(""), trick_actions.Capot(""), trick_actions.Bid(90, "")),
    *(Deal(()), Deal((SHORT_PACK[:8],) * 4), Deal(((HIDDEN,) * 8,) * 4)),
)


def of_belote(state: State) -> None:
    """Each card is in one place, all of them after the deal; a trick's points go to a side."""
    play = state.play
    hands = state.hands if play is None else play.hands
    gone = () if play is None else (*play.trick, *play.played)
    places = [*gone, *state.turned, *state.rest, *(card for hand in hands for card in hand)]
    assert sorted(places) == ([] if state.stage is Stage.DEAL else sorted(SHORT_PACK))
    for hand in hands:
        assert hand == tricks.sorted_hand(hand)
    if play is not None:
        assert sum(play.tricks) == len(play.played) // 4
        worth = sum(tricks.POINTS[play.trump][card] for card in play.played)
        assert sum(play.points) == worth + 10 * (len(play.played) == 32)
    assert (state.result is None) == (state.stage is not Stage.OVER)
