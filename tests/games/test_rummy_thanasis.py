"""Thanasis and Dynamitis: the turned card, going out, and how the hands are counted."""

from __future__ import annotations

from random import Random

import pytest
from kafeneio_games.cards import JOKER, Card
from kafeneio_games.game import CHANCE, Illegal, Seat
from kafeneio_games.melds import ORDER, MeldRules, sorted_hand
from kafeneio_games.rummy import GoOut, PutBack
from kafeneio_games.rummy_hand import PACK, Stage
from kafeneio_games.rummy_view import HandEndView, MeldView
from kafeneio_games.thanasis import KINDS, State, Thanasis

from tests.games import simple_rummy
from tests.games.rummy_tables import (
    SEATS,
    Dice,
    all_cards,
    cards,
    dealt,
    meld,
    played,
    refused,
    rest_of_pack,
    spelt,
    stepped,
    thanasis_state,
)

THANASIS = Thanasis()
DYNAMITIS = Thanasis(wild_twos=True)
GAMES = [
    THANASIS,
    DYNAMITIS,
    Thanasis(wild_twos=True, ace_high_low=True),
    Thanasis(two_naturals=True),
]
games = pytest.mark.parametrize("game", GAMES, ids=lambda game: repr(game)[8:])
both = pytest.mark.parametrize("game", [THANASIS, DYNAMITIS], ids=["thanasis", "dynamitis"])


def deal_text(turned: str, first_of_stock: str) -> str:
    """Two hands of spades and hearts, that card turned, those next in the stock."""
    hands = [cards("AS 2S 3S 4S 5S 6S 7S 8S 9S TS"), cards("AH 2H 3H 4H 5H 6H 7H 8H 9H TH")]
    known = (*cards(turned), *cards(first_of_stock))
    stock = (*cards(first_of_stock), *rest_of_pack((*hands[0], *hands[1], *known)))
    return "deal " + "/".join("".join(each) for each in (*hands, cards(turned), stock))


def opened(game: Thanasis, turned: str, first_of_stock: str = "") -> State:
    start = game.start(Seat(1), SEATS[:2])
    return game.apply(start, CHANCE, game.read(deal_text(turned, first_of_stock)))


# ---------------------------------------------------------------- the turned card


@both
def test_h2_the_turned_card_is_put_aside(game: Thanasis) -> None:
    state = opened(game, "5S")
    assert (state.stage, state.turned, state.discards) == (Stage.DRAW, ("5S",), ())
    assert len(state.stock) == 87
    assert spelt(game, state) == {"draw"}
    assert game.view(state, None).wild_ranks == (("2", "5") if game.wild_twos else ("5",))


@pytest.mark.parametrize(
    ("game", "turned"), [(THANASIS, "*"), (DYNAMITIS, "*"), (DYNAMITIS, "2D")], ids=str
)
def test_h3_d2_it_goes_back(game: Thanasis, turned: str) -> None:
    state = opened(game, turned, "KC QC JC")
    assert state.stage is Stage.PUT_BACK
    assert game.to_act(state) == (CHANCE,)
    assert game.prompted(state) is None
    assert state.mover == 0
    after = game.apply(state, CHANCE, game.read("put-back 1"))
    assert after.turned == ("KC",)
    assert after.stock[:3] == cards(f"QC {turned} JC")
    assert (after.stage, len(after.stock)) == (Stage.DRAW, 87)
    assert game.apply(state, CHANCE, game.read("put-back 0")).stock[0] == turned
    assert game.apply(state, CHANCE, game.read("put-back 86")).stock[-1] == turned
    for text in ("put-back 87", "put-back ?"):
        assert refused(game, state, text, CHANCE) == "H3"
    assert refused(game, state, "put-back 1") == "K34"
    assert refused(game, after, "put-back 1", CHANCE) == "K34"
    assert list(game.legal(state, CHANCE)) == [PutBack(place) for place in range(87)]


