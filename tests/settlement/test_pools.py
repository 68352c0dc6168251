"""What a tournament pays, for every small pool and any larger one: all of it, to the unit."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from datetime import UTC, datetime
from fractions import Fraction
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafeneio_settlement import pools
from kafeneio_settlement.domain import Account, Standing, post
from kafeneio_settlement.payouts import LARGEST, NotPayableError, TooLargeError
from kafeneio_settlement.pools import Entry, IncompleteError, Standings, Terms
from kafeneio_settlement.prizes import Prizes

TOURNAMENT = UUID(int=1)
SHARES = ((10_000,), (7000, 3000), (5000, 3000, 2000), (2500, 2500, 2500, 2500))


def entry(number: int, players: int = 1) -> Entry:
    """An entry that is held."""
    names = tuple(f"{number}{letter}" for letter in "ab"[:players])
    return Entry(UUID(int=1000 + number), names, datetime(2026, 1, 1, tzinfo=UTC))


def entries(count: int, players: int = 1) -> tuple[Entry, ...]:
    """So many."""
    return tuple(entry(number, players) for number in range(count))


def terms(fee: int, house: int = 0, players: int = 1, shares: tuple[int, ...] = SHARES[1]) -> Terms:
    """What was published."""
    return Terms("EUR", fee, house, Prizes(shares), players)


@st.composite
def tournaments(draw: st.DrawFn) -> tuple[Terms, tuple[Entry, ...], Standings]:
    """Any tournament of up to 40 entries, ties included."""
    players = draw(st.integers(1, 2))
    made = terms(
        draw(st.one_of(st.integers(0, 40), st.integers(0, 10**12))),
        draw(st.integers(0, 5000)),
        players,
        draw(st.sampled_from(SHARES)),
    )
    held = entries(draw(st.integers(1, 40)), players)
    order = draw(st.permutations([each.entry_id for each in held]))
    standings: list[tuple[UUID, ...]] = []
    while order:
        size = draw(st.integers(1, 4))
        standings.append(tuple(order[:size]))
        order = order[size:]
    return made, held, tuple(standings)


@given(tournaments())
def test_all_of_it_is_paid_and_no_more(
    tournament: tuple[Terms, tuple[Entry, ...], Standings],
) -> None:
    made, held, standings = tournament
    award = pools.awarded(made, held, standings)
    pool = made.entry_fee * made.players_per_entry * len(held)
    assert award.pool == pool
    assert award.fee == int(Fraction(pool * made.fee_basis_points, 10_000))
    assert sum(prize.amount for prize in award.prizes) == pool - award.fee
    nets = pools.nets(made, held, award)
    assert sum(net for _, net in nets) == -award.fee
    assert sorted(who for who, _ in nets) == sorted(who for each in held for who in each.players)
    assert [prize.entry_id for prize in award.prizes] == [who for tied in standings for who in tied]
    by_place = [prize.amount for prize in award.prizes]
    assert by_place == sorted(by_place, reverse=True), "nobody gets more than one before him"


@given(tournaments(), st.booleans(), st.one_of(st.none(), st.integers(0, 50)), st.booleans())
def test_the_escrow_ends_at_zero_whatever_is_corrected(
    tournament: tuple[Terms, tuple[Entry, ...], Standings],
    void_first: bool,
    other_fee: int | None,
    void_then: bool,
) -> None:
    made, held, standings = tournament
    first = (
        pools.everything_back(made, held) if void_first else pools.awarded(made, held, standings)
    )
    right = made if other_fee is None else terms(other_fee, 77, made.players_per_entry)
    other = standings[::-1]
    then = pools.everything_back(right, held) if void_then else pools.awarded(right, held, other)
    paid = pools.payout_movement(TOURNAMENT, made, held, first)
    steps = [
        *(pools.hold_movement(TOURNAMENT, made, each) for each in held),
        paid,
        pools.reversal_movement(TOURNAMENT, made, 1, paid.transfers if paid else ()),
        pools.correction_movement(TOURNAMENT, made, held, then, right, 2),
    ]
    movements = [step for step in steps if step is not None]
    assert len({movement.id for movement in movements}) == len(movements)
    players = [f"player:{who}" for each in held for who in each.players]
    names = ("house:fees", f"escrow:{TOURNAMENT}", *players)
    standing = {Account(name, "EUR"): Standing() for name in names}
    for player in players:
        standing[Account(player, "EUR")] = Standing(made.entry_fee)
    _, after = post(standing, movements)
    assert after[Account(f"escrow:{TOURNAMENT}", "EUR")].balance == 0
    assert after[Account("house:fees", "EUR")].balance == then.fee
    for who, net in pools.nets(right, held, then):
        assert after[Account(f"player:{who}", "EUR")].balance == made.entry_fee + net


@pytest.mark.parametrize(
    ("amount", "players", "shares"),
    # Worked out with pencil and paper.
    [(0, 1, (0,)), (7, 1, (7,)), (0, 2, (0, 0)), (1, 2, (1, 0)), (7, 2, (4, 3)), (8, 2, (4, 4))],
)
def test_what_a_pair_shares(amount: int, players: int, shares: tuple[int, ...]) -> None:
    assert pools.split(amount, players) == shares


def wrong(names: str, held: int) -> tuple[int, int, int]:
    """How many are missing, unknown and repeated in the standings that a string of digits is."""
    standings = tuple((UUID(int=1000 + int(name)),) for name in names)
    with pytest.raises(IncompleteError) as raised:
        pools.awarded(terms(10), entries(held), standings)
    error = raised.value
    return len(error.missing), len(error.unknown), len(error.repeated)


@pytest.mark.parametrize(
    ("names", "held", "counts"),
    [
        ("01", 3, (1, 0, 0)),
        ("0123", 3, (0, 1, 0)),
        ("0121", 3, (0, 0, 1)),
        ("0055", 3, (2, 1, 2)),
        ("", 1, (1, 0, 0)),
        ("0", 0, (0, 1, 0)),
    ],
)
def test_standings_name_every_entry_once(
    names: str, held: int, counts: tuple[int, int, int]
) -> None:
    assert wrong(names, held) == counts


def test_an_entry_twice_among_those_who_share_a_place() -> None:
    held = entries(2)
    first = held[0].entry_id
    with pytest.raises(IncompleteError):
        pools.awarded(terms(10), held, ((first, first), (held[1].entry_id,)))


def orders(count: int) -> Iterator[Standings]:
    """Every way in which so few entries can finish without a tie."""
    for order in itertools.permutations(entries(count)):
        yield tuple((each.entry_id,) for each in order)


def test_places_and_back() -> None:
    seen = 0
    for standings in orders(4):
        assert pools.standings_of(*pools.placed(standings)) == standings
        tied = ((*standings[0], *standings[1]), *standings[2:])
        assert pools.placed(tied)[1] == [1, 1, 3, 4]
        assert pools.standings_of(*pools.placed(tied)) == tied
        seen += 1
    assert seen == 24


def test_the_limits() -> None:
    half = LARGEST // 2
    held = entries(2)
    order = tuple((each.entry_id,) for each in held)
    assert pools.awarded(terms(half), held, order).pool == LARGEST - 1
    with pytest.raises(TooLargeError):
        pools.awarded(terms(half + 1), held, order)
    with pytest.raises(TooLargeError):
        pools.everything_back(terms(half + 1), held)
    with pytest.raises(NotPayableError):
        pools.Award(10, (), 9, False)
    # So many transfers are the most that a transaction can number.
    assert 2 * 2 * pools.MOST_ENTRIES + 1 < 2**15


def test_nothing_moves_where_nothing_is_paid() -> None:
    held = entries(2, 2)
    free = terms(0, 1000, 2)
    award = pools.awarded(free, held, tuple((each.entry_id,) for each in held))
    assert pools.hold_movement(TOURNAMENT, free, held[0]) is None
    assert pools.release_movement(TOURNAMENT, free, held[0]) is None
    assert pools.payout_movement(TOURNAMENT, free, held, award) is None
    assert pools.reversal_movement(TOURNAMENT, free, 1, ()) is None
    assert pools.correction_movement(TOURNAMENT, free, held, award, free, 2) is None
