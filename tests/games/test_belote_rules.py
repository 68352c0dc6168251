"""The deal, the taking, the play and the marks of belote, rule by rule."""

from __future__ import annotations

from random import Random

import pytest
from kafeneio_games import belote, belote_no_trump, coinche
from kafeneio_games.belote import Belote
from kafeneio_games.belote_play import State
from kafeneio_games.cards import SHORT_PACK, Card, Deal
from kafeneio_games.game import CHANCE, TABLE, Seat, Unreadable
from kafeneio_games.trick_actions import PlayCard
from kafeneio_games.trick_view import Contract, Stage

from tests.games.belote_tables import (
    GAMES,
    SEATS,
    AnyBelote,
    E,
    N,
    S,
    Shuffler,
    W,
    at_random,
    cards,
    contract_for,
    filled,
    game_of,
    last,
    line,
    refused,
    spelt,
    stacked,
)
from tests.games.belote_texts import rules_named_in, texts_of

BELOTE, NO_TRUMP, COINCHE = map(game_of, GAMES)
every = pytest.mark.parametrize("game", [BELOTE, NO_TRUMP, COINCHE], ids=GAMES)

# In trumps H: E leads clubs, and so on; nobody has a declaration.
HANDS = {
    "E": "AC KC 9C 7D 8D TS QH 7H",
    "S": "TC 9H JH TD JD AS 7S QS",
    "W": "QC 8C KD AH KH 9S 8S QD",
    "N": "7C JC TH 8H AD 9D JS KS",
}


def dealt(game: AnyBelote, dealer: Seat = N, seed: int = 5) -> State:
    state = game.start(dealer, SEATS)
    return game.apply(state, CHANCE, game.chance(state, Shuffler(Random(seed))))


def started(game: AnyBelote, hands: dict[str, str] = HANDS, trump: str = "H") -> State:
    """E has taken."""
    dealt_hands = filled(hands)
    turned = next((card for card in dealt_hands[E] if card[1] == trump), None)
    state = stacked(game, dealt_hands, E, turned if isinstance(game, Belote) else None)
    return contract_for(game, state, trump)


# ---------------------------------------------------------------- start and deal


@every
def test_four_seats(game: AnyBelote) -> None:
    assert game.sides == ((0, 2), (1, 3))
    assert game.hidden
    with pytest.raises(ValueError, match="seats 0 to 3"):
        game.start(N, SEATS[:3])
    with pytest.raises(ValueError, match="seats 0 to 3"):
        game.start(Seat(4), SEATS)


@every
def test_b1_only_the_house_deals(game: AnyBelote) -> None:
    state = game.start(N, SEATS)
    assert (game.to_act(state), game.prompted(state)) == ((CHANCE,), None)
    deal = game.chance(state, Shuffler(Random(1)))
    assert isinstance(deal, Deal)
    for seat in (*SEATS, TABLE):
        assert refused(game, state, seat, deal) == "B1"
    for word in ("take", "pass", "80H", "AS", "declare", "contra 1", "recontra", "choose H"):
        assert refused(game, state, E, word) in ("B1", "B17", "B24", "B26", "A22")
    state = game.apply(state, CHANCE, deal)
    assert refused(game, state, CHANCE, deal) == "B1"
    with pytest.raises(ValueError, match="no deal is due"):
        game.chance(state, Shuffler(Random(1)))


@every
def test_b1_every_card_once(game: AnyBelote) -> None:
    state = game.start(N, SEATS)
    deal = game.chance(state, Shuffler(Random(1)))
    assert isinstance(deal, Deal)
    first, *others = deal.hands
    twice = ((first[1], *first[1:]), *others)
    assert refused(game, state, CHANCE, Deal(twice, deal.turned, deal.rest)) == "B1"
    for hidden in ("?", "*"):
        odd = ((Card(hidden), *first[1:]), *others)
        assert refused(game, state, CHANCE, Deal(odd, deal.turned, deal.rest)) == "B1"
    short = (first[1:], *others)
    rule = {"belote@1": "B16", "belote-no-trump@1": "A5", "coinche@1": "B26"}[game.name]
    assert refused(game, state, CHANCE, Deal(short, deal.turned, deal.rest)) == rule
    assert refused(game, state, CHANCE, Deal(deal.hands[:3], deal.turned, deal.rest)) == rule
    assert refused(game, state, CHANCE, Deal(deal.hands, first[:2], deal.rest)) == rule
    assert refused(game, state, CHANCE, Deal(deal.hands, deal.turned, (*deal.rest, first[0]))) == (
        "B1"
    )


