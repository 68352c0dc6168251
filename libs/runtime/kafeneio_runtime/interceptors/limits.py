"""Keeps one player from using up the house."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from kafeneio_runtime.auth import Role
from kafeneio_runtime.calls import Call, Method
from kafeneio_runtime.clock import Time
from kafeneio_runtime.errors import exhausted
from kafeneio_runtime.interceptors.base import Gate

_MOST_BUCKETS: Final = 50_000


class Limits(Gate):
    """A token bucket per player, in this replica. Operators and services are not limited."""

    def __init__(
        self, time: Time, per_second: float, burst: int, most: int = _MOST_BUCKETS
    ) -> None:
        self._monotonic = time.monotonic
        self._per_second = per_second
        self._burst = float(burst)
        self._most = most
        # Least lately used first: (tokens left, when that was true).
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def check(self, method: Method) -> Callable[[Call], None]:
        return self._take

    def _take(self, call: Call) -> None:
        caller = call.caller
        if caller is None or caller.role is not Role.PLAYER:
            return
        now = self._monotonic()
        left, then = self._buckets.get(caller.subject, (self._burst, now))
        left = min(self._burst, left + (now - then) * self._per_second)
        allowed = left >= 1
        self._buckets[caller.subject] = (left - 1 if allowed else left, now)
        self._buckets.move_to_end(caller.subject)
        if len(self._buckets) > self._most:
            # The one unheard for longest has most likely refilled; forgetting it then changes
            # nothing.
            self._buckets.popitem(last=False)
        if not allowed:
            raise exhausted("too many calls", retry_after=(1 - left) / self._per_second)
