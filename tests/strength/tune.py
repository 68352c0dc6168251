"""Better weights for a tavli evaluation: `python -m tests.strength.tune fevga [--pairs N]`.

Simultaneous perturbation: all weights are moved a little, each up or down by lot; the evaluation
moved so plays two games, with the same dice and the seats exchanged, against the one moved the
other way, without looking ahead; and the weights go some of the way towards the winner.  It begins
with the weights in the player's file and prints the terms as they would stand there.
"""

from __future__ import annotations

import argparse
import math
import random
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from kafeneio_games.game import CHANCE, AnyGame, Seat
from kafeneio_games.tavli import Roll, Stage
from kafeneio_players import fevga, gulbara, plakoto, portes
from kafeneio_players.lookahead import Effort, Lines, best_of, played
from kafeneio_players.weights import Term, Weights

from tests.strength.tavli import GAMES, SEATS

EFFORT: Final = Effort(60, 1)
PART: Final = 0.2  # how far a weight is moved for a trial, as a part of itself
LEAST: Final = 0.01  # and at least


class Subject(NamedTuple):
    """A game's evaluation."""

    lines: Callable[[Any, Any, Effort, Weights], Lines]
    terms: Sequence[Term]
    weights: Weights


SUBJECTS: Final = {
    "portes": Subject(portes.lines, portes.TERMS, portes.WEIGHTS),
    "plakoto": Subject(plakoto.lines, plakoto.TERMS, plakoto.WEIGHTS),
    "fevga": Subject(fevga.lines, fevga.TERMS, fevga.WEIGHTS),
    "gulbara": Subject(gulbara.lines, gulbara.TERMS, gulbara.WEIGHTS),
}


def round_between(
    game: AnyGame, subject: Subject, weights: tuple[Weights, Weights], seed: int, first: Seat
) -> int:
    """The points of seat 0 when each seat plays by weights of its own."""
    dice = random.Random(seed)
    state = game.start(first, SEATS)
    while state.stage is not Stage.OVER:
        if state.stage is Stage.ROLL:
            state = game.apply(state, CHANCE, Roll(dice.randint(1, 6), dice.randint(1, 6)))
        else:
            found = subject.lines(game, state, EFFORT, weights[state.mover]).found
            state = played(game, state, best_of(found).path)
    return int(state.result.points[0] - state.result.points[1])


def tuned(name: str, pairs: int, seed: int) -> Weights:
    """The weights after so many pairs of games."""
    game, subject, lot = GAMES[name], SUBJECTS[name], random.Random(seed)
    now = list(subject.weights)
    reach = [PART * abs(weight) + LEAST for weight in now]
    gain = 0.7 / math.sqrt(pairs)
    for number in range(pairs):
        moved = [lot.choice((-1, 1)) * step for step in reach]
        up = tuple([weight + step for weight, step in zip(now, moved, strict=True)])
        down = tuple([weight - step for weight, step in zip(now, moved, strict=True)])
        dice, first = lot.randrange(1 << 60), Seat(number % 2)
        won = round_between(game, subject, (up, down), dice, first)
        won -= round_between(game, subject, (down, up), dice, first)
        now = [weight + gain * won / 2 * step for weight, step in zip(now, moved, strict=True)]
    return tuple(now)


def written(terms: Sequence[Term], weights: Weights) -> str:
    """As in a player's file."""
    halves = zip(terms, weights[: len(terms)], weights[len(terms) : -1], strict=True)
    rows = [f'    Term("{term.name}", {own:.3f}, {other:.3f}),' for term, own, other in halves]
    last = f"WEIGHTS: Final = weights(TERMS, {weights[-1]:.3f})"
    return "\n".join(["TERMS: Final = (", *rows, ")", last])


def main() -> None:
    """Tune one game."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("game", choices=SUBJECTS)
    parser.add_argument("--pairs", type=int, default=1_500)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    print(written(SUBJECTS[asked.game].terms, tuned(asked.game, asked.pairs, asked.seed)))


if __name__ == "__main__":
    main()