@every
def test_the_pack_is_cut_in_order(game: AnyBelote) -> None:
    """Shuffled once; seat 0's hand first, then the turned card, then the rest."""

    class Ordered:
        def below(self, n: int) -> int:
            raise AssertionError("one shuffle is all that is drawn")

        def shuffled(self, cards: tuple[Card, ...]) -> tuple[Card, ...]:
            return cards

    deal = game.chance(game.start(N, SEATS), Ordered())  # type: ignore[arg-type]
    assert isinstance(deal, Deal)
    together = [card for group in (*deal.hands, deal.turned, deal.rest) for card in group]
    assert together == list(SHORT_PACK)
    sizes = {"belote@1": (5, 1, 11), "belote-no-trump@1": (5, 0, 12), "coinche@1": (8, 0, 0)}
    assert (len(deal.hands[2]), len(deal.turned), len(deal.rest)) == sizes[game.name]


@every
def test_what_is_shown_of_a_deal(game: AnyBelote) -> None:
    deal = game.chance(game.start(N, SEATS), Shuffler(Random(1)))
    assert isinstance(deal, Deal)
    for seat in (*SEATS, None):
        shown = game.read(game.show(deal, seat))
        assert isinstance(shown, Deal)
        assert shown.turned == deal.turned
        assert set(shown.rest) <= {"?"}
        for place, hand in enumerate(shown.hands):
            assert hand == deal.hands[place] if place == seat else set(hand) == {"?"}
    assert game.show(PlayCard(Card("AS")), N) == "AS"


# ---------------------------------------------------------------- taking


def test_b16_five_and_one_turned() -> None:
    state = dealt(BELOTE)
    view = BELOTE.view(state, S)
    assert (view.counts, len(view.hand), view.turned) == ((5,) * 4, 5, state.turned[0])
    assert (view.stage, view.prompted, view.contract) == (Stage.CHOOSING, E, None)


@pytest.mark.parametrize("dealer", SEATS)
@pytest.mark.parametrize("place", range(8))
def test_b18_who_gets_what(dealer: Seat, place: int) -> None:
    """The first round's takers are places 0 to 3, the second round's 4 to 7."""
    before = dealt(BELOTE, dealer)
    taker = SEATS[(dealer + 1 + place) % 4]
    state = line(BELOTE, before, ", ".join(["pass"] * place)) if place else before
    assert BELOTE.prompted(state) == taker
    turned = before.turned[0]
    other = next(suit for suit in "SHDC" if suit != turned[1])
    state = line(BELOTE, state, "take" if place < 4 else f"choose {other}")
    assert state.contract == Contract(taker, taker % 2, 0, turned[1] if place < 4 else other)
    assert state.play is not None
    rest = list(before.rest)
    for step in range(1, 5):
        seat = SEATS[(dealer + step) % 4]
        given = [turned] if seat == taker else []
        while len(given) < 3:
            given.append(rest.pop(0))
        assert set(state.play.hands[seat]) == {*before.hands[seat], *given}
    assert rest == []
    assert BELOTE.prompted(state) == SEATS[(dealer + 1) % 4], "B3: not the taker leads"
    assert BELOTE.view(state, None).turned is None


