"""What holds in every hand of pilotta: cards and points are conserved, tens add up."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from kafeneio_games.cards import SHORT_PACK
from kafeneio_games.pilotta import Pilotta
from kafeneio_games.pilotta_play import State
from kafeneio_games.pilotta_scoring import Scoring, rounded
from kafeneio_games.tricks import POINTS

from tests.games.boards import told
from tests.games.pilotta_hands import GAMES, AnyPilotta, log, states
from tests.games.simple_pilotta import tens

hands = st.tuples(st.sampled_from(GAMES), st.integers(0, 10**9))
totals = st.tuples(st.integers(0, 600), st.integers(0, 600))
sides = st.sampled_from((0, 1))


def last_of(game: AnyPilotta, seed: int) -> State:
    return states(game, seed)[-1]


@settings(max_examples=60, deadline=None)
@given(hands)
def test_cards_are_conserved(hand: tuple[AnyPilotta, int]) -> None:
    """Each card of the pack is in one place; for two, thirteen and the turned one leave."""
    game, seed = hand
    with told(seed, log(game, seed)):
        for state in states(game, seed):
            held = state.hands if state.play is None else state.play.hands
            places = [card for hand in held for card in hand]
            places += [*state.rest, *([state.turned] if state.turned else [])]
            if state.play is not None:
                places += [*state.play.trick, *state.play.played]
            assert len(set(places)) == len(places)
            whole = 18 if game is GAMES[2] and state.play is not None else 32
            if any(held) or state.play is not None:
                assert len(places) == whole
                assert set(places) <= set(SHORT_PACK)


@settings(max_examples=60, deadline=None)
@given(hands)
def test_points_are_conserved(hand: tuple[AnyPilotta, int]) -> None:
    """162 or 250 for four; for two those of the cards in play, and ten (T6), or 250."""
    game, seed = hand
    last = last_of(game, seed)
    if last.play is None or last.sheet is None or last.contract is None:
        assert last.result is not None
        assert last.result.points == (0, 0)
        return
    with told(seed, log(game, seed)):
        worth = sum(POINTS[last.contract.trump][card] for card in last.play.played)
        assert sum(last.play.points) == worth + 10
        assert worth == 152 or game is GAMES[2]
        all_taken = 0 in last.play.tricks
        in_tricks = sum(side.tricks for side in last.sheet)
        assert in_tricks == (250 if all_taken else worth + 10)
        extra = sum(side.declarations + side.belote + side.contract for side in last.sheet)
        assert sum(side.total for side in last.sheet) == in_tricks + extra
        assert sum(side.belote for side in last.sheet) in (0, 20)
        assert 0 in [side.declarations for side in last.sheet]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**9))
def test_tens_add_up(seed: int) -> None:
    """Both sides record sixteen tens for the tricks of a hand that was made (P61)."""
    last = last_of(Pilotta(), seed)
    if last.sheet is not None and last.result is not None and 0 not in last.play.tricks:  # type: ignore[union-attr]
        ours, theirs = last.sheet
        extra = sum(side.declarations + side.belote + side.contract for side in last.sheet)
        assert ours.marked + theirs.marked == 16 + extra // 10


@given(totals, totals, sides)
def test_rounding_is_fair(raw: tuple[int, int], tricks: tuple[int, int], caller: int) -> None:
    """Each side gets its tens or one more, never both; the other way round it is the same."""
    marked = rounded(raw, tricks, caller, Scoring())
    more = [marked[side] - raw[side] // 10 for side in (0, 1)]
    assert more in ([0, 0], [1, 0], [0, 1])
    for side in (0, 1):
        assert more[side] == 0 or raw[side] % 10 >= 5
    other = rounded(raw[::-1], tricks[::-1], 1 - caller, Scoring())
    assert other == marked[::-1]
    assert list(marked) == tens(list(raw), list(tricks), caller)


@given(totals, totals, sides)
def test_highest_up(raw: tuple[int, int], tricks: tuple[int, int], caller: int) -> None:
    """With `round_highest_up` the higher remainder always goes up (P61)."""
    marked = rounded(raw, tricks, caller, Scoring(round_highest_up=True))
    rest = (raw[0] % 10, raw[1] % 10)
    up = [marked[side] - raw[side] // 10 for side in (0, 1)]
    if rest[0] != rest[1]:
        assert up == ([1, 0] if rest[0] > rest[1] else [0, 1])
    else:
        assert sum(up) == (rest[0] >= 5)
