"""What is heard of games, and that it changes the ratings once."""

from __future__ import annotations

import itertools
from uuid import UUID

from kafeneio.matchmaking.v1 import players_pb2 as pb

from tests.matchmaking.players.club import Club, Story

WON, LOST = 1579, 1421
"""After the first game of two newcomers: the mean moves by half of σ²/c, 2.64 units or 79 points,
where c² is 2(σ² + β²) (Weng and Lin; σ = 25/3, β = 25/6)."""
PARTNERS = ("a", "b", "c", "d")


async def test_who_wins_rises_and_who_loses_falls(club: Club) -> None:
    await club.played(1)
    assert await club.values("eleni", "nikos") == [LOST, WON]
    rating = await club.rating("nikos")
    assert (rating.games, rating.provisional, rating.variant) == (1, True, "portes")
    assert rating.uncertainty < 250
    assert await club.values("eleni", "nikos", variant="plakoto") == [1500, 1500]
    newcomer = await club.rating("nobody")
    assert (newcomer.value, newcomer.uncertainty, newcomer.floor) == (1500, 250, 750)
    assert (newcomer.games, newcomer.provisional) == (0, True)


async def test_partners_are_a_team(club: Club) -> None:
    await club.played(1, 3, players=PARTNERS, variant="pilotta")
    one, two, three, four = await club.values(*PARTNERS, variant="pilotta")
    assert one == three < 1500 < two == four


async def test_at_a_table_of_single_players_the_others_are_equals(club: Club) -> None:
    for winner in range(3):
        players = tuple(f"{name} {winner}" for name in "abc")
        await club.played(winner, players=players, variant="koum_kan")
        values = await club.values(*players, variant="koum_kan")
        won = values.pop(winner)
        assert won > 1500 > values[0] == values[1]


async def test_a_void_game_changes_nothing(club: Club) -> None:
    for reason in ("HOUSE", "NO_SHOW", "OPERATOR", "ALL_FORFEITED"):
        story = Story()
        await club.tell(story.started(), story.void(reason), story.settled(0, 0))
    assert await club.values("eleni", "nikos") == [1500, 1500]
    assert await club.hall.database.fetchval("SELECT count(*) FROM rating_changes") == 0


async def test_a_game_with_a_computer_from_the_start_changes_nothing(club: Club) -> None:
    story = Story(("eleni", "computer-1"))
    await club.tell(story.started(1), story.won(0))
    assert await club.values("eleni", "computer-1") == [1500, 1500]


async def test_a_game_with_a_forfeited_seat_counts_by_its_log(club: Club) -> None:
    story = Story()
    await club.tell(story.started(), story.won(0, left=[1]), story.settled())
    assert await club.values("eleni", "nikos") == [WON, LOST]


async def test_any_order_and_any_number_of_times(club: Club) -> None:
    """Of a game that was paid, and then corrected to the other winner."""
    for number, order in enumerate(itertools.permutations(range(4))):
        pair = (f"eleni {number}", f"nikos {number}")
        story = Story(pair)
        events = (
            story.started(),
            story.won(0),
            story.settled(500, -500),
            story.corrected(1, amounts=(-500, 500)),
        )
        for count, place in enumerate(order, 1):
            await club.tell(events[place])
            await club.tell(*(events[heard] for heard in order[:count]))
        assert await club.values(*pair) == [LOST, WON], order
        assert (await club.rating(pair[0])).games == 1
        nets = await club.hall.database.fetch(
            "SELECT net FROM played_seats WHERE game_id = $1 ORDER BY seat", UUID(story.game_id)
        )
        assert [row["net"] for row in nets] == [-500, 500], order
        before = await club.snapshot()
        await club.tell(*events)
        assert await club.snapshot() == before


async def test_a_correction_takes_back_and_counts_anew(club: Club) -> None:
    story = await club.played(0)
    await club.played(0, players=("eleni", "maria"))
    strong = (await club.values("eleni"))[0]
    await club.tell(story.settled(500, -500), story.corrected(1, amounts=(-500, 500)))
    eleni, nikos, maria = await club.values("eleni", "nikos", "maria")
    assert eleni < strong
    # Nothing happened to who did not play in it.
    assert maria < 1500 < nikos
    request = pb.GetRatingRequest(player_id="nikos", variant="portes")
    changes = (await club.ask("GetRating", request)).changes
    game, reversal = pb.RATING_CHANGE_KIND_GAME, pb.RATING_CHANGE_KIND_REVERSAL
    assert [(each.kind, each.game_id) for each in changes] == [
        (game, story.game_id),
        (reversal, story.game_id),
        (game, story.game_id),
    ]
    # nikos has played nothing else, so he is a newcomer in between.
    assert [each.value_before for each in changes] == [1500, LOST, 1500]
    assert [each.value_after for each in changes] == [nikos, 1500, LOST]


async def test_a_correction_to_void_and_back(club: Club) -> None:
    story = await club.played(0)
    await club.tell(story.settled(500, -500), story.corrected(amounts=(0, 0)))
    assert await club.values("eleni", "nikos") == [1500, 1500]
    assert (await club.rating("eleni")).games == 0
    assert not (await club.ask("GetRating", pb.GetRatingRequest(player_id="eleni"))).ratings
    await club.tell(story.corrected(0, version=3, amounts=(500, -500)))
    assert await club.values("eleni", "nikos") == [WON, LOST]
    # An older correction that comes late is of no account.
    await club.tell(story.corrected(1, version=2, amounts=(-500, 500)))
    assert await club.values("eleni", "nikos") == [WON, LOST]


async def test_a_correction_to_the_same_winner_changes_no_rating(club: Club) -> None:
    story = await club.played(0)
    await club.tell(story.settled(500, -500), story.corrected(0, amounts=(400, -400)))
    assert await club.values("eleni", "nikos") == [WON, LOST]
    count = await club.hall.database.fetchval("SELECT count(*) FROM rating_changes")
    assert count == 2