def test_b17_two_rounds() -> None:
    state = dealt(BELOTE)
    turned = state.turned[0][1]
    assert spelt(BELOTE, state, E) == ["take", "pass"]
    for suit in "SHDC":
        assert refused(BELOTE, state, E, f"choose {suit}") == "B17"
    for word in ("80H", "capotH", "contra 1", "recontra", "exchange"):
        assert refused(BELOTE, state, E, word) == "B17"
    for seat in (S, W, N, CHANCE, TABLE, Seat(7)):
        assert refused(BELOTE, state, seat, "take") == "B2"
    state = line(BELOTE, state, "E pass, S pass, W pass, N pass")
    assert [f"choose {suit}" for suit in "SHDC" if suit != turned] + ["pass"] == spelt(
        BELOTE, state, E
    )
    over = line(BELOTE, state, "E pass, S pass, W pass, N pass")
    assert over.result is not None
    assert (over.result.points, over.result.ending) == ((0, 0), "passed")
    view = BELOTE.view(over, S)
    assert (view.stage, view.prompted, view.sheet) == (Stage.OVER, None, None)
    assert view.hand == over.hands[S]
    assert len(view.calls) == 8
    for word in ("take", "pass", "AS", "declare"):
        assert refused(BELOTE, over, E, word) == "B2"


@pytest.mark.parametrize("before", [5, 8])
def test_a5_cards_before_the_take(before: int) -> None:
    game = game_of("belote-no-trump", nt_cards_before_take=str(before))
    state = dealt(game)
    assert game.view(state, N).counts == (before,) * 4
    taken = line(game, state, "E pass, S take")
    assert taken.play is not None
    assert [len(hand) for hand in taken.play.hands] == [8] * 4
    for seat in SEATS:
        assert set(state.hands[seat]) <= set(taken.play.hands[seat])
    if before == 5:
        assert set(taken.play.hands[E]) - set(state.hands[E]) == set(state.rest[:3])
        assert set(taken.play.hands[N]) - set(state.hands[N]) == set(state.rest[9:])
    assert taken.contract == Contract(S, 0, 0, "")


def test_b24_without_trumps() -> None:
    state = dealt(NO_TRUMP)
    for word in ("choose H", "80H", "contra 1"):
        assert refused(NO_TRUMP, state, E, word) == "B24"
    assert refused(NO_TRUMP, state, S, "take") == "B2"
    taken = line(NO_TRUMP, state, "take")
    assert refused(NO_TRUMP, taken, E, "take") == "B24"
    assert refused(NO_TRUMP, taken, E, "pass") == "B24"


# ---------------------------------------------------------------- play


def test_which_rule_refuses_a_card() -> None:
    for game in (BELOTE, COINCHE):
        state = started(game)
        assert refused(game, state, S, "TC") == "B2"
        assert refused(game, state, E, "TC") == "B3"
        state = line(game, state, "AC")
        assert refused(game, state, S, "9H") == "B6"
        state = line(game, state, "TC, QC, JC, KC")
        assert spelt(game, state, S) == ["9H", "JH"]  # void, an opponent holds the trick
        assert refused(game, state, S, "TD") == "B9"
        state = line(game, state, "9H, 8C")
        assert refused(game, state, N, "TH") == "B6", "N holds the seven of clubs"
        state = line(game, state, "7C, JH")  # S leads a trump, which must be beaten
        assert spelt(game, state, W) == ["KH", "AH"]
        assert refused(game, state, W, "KD") == "B6"


def test_b7_even_the_partners_trump() -> None:
    """S leads the nine; nobody can beat it, so any trump; then E leads one that W must beat."""
    state = line(BELOTE, started(BELOTE), "QH, 9H")
    assert spelt(BELOTE, state, W) == ["KH", "AH"]
    state = line(BELOTE, started(BELOTE), "7H")
    assert spelt(BELOTE, state, S) == ["9H", "JH"]
    hands = HANDS | {"S": "TC AH JH TD JD AS 7S QS", "W": "QC 8C KD 9H KH 9S 8S QD"}
    state = line(BELOTE, started(BELOTE, hands), "QH, AH")
    assert spelt(BELOTE, state, W) == ["9H"]
    assert refused(BELOTE, state, W, "KH") == "B7"
    state = line(BELOTE, state, "9H")
    assert spelt(BELOTE, state, N) == ["8H", "TH"]


