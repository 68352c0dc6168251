"""What `tests.strength` says of the games of rummy."""

from __future__ import annotations

from random import Random

from kafeneio_games.rummy_variants import VARIANTS

from tests.games.rummy_tables import SEATS, koumkan_state, thanasis_state
from tests.strength import rummy


def test_seven_of_ten_games_are_to_be_won_against_a_random_player() -> None:
    demanded = {contest.name: contest.demanded for contest in rummy.contests()}
    for variant in VARIANTS:
        assert demanded[f"{variant.id} against random"] == 0.7


def test_a_pair_is_the_same_whenever_it_is_played() -> None:
    first, again = (rummy.pair("dynamitis", "random", 3) for _ in range(2))
    assert first.points == again.points
    assert set(first.points) <= {0.0, 1.0}
    assert len(first.points) == 2
    assert len(first.seconds) == len(again.seconds) > 10


def test_the_plain_player_melds_lays_off_and_keeps_jokers() -> None:
    game = rummy.GAMES["koumkan"]
    for hand, melds, does in (
        ("4C 5C 6C KH 2D|KH", [], "meld run 4C5C6C"),
        ("7C KH 2D|KH", ["0 run 4C 5C 6C"], "lay 7C 1"),
        ("8C KH *|KH", [], "discard KH"),
    ):
        (action,) = rummy.plainly(game, koumkan_state(hand, melds), SEATS[0], Random(1))
        assert game.write(action) == does


def test_the_plain_player_goes_out_and_throws_away_what_leaves_least() -> None:
    game = rummy.GAMES["thanasis"]
    for last, does in (("KH 9S", "out 9S"), ("2S 9S", "discard 9S")):
        hand = f"7D 7H 7S 4C 5C 6C TH JH QH {last}|2C"
        (action,) = rummy.plainly(game, thanasis_state(hand, "3S"), SEATS[0], Random(1))
        assert game.write(action) == does
