"""A process that plays one scene on a database and may be killed at a failpoint of it:
`python -m tests.settlement.killed URL FOLDER SCENE`."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

from tests.settlement import tournaments
from tests.settlement.house import PATIENCE, SEATS, House, Says
from tests.settlement.operators import approve, correct, report, result_request, void

GAME: Final = "01980000-0000-7000-8000-00000000000a"
REQUEST: Final = "01980000-0000-7000-8000-00000000000b"
LEFT: Final = ((1, "LEFT"),)


async def deposit(house: House) -> None:
    """Money comes in."""
    await house.deposit("eleni", 5, request_id=REQUEST)


async def withdraw(house: House) -> None:
    """Money goes out."""
    await house.withdraw("eleni", 5, request_id=REQUEST)


async def hold(house: House) -> None:
    """Stakes are held."""
    await house.hold(GAME, stake=100, request_id=REQUEST)


async def release(house: House) -> None:
    """Stakes go back."""
    await house.release(GAME, request_id=REQUEST)


async def settle(house: House) -> None:
    """Both witnesses speak, in one batch each."""
    says = Says(GAME)
    await house.publish(says.finished(winner=0))
    await house.publish(says.closed())


async def resolve(house: House) -> None:
    """An operator decides."""
    await house.resolve(GAME, request_id=REQUEST)


async def propose_void(house: House) -> None:
    """An operator proposes that a game was void."""
    await void(house, GAME, request_id=REQUEST)


async def propose_result(house: House) -> None:
    """An operator proposes another result."""
    await correct(house, result_request(GAME, request_id=REQUEST))


async def second(house: House) -> None:
    """A second operator approves."""
    await approve(house, GAME, request_id=REQUEST)


TOURNAMENT: Final = "01980000-0000-7000-8000-00000000000c"
ENTRIES: Final = (
    "01980000-0000-7000-8000-00000000000d",
    "01980000-0000-7000-8000-00000000000e",
)


async def open_one(house: House) -> None:
    """The terms of a tournament are written down."""
    await tournaments.open_pool(house, TOURNAMENT, request_id=REQUEST)


async def enter(house: House) -> None:
    """The second entry pays."""
    await tournaments.enter(house, TOURNAMENT, SEATS[1:], ENTRIES[1], request_id=REQUEST)


async def leave(house: House) -> None:
    """It gets its fee back."""
    await tournaments.leave(house, TOURNAMENT, ENTRIES[1], request_id=REQUEST)


async def finish(house: House) -> None:
    """The prizes are paid."""
    order = [[entry] for entry in ENTRIES]
    await tournaments.finish(house, TOURNAMENT, order, request_id=REQUEST)


async def cancel(house: House) -> None:
    """Every fee goes back."""
    await tournaments.cancel(house, TOURNAMENT, request_id=REQUEST)


async def propose_order(house: House) -> None:
    """An operator proposes other standings."""
    order = [[entry] for entry in ENTRIES[::-1]]
    await tournaments.propose(house, TOURNAMENT, order, request_id=REQUEST)


async def second_of_a_tournament(house: House) -> None:
    """A second operator approves."""
    await tournaments.approve_pool(house, TOURNAMENT, request_id=REQUEST)


async def opened(house: House) -> None:
    """One has entered."""
    await house.funded(*SEATS)
    await tournaments.open_pool(house, TOURNAMENT)
    await tournaments.enter(house, TOURNAMENT, SEATS[:1], ENTRIES[0])


async def entered(house: House) -> None:
    """Both have."""
    await opened(house)
    await tournaments.enter(house, TOURNAMENT, SEATS[1:], ENTRIES[1])


async def finished(house: House) -> None:
    """The prizes are paid before."""
    await entered(house)
    await tournaments.finish(house, TOURNAMENT, [[entry] for entry in ENTRIES])


async def other_order(house: House) -> None:
    """Other standings were proposed."""
    await finished(house)
    order = [[entry] for entry in ENTRIES[::-1]]
    await tournaments.propose(house, TOURNAMENT, order)


async def seal(house: House) -> None:
    """The sealer does its work."""
    async with asyncio.timeout(PATIENCE):
        while (await report(house)).unsealed:
            await house.wallet(SEATS[0])


async def nothing(house: House) -> None:
    """Nothing has to be done before."""
    await house.funded(*SEATS)


async def held(house: House) -> None:
    """Stakes are held before."""
    await house.funded(*SEATS)
    await house.hold(GAME, stake=100)


async def mismatch(house: House) -> None:
    """The witnesses differ."""
    await held(house)
    says = Says(GAME)
    await house.publish(says.finished(), says.closed(LEFT))


async def settled(house: House) -> None:
    """The game is paid."""
    await held(house)
    await settle(house)


async def proposed(house: House) -> None:
    """The game is paid, and another result proposed."""
    await settled(house)
    await correct(house, result_request(GAME))


async def unsealed(house: House) -> None:
    """Money has come in, and the seals of it were lost."""
    await nothing(house)
    await seal(house)
    # Until the connection ends no sealer works.
    await house.database.execute("SELECT pg_advisory_lock(hashtext('kafeneio settlement seals'))")
    await house.database.execute("SET session_replication_role = replica")
    await house.database.execute("DELETE FROM seals")


Step = Callable[[House], Awaitable[None]]

SCENES: Final[dict[str, tuple[Step, Step, list[int]]]] = {
    # What was before, what is done, and what both have after it.
    "deposit": (nothing, deposit, [1005, 1000]),
    "withdraw": (nothing, withdraw, [995, 1000]),
    "hold": (nothing, hold, [900, 900]),
    "release": (held, release, [1000, 1000]),
    "settle": (held, settle, [1100, 900]),
    "resolve": (mismatch, resolve, [1000, 1000]),
    "void": (settled, propose_void, [1100, 900]),
    "correct": (settled, propose_result, [1100, 900]),
    "approve": (proposed, second, [900, 1100]),
    "seal": (unsealed, seal, [1000, 1000]),
    # 200 in the pool: 140 and 60.
    "open_pool": (nothing, open_one, [1000, 1000]),
    "hold_fees": (opened, enter, [900, 900]),
    "release_fees": (entered, leave, [900, 1000]),
    "settle_tournament": (entered, finish, [1040, 960]),
    "void_tournament": (entered, cancel, [1000, 1000]),
    "correct_tournament": (finished, propose_order, [1040, 960]),
    "approve_tournament": (other_order, second_of_a_tournament, [960, 1040]),
}


async def main(url: str, folder: str, scene: str) -> None:
    """Plays what is done."""
    async with House.serve(url, Path(folder)) as house:
        await SCENES[scene][1](house)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