def test_b8_the_partner_holds_the_trick() -> None:
    """E leads the ace of clubs, W has none: E's partner may throw anything."""
    hands = HANDS | {"W": "7S 8S KD AH KH 9S QD JS", "N": "7C JC QC 8C TH 8H AD 9D"}
    hands |= {"S": "TC 9H JH TD JD AS KS QS", "E": "AC KC 9C 7D 8D TS QH 7H"}
    state = line(BELOTE, started(BELOTE, hands), "AC, TC")
    assert set(spelt(BELOTE, state, W)) == set(cards(hands["W"]))


@every
def test_a17_belote_says_itself(game: AnyBelote) -> None:
    """W holds king and queen of trumps; the table hears of it as they are played."""
    hands = {
        "E": "AC KC 9C 7D 8D TS 9H 7H",
        "S": "TC 8H JH TD JD AS 7S QS",
        "W": "QC 8C KD QH KH 9S 8S QD",
        "N": "7C JC TH AH AD 9D JS KS",
    }
    state = started(game, hands)
    assert game.view(state, W).belote == ()
    state = line(game, state, "7H, JH" if game is not NO_TRUMP else "7H, 8H")
    state = line(game, state, "QH, TH")
    if game is NO_TRUMP:
        assert game.view(state, None).belote == ()
        return
    assert game.view(state, None).belote == ((W, "belote"),)
    while (seat := game.prompted(state)) is not None:
        state = game.apply(state, seat, next(game.legal(state, seat)))
        said = game.view(state, None).belote
        assert state.play is not None
        both = {"QH", "KH"} <= {*state.play.played, *state.play.trick}
        assert said == (((W, "belote"), (W, "rebelote")) if both else ((W, "belote"),))
    assert state.counted is not None
    assert state.counted.belote == (0, 20)


def test_a17_two_hands_make_no_belote() -> None:
    state = started(BELOTE)  # E holds the queen, W the king
    while (seat := BELOTE.prompted(state)) is not None:
        state = BELOTE.apply(state, seat, next(BELOTE.legal(state, seat)))
        assert BELOTE.view(state, None).belote == ()
    assert state.counted is not None
    assert state.counted.belote == (0, 0)


@every
def test_the_view_of_the_play(game: AnyBelote) -> None:
    state = line(game, started(game), "AC, TC, QC, JC, KC")
    view = game.view(state, S)
    assert view.last_trick == ((E, "AC"), (S, "TC"), (W, "QC"), (N, "JC"))
    assert view.played == view.last_trick
    assert view.trick == ((E, "KC"),)
    assert (view.prompted, view.counts) == (S, (7, 6, 7, 7))
    assert view.tricks == (0, 1)
    assert view.points == (0, 26)
    assert view.hand == cards("7S QS AS 9H JH TD JD")
    assert game.view(state, None).hand == ()
    assert (view.result, view.sheet) == (None, None)


# ---------------------------------------------------------------- the rest


@every
def test_f1_a_computer_plays_on(game: AnyBelote) -> None:
    state = started(game)
    for seat in SEATS:
        assert game.withdraw(state, seat) == state
        assert game.concession(state, seat) is None
        with pytest.raises(ValueError, match="cannot be resigned") as caught:
            game.resign(state, seat)
        assert caught.value.rule == "F1"  # type: ignore[attr-defined]


@every
def test_notation(game: AnyBelote) -> None:
    for text in ("80H", "capotS", "contra 3", "recontra", "take", "choose C", "declare", "TS"):
        assert game.write(game.read(text)) == text
    for text in ("", "0S", "081H", "contra", "contra 0", "choose", "choose X", "Take", "deal"):
        with pytest.raises(Unreadable):
            game.read(text)


def test_every_refusal_has_a_text() -> None:
    for kind, module in zip(GAMES, (belote, belote_no_trump, coinche), strict=True):
        assert rules_named_in(module) <= texts_of(kind, "el")
        assert texts_of(kind, "el") == texts_of(kind, "en")


@every
def test_over(game: AnyBelote) -> None:
    end = last(at_random(game, Random(4)))
    assert (game.to_act(end), game.prompted(end), game.mid_turn(end)) == ((), None, False)
    for seat in (*SEATS, CHANCE):
        assert list(game.legal(end, seat)) == []
        assert refused(game, end, seat, "AS") == "B2"
        assert refused(game, end, seat, "pass") == "B2"
