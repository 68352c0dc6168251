"""Work that is done again and again beside the calls."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from kafeneio_runtime import logs
from kafeneio_runtime.clock import Time

_log: Final = logs.logger(__name__)


async def every(seconds: float, work: Callable[[], Awaitable[None]], time: Time) -> None:
    """Does `work`, rests for `seconds`, and so on until it is cancelled.

    A failure is logged and the next round tries again: while the store is away the process lives
    on, and health says so.
    """
    while True:
        try:
            await work()
        except Exception as error:  # noqa: BLE001 (the next round tries again)
            _log.warning("background work failed", work=work.__name__, exc_info=error)
        await time.sleep(seconds)
