"""Group commit: many callers, one transaction at a time.

Whatever queued while the last batch was committed goes into the next one, with whoever is already
on his way. No clock runs for a batch to fill: alone, a caller is committed at once; in a crowd, a
hundred share the cost of one commit.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Generic, TypeVar

import asyncpg

from kafeneio_runtime.errors import Refusal, unavailable

Item = TypeVar("Item")
Answer = TypeVar("Answer")

_QUIET_ROUNDS: Final = 8
"""A call needs several rounds of the loop from its arrival to the queue."""
_DATA_ERRORS: Final = (
    asyncpg.DataError,
    asyncpg.IntegrityConstraintViolationError,
    Refusal,
    ValueError,
)


class GroupCommit(Generic[Item, Answer]):
    """`commit` writes a batch in one transaction and answers for each item, in order, after the
    commit.

    A conflict of one item is an answer (write `ON CONFLICT … RETURNING`), not an error. If a batch
    fails with an error of its data, each item is tried alone, so that one bad row does not fail its
    neighbours. Any other error (the connection is gone) is raised to all callers of the batch:
    nobody knows whether it was committed, and they may ask again.
    """

    def __init__(
        self, commit: Callable[[Sequence[Item]], Awaitable[Sequence[Answer]]], *, most: int = 200
    ) -> None:
        """`most` bounds a batch."""
        self._commit = commit
        self._most = most
        self._queue: deque[tuple[Item, asyncio.Future[Answer]]] = deque()
        self._worker: asyncio.Task[None] | None = None
        self._closed = False

    async def submit(self, item: Item) -> Answer:
        """Commits `item` with whoever is there and returns its answer.

        A caller who is cancelled only stops waiting: the item is committed all the same. Raises
        what `commit` raised, and an UNAVAILABLE `Refusal` after `close()`.
        """
        if self._closed:
            raise unavailable("the house is closing")
        waiter: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._queue.append((item, waiter))
        if self._worker is None:
            self._worker = asyncio.create_task(self._work())
        return await waiter

    async def close(self) -> None:
        """Takes nothing more in and returns when all that is queued has been answered."""
        self._closed = True
        if self._worker is not None:
            await self._worker

    async def _work(self) -> None:
        try:
            while self._queue:
                await self._gather()
                batch = [self._queue.popleft() for _ in range(min(self._most, len(self._queue)))]
                await self._answer(batch)
        finally:
            # Without an await since the queue was seen empty, so nobody can have queued in between.
            self._worker = None
            self._forsake()

    async def _gather(self) -> None:
        """Lets the event loop work on until it has brought nobody for some rounds.

        This is no waiting: an idle loop goes through them at once, and a busy one would only be
        slower for many small batches, each of which costs more than it saves.
        """
        quiet = queued = 0
        while quiet < _QUIET_ROUNDS and queued < self._most:
            await asyncio.sleep(0)
            quiet = quiet + 1 if len(self._queue) == queued else 0
            queued = len(self._queue)

    async def _answer(self, batch: Sequence[tuple[Item, asyncio.Future[Answer]]]) -> None:
        waiters = [waiter for _, waiter in batch]
        try:
            answers = await self._commit([item for item, _ in batch])
            if len(answers) != len(batch):
                raise RuntimeError(f"{len(answers)} answers for {len(batch)} items")
        except _DATA_ERRORS as error:
            if len(batch) == 1:
                _fail(waiters, error)
                return
            for each in batch:
                await self._answer([each])
        except BaseException as error:
            _fail(waiters, error)
            if not isinstance(error, Exception):
                raise  # we are being cancelled
        else:
            for waiter, answer in zip(waiters, answers, strict=True):
                if not waiter.done():
                    waiter.set_result(answer)

    def _forsake(self) -> None:
        while self._queue:
            _, waiter = self._queue.popleft()
            _fail([waiter], unavailable("the house is closing"))


def _fail(waiters: Sequence["asyncio.Future[Answer]"], error: BaseException) -> None:
    told = error if isinstance(error, Exception) else unavailable("the house is closing")
    for waiter in waiters:
        if not waiter.done():
            waiter.set_exception(told)
