"""Double elimination: who has lost twice is out.

Who loses in the main bracket goes on in that of the losers, and the winners of both meet in the
grand final. Where the winner of the main bracket loses it, it is his first loss, and the two meet
once more. A match to which neither came puts both out: neither goes on (S5).

    rounds   1      2          3    4          5        …
    main     M1     M2              M3                  each with half of the matches of the last
    losers          L1         L2   L3         L4       L2, L4 …: those who come from M2, M3 … enter

Those who come from the main bracket enter in another order than they stood there, so that two who
have met meet again as late as can be. Places go by the round in which somebody was out; those of
one round share.
"""

from __future__ import annotations

from collections.abc import Sequence

from kafeneio_matchmaking.tournaments.domain import (
    Bracket,
    Course,
    Round,
    first_of_bracket,
    paired,
)


def draw(course: Course) -> Round | None:
    """The next round of both brackets, or the final."""
    if not course.rounds:
        return first_of_bracket(course.size)
    if course.rounds[-1][0].bracket is Bracket.FINAL:
        return _decider(course)
    main, losers = _of(course, Bracket.MAIN), _of(course, Bracket.LOSERS)
    top = main[-1]
    if len(losers) == 2 * len(main) - 3:
        entering = _crossed([match.loser for match in top], len(main))
        staying = [match.winner for match in losers[-1]]
        mixed = [seed for pair in zip(staying, entering, strict=True) for seed in pair]
        return paired(mixed, Bracket.LOSERS)
    through = [match.winner for match in top]
    below = [m.winner for m in losers[-1]] if losers else [match.loser for match in top]
    if len(top) > 1:
        return paired(through) + paired(below, Bracket.LOSERS)
    return paired(through + below, Bracket.FINAL)


def _decider(course: Course) -> Round | None:
    """The second final, where the first one was the first loss of who came from the main
    bracket."""
    (final,) = course.rounds[-1]
    again = _of(course, Bracket.FINAL)
    if len(again) == 1 and final.two is not None and final.winner == final.two:
        return None if final.one is None else paired([final.one, final.two], Bracket.FINAL)
    return None


def _of(course: Course, bracket: Bracket) -> list[Round]:
    """The matches of one bracket by their rounds; rounds without one are left out."""
    found = [tuple(match for match in each if match.bracket is bracket) for each in course.rounds]
    return [each for each in found if each]


def _crossed(entering: Sequence[int | None], number: int) -> list[int | None]:
    """The order in which those of a round of the main bracket enter that of the losers."""
    if number % 2 == 0:
        return [*reversed(entering)]
    half = len(entering) // 2
    return [*entering[half:], *entering[:half]]


def merits(course: Course) -> list[tuple[int, ...]]:
    """How many rounds each has survived."""
    survived = [len(course.rounds)] * course.size
    lost = [0] * course.size
    for number, matches in enumerate(course.rounds):
        for match in matches:
            for seed in match.losers:
                before = lost[seed - 1]
                lost[seed - 1] += 1 if match.winner is not None else 2
                if before < 2 <= lost[seed - 1]:
                    survived[seed - 1] = number
    return [(each,) for each in survived]


def most_matches(size: int, length: int) -> int:
    """Every match is a loss, two put somebody out, and who is left has lost once at the most."""
    return 2 * size - 1
