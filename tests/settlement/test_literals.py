"""What is sent as one text is read as the array that it was."""

from __future__ import annotations

import asyncpg
import pytest
from kafeneio_settlement.literals import texts

from tests.settlement.house import House, Says

VALUES: tuple[list[str | None], ...] = (
    [],
    [""],
    ["", ""],
    [None],
    [None, "", None, "NULL", "null"],
    ["eleni", "nikos"],
    ['"', '","', '",', "}", "{}", "{a,b}"],
    ["\\", '\\"', "a\\b", "\\n", "\n", "\t", " a ", ","],
    ["Ελένη", "🎲", "a'b", "$1"],
    ['a","b', "c"],
)


@pytest.mark.parametrize("values", VALUES)
async def test_any_texts(house: House, values: list[str | None]) -> None:
    assert await house.database.fetchval("SELECT $1::text::text[]", texts(values)) == values


async def test_an_array_in_an_array(house: House) -> None:
    """As the players of many games are sent."""
    inner = [["a", 'b"'], ["\\", "{}"]]
    rows = await house.database.fetch(
        "SELECT each::text[] AS each FROM unnest($1::text::text[]) AS each",
        texts(texts(each) for each in inner),
    )
    assert [row["each"] for row in rows] == inner


async def test_names_that_are_full_of_signs(house: House) -> None:
    """They pay and are paid like others."""
    seats = ('a","b', "\\{}\n")
    await house.funded(*seats)
    held = await house.hold(players=seats, stake=10)
    assert list(held.hold.player_ids) == list(seats)
    assert [await house.balance(who) for who in seats] == [990, 990]
    says = Says(held.game_id)
    await house.publish(says.started(seats), says.finished(winner=1), says.closed())
    assert [await house.balance(who) for who in seats] == [990, 1010]


async def test_what_is_no_array_is_refused(house: House) -> None:
    """So nothing that is not put together here could be read by chance."""
    with pytest.raises(asyncpg.PostgresError):
        await house.database.fetchval("SELECT $1::text::text[]", "{unread")
