"""Games of more than two, from the wallets to the escrow and back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import pytest
from kafeneio.rules.v1 import actions_pb2
from kafeneio.settlement.v1 import settlement_pb2 as pb

from tests.rules.refusal import refusal
from tests.settlement.house import OPERATOR, House, Says, money, new_id

FOUR: Final = ("anna", "babis", "christos", "dora")
FULL: Final = 1000
STAKE: Final = 250


@dataclass(frozen=True)
class Row:
    """An end of a game of four under S1, what each has won or lost of 250, and the fee of 10 %."""

    name: str
    winners: tuple[int, ...] = ()
    void: str = ""
    out: tuple[tuple[int, str], ...] = ()
    nets: tuple[int, ...] = (0, 0, 0, 0)
    fee: int = 0

    @property
    def goes_back(self) -> bool:
        """Whether everything does."""
        return not any(self.nets)


ROWS: Final = (
    Row("normal", (0, 2), nets=(200, -250, 200, -250), fee=100),
    Row("normal, the others", (1, 3), nets=(-250, 200, -250, 200), fee=100),
    Row("a loser gone", (0, 2), out=((3, "LEFT"),), nets=(250, -250, 250, -250)),
    Row(
        "both losers gone",
        (1, 3),
        out=((2, "CONNECTION_LOST"), (0, "TIMEOUTS_EXCEEDED")),
        nets=(-250, 250, -250, 250),
    ),
    Row("a winner gone", (0, 2), out=((2, "CONNECTION_LOST"),), nets=(500, -250, 0, -250)),
    Row(
        "only one left, and he wins",
        (1, 3),
        out=((0, "LEFT"), (1, "LEFT"), (2, "LEFT")),
        nets=(-250, 0, -250, 500),
    ),
    Row("void (2)", (1, 3), out=((1, "LEFT"), (3, "TIMEOUTS_EXCEEDED"))),
    Row("void (2), three gone", (0, 2), out=((0, "LEFT"), (1, "LEFT"), (2, "LEFT"))),
    Row("void (1)", void="ALL_FORFEITED", out=tuple((seat, "LEFT") for seat in range(4))),
    Row("void (1), decided", (0, 2), out=tuple((seat, "LEFT") for seat in (3, 1, 0, 2))),
    Row("never started", void="NO_SHOW"),
    Row("our fault", void="HOUSE", out=((0, "LEFT"),)),
)


def preview_of(row: Row, rule: str = "S1", seats: int = 4) -> pb.PreviewPayoutRequest:
    """What would be paid at such an end."""
    request = pb.PreviewPayoutRequest(
        payout_rule=rule,
        seats=seats,
        stake=money(STAKE),
        fee_basis_points=1000,
        forfeited_seats=[seat for seat, _ in row.out],
    )
    if row.void:
        request.void_reason = actions_pb2.VoidReason.Value(f"VOID_REASON_{row.void}")
    else:
        request.winners.seats.extend(row.winners)
    return request


@pytest.mark.parametrize("row", ROWS, ids=[row.name for row in ROWS])
async def test_a_game_of_four(house: House, row: Row) -> None:
    await house.funded(*FOUR, amount=FULL)
    held = await house.hold(players=FOUR, stake=STAKE, fee=1000)
    escrow = f"escrow:{held.game_id}"
    assert held.hold.player_ids == [*FOUR]
    assert [await house.balance(who) for who in FOUR] == [FULL - STAKE] * 4
    says = Says(held.game_id)
    if row.name != "never started":
        await house.publish(says.started(FOUR, "S1"))
    ended = says.finished(None, row.void, row.out, "S1", row.winners)
    await house.publish(says.closed(row.out))
    assert (await house.settlement(held.game_id)).state == pb.SETTLEMENT_STATE_PENDING
    await house.publish(ended)
    settled = await house.settlement(held.game_id, FOUR[3])
    assert settled.state == pb.SETTLEMENT_STATE_SETTLED
    paid = settled.settled.payout
    assert (paid.payout_rule, paid.rule_version, paid.void) == ("S1", 1, row.goes_back)
    assert (tuple(paid.nets), paid.fee) == (row.nets, row.fee)
    # Every wallet, every transfer, and what was announced say the same.
    assert [await house.balance(who) for who in FOUR] == [FULL + net for net in row.nets]
    moved = {t.credit_account: t.amount.minor_units for t in settled.settled.transfers}
    assert {t.debit_account for t in settled.settled.transfers} == {escrow}
    assert moved == {
        **{
            f"player:{who}": STAKE + net
            for who, net in zip(FOUR, row.nets, strict=True)
            if STAKE + net
        },
        **({"house:fees": row.fee} if row.fee else {}),
    }
    assert await house.events(held.game_id) == ["stakes_held", "game_settled"]
    balance = "SELECT balance FROM accounts WHERE account = $1"
    assert await house.database.fetchval(balance, escrow) == 0
    assert (await house.ask(house.games.PreviewPayout, preview_of(row))).payout == paid
    before = await house.snapshot()
    await house.publish(ended)
    assert await house.snapshot() == before


@pytest.mark.parametrize("seats", [2, 3, 4])
@pytest.mark.parametrize("out", [(), ((1, "LEFT"),)], ids=["all there", "one gone"])
async def test_the_last_one_left_takes_the_pot(house: House, seats: int, out: Any) -> None:
    players = FOUR[:seats]
    await house.funded(*players, amount=FULL)
    says = Says((await house.hold(players=players, stake=STAKE, fee=1000)).game_id)
    await house.publish(says.started(players, "S3"), says.closed(out))
    await house.publish(says.finished(0, out=out, rule="S3"))
    fee = {2: 50, 3: 75, 4: 100}[seats] if not out else 0
    expected = [FULL + STAKE * (seats - 1) - fee] + [FULL - STAKE] * (seats - 1)
    assert [await house.balance(who) for who in players] == expected
    settled = await house.settlement(says.game_id)
    assert settled.settled.payout.fee == fee
    preview = preview_of(Row("", (0,), out=out), "S3", seats)
    assert (await house.ask(house.games.PreviewPayout, preview)).payout == settled.settled.payout


@pytest.mark.parametrize("seats", range(2, 9))
async def test_any_table_is_held_and_released(house: House, seats: int) -> None:
    players = [f"player {number}" for number in range(seats)]
    await house.funded(*players, amount=FULL)
    held = await house.hold(players=players, stake=FULL)
    assert held.hold.player_ids == players
    assert [await house.balance(who) for who in players] == [0] * seats
    # All or none: one who lacks it keeps everybody's where they are.
    await house.funded(*players[:-1], amount=5)
    refused = await refusal(house.hold(players=players, stake=5))
    assert refused.what == ("FAILED_PRECONDITION", "INSUFFICIENT_FUNDS")
    assert refused.metadata["seats"] == str(seats - 1)
    assert (await house.release(held.game_id)).state == pb.SETTLEMENT_STATE_RELEASED
    assert [await house.balance(who) for who in players] == [FULL + 5] * (seats - 1) + [FULL]


@pytest.mark.parametrize(
    ("rule", "seats", "winners"),
    [("S1", 2, (0,)), ("S1", 3, (0, 2)), ("S1", 8, (0, 2)), ("S2", 4, (0,)), ("S3", 5, (0,))],
)
async def test_a_table_that_the_rule_does_not_fit(
    house: House, rule: str, seats: int, winners: tuple[int, ...]
) -> None:
    """Nobody is paid, until an operator gives everything back to as many as there are."""
    players = [f"player {number}" for number in range(seats)]
    await house.funded(*players, amount=FULL)
    says = Says((await house.hold(players=players, stake=STAKE, fee=1000)).game_id)
    await house.publish(says.started(players, rule), says.closed())
    await house.publish(says.finished(rule=rule, winners=winners))
    found = await house.settlement(says.game_id)
    assert (found.state, found.problem) == (
        pb.SETTLEMENT_STATE_MISMATCH,
        pb.PROBLEM_NOT_PAYABLE,
    )
    refused = await refusal(house.resolve(says.game_id, pb.RESOLUTION_BY_RULES))
    assert refused.what == ("FAILED_PRECONDITION", "PAYOUT_IMPOSSIBLE")
    settled = await house.resolve(says.game_id, who=OPERATOR, request_id=new_id())
    assert settled.settled.payout.void
    assert [*settled.settled.payout.shares] == [STAKE] * seats
    assert [await house.balance(who) for who in players] == [FULL] * seats
    preview = preview_of(Row("", winners), rule, seats)
    refused = await refusal(house.ask(house.games.PreviewPayout, preview))
    assert refused.what == ("FAILED_PRECONDITION", "PAYOUT_IMPOSSIBLE")


async def test_neighbours_of_a_game_that_can_not_be_paid(house: House) -> None:
    """A winner who was out by S3 is a mismatch; the games beside it in the batch are paid."""
    await house.funded(*FOUR, amount=FULL)
    said = [Says((await house.hold(players=FOUR, stake=STAKE)).game_id) for _ in range(3)]
    out = ((0, "LEFT"),)
    await house.publish(*(says.started(FOUR, "S3") for says in said))
    await house.publish(said[0].closed(), said[1].closed(out), said[2].closed())
    await house.publish(
        said[0].finished(0, rule="S3"),
        said[1].finished(0, out=out, rule="S3"),
        said[2].finished(1, rule="S3"),
    )
    states = [(await house.settlement(says.game_id)).state for says in said]
    assert states == [
        pb.SETTLEMENT_STATE_SETTLED,
        pb.SETTLEMENT_STATE_MISMATCH,
        pb.SETTLEMENT_STATE_SETTLED,
    ]
    # Each has staked 750; anna and babis have won a pot of 1000.
    assert [await house.balance(who) for who in FOUR] == [1250, 1250, 250, 250]
