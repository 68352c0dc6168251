"""What operators do is written down once, with what they did, and can't be changed unseen."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

import asyncpg
import grpc
import pytest
from kafeneio.common.v1 import audit_pb2 as pb
from kafeneio.common.v1 import audit_pb2_grpc
from kafeneio_runtime import audit
from kafeneio_runtime.audit_service import AUDIT, AUDIT_ROLES, auditing
from kafeneio_runtime.auth import Role
from kafeneio_runtime.ids import new_id
from kafeneio_runtime.serve import Server, Service
from kafeneio_runtime.store import Store

from tests.runtime.house import nothing, refused, settings, token, verifier

SECONDS = 10
NOTE = f"/{AUDIT}/NoteAction"
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Office:
    """The service, and operators who call it."""

    def __init__(self, channel: grpc.aio.Channel, store: Store) -> None:
        self.stub = audit_pb2_grpc.AuditServiceStub(channel)
        self.store = store
        self.numbers: list[int] = []
        """What each note was answered with."""

    def who(self, name: str, role: Role = Role.OPERATOR) -> tuple[tuple[str, str], ...]:
        return (("authorization", f"Bearer {token(name, role)}"),)

    async def note(
        self,
        action: str = "bus dead replay 7",
        *,
        request_id: str = "",
        name: str = "olga",
        role: Role = Role.OPERATOR,
        target: str = "",
        reason: str = "it was stuck",
    ) -> str:
        request = pb.NoteActionRequest(
            request_id=request_id or str(new_id()), action=action, target_id=target, reason=reason
        )
        answer = await self.stub.NoteAction(request, metadata=self.who(name, role), timeout=SECONDS)
        self.numbers.append(answer.number)
        return request.request_id

    async def listed(self, **filters: Any) -> pb.ListAuditResponse:
        request = pb.ListAuditRequest(**filters)
        answer: pb.ListAuditResponse = await self.stub.ListAudit(
            request, metadata=self.who("olga"), timeout=SECONDS
        )
        return answer

    async def entries(self, **filters: Any) -> Sequence[pb.AuditEntry]:
        return (await self.listed(**filters)).entries

    async def verify(self, **start: Any) -> pb.VerifyAuditResponse:
        request = pb.VerifyAuditRequest(**start)
        answer: pb.VerifyAuditResponse = await self.stub.VerifyAudit(
            request, metadata=self.who("olga"), timeout=SECONDS
        )
        return answer

    async def execute(self, *statements: str) -> None:
        """As somebody who has the database in his hands."""
        async with self.store.acquire() as connection:
            for statement in (
                "ALTER TABLE audit DISABLE TRIGGER unchangeable",
                *statements,
                "ALTER TABLE audit ENABLE TRIGGER unchangeable",
            ):
                await connection.execute(statement)


@asynccontextmanager
async def opened(store: Store) -> AsyncIterator[Office]:
    service = Service(
        name="audit",
        port=0,
        servicers=(auditing(store),),
        service_names=(AUDIT,),
        roles=AUDIT_ROLES,
        ready=nothing,
    )
    server = Server(service, settings(), verifier())
    await server.start()
    try:
        async with grpc.aio.insecure_channel(server.address) as channel:
            yield Office(channel, store)
    finally:
        await server.drain()


@pytest.fixture
async def office(store: Store) -> AsyncIterator[Office]:
    async with opened(store) as office:
        yield office


async def test_an_entry_says_who_when_what_and_why(office: Office) -> None:
    before = datetime.now(UTC) - timedelta(seconds=5)
    request_id = await office.note("drain node 3", target="node-3", reason="it is slow")
    (entry,) = await office.entries()
    assert (entry.number, entry.operator, entry.method) == (1, "olga", NOTE)
    assert (entry.target, entry.reason, entry.request_id) == ("node-3", "it is slow", request_id)
    assert json.loads(entry.request_json) == {
        "request_id": request_id,
        "action": "drain node 3",
        "target_id": "node-3",
        "reason": "it is slow",
    }
    assert before < entry.at.ToDatetime(UTC) < before + timedelta(minutes=1)


async def test_a_link_is_the_hash_of_the_one_before_and_of_the_whole_entry(office: Office) -> None:
    for action in ("one", "two"):
        await office.note(action, target="ένας")
    previous = bytes(32)
    for entry in reversed(await office.entries()):
        at = (entry.at.ToDatetime(UTC) - EPOCH) // timedelta(microseconds=1)
        said = [at, entry.operator, entry.method, entry.target, entry.reason, entry.request_id]
        text = json.dumps([*said, entry.request_json], ensure_ascii=False, separators=(",", ":"))
        assert entry.hash == sha256(previous + text.encode()).digest()
        previous = entry.hash


async def test_n_times_is_once(office: Office) -> None:
    request_id = await office.note()
    for _ in range(3):
        await office.note(request_id=request_id)
    assert len(await office.entries()) == 1
    assert office.numbers == [1, 1, 1, 1]
    await office.note(request_id=request_id, name="pavlos")
    assert [entry.operator for entry in await office.entries()] == ["pavlos", "olga"]


async def test_sent_at_once_it_is_once(office: Office) -> None:
    request_id = str(new_id())
    await asyncio.gather(*(office.note(request_id=request_id) for _ in range(8)))
    assert len(await office.entries()) == 1


async def test_a_refused_call_leaves_nothing(office: Office) -> None:
    request_id = await office.note("one")
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await office.note("two", request_id=request_id)
    assert refused(caught.value).reason == "REQUEST_ID_REUSED"
    bad = pb.NoteActionRequest
    for request in (
        bad(request_id=str(new_id()), action="two"),
        bad(request_id=str(new_id()), reason="why"),
        bad(request_id="kalimera", action="two", reason="why"),
        bad(request_id=str(new_id()), action="two", reason="x" * 501),
    ):
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await office.stub.NoteAction(request, metadata=office.who("olga"), timeout=SECONDS)
        assert refused(caught.value).reason == "MALFORMED"
    for role in (Role.PLAYER, Role.SERVICE):
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await office.note("two", role=role)
        assert refused(caught.value).reason == "ROLE_REQUIRED"
    assert len(await office.entries()) == 1


async def test_what_is_rolled_back_was_not_done(office: Office) -> None:
    entry = audit.Entry("olga", NOTE, "", "", new_id(), "{}")

    async def fail_after_writing() -> None:
        async with office.store.transaction() as connection:
            await audit.write(connection, entry)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail_after_writing()
    assert not await office.entries()


async def test_an_entry_needs_the_transaction_of_what_it_tells(office: Office) -> None:
    entry = audit.Entry("olga", NOTE, "", "", new_id(), "{}")
    async with office.store.acquire() as connection:
        with pytest.raises(RuntimeError):
            await audit.write(connection, entry)
    assert not await office.entries()


async def test_outside_of_a_call_nobody_is_an_operator() -> None:
    assert audit.entry_of_call() is None


async def test_many_operators_at_once_make_one_chain(office: Office) -> None:
    await asyncio.gather(*(office.note(f"{number}", name=f"o{number}") for number in range(12)))
    entries = await office.entries()
    assert [entry.number for entry in entries] == list(range(12, 0, -1))
    assert len({entry.operator for entry in entries}) == 12
    found = await office.verify()
    assert (found.verified_to, found.complete, list(found.faults)) == (12, True, [])


async def test_a_letter_that_postgresql_does_not_keep_is_replaced(office: Office) -> None:
    await office.note("one\0two", reason="a\0b")
    (entry,) = await office.entries()
    assert entry.reason == "a\N{REPLACEMENT CHARACTER}b"
    assert json.loads(entry.request_json)["action"] == "one\0two"
    assert not (await office.verify()).faults


async def test_lists_are_filtered_and_paged(office: Office) -> None:
    for number in range(7):
        await office.note(f"{number}", name=f"o{number % 2}", target=f"t{number % 3}")
    assert [entry.number for entry in await office.entries(operator="o1")] == [6, 4, 2]
    assert [entry.number for entry in await office.entries(target="t0")] == [7, 4, 1]
    assert [entry.number for entry in await office.entries(target="t0", operator="o0")] == [7, 1]
    assert len(await office.entries(method=NOTE)) == 7
    for nobody in ({"operator": "o9"}, {"target": "\0"}, {"method": "/x"}):
        assert not await office.entries(**nobody)
    pages, following = list[list[int]](), ""
    while not pages or following:
        page = await office.listed(page_size=3, page_token=following)
        pages.append([entry.number for entry in page.entries])
        following = page.next_page_token
    assert pages == [[7, 6, 5], [4, 3, 2], [1]]
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await office.listed(page_token="kalimera")
    assert refused(caught.value).reason == "MALFORMED"
    assert len(await office.entries(page_token="9" * 20)) == 7


@pytest.mark.parametrize(
    "statement",
    ["UPDATE audit SET reason = 'none'", "DELETE FROM audit", "TRUNCATE audit"],
)
async def test_the_database_lets_nothing_be_changed(office: Office, statement: str) -> None:
    await office.note()
    before = await office.entries()
    async with office.store.acquire() as connection:
        with pytest.raises(asyncpg.RestrictViolationError):
            await connection.execute(statement)
    assert await office.entries() == before


@pytest.mark.parametrize(
    "change",
    [
        "reason = 'none'",
        "operator = 'pavlos'",
        "at = at + interval '1 microsecond'",
        "method = '/x'",
        "target = 'other'",
        "request = '{}'",
        "request_id = gen_random_uuid()",
        "hash = sha256('x')",
    ],
)
async def test_a_changed_entry_is_found(office: Office, change: str) -> None:
    for number in range(5):
        await office.note(f"{number}")
    await office.execute(f"UPDATE audit SET {change} WHERE number = 3")
    found = await office.verify()
    assert found.verified_to == 2
    assert (found.faults[0].kind, found.faults[0].number) == (pb.AUDIT_FAULT_KIND_CHANGED, 3)


async def test_an_entry_that_is_gone_is_found(office: Office) -> None:
    for number in range(5):
        await office.note(f"{number}")
    await office.execute("DELETE FROM audit WHERE number = 3")
    found = await office.verify()
    assert found.verified_to == 2
    assert (found.faults[0].kind, found.faults[0].number) == (pb.AUDIT_FAULT_KIND_MISSING, 3)


async def test_who_has_written_down_a_link_finds_a_chain_that_was_made_anew(
    office: Office,
) -> None:
    for number in range(3):
        await office.note(f"{number}")
    known = await office.verify()
    await office.execute("DELETE FROM audit")
    for number in range(3):
        await office.note(f"{number}")
    assert not (await office.verify()).faults, "in itself it is well"
    found = await office.verify(after_number=known.verified_to, after_hash=known.hash)
    assert [(each.kind, each.number) for each in found.faults] == [
        (pb.AUDIT_FAULT_KIND_REWRITTEN, 3)
    ]
    assert found.verified_to == 0


async def test_an_end_that_is_cut_off_is_found_by_who_has_seen_it(office: Office) -> None:
    for number in range(3):
        await office.note(f"{number}")
    known = await office.verify()
    await office.execute("DELETE FROM audit WHERE number = 3")
    assert not (await office.verify()).faults
    found = await office.verify(after_number=3, after_hash=known.hash)
    assert [each.kind for each in found.faults] == [pb.AUDIT_FAULT_KIND_REWRITTEN]


async def test_it_is_verified_page_by_page(office: Office) -> None:
    for number in range(5):
        await office.note(f"{number}")
    ends, start = [], {"after_number": 0, "after_hash": b""}
    while True:
        page = await office.verify(page_size=2, **start)
        assert not page.faults
        ends.append((page.page_end, page.complete))
        if page.complete:
            break
        start = {"after_number": page.page_end, "after_hash": page.page_hash}
    assert ends == [(2, False), (4, False), (5, True)]
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await office.verify(after_hash=b"short")
    assert refused(caught.value).reason == "MALFORMED"


async def test_an_empty_audit_is_well(office: Office) -> None:
    found = await office.verify()
    assert (found.verified_to, found.page_end, found.complete) == (0, 0, True)
    assert found.hash == bytes(32)
