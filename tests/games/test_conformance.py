"""What every game must hold, whatever its rules; it runs over the whole registry.

A new game brings its conceivable actions and what it conserves (the two tables below).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from random import Random
from typing import Any

import pytest
from kafeneio_games import gulbara, pilotta_play, plakoto, tavli, trick_actions, tricks
from kafeneio_games.cards import HIDDEN, SHORT_PACK, Card, Deal
from kafeneio_games.game import CHANCE, TABLE, Entry, Illegal, Seat, Unreadable, digest, replay
from kafeneio_games.play import Play
from kafeneio_games.record import Record, verify
from kafeneio_games.registry import Variant, editions
from kafeneio_games.tavli import Boards, facing

from tests.games.belote_conceivable import OF_BELOTE, of_belote
from tests.games.boards import told
from tests.games.plays import TURNS_MAX, log_of, random_act, record_of
from tests.games.rummy_conceivable import OF_KOUMKAN, OF_THANASIS, of_rummy
from tests.games.rummy_tables import purposeful_act

OF_TAVLI: tuple[Any, ...] = (
    *tavli.ACTIONS,
    tavli.Roll(0, 7),
    tavli.MoveChecker(0, 1),
    tavli.MoveChecker(26, 1),
    tavli.MoveChecker(-1, 6),
    tavli.MoveChecker(13, 0),
    tavli.MoveChecker(13, 7),
)
OF_TRICKS: tuple[Any, ...] = (
    *trick_actions.CARDS.values(),
    *trick_actions.CHOICES.values(),
    *trick_actions.CAPOTS.values(),
    *(trick_actions.Bid(value, suit) for value in range(70, 270, 5) for suit in "SHDCX"),
    *(trick_actions.Contra(bid) for bid in range(80)),
    *(trick_actions.PASS, trick_actions.RECONTRA, trick_actions.TAKE),
    *(trick_actions.EXCHANGE, trick_actions.DECLARE),
    *(trick_actions.Choose("X"), trick_actions.Capot("X"), trick_actions.PlayCard(Card("2S"))),
    *(Deal(()), Deal((SHORT_PACK[:8],) * 4), Deal(((HIDDEN,) * 8,) * 4)),
)
CONCEIVABLE: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(("portes@1", "plakoto@1", "fevga@1", "gulbara@1"), OF_TAVLI),
    **dict.fromkeys(("pilotta@1", "pilotta-classic@1", "pilotta-classic-2@1"), OF_TRICKS),
    **dict.fromkeys(("belote@1", "belote-no-trump@1", "coinche@1"), OF_BELOTE),
    "koumkan@1": OF_KOUMKAN,
    **dict.fromkeys(("thanasis@1", "dynamitis@1"), OF_THANASIS),
}


def fifteen_each(boards: Boards) -> None:
    for mine in boards:
        assert len(mine) == 26
        assert sum(mine) == 15


def shared_points(boards: Boards, facing: Callable[[int], int]) -> list[int]:
    """Seat 0's numbers of the points where both have checkers."""
    return [p for p in range(1, 25) if boards[0][p] and boards[1][facing(p)]]


def of_portes(state: Any) -> None:
    fifteen_each(state.boards)
    assert not shared_points(state.boards, lambda point: 25 - point)


def of_plakoto(state: plakoto.State) -> None:
    """Who shares a point is pinned, or pins: one side has a single checker there."""
    fifteen_each(state.boards)
    mine, his = state.pinned
    assert state.boards[0][25] == state.boards[1][25] == 0
    assert all(state.boards[0][point] == 1 for point in mine)
    assert all(state.boards[1][point] == 1 for point in his)
    shared = shared_points(state.boards, lambda point: 25 - point)
    assert sorted(shared) == sorted([*mine, *(25 - point for point in his)])
    assert list(mine) == sorted(mine, reverse=True)


def of_fevga(state: Any) -> None:
    fifteen_each(state.boards)
    assert state.boards[0][25] == state.boards[1][25] == 0
    assert not shared_points(state.boards, facing)


def of_gulbara(state: gulbara.State) -> None:
    """Numbers are received before the own throw, and never left over when it is over."""
    of_fevga(state)
    assert not (state.received and state.rolled)
    assert len(state.dice) <= len(state.received or state.rolled * 12)
    assert abs(state.throws[0] - state.throws[1]) <= 1
    assert state.stage is tavli.Stage.MOVE or not state.received


