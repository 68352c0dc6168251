"""That the golden logs named after an odd rule show it: a condition on some step of each."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import pytest
from kafeneio_games.game import Entry
from kafeneio_games.play import Play
from kafeneio_games.tavli import other

from tests.games import simple_tavli
from tests.games.simple_tavli import LEAVE, WALLS
from tests.games.tavli_tables import plain_of, rules_of
from tests.games.test_golden_logs import FOLDER, begin, read_golden


class Step(NamedTuple):
    """One entry, and the plays around it."""

    before: Play
    entry: Entry
    after: Play

    @property
    def was(self) -> Any:
        """The state before it."""
        return self.before.state

    @property
    def now(self) -> Any:
        """The state after it."""
        return self.after.state

    @property
    def borne_off(self) -> bool:
        """Whether a checker went off."""
        return "off" in self.entry.text


@cache
def steps(name: str) -> tuple[Step, ...]:
    golden = read_golden(FOLDER / f"{name}.txt")
    found, play = [], begin(golden)
    for entry in golden.entries:
        found.append(Step(play, entry, play.apply(entry)))
        play = found[-1].after
    return tuple(found)


def filtered(*filters: str) -> Callable[[Step], bool]:
    """A turn begins that one of those filters changes."""

    def changed(step: Step) -> bool:
        game, seat = step.after.game, step.after.prompted
        if seat is None or game is None or game.mid_turn(step.now):
            return False
        rules, position = rules_of(game), plain_of(step.now, seat)  # type: ignore[arg-type]
        legal = simple_tavli.legal_finals(rules, position, step.now.dice)
        return any(
            simple_tavli.legal_finals(rules, position, step.now.dice, left_out) != legal
            for left_out in filters
        )

    return changed


def fewer_dice(step: Step) -> bool:
    """A turn begins in which a wall costs dice."""
    game, seat = step.after.game, step.after.prompted
    if seat is None or game is None or game.mid_turn(step.now):
        return False
    rules, position = rules_of(game), plain_of(step.now, seat)  # type: ignore[arg-type]
    longest = [
        max(len(used) for _, used, _ in simple_tavli.legal_turns(rules, position, dice, left_out))
        for dice in (step.now.dice,)
        for left_out in ("", *WALLS)
    ]
    return longest[0] < max(longest)


def waiting(step: Step) -> bool:
    """All are home, some off, one is pinned, and nothing is borne off."""
    seat = step.entry.seat
    if seat < 0 or not step.was or not step.was.pinned[seat] or step.borne_off:
        return False
    board = step.was.boards[seat]
    return board[0] > 0 and not any(board[7:])


def pinned_off(step: Step) -> bool:
    return step.borne_off and bool(step.was.pinned[step.entry.seat])


def mother_pinned(step: Step) -> bool:
    return bool(step.now) and any(24 in pinned for pinned in step.now.pinned)


def released(step: Step) -> bool:
    """And the same turn goes on."""
    if step.entry.seat < 0 or not step.now or step.after.turn != step.before.turn:
        return False
    his = other(step.entry.seat)
    return bool(set(step.was.pinned[his]) - set(step.now.pinned[his])) and step.now.mover != his


def start_wall_in_front(step: Step) -> bool:
    """11..6 are held at the end of a turn before the other's occupied start."""
    seat = step.entry.seat
    if seat < 0 or not step.now or step.now.mover == seat:
        return False
    return all(step.now.boards[seat][6:12]) and step.now.boards[other(seat)][24] > 0


def passes_and_frees(step: Step) -> bool:
    seat = step.entry.seat
    if seat < 0 or not step.was or step.after.prompted != seat:
        return False
    past = [sum(state.boards[seat][:12]) for state in (step.was, step.now)]
    return past == [0, 1] and any(action.start == 24 for action in step.after.legal(seat))


def escalates(step: Step) -> bool:
    return bool(step.now) and len(step.now.dice) > 4 and not step.now.received


