"""The golden logs of belote: reckoned once more from the log alone, and each shows its rule."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from kafeneio_games.play import Play

from tests.games.belote_tables import GAMES
from tests.games.simple_belote_match import Books, reckoned
from tests.games.test_golden_logs import FOLDER, Golden, begin, read_golden

LOGS = tuple(
    path
    for path in sorted(FOLDER.glob("*.txt"))
    if read_golden(path).header["variant"].removesuffix("@1") in GAMES
)


def options_of(golden: Golden) -> dict[str, str]:
    return dict(item.split("=") for item in golden.header.get("options", "").split())


@cache
def books_of(path: Path) -> Books:
    golden = read_golden(path)
    return reckoned(golden.header["variant"].removesuffix("@1"), options_of(golden), golden.entries)


@pytest.mark.parametrize("path", LOGS, ids=[path.stem for path in LOGS])
def test_the_score_reckoned_from_the_log(path: Path) -> None:
    golden, books = read_golden(path), books_of(path)
    assert golden.ending["score"] == "-".join(map(str, books.score))
    play = begin(golden).apply_all(golden.entries)
    assert play.match.pot == books.pot  # type: ignore[attr-defined]
    if golden.ending["void"] == "-":
        higher = 0 if books.score[0] > books.score[1] else 1
        assert golden.ending["winners"] == f"{higher} {higher + 2}"
        assert golden.ending["ending"] == books.deals[-1]["ending"]


def ends(path: Path) -> list[str]:
    return [str(deal["ending"]) for deal in books_of(path).deals]


def words(path: Path) -> list[str]:
    return [entry.text for entry in read_golden(path).entries]


def plays(path: Path) -> list[Play]:
    golden = read_golden(path)
    found = [begin(golden)]
    for entry in golden.entries:
        found.append(found[-1].apply(entry))
    return found


def first(path: Path) -> dict[str, Any]:
    return books_of(path).deals[0]


def taking(path: Path, name: str) -> int:
    """What the taking side had of that in the first deal."""
    return int(first(path)[name][first(path)["taker"]])


def defending(path: Path, name: str) -> int:
    return int(first(path)[name][1 - first(path)["taker"]])


def totals(path: Path) -> tuple[int, int]:
    names = ("cards", "belote", "won")
    return sum(taking(path, n) for n in names), sum(defending(path, n) for n in names)


def waits_for_more_than_belote(path: Path) -> bool:
    """A side has the target, leads, and yet another deal is dealt (A18)."""
    return any(
        play.outcome is None and max(play.score) >= 501 and play.score[0] != play.score[1]
        for play in plays(path)
    )


def discards_beside_low_trumps(path: Path) -> bool:
    """A plain card is thrown under an opponent's ruff by who holds trumps, all of them lower."""
    for play in plays(path):
        state = play.state
        if state is None or state.play is None or not state.play.trick:
            continue
        held = state.play.hands[state.play.turn]
        options = {play.game.write(action) for action in play.legal(state.play.turn)}  # type: ignore[union-attr]
        trumps = {card for card in held if card[1] == state.play.trump}
        led = state.play.trick[0][1]
        void = led != state.play.trump and all(card[1] != led for card in held)
        ruffed = any(card[1] == state.play.trump for card in state.play.trick)
        if void and ruffed and trumps and options == set(held):
            return True
    return False


def out_of_turn(path: Path) -> bool:
    return any(
        entry.text.startswith("contra") and play.prompted != entry.seat
        for play, entry in zip(plays(path), read_golden(path).entries, strict=False)
    )


