"""The fast play with all hands known: legal as the engine says, and the last tricks played best."""

from __future__ import annotations

from random import Random

import pytest
from kafeneio_games.belote import Belote
from kafeneio_games.cards import SHORT_PACK
from kafeneio_games.game import AnyGame, Seat
from kafeneio_games.trick_play import TrickPlay, after_card, begun
from kafeneio_games.trick_view import Contract
from kafeneio_games.tricks import following, sorted_hand
from kafeneio_players.tricks_house import Dealt, house
from kafeneio_players.tricks_playout import ALL, Law, Position, outcome, played_out
from kafeneio_players.tricks_reckoner import Reckoner
from kafeneio_players.tricks_solve import Solver
from kafeneio_players.tricks_table import cards_of, plain, table

from tests.players.tricks_tables import NAMES, dealt, hands_of, playing
from tests.players.tricks_tables import table as random_game

TRUMPS = ("S", "H", "D", "C", "")


def test_the_law_is_that_of_the_engine() -> None:
    """Who may play what, from random hands and tricks: the same as `tricks.following`."""
    random = Random(11)
    for _ in range(4000):
        trump = random.choice(TRUMPS)
        exempt, under = random.random() < 0.5, random.random() < 0.5
        pack = random.sample(SHORT_PACK, 12)
        trick, hand = tuple(pack[: random.randint(1, 3)]), sorted_hand(pack[4:])
        expected = following(hand, trick, trump, exempt, under)
        ranked = table(trump)
        numbers = [ranked.cards.index(card) for card in trick]
        best = numbers[0]
        for number in numbers[1:]:
            if ranked.beats[best] >> number & 1:
                best = number
        partners = len(numbers) >= 2 and numbers.index(best) == len(numbers) - 2
        may = Law(ranked, exempt, under).allowed(
            ranked.of(plain(hand)), ranked.suit[numbers[0]], best, partners
        )
        assert may == ranked.of(plain(expected))


def test_masks_are_the_cards() -> None:
    random = Random(12)
    for _ in range(200):
        hand = sorted_hand(random.sample(SHORT_PACK, 9))
        assert cards_of(plain(hand)) == hand
        for trump in TRUMPS:
            ranked = table(trump)
            mask = ranked.of(plain(hand))
            assert sorted_hand(ranked.cards[n] for n in range(32) if mask >> n & 1) == hand


def random_play(random: Random, seats: int, each: int, trump: str) -> TrickPlay:
    pack = random.sample(SHORT_PACK, seats * each)
    hands = [sorted_hand(pack[at * each : at * each + each]) for at in range(seats)]
    return begun(tuple(hands), Seat(random.randrange(seats)), trump)


def position_of(play: TrickPlay, law: Law) -> Position:
    ranked = tuple([law.table.of(plain(hand)) for hand in play.hands])
    return Position(ranked, play.turn, 0, 0, 0, 0, 0, 0, (False, False))


def best_by_engine(play: TrickPlay, exempt: bool, under: bool) -> int:
    """The outcome of best play, every line of it tried by the engine."""
    if play.over:
        return outcome(play.points[0], play.tricks[0] > 0, play.tricks[1] > 0)
    may = following(play.hands[play.turn], play.trick, play.trump, exempt, under)
    values = [best_by_engine(after_card(play, card), exempt, under) for card in may]
    return min(values) if play.turn % 2 else max(values)


@pytest.mark.parametrize(("seats", "each", "plays"), [(4, 2, 60), (4, 3, 12), (2, 4, 12)])
def test_the_last_tricks_are_played_best(seats: int, each: int, plays: int) -> None:
    random = Random(f"best {seats} {each}")
    all_taken = 0
    for _ in range(plays):
        trump = random.choice(TRUMPS)
        exempt, under = seats == 4 and random.random() < 0.5, random.random() < 0.5
        play = random_play(random, seats, each, trump)
        law = Law(table(trump), exempt, under)
        found = Solver(law).outcome(position_of(play, law))
        assert found == best_by_engine(play, exempt, under)
        all_taken += not 0 <= found < ALL // 2
    assert all_taken > 0


def test_in_the_midst_of_a_trick_too() -> None:
    """A card played, then the best: the best of these is the best of all."""
    random = Random(17)
    for _ in range(30):
        play = random_play(random, 4, 3, random.choice(TRUMPS))
        law = Law(table(play.trump), True, True)
        start = position_of(play, law)
        may = start.allowed(law)
        after = [start.after(card, law) for card in range(32) if may >> card & 1]
        values = [Solver(law).outcome(position) for position in after]
        best = min(values) if play.turn % 2 else max(values)
        assert Solver(law).outcome(start) == best


def test_a_hand_played_out_keeps_all_points() -> None:
    """Whoever calls: the outcome lies between nothing and all, and all tricks are told apart."""
    random = Random(13)
    seen = set()
    for number in range(400):
        trump = random.choice(TRUMPS)
        law = Law(table(trump), random.random() < 0.5, random.random() < 0.5)
        play = random_play(random, 4, 8, trump)
        found = played_out(position_of(play, law), law, number % 2)
        pool = 162 if trump else 130
        assert 0 <= found <= pool or found in (-ALL, ALL + pool)
        seen.add(found > pool)
    assert seen == {False, True}


@pytest.mark.parametrize("name", NAMES)
def test_a_finished_hand_is_reckoned_as_the_engine_does(name: str) -> None:
    """Under all house rules: what the sides get, from the outcome and what lay beside it."""
    random = Random(f"worth {name}")
    finished = 0
    while finished < 150:
        game, _ = random_game(name, random)
        state, beside = dealt(game, random), None
        while (seat := game.prompted(state)) is not None:
            if playing(state) and beside is None:
                view = game.view(state, None)
                assert view.contract is not None
                reckoner = Reckoner(view, house(game), view.contract, (0,) * len(view.counts))
                beside = reckoner.dealt(tuple(map(plain, hands_of(state))))
            state = game.apply(state, seat, declaring(game, state, seat, random))
        if state.contract is None:
            continue
        finished += 1
        view = game.view(state, None)
        assert beside is not None
        assert view.sheet is not None
        assert view.contract is not None
        first, second = view.sheet
        assert beside.declarations == (first.declarations, second.declarations)
        assert beside.belote == (first.belote, second.belote)
        result = outcome(view.points[0], view.tricks[0] > 0, view.tricks[1] > 0)
        worth = house(game).worth(result, beside, view.contract)
        got = (first.total - second.total, first.marked - second.marked)
        assert worth == got["pilotta" not in name]


def declaring(game: AnyGame, state: object, seat: Seat, random: Random) -> object:
    """Any legal action, but always the declaration where there is one."""
    may = list(game.legal(state, seat))
    words = {game.write(action): action for action in may}
    if "declare" in words:
        return words["declare"]
    return words["pass"] if "pass" in words and random.random() < 0.6 else random.choice(may)


def test_a_hand_without_declarations_is_its_cards() -> None:
    """Belote, made with 100 to 62: the difference is 38; failed with 80: 162 to the others."""
    rules = house(Belote())
    contract = Contract(Seat(0), 0, 0, "H")
    beside = Dealt((0, 0), (0, 0), 162)
    assert rules.worth(100, beside, contract) == 38
    assert rules.worth(80, beside, contract) == -162
    assert rules.worth(ALL + 162, beside, contract) == 252
