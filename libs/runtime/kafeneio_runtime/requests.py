"""Request ids: a mutating call that is sent n times is as if sent once."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Final
from uuid import UUID

from kafeneio.common.v1 import errors_pb2

from kafeneio_runtime import audit
from kafeneio_runtime.errors import exists, unavailable

if TYPE_CHECKING:
    from kafeneio_runtime.store import Connection, Store

_CLAIM: Final = """
    INSERT INTO requests (caller, method, request_id, digest) VALUES ($1, $2, $3, $4)
    ON CONFLICT DO NOTHING
    RETURNING true
"""
_KEEP: Final = """
    UPDATE requests SET response = $4 WHERE caller = $1 AND method = $2 AND request_id = $3
"""
_FIND: Final = """
    SELECT digest, response FROM requests WHERE caller = $1 AND method = $2 AND request_id = $3
"""
_PURGE: Final = """
    DELETE FROM requests WHERE ctid = ANY (ARRAY (
        SELECT ctid FROM requests WHERE created_at < clock_timestamp() - $1::interval LIMIT $2))
"""
_PURGE_BATCH: Final = 1000


async def once(
    connection: "Connection",
    caller: str,
    method: str,
    request_id: UUID,
    digest: bytes,
    effect: Callable[[], Awaitable[bytes]],
) -> bytes:
    """The answer of `effect`, which is done at most once for this caller, method and request id.

    Must run in a transaction of `connection`, at READ COMMITTED, and `effect` must do all of its
    writing in the same transaction. The primary key is the gate: a second call with the id waits
    there until the first has committed, and then gets its answer; if the first was rolled back (a
    refusal, a crash), the second is judged anew.

    What an operator does is written into the audit, in the same transaction and as its last step.

    `digest` is of the request as the client sent it. Raises a REQUEST_ID_REUSED `Refusal` if the id
    was used for another request, and RuntimeError outside of a transaction.
    """
    if not connection.is_in_transaction():
        raise RuntimeError(
            "once() needs a transaction: the answer is kept with the effect, or neither is"
        )
    key = (caller, method, request_id)
    if await connection.fetchval(_CLAIM, *key, digest):
        response = await effect()
        await connection.execute(_KEEP, *key, response)
        await audit.write_call(connection)
        return response
    known = await connection.fetchrow(_FIND, *key)
    if known is None:  # it was purged between the two statements
        raise unavailable("please try again")
    if known["digest"] != digest:
        raise exists(
            errors_pb2.ERROR_REASON_REQUEST_ID_REUSED, "the request id was used for another request"
        )
    answer: bytes = known["response"]
    return answer


async def purge(store: "Store", older_than: timedelta) -> int:
    """Forgets the answers that are older; returns how many. In small steps, so that nobody waits
    for it.
    """
    total = 0
    while True:
        async with store.acquire() as connection:
            status = await connection.execute(_PURGE, older_than, _PURGE_BATCH)
        count = int(status.rsplit(" ", 1)[-1])
        total += count
        if count < _PURGE_BATCH:
            return total