SHOWS: dict[str, Callable[[Path], bool]] = {
    "belote_made": lambda p: ends(p) == ["made"],
    "belote_dedans": lambda p: ends(p) == ["failed"],
    "belote_capot": lambda p: ends(p) == ["capot"],
    "belote_capot_defence": lambda p: ends(p) == ["failed"] and defending(p, "tricks") == 8,
    "belote_second_round": lambda p: any(word.startswith("choose") for word in words(p)),
    "belote_decides": lambda p: taking(p, "cards") < defending(p, "cards") and ends(p) == ["made"],
    "belote_kept_on_a_fall": lambda p: ends(p) == ["failed"] and taking(p, "belote") == 20,
    "belote_declarations_kept": lambda p: ends(p) == ["failed"] and taking(p, "won") > 0,
    "belote_declarations_move": lambda p: ends(p) == ["failed"] and taking(p, "won") > 0,
    "belote_capot_moves": lambda p: ends(p) == ["capot"] and defending(p, "won") > 0,
    "belote_litige": lambda p: ends(p) == ["litige", "made"],
    "belote_litige_lost": lambda p: ends(p) == ["litige", "failed"],
    "belote_litiges_add_up": lambda p: ends(p) == ["litige", "litige", "made"],
    "belote_litige_passed": lambda p: ends(p) == ["litige", "passed", "made"],
    "belote_litige_with_belote": lambda p: ends(p)[0] == "litige" and taking(p, "belote") == 20,
    "belote_litige_lapses": lambda p: ends(p)[-1] == "litige" and books_of(p).pot > 0,
    "belote_passed": lambda p: ends(p) == ["passed"],
    "belote_tie_nobody": lambda p: first(p)["won"] == [0, 0],
    "belote_by_player": lambda p: "declare" in words(p),
    "belote_without_declarations": lambda p: first(p)["won"] == [0, 0],
    "belote_alone_does_not_win": waits_for_more_than_belote,
    "belote_forfeit_goes_on": lambda p: read_golden(p).ending["forfeits"] != "-",
    "belote_void_all_forfeited": lambda p: read_golden(p).ending["void"] == "ALL_FORFEITED",
    "belote_match": lambda p: len(ends(p)) > 2,
    "belote-no-trump_made": lambda p: ends(p) == ["made"],
    "belote-no-trump_dedans": lambda p: sum(first(p)["marks"]) - sum(first(p)["won"]) == 130,
    "belote-no-trump_dedans_official": lambda p: (
        sum(first(p)["marks"]) - sum(first(p)["won"]) == 162
    ),
    "belote-no-trump_capot": lambda p: taking(p, "cards") == 220,
    "belote-no-trump_capot_official": lambda p: taking(p, "cards") == 252,
    "belote-no-trump_litige": lambda p: ends(p)[0] == "litige",
    "belote-no-trump_passed": lambda p: ends(p) == ["passed"],
    "belote-no-trump_eight_cards": lambda p: words(p)[1].endswith("//"),
    "belote-no-trump_match": lambda p: len(ends(p)) > 2,
    "coinche_made": lambda p: ends(p) == ["made"] and first(p)["times"] == 1,
    "coinche_failed": lambda p: ends(p) == ["failed"] and first(p)["times"] == 1,
    "coinche_failed_by_the_defence": lambda p: (
        ends(p) == ["failed"] and int(first(p)["value"]) <= totals(p)[0] < totals(p)[1]
    ),
    "coinche_equal_totals": lambda p: totals(p)[0] == totals(p)[1] and ends(p) == ["failed"],
    "coinche_litige": lambda p: ends(p) == ["litige", "made"],
    "coinche_capot": lambda p: first(p)["value"] == "capot" and ends(p) == ["capot"],
    "coinche_capot_failed": lambda p: first(p)["value"] == "capot" and ends(p) == ["failed"],
    "coinche_capot_unasked": lambda p: first(p)["value"] != "capot" and ends(p) == ["capot"],
    "coinche_doubled": lambda p: first(p)["times"] == 2 and ends(p) == ["made"],
    "coinche_doubled_failed": lambda p: first(p)["times"] == 2 and ends(p) == ["failed"],
    "coinche_doubled_moves": lambda p: (
        first(p)["times"] == 2 and ends(p) == ["made"] and defending(p, "won") > 0
    ),
    "coinche_redoubled": lambda p: first(p)["times"] == 4 and ends(p) == ["made"],
    "coinche_redoubled_failed": lambda p: first(p)["times"] == 4 and ends(p) == ["failed"],
    "coinche_doubled_capot": lambda p: first(p)["times"] == 2 and ends(p) == ["capot"],
    "coinche_doubled_capot_official": lambda p: first(p)["times"] == 2 and ends(p) == ["capot"],
    "coinche_out_of_turn": out_of_turn,
    "coinche_partner_redoubles": lambda p: "recontra" in words(p),
    "coinche_rounded": lambda p: any(
        mark % 10 == 0 and total % 10
        for mark, total in zip(sorted(first(p)["marks"]), sorted(totals(p)), strict=True)
    ),
    "coinche_free_discard": discards_beside_low_trumps,
    "coinche_passed": lambda p: ends(p) == ["passed"],
    "coinche_match": lambda p: len(ends(p)) > 1,
    "coinche_match_official": lambda p: len(ends(p)) > 1,
}


@pytest.mark.parametrize("name", SHOWS)
def test_a_log_shows_its_rule(name: str) -> None:
    assert SHOWS[name](FOLDER / f"{name}.txt")


def test_every_log_is_named() -> None:
    assert {path.stem for path in LOGS} == set(SHOWS)