def test_h3_again_and_again() -> None:
    state = opened(DYNAMITIS, "*", "* 2D 2C KC")
    for place, turned in ((0, "*"), (0, "*"), (5, "2D"), (86, "2C"), (86, "KC")):
        if state.stage is Stage.PUT_BACK:
            state = DYNAMITIS.apply(state, CHANCE, PutBack(place))
        assert sorted(all_cards(state)) == sorted(PACK)
        assert state.turned[0] in ("*", "2D", "2C", "KC"), turned
    assert state.stage in (Stage.PUT_BACK, Stage.DRAW)


def test_a_two_stays_turned_in_thanasis() -> None:
    state = opened(THANASIS, "2D")
    assert state.stage is Stage.DRAW
    assert THANASIS.meld_rules(state) == MeldRules("2")


def test_the_place_is_equally_likely() -> None:
    """Every place can be drawn, and nothing else."""
    state = opened(THANASIS, "*", "KC")

    class Asked(Dice):
        n = 0

        def below(self, n: int) -> int:
            self.n = n
            return n - 1

    draw = Asked(random=Random(1))
    assert THANASIS.chance(state, draw) == PutBack(86)
    assert draw.n == 87
    with pytest.raises(ValueError):
        THANASIS.chance(opened(THANASIS, "5S"), draw)


# ---------------------------------------------------------------- the turn


@both
def test_h4_h7_what_is_not_done(game: Thanasis) -> None:
    state = thanasis_state("4C 5C 6C KS|KH", "9S")
    assert refused(game, state, "take") == "H4"
    for text in ("meld run 4C5C6C", "lay 4C 1", "swap 4C 1"):
        assert refused(game, state, text) == "H7"
    assert spelt(game, state) >= {"discard 4C", "discard KS"}
    drawn_not_yet = played(game, state, "discard KS")
    assert refused(game, drawn_not_yet, "discard KH", Seat(1)) == "K34", "H6: first a card is drawn"
    assert refused(game, drawn_not_yet, "out KH", Seat(1)) == "K34"


def test_h12_jokers_may_be_discarded() -> None:
    state = thanasis_state("4C 5D 9C * KS|KH", "9S")
    assert {"discard *", "discard 9C"} <= spelt(THANASIS, state)


def test_h5b_going_out_is_said() -> None:
    """The plain discard of the same card plays on."""
    state = thanasis_state("4C 5C 6C 7D 7H 7S TH JH QH KH 2S|AS KD KC 8S", "9S")
    assert spelt(THANASIS, state) >= {"out 2S", "discard 2S"}
    goes_on = played(THANASIS, state, "discard 2S")
    assert (goes_on.result, goes_on.mover, goes_on.stage) == (None, 1, Stage.DRAW)
    over = played(THANASIS, state, "out 2S")
    assert over.discards == cards("2S")
    assert over.result is not None
    assert over.result.points == (0, 29)
    assert refused(THANASIS, over, "draw", Seat(1)) == "K37"
    assert refused(THANASIS, state, "out AC") == "K34"


def test_h8_the_end_is_shown() -> None:
    state = thanasis_state("4C 5C 6C 7D 7H 7S TH JH QH KH 2S|KH KD 5H AS 9C|2C 3C 4H *", "9S")
    over = played(Thanasis(3), state, "out 2S")
    assert over.result is not None
    assert over.result.points == (0, 6, 4), "KH KD and a joker, 5H 1; 2C 3C and a joker, 4H"
    view = Thanasis(3).view(over, None)
    assert view.out == 0
    assert view.hand == ()
    assert view.mover is None
    assert [end.deadwood for end in view.ends] == [0, 6, 4]
    assert view.ends[0].left == ()
    assert len(view.ends[0].hand) == 10
    assert view.ends[1] == HandEndView(
        seat=Seat(1),
        hand=sorted_hand(cards("KH KD 5H AS 9C")),
        melds=(MeldView(None, meld("group KH KD 9C").kind, cards("KH KD 9C"), cards("KH KD *")),),
        left=sorted_hand(cards("AS 5H")),
        deadwood=6,
    )
    assert Thanasis(3).view(state, Seat(1)).ends == ()


