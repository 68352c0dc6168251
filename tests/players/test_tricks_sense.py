"""What any player of tricks would do, the player of tricks does."""

from __future__ import annotations

from typing import Any

import pytest
from kafeneio_games.cards import SHORT_PACK, SUITS, Card
from kafeneio_games.game import CHANCE, AnyGame, Seat
from kafeneio_games.trick_view import Stage
from kafeneio_players import NoPlayerError, choose

from tests.players.tricks_tables import NAMES, seats_of, with_options
from tests.strength import tricks
from tests.strength.tricks import pair

ME = Seat(3)
STRONG = "JH 9H AH TH KH QH AS AC"
WEAK = "7S 8S 7H 8H 7D 8D 9C QC"


def at(name: str, own: str, *said: str, turned: str = "", dealer: int = 2) -> tuple[AnyGame, Any]:
    """The hand in which seat 3, or 1 of two, holds `own` from the first, `turned` is turned, and
    the seats have said or played `said` in turn.  The others have what is left, in order."""
    game = with_options(name, {})
    seats = seats_of(game)
    me = ME % len(seats)
    hand = tuple(map(Card, own.split()))
    left = [card for card in SHORT_PACK if card not in hand and card != turned]
    hands = []
    for seat in seats:
        hands.append(hand if seat == me else tuple(left[: len(hand)]))
        if seat != me:
            del left[: len(hand)]
    text = "/".join(["".join(cards) for cards in (*hands, (turned,), left)])
    state = game.apply(game.start(Seat(dealer), seats), CHANCE, game.read(f"deal {text}"))
    return game, after(game, state, *said)


def after(game: AnyGame, state: Any, *said: str) -> Any:
    """The state when the seats that are asked have said or played that, in turn."""
    for word in said:
        seat = game.prompted(state)
        assert seat is not None
        state = game.apply(state, seat, game.read(word))
    return state


def answer(game: AnyGame, state: Any) -> list[str]:
    """What the prompted seat does, in notation."""
    seat = game.prompted(state)
    assert seat is not None
    return [game.write(action) for action in choose(game, game.view(state, seat), seat)]


@pytest.mark.parametrize("name", ["pilotta", "coinche"])
@pytest.mark.parametrize("suit", list(SUITS))
def test_a_strong_hand_bids_high_in_its_suit(name: str, suit: str) -> None:
    own = STRONG.replace("H", "*").replace(suit, "H").replace("*", suit)
    (word,) = answer(*at(name, own))
    assert word[-1] == suit
    assert word.startswith("capot") or int(word[:-1]) >= 150


@pytest.mark.parametrize("name", ["pilotta", "coinche"])
def test_a_weak_hand_passes(name: str) -> None:
    assert answer(*at(name, WEAK)) == ["pass"]
    assert answer(*at(name, WEAK, "80S", "pass", "100H", dealer=3)) == ["pass"]


def test_a_bid_that_cannot_hold_is_doubled() -> None:
    own = "JD 9D AD TD 7D AS AH AC"
    pilotta = at("pilotta", own, "240D", "pass", "pass", "pass", "pass", dealer=3)
    assert pilotta[1].stage is Stage.CONTRA
    assert answer(*pilotta) == ["contra 1"]
    assert answer(*at("coinche", own, "160D", "pass", "pass", dealer=3)) == ["contra 1"]


def test_one_that_may_well_hold_is_not() -> None:
    game, state = at("pilotta", WEAK, "80D", "pass", "pass", "pass", "pass", dealer=3)
    assert state.stage is Stage.CONTRA
    assert answer(game, state) == ["pass"]


@pytest.mark.parametrize("name", ["pilotta-classic", "belote"])
def test_the_turned_suit_is_taken_or_left(name: str) -> None:
    assert answer(*at(name, "9H AH TH AS AC", turned="JH")) == ["take"]
    assert answer(*at(name, "7S 8D 7D 9C QC", turned="KH")) == ["pass"]
    another = at(name, "JS 9S AS TS AC", *["pass"] * 4, turned="KH")
    assert answer(*another) == ["choose S"]


def test_without_trumps_it_is_aces_that_take() -> None:
    assert answer(*at("belote-no-trump", "AS TS AH AD TD")) == ["take"]
    assert answer(*at("belote-no-trump", "7S 8S 9H QD 7C")) == ["pass"]


def test_the_seven_is_given_for_a_better_card() -> None:
    game, state = at("pilotta-classic-2", "7H 9H AH TH AS AC", "take", turned="JH", dealer=0)
    assert state.stage is Stage.EXCHANGE
    assert answer(game, state) == ["exchange"]
    game, state = at("pilotta-classic-2", "8H 9H AH TH AS AC", "take", turned="JH", dealer=0)
    assert answer(game, state) == ["pass"]


OTHERS = (
    "7S TS JH QH KD AD KC QC",
    "AS 9S JS 7H AH QD JD TC",
    "8S KS QS 8H 9H TH KH AC",
)
NO_SPADES = "TD 7D 8D 9D 7C 8C 9C JC"


def test_the_partner_is_given_points_and_the_others_are_not() -> None:
    """Spades are led, and the last seat has neither spades nor hearts, which are trumps."""
    game = with_options("belote", {})
    seats = seats_of(game)
    hands = [tuple(map(Card, own.split())) for own in (*OTHERS, NO_SPADES)]
    given = {}
    for best, lead in (("AS", "7S"), ("9S", "TS")):
        state = game.start(ME, seats)
        five, rest = [hand[:5] for hand in hands], [hand[5:] for hand in hands]
        turned = rest[0][0]  # seat 0 takes it, and then has its whole hand
        left = [*rest[0][1:], *rest[1], *rest[2], *rest[3]]
        deal = "/".join("".join(cards) for cards in (*five, (turned,), left))
        state = game.apply(state, CHANCE, game.read(f"deal {deal}"))
        state = after(game, state, *["pass"] * 4, "choose H", lead, best, "8S")
        assert sorted(game.view(state, ME).hand) == sorted(hands[ME])
        given[best] = answer(game, state)
    assert given["AS"] == ["TD"]
    assert given["9S"][0][0] in "789"


def test_every_game_is_measured_as_is_demanded() -> None:
    demanded = {contest.name: contest.demanded for contest in tricks.contests()}
    random = {f"{name} against random": 60.0 for name in NAMES}
    assert demanded == random | {f"{name} against simple": 0.0 for name in NAMES}


@pytest.mark.parametrize("name", list(tricks.GAMES))
def test_a_few_deals_against_random_players_are_won(name: str) -> None:
    pairs = [pair(name, "random", number) for number in range(6)]
    assert all(len(found.points) == 2 for found in pairs)
    assert sum(sum(found.points) for found in pairs) > 0
    assert pair(name, "random", 0).points == pairs[0].points


def test_other_games_are_not_for_it() -> None:
    class Other:
        name = "tarot@1"

    with pytest.raises(NoPlayerError, match="tarot"):
        choose(Other(), None, ME)  # type: ignore[arg-type]