def of_pilotta(state: pilotta_play.State) -> None:
    """Each card is in one place, all of them unless two play; a trick's points go to a side."""
    play = state.play
    hands = state.hands if play is None else play.hands
    gone = () if play is None else (*play.trick, *play.played)
    turned = () if state.turned is None else (state.turned,)
    places = [*gone, *turned, *state.rest, *(card for hand in hands for card in hand)]
    assert len(set(places)) == len(places)
    assert len(places) in ((0, 32) if play is None or len(hands) == 4 else (18,))
    if play is not None:
        assert sum(play.tricks) == len(play.played) // len(hands)
        worth = sum(tricks.POINTS[play.trump][card] for card in play.played)
        assert sum(play.points) == worth + 10 * (not any(hands) and not play.trick)


CONSERVED: dict[str, Callable[[Any], None]] = {
    "portes@1": of_portes,
    "plakoto@1": of_plakoto,
    "fevga@1": of_fevga,
    "gulbara@1": of_gulbara,
    "pilotta@1": of_pilotta,
    "pilotta-classic@1": of_pilotta,
    "pilotta-classic-2@1": of_pilotta,
    **dict.fromkeys(("belote@1", "belote-no-trump@1", "coinche@1"), of_belote),
    **dict.fromkeys(("koumkan@1", "thanasis@1", "dynamitis@1"), of_rummy),
}

# At random nobody ever goes out of these, and every hand is void.
ACTS = dict.fromkeys(("thanasis", "dynamitis"), purposeful_act)

SEEDS = range(4)
variants = pytest.mark.parametrize(
    "variant", editions(), ids=[f"{v.id}@{v.edition}" for v in editions()]
)
seeds = pytest.mark.parametrize("seed", SEEDS)


@cache
def played(variant: Variant, seed: int) -> Record:
    """One random game, to the least points to which the variant is played."""
    act = ACTS.get(variant.id, random_act)
    return record_of(variant, seed, variant.targets.least, act=act)


@cache
def plays_of(variant: Variant, seed: int) -> tuple[Play, ...]:
    """Every play of that game, in order."""
    record = played(variant, seed)
    plays = [Play.begin(variant.build({}, record.target))]
    done: list[Entry] = []
    with told(seed, done):
        for entry in log_of(record):
            plays.append(plays[-1].apply(entry))
            done.append(entry)
    return tuple(plays)


@variants
@seeds
def test_random_play_ends(variant: Variant, seed: int) -> None:
    last = plays_of(variant, seed)[-1]
    assert last.over
    assert last.turn < TURNS_MAX
    assert last.outcome is not None
    assert last.outcome.winners
    assert last.to_act == ()
    assert last.prompted is None


@variants
@seeds
def test_states_are_values(variant: Variant, seed: int) -> None:
    """Hashable, equal when replayed, digestible."""
    plays_again = plays_of.__wrapped__(variant, seed)
    for play, again in zip(plays_of(variant, seed), plays_again, strict=True):
        assert hash(play) == hash(again)
        assert play == again
        assert play.digest() == again.digest()
        assert len(digest(play.state)) == 32


@variants
@seeds
def test_replay_equals_play(variant: Variant, seed: int) -> None:
    """The lines of each round alone, from its first seat, give the state of the play."""
    log: list[Entry] = []
    opened: Play | None = None
    for before, after, entry in steps(variant, seed):
        if before.game is None or after.round != before.round:
            opened, log = after, []
            continue
        assert opened is not None
        log.append(entry)
        following = opened.match.next()
        assert following is not None
        # Not after every entry: replaying a game from its start each time would be slow.
        if after.game is before.game and (len(log) % 8 == 1 or after.over):
            state = replay(following.game, following.first, following.live, log)
            assert state == after.state


def steps(variant: Variant, seed: int) -> Iterator[tuple[Play, Play, Entry]]:
    plays = plays_of(variant, seed)
    yield from zip(plays, plays[1:], log_of(played(variant, seed)), strict=False)


