"""What a tournament pays (S5): the pool, by places. Pure, in whole numbers of the smallest unit.

Prizes are shares of the pool that sum to all of it. What can't be divided goes to the highest
place, and so do the shares of places that nobody has reached. Ties share the sum of the places
they cover.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from kafeneio_settlement.payouts import LARGEST, WHOLE, NotPayableError, TooLargeError

RULE: Final = "S5"
VERSION: Final = 1

Entrant = TypeVar("Entrant", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Prizes:
    """Shares of the pool in basis points, first place first: none is less than the one after it.

    Raises ValueError where they are not all of the pool.
    """

    shares: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.shares or sum(self.shares) != WHOLE or min(self.shares) <= 0:
            raise ValueError(f"the prizes {self.shares} are not all of the pool")
        if any(share < later for share, later in zip(self.shares, self.shares[1:], strict=False)):
            raise ValueError(f"the prizes {self.shares} grow towards the last place")


def prizes(pool: int, offered: Prizes, places: Sequence[Sequence[Entrant]]) -> dict[Entrant, int]:
    """What each entrant gets. `places` lists who shares the first place, then who comes after them,
    and so on; those who share one stand in the order of their seeds.

    Raises NotPayableError where nobody is placed or somebody twice, and TooLargeError.
    """
    entrants = [who for tied in places for who in tied]
    if not entrants or len({*entrants}) != len(entrants) or not all(places) or pool < 0:
        raise NotPayableError("every place is somebody's, and nobody has two")
    if pool > LARGEST:
        raise TooLargeError(f"a pool of {pool} is more than {LARGEST}")
    by_place = [pool * share // WHOLE for share in offered.shares]
    paid: dict[Entrant, int] = {}
    place = 0
    for tied in places:
        covered = sum(by_place[place : place + len(tied)])
        paid |= dict.fromkeys(tied, covered // len(tied))
        place += len(tied)
    # What is left, unit by unit, among those on the highest place, the better seed first.
    first = places[0]
    each, over = divmod(pool - sum(paid.values()), len(first))
    for seed, who in enumerate(first):
        paid[who] += each + (seed < over)
    return paid
