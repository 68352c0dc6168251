"""A whole match of belote reckoned from its log alone, plain and slow, by the rule book.

It believes the log's players and checks none of their moves; it keeps the books.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from kafeneio_games.game import Entry

from tests.games import simple_belote


@dataclass
class Books:
    """Rules by name, and what is known so far."""

    kind: str
    rules: dict[str, str]
    score: list[int] = field(default_factory=lambda: [0, 0])
    pot: int = 0
    deals: list[dict[str, object]] = field(default_factory=list)


OFFICIAL = {
    "coinche_round": "yes",
    "doubled_capot_base": "250",
    "nt_ace": "19",
    "nt_carre_scale": "no_trump",
    "decl_tie": "trump",
    "decl_overlap": "no",
    "decl_transfer": "yes",
}
MAISON = {
    "coinche_round": "no",
    "doubled_capot_base": "160",
    "nt_ace": "11",
    "nt_carre_scale": "trump",
    "decl_tie": "taker",
    "decl_overlap": "yes",
    "decl_transfer": "no",
}


def rules_of(options: dict[str, str]) -> dict[str, str]:
    """The rows of the table as they are played."""
    by_set = OFFICIAL if options.get("rule_set") == "official" else MAISON
    usual = {"declarations": "yes", "declare": "automatic", "coinche_litige": "no"}
    return usual | by_set | options


def reckoned(kind: str, options: dict[str, str], log: Iterable[Entry]) -> Books:
    """The books when the log has been read."""
    books = Books(kind, rules_of(options))
    dealer, deal = 0, list[Entry]()
    for entry in log:
        if entry.text.startswith("dealer"):
            dealer = int(entry.text.split()[1])
        elif entry.text.startswith("!"):
            continue
        else:
            deal.append(entry)
            if over(kind, deal):
                enter(books, dealer, deal)
                dealer, deal = (dealer + 1) % 4, []
    return books


def over(kind: str, deal: list[Entry]) -> bool:
    """All cards played, or everybody passed."""
    words = [entry.text for entry in deal[1:]]
    cards = [word for word in words if word in ALL]
    passes = {"belote": 8, "belote-no-trump": 4, "coinche": 4}[kind]
    return len(cards) == 32 or (words == ["pass"] * passes)


ALL = [rank + suit for suit in simple_belote.SUITS for rank in simple_belote.NATURAL]


def split(text: str) -> list[str]:
    return [text[at : at + 2] for at in range(0, len(text), 2)]


def enter(books: Books, dealer: int, deal: list[Entry]) -> None:
    """One deal into the books."""
    taker, trump, value, times = contract(deal)
    if taker is None:
        books.deals.append({"ending": "passed"})
        return
    hands = hands_of(deal[0].text, dealer, taker)
    played = [(entry.seat, entry.text) for entry in deal if entry.text in ALL]
    ace = int(books.rules["nt_ace"]) if books.kind == "belote-no-trump" else 11
    cards, tricks = tricks_of(played, trump, ace)
    belote = [0, 0]
    for seat, hand in enumerate(hands):
        if trump and {"K" + trump, "Q" + trump} <= set(hand):
            belote[seat % 2] = 20
    won = declarations(books.rules, deal, hands, trump, taker % 2)
    found = {
        "taker": taker % 2,
        "cards": cards,
        "tricks": tricks,
        "belote": belote,
        "won": won,
        "value": value,
        "times": times,
    }
    if books.kind == "coinche":
        marks, ending, winner, held = coinche(books.rules, found)
    else:
        marks, ending, winner, held = classic(books.rules, found)
    books.score = [a + b for a, b in zip(books.score, marks, strict=True)]
    if winner is not None:
        books.score[winner] += books.pot
        books.pot = 0
    books.pot += held
    books.deals.append(found | {"marks": marks, "ending": ending, "held": held})


def contract(deal: list[Entry]) -> tuple[int | None, str, str, int]:
    """Who took, in which trump, for how much ("capot" too), how often."""
    taker, trump, value, times = None, "", "", 1
    turned = deal[0].text.split("/")[4]
    for entry in deal[1:]:
        word = entry.text
        if word == "take":
            taker, trump = entry.seat, turned[1:]
        elif word.startswith("choose"):
            taker, trump = entry.seat, word[-1]
        elif word.startswith("contra"):
            times = 2
        elif word == "recontra":
            times = 4
        elif word in ALL:
            break
        elif word not in ("pass", "declare"):
            taker, value, trump = entry.seat, word[:-1], word[-1]
    return taker, trump, value, times


def hands_of(text: str, dealer: int, taker: int) -> list[list[str]]:
    """The hands of eight."""
    *dealt, turned, rest = text.removeprefix("deal ").split("/")
    hands, left = [split(hand) for hand in dealt], split(rest)
    hands[taker] += split(turned)
    for place in range(1, 5):
        hand = hands[(dealer + place) % 4]
        while len(hand) < 8:
            hand.append(left.pop(0))
    return hands


def tricks_of(
    played: Sequence[tuple[int, str]], trump: str, ace: int
) -> tuple[list[int], list[int]]:
    """Card points with the last trick or all of them, and tricks, by side."""
    points, tricks = [0, 0], [0, 0]
    for at in range(0, 32, 4):
        trick = played[at : at + 4]
        cards = [card for _, card in trick]
        side = trick[simple_belote.holder(cards, trump)][0] % 2
        tricks[side] += 1
        points[side] += simple_belote.card_points(cards, trump, ace) + (10 if at == 28 else 0)
    for side in (0, 1):
        if tricks[side] == 8:
            points[side] += 90
    return points, tricks


def declarations(
    rules: dict[str, str], deal: list[Entry], hands: list[list[str]], trump: str, taker: int
) -> list[int]:
    """What the declarations bring each side."""
    if rules["declarations"] == "no":
        return [0, 0]
    said = {entry.seat for entry in deal if entry.text == "declare"}
    speakers = said if rules["declare"] == "by_player" else {0, 1, 2, 3}
    scale = "trump" if trump else rules["nt_carre_scale"]
    found = {
        int(seat): simple_belote.of_hand(hands[seat], scale, rules["decl_overlap"] == "yes")
        for seat in speakers
    }
    side = simple_belote.scoring(found, trump, taker, scale, rules["decl_tie"])
    worth = [0, 0]
    for seat, some in found.items():
        if seat % 2 == side:
            worth[side] += sum(points for _, _, points in some)
    return worth


Marks = tuple[list[int], str, int | None, int]


def by_side(taker: int, ours: int, theirs: int) -> list[int]:
    return [ours, theirs] if taker == 0 else [theirs, ours]


def classic(rules: dict[str, str], found: dict[str, object]) -> Marks:
    """B20 to B22: marks, ending, the winning side, what is held."""
    taker, ours, theirs = sides(found)
    moves = rules["decl_transfer"] == "yes"
    total, his_total = (side["cards"] + side["belote"] + side["won"] for side in (ours, theirs))
    if ours["tricks"] == 8:
        if moves:
            gained = total + theirs["won"]
            return by_side(taker, gained, theirs["belote"]), "capot", taker, 0
        return by_side(taker, total, his_total), "capot", taker, 0
    if total > his_total:
        return by_side(taker, total, his_total), "made", taker, 0
    if total == his_total:
        return by_side(taker, 0, his_total), "litige", None, total
    cards = ours["cards"] + theirs["cards"]
    won = theirs["won"] + (ours["won"] if moves else 0)
    kept = ours["belote"] + (0 if moves else ours["won"])
    return by_side(taker, kept, cards + theirs["belote"] + won), "failed", 1 - taker, 0


def coinche(rules: dict[str, str], found: dict[str, object]) -> Marks:
    """B28 and the rows of B29, one after the other."""
    taker, ours, theirs = sides(found)
    moves = rules["decl_transfer"] == "yes"
    capot = found["value"] == "capot"
    value, times = (250 if capot else int(str(found["value"]))), int(str(found["times"]))
    total, his_total = (side["cards"] + side["belote"] + side["won"] for side in (ours, theirs))
    all_tricks = ours["tricks"] == 8
    enough = all_tricks if capot else total >= value
    ending = "capot" if all_tricks else "made"
    held, winner = 0, taker if enough and total > his_total else 1 - taker
    if enough and total == his_total and rules["coinche_litige"] == "yes":
        marks, ending, held = by_side(taker, 0, his_total), "litige", total
    elif winner != taker:
        won = theirs["won"] + (ours["won"] if moves else 0)
        kept = ours["belote"] + (0 if moves else ours["won"])
        marks = by_side(taker, kept, (160 + value + theirs["belote"] + won) * times)
        ending = "failed"
    elif times == 1:
        if all_tricks and moves:
            marks = by_side(taker, total + value + theirs["won"], theirs["belote"])
        else:
            marks = by_side(taker, total + value, his_total)
    else:
        base = int(rules["doubled_capot_base"]) if all_tricks else 160
        won = ours["won"] + (theirs["won"] if moves else 0)
        kept = theirs["belote"] + (0 if moves else theirs["won"])
        marks = by_side(taker, (base + value + ours["belote"] + won) * times, kept)
    if rules["coinche_round"] == "yes":
        marks, held = [tens(mark) for mark in marks], tens(held)
    return marks, ending, None if ending == "litige" else winner, held


def tens(mark: int) -> int:
    """To the nearest ten, five upward."""
    return mark - mark % 10 + (10 if mark % 10 >= 5 else 0)


def sides(found: dict[str, object]) -> tuple[int, dict[str, int], dict[str, int]]:
    """The taking side, and what lay before it and the other."""
    taker = int(str(found["taker"]))
    both = []
    for side in (taker, 1 - taker):
        counts = {}
        for name in ("cards", "tricks", "belote", "won"):
            pair = found[name]
            assert isinstance(pair, list)
            counts[name] = int(pair[side])
        both.append(counts)
    return taker, both[0], both[1]