@variants
@seeds
def test_prompted_is_one_who_may_act(variant: Variant, seed: int) -> None:
    for play in plays_of(variant, seed):
        assert play.prompted is None or play.prompted in play.to_act
        if play.prompted is None and not play.over:
            assert len(play.to_act) == 1
            assert play.chance_due or len(list(play.legal(play.to_act[0]))) == 1
        for seat in play.seats:
            if seat not in play.to_act:
                assert list(play.legal(seat)) == []


@variants
@seeds
def test_turns_are_counted_by_prompts(variant: Variant, seed: int) -> None:
    for before, after, _ in steps(variant, seed):
        assert after.turn - before.turn in (0, 1)
        if after.turn > before.turn:
            assert after.prompted is not None
        if after.prompted is not None and after.prompted != before.prompted:
            # What chance does in the midst of a turn, a reshuffle, begins no new one (X1).
            resumed = after.game is not None and after.game.mid_turn(after.state)
            assert after.turn == before.turn + (not resumed)


@pytest.mark.matrix
@variants
def test_legal_is_what_apply_accepts(variant: Variant) -> None:
    """Against all conceivable actions by everybody, in the positions of a random game."""
    checked = 0
    for play in plays_of(variant, 11):
        if play.game is None or play.over or checked > 150:
            continue
        conceivable = CONCEIVABLE[play.game.name]
        for seat in (*play.seats, CHANCE, TABLE, Seat(99)):
            legal = list(play.legal(seat))
            assert len(set(legal)) == len(legal)
            assert set(legal) <= set(conceivable)
            assert {action for action in conceivable if accepts(play, seat, action)} == set(legal)
        checked += 1
    assert checked > 40


def accepts(play: Play, seat: Seat, action: Any) -> bool:
    assert play.game is not None
    try:
        play.game.apply(play.state, seat, action)
    except Illegal as refusal:
        if not refusal.rule:
            raise
        return False
    return True


@variants
def test_apply_refuses_what_is_no_action(variant: Variant) -> None:
    play = next(play for play in plays_of(variant, 1) if play.prompted is not None)
    assert play.game is not None
    assert play.prompted is not None
    with pytest.raises(Illegal):
        play.game.apply(play.state, play.prompted, "13/8")
    with pytest.raises(Unreadable):
        play.apply(Entry(play.prompted, "no such thing"))


@variants
@seeds
def test_notation_is_exact(variant: Variant, seed: int) -> None:
    for play in plays_of(variant, seed):
        if play.game is not None:
            for seat in play.to_act:
                for action in play.legal(seat):
                    text = play.game.write(action)
                    assert play.game.read(text) == action
                    assert play.game.write(play.game.read(text)) == text
                    assert not text.startswith("!")


@variants
@seeds
def test_nothing_is_lost(variant: Variant, seed: int) -> None:
    """Checkers, cards and points are conserved; a result is there exactly when it is over."""
    for play in plays_of(variant, seed):
        if play.game is not None:
            CONSERVED[play.game.name](play.state)
            over = play.game.to_act(play.state) == ()
            assert (play.game.result(play.state) is not None) == over


@variants
@seeds
def test_views(variant: Variant, seed: int) -> None:
    """Every seat and a spectator have a view that can be hashed; alike where nothing is hidden."""
    for play in plays_of(variant, seed):
        views = [play.view(seat) for seat in (*play.seats, None)]
        assert all(len(digest(view)) == 32 for view in views)
        if play.game is not None and not play.game.hidden:
            assert all(view == views[0] for view in views)
            assert len({play.view_digest(seat) for seat in (*play.seats, None)}) == 1


@variants
@seeds
def test_a_record_verifies(variant: Variant, seed: int) -> None:
    assert verify(played(variant, seed)) == ()


@variants
@seeds
def test_a_forfeit_is_taken_at_any_moment(variant: Variant, seed: int) -> None:
    random = Random(seed)
    plays = [play for play in plays_of(variant, seed) if not play.over]
    for play in random.sample(plays, 20):
        for seat in play.seats:
            after = play.apply(Entry(seat, "!forfeit LEFT"))
            assert [f.seat for f in after.forfeits] == [seat]
            assert after.view(seat) == after.view(None)


def test_a_random_act_is_one_turn() -> None:
    """The generator of these tests sends what a client would: one turn, one seat."""
    for play in plays_of(editions()[0], 3):
        if play.prompted is not None:
            entries = random_act(play, Random(1))
            assert {entry.seat for entry in entries} == {play.prompted}
            break