@games
def test_outs_against_the_slow_way(game: Thanasis) -> None:
    """Hands made of three melds and a card more, one card perhaps another."""
    random = Random(6)
    found = {True: 0, False: 0}
    for number in range(40):
        hand = nearly_out(random)
        state = thanasis_state(f"{''.join(hand)}|KS", "KD")
        rules = game.meld_rules(state)
        plain = simple_rummy.Rules(rules.wild_ranks, rules.ace_high, rules.naturals_least)
        outs = {a.card for a in game.legal(state, SEATS[0]) if isinstance(a, GoOut)}
        for card in dict.fromkeys(state.hands[0]):
            if number < 2:
                left = list(state.hands[0])
                left.remove(card)
                assert (card in outs) == (simple_rummy.least_deadwood(left, plain, 1) == 0)
            found[card in outs] += 1
            if card not in outs:
                assert refused(game, state, f"out {card}") == "H5"
            else:
                assert game.apply(state, SEATS[0], GoOut(card)).out == 0
    assert min(found.values()) > 30


def nearly_out(random: Random) -> list[Card]:
    """Eleven cards, KD not among them."""
    pack = list(PACK)
    random.shuffle(pack)
    hand: list[Card] = []
    for size in (3, 3, 4):
        suit, low = random.choice("SHDC"), random.randint(0, 8)
        if random.random() < 0.5:
            held = [Card(ORDER[low + i] + suit) for i in range(size)]
        else:
            held = [Card(ORDER[low] + each) for each in "SHDC"[:size]]
        if random.random() < 0.5:
            held[random.randrange(size)] = JOKER
        hand += [pack.pop(pack.index(card)) for card in held if card in pack]
    if random.random() < 0.5:
        hand.pop()
    rest = [card for card in pack if card not in ("KD", "KS")]
    return [*hand, *rest[: 11 - len(hand)]]


def test_kinds() -> None:
    state = thanasis_state("4C 5C 6C 7D 7H 7S TH JH QH KH 2S|AS", "9S")
    by_kind = {k: {THANASIS.write(a) for a in THANASIS.legal_of(state, SEATS[0], k)} for k in KINDS}
    assert by_kind["draws"] == set()
    assert by_kind["outs"] == {"out 2S"}
    assert len(by_kind["discards"]) == 11
    assert [a for k in KINDS for a in THANASIS.legal_of(state, SEATS[0], k)] == list(
        THANASIS.legal(state, SEATS[0])
    )
    with pytest.raises(ValueError):
        next(THANASIS.legal_of(state, SEATS[0], "melds"))


@games
@pytest.mark.parametrize("players", [2, 3, 4])
def test_whole_hands(game: Thanasis, players: int) -> None:
    """Cards are conserved, 107 in play; somebody goes out or the hand is void."""
    random = Random(players)
    fields = {name: getattr(game, name) for name in game.__slots__} | {"players": players}
    game = Thanasis(**fields)
    endings = set()
    for _ in range(4):
        state = dealt(game, random)
        while state.result is None:
            state = stepped(game, state, random)
            assert sorted(all_cards(state)) == sorted(PACK)
            assert len(state.turned) == 1
        endings.add(state.result.ending)
        if state.out is not None:
            assert len(state.hands[state.out]) == 10
            assert game.partition(state, state.out).deadwood == 0
            for seat in state.live:
                assert state.result.points[seat] == game.partition(state, seat).deadwood
    assert "went-out" in endings


def test_no_resignation() -> None:
    state = thanasis_state("4C|KH", "9S")
    assert THANASIS.concession(state, Seat(0)) is None
    with pytest.raises(Illegal):
        THANASIS.resign(state, Seat(0))
