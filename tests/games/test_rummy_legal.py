"""Koum-kan's legal actions: against the second generator, and all that can be written."""

from __future__ import annotations

import itertools
from random import Random

import pytest
from kafeneio_games import koumkan, melds
from kafeneio_games.game import Illegal
from kafeneio_games.koumkan import KINDS, Koumkan
from kafeneio_games.rummy_hand import PACK

from tests.games import simple_rummy
from tests.games.rummy_tables import SEATS, SWITCHES, koumkan_state, plain, plain_rules, spelt

GAME = Koumkan()
switches = pytest.mark.parametrize("game", SWITCHES, ids=lambda game: repr(game)[7:])


def near_end(random: Random, jokers: int) -> koumkan.State:
    """Few cards in hand, melds with jokers on the table: where the rules bite."""
    table = []
    pack: list[str] = list(PACK)
    random.shuffle(pack)
    for _ in range(random.randint(0, 3)):
        owner = random.randrange(2)
        found = made(random, pack)
        if found:
            table.append(f"{owner} {found}")
    hand = [pack.pop() for _ in range(random.randint(1, 7))]
    for _ in range(jokers):
        if "*" in pack:
            pack.remove("*")
            hand.append("*")
    taken = random.choice([*hand, "", ""])
    other = [pack.pop() for _ in range(3)]
    return koumkan_state(f"{''.join(hand)}|{''.join(other)}", table, pile="", taken=taken)


def made(random: Random, pack: list[str]) -> str:
    """A meld of cards that are still in the pack."""
    suit, low = random.choice("SHDC"), random.randint(0, 10)
    if random.random() < 0.5:
        kind, held = "run", [melds.ORDER[low + i] + suit for i in range(3)]
    else:
        size = random.choice([3, 4, 4])
        suits = sorted(random.sample("SHDC", size), key="SHDC".index)
        kind, held = "group", [melds.ORDER[low] + each for each in suits]
    if random.random() < 0.6:
        held[-1] = "*"
    left = simple_rummy.less(pack, held)
    if left is None:
        return ""
    pack[:] = left
    return f"{kind} {''.join(held)}"


@switches
def test_legal_is_what_the_second_generator_finds(game: Koumkan) -> None:
    random, rules = Random(17), plain_rules(game)
    kinds: set[str] = set()
    for number in range(200):
        state = near_end(random, number % 3)
        found = list(game.legal(state, state.mover))
        assert len(set(found)) == len(found)
        expected = dict(simple_rummy.moves(plain(state), rules))
        assert {game.write(action) for action in found} == set(expected), state
        for action in found:
            after = game.apply(state, state.mover, action)
            if after.result is None:
                assert plain(after) == expected[game.write(action)]
            if after.owed:
                steps = {text for text, _ in simple_rummy.moves(plain(after), rules)}
                assert spelt(game, after) == steps
                assert steps, "a joker that is owed can be used"
            kinds.add(game.write(action).split(" ")[0])
    assert kinds == {"meld", "lay", "swap", "discard"}


def conceivable(hand: tuple[str, ...], tables: int) -> list[str]:
    """All that could be written of a small hand, sense or nonsense."""
    distinct = sorted(set(hand))
    found = ["draw", "take"]
    for card in [*distinct, "7S"]:
        found += [f"discard {card}", f"out {card}"]
        for number in range(1, tables + 2):
            found += [f"lay {card} {number}{end}" for end in ("", " low", " high")]
            found.append(f"swap {card} {number}")
    for size in range(1, min(len(hand), 5) + 1):
        for held in set(itertools.permutations(hand, size)):
            found += [f"meld {kind} {''.join(held)}" for kind in ("run", "group")]
    return found


@switches
def test_legal_is_what_apply_accepts(game: Koumkan) -> None:
    random = Random(23)
    for number in range(60):
        state = near_end(random, number % 3)
        if len(state.hands[0]) > 6:
            continue
        found = spelt(game, state)
        tried = conceivable(state.hands[0], len(state.table))
        accepted = set()
        for text in tried:
            try:
                game.apply(state, state.mover, game.read(text))
                accepted.add(text)
            except Illegal as refusal:
                assert str(refusal)  # noqa: PT017 - the refusal is what is counted
        long_melds = {text for text in found if text.startswith("meld") and len(cut(text)) > 5}
        assert accepted == found - long_melds


def cut(text: str) -> tuple[str, ...]:
    return simple_rummy.cut(text.split(" ")[2])


def test_kinds() -> None:
    """`legal` is its kinds one after the other; a waiting seat has none."""
    random = Random(2)
    for number in range(60):
        state = near_end(random, number % 3)
        by_kind = [list(GAME.legal_of(state, SEATS[0], kind)) for kind in KINDS]
        assert [action for each in by_kind for action in each] == list(GAME.legal(state, SEATS[0]))
        assert by_kind[0] == []
        assert all(list(GAME.legal_of(state, SEATS[1], kind)) == [] for kind in KINDS)
    with pytest.raises(ValueError):
        next(GAME.legal_of(state, SEATS[0], "bids"))
