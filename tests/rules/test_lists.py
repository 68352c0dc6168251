"""ListGames: filters, order and pages."""

from __future__ import annotations

from kafeneio.rules.v1 import game_pb2 as pb

from tests.harness import SEATS, STRANGER, Rules, new_id


async def listed(rules: Rules, **filters: object) -> list[pb.GameSummary]:
    """All games that match, page by page."""
    found: list[pb.GameSummary] = []
    token, seen = "", set[str]()
    while True:
        request = pb.ListGamesRequest(page_token=token, **filters)  # type: ignore[arg-type]
        page = await rules.ask(rules.games.ListGames, request, STRANGER)
        found += page.games
        token = page.next_page_token
        if not token:
            return found
        assert token not in seen
        seen.add(token)


def ids(games: list[pb.GameSummary]) -> list[str]:
    """Which they are."""
    return [game.game_id for game in games]


async def test_nothing_is_an_empty_list(rules: Rules) -> None:
    assert await listed(rules) == []
    game = await rules.create()
    assert ids(await listed(rules)) == [game.game_id]
    for filters in (
        {"player_id": "maria"},
        {"variant": "plakoto"},
        {"status": pb.GAME_STATUS_RUNNING},
    ):
        assert await listed(rules, **filters) == []


async def test_filters_alone_and_together(rules: Rules) -> None:
    third = ("maria", "nikos")
    waiting = await rules.create()
    running = await rules.start(players=third, target=3)
    finished = await rules.start()
    await rules.resign(finished.game_id, SEATS[0])
    void = await rules.start()
    await rules.abort(void.game_id)
    cancelled = await rules.create()
    await rules.cancel(cancelled.game_id)
    await rules.cancel(new_id())  # of which nothing is known that could be listed
    everything = [each.game_id for each in (cancelled, void, finished, running, waiting)]

    assert ids(await listed(rules)) == everything
    assert ids(await listed(rules, variant="portes")) == everything
    expected = {
        pb.GAME_STATUS_WAITING: [waiting.game_id],
        pb.GAME_STATUS_RUNNING: [running.game_id],
        pb.GAME_STATUS_FINISHED: [void.game_id, finished.game_id],
        pb.GAME_STATUS_CANCELLED: [cancelled.game_id],
    }
    for status, games in expected.items():
        found = await listed(rules, status=status)
        assert ids(found) == games
        assert {game.status for game in found} == {status}
    assert ids(await listed(rules, player_id="maria")) == [running.game_id]
    assert ids(await listed(rules, player_id="nikos")) == everything
    assert ids(await listed(rules, player_id="eleni", status=pb.GAME_STATUS_FINISHED)) == [
        void.game_id,
        finished.game_id,
    ]
    assert await listed(rules, player_id="maria", status=pb.GAME_STATUS_WAITING) == []


async def test_a_summary_is_what_the_game_says(rules: Rules) -> None:
    games = [await rules.start(target=2), await rules.start(), await rules.create()]
    await rules.resign(games[0].game_id, SEATS[1])
    await rules.abort(games[1].game_id)
    for summary in await listed(rules):
        game = await rules.get(summary.game_id)
        assert summary.terms == game.terms
        assert list(summary.player_ids) == [seat.player_id for seat in game.seats]
        assert summary.status == game.position.status
        assert summary.created_at == game.created_at
        assert summary.HasField("outcome") == game.position.HasField("outcome")
        assert summary.outcome == game.position.outcome


async def test_pages_hold_every_game_once_the_newest_first(rules: Rules) -> None:
    made = [(await rules.create()).game_id for _ in range(12)]
    for size in (1, 5, 6, 12, 200):
        assert ids(await listed(rules, page_size=size)) == made[::-1]
    request = pb.ListGamesRequest(page_size=12)
    page = await rules.ask(rules.games.ListGames, request, STRANGER)
    assert page.next_page_token == "", "there is no page behind the last game"


async def test_a_game_that_comes_between_two_pages_moves_none(rules: Rules) -> None:
    made = [(await rules.create()).game_id for _ in range(6)]
    request = pb.ListGamesRequest(page_size=3)
    first = await rules.ask(rules.games.ListGames, request, STRANGER)
    await rules.create()
    request.page_token = first.next_page_token
    second = await rules.ask(rules.games.ListGames, request, STRANGER)
    assert ids([*first.games, *second.games]) == made[::-1]


async def test_a_page_has_fifty_unless_said(rules: Rules) -> None:
    for _ in range(51):
        await rules.create()
    page = await rules.ask(rules.games.ListGames, pb.ListGamesRequest(), STRANGER)
    assert len(page.games) == 50
    assert page.next_page_token