SHOWN: dict[str, Callable[[Step], bool]] = {
    "plakoto_mother_at_once": lambda s: s.after.over and not mother_pinned_before(s),
    "plakoto_mother_start_left": lambda s: s.after.over and mother_pinned_before(s),
    "plakoto_drawn_then_won": lambda s: s.after.round == 2 and s.after.score == (0, 0),
    "plakoto_bearing_off_waits": waiting,
    "plakoto_bearing_off_continues": pinned_off,
    "plakoto_betomall": lambda s: mother_pinned(s) and not s.after.over,
    "plakoto_pinned_again": released,
    "plakoto_resigned_mother_pinned": lambda s: s.entry.text == "!resign" and mother_pinned(s),
    "fevga_first_checker_stuck": lambda s: (
        s.entry.text == "pass" and s.was.boards[s.entry.seat][24] == 14
    ),
    "fevga_first_checker_passes": passes_and_frees,
    "fevga_wall_at_start": filtered(WALLS[0]),
    "fevga_wall_in_front": filtered(WALLS[1]),
    "fevga_fewer_dice": fewer_dice,
    "fevga_left_a_move": filtered(LEAVE),
    "fevga_betomall": start_wall_in_front,
    "gulbara_escalation_played_out": lambda s: (
        s.entry.seat >= 0
        and len(s.was.dice) == 1
        and s.was.rolled[:1] == s.was.rolled[1:]
        and s.was.rolled[0] < s.was.dice[0]
        and not s.now.received
    ),
    "gulbara_escalation_handed_over": lambda s: (
        bool(s.was)
        and len(s.was.received) > 4
        and len(s.was.dice) - len(s.now.dice) > 1
        and s.now.received != ()
    ),
    "gulbara_receiver_stops": lambda s: (
        bool(s.was) and len(s.was.received) > 4 and len(s.was.dice) > 4 and not s.now.received
    ),
    "gulbara_received_wins": lambda s: s.after.over and bool(s.was.received),
    "gulbara_pair_passed": lambda s: (
        s.entry.text == "pass"
        and len(s.was.rolled) == 2 == len(s.now.received)
        and s.after.prompted is not None
    ),
    "gulbara_received_lost": lambda s: s.entry.text == "pass" and bool(s.was.received),
    "gulbara_won_in_escalation": lambda s: s.after.over and len(s.was.dice) > 4,
    "gulbara_third_throw": lambda s: (
        bool(s.was)
        and s.was.rolled[:1] == s.was.rolled[1:] != ()
        and s.was.throws[s.was.mover] <= 3
        and 0 < len(s.now.received) < 4
    ),
    "gulbara_resigned_pending": lambda s: s.entry.text == "!resign" and bool(s.was.received),
    "gulbara_pending_dropped": lambda s: (
        s.entry.text == "!resign"
        and bool(s.was.received)
        and s.now.throws == (0, 0)
        and s.now.received == ()
    ),
    "gulbara_forfeit": lambda s: s.entry.text == "!forfeit LEFT" and s.was.mover != s.entry.seat,
    "tavli-greek_match": lambda s: s.after.round == 3 and s.after.game is None,
    "tavli_once_level": lambda s: s.after.round == 3 and s.after.game is None,
}


def mother_pinned_before(step: Step) -> bool:
    return any(24 in pinned for pinned in step.was.pinned)


@pytest.mark.parametrize("name", SHOWN)
def test_log_shows_its_rule(name: str) -> None:
    assert any(map(SHOWN[name], steps(name)))


def test_bearing_off_goes_on_after_it_has_waited() -> None:
    done = steps("plakoto_bearing_off_waits")
    first = next(number for number, step in enumerate(done) if waiting(step))
    seat = done[first].entry.seat
    assert any(step.borne_off and step.entry.seat == seat for step in done[first:])
    assert not any(pinned_off(step) for step in done)


def test_every_log_of_an_odd_rule_is_here() -> None:
    endings = ("single", "double", "forfeit", "resigned", "match", "played", "betomall", "ahead")
    tavli = ("plakoto", "fevga", "gulbara", "tavli")
    names = {path.stem for path in FOLDER.glob("*.txt") if path.stem.startswith(tavli)}
    plain = {name for name in names if name.endswith((*endings, "sequence"))}
    assert names - plain <= set(SHOWN)
