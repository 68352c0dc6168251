"""What a seat, or a spectator, may know of a hand of Koum-kan, Thanasis or Dynamitis.

Everything in it is public, but for `hand`.  Cards are texts, "TS", "*" (see `cards`).
"""

from __future__ import annotations

from dataclasses import dataclass

from .cards import Card
from .game import Result, Seat
from .melds import Kind, Meld, MeldRules, stands_for
from .rummy_hand import Laid, Stage, State


@dataclass(frozen=True, slots=True)
class MeldView:
    """A meld to look at.

    `owner` laid it; None for a meld of a hand that is shown at the end.  `cards` are what lies
    there, a run's from low to high, a group's natural ones first.  `stands_for` has for each of
    them the card that it stands for, itself if it is no joker; "*" for a group's joker, which
    stands for any missing suit (K9).
    """

    owner: Seat | None
    kind: Kind
    cards: tuple[Card, ...]
    stands_for: tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class HandEnd:
    """A live seat's hand as it is shown and counted when somebody has gone out.

    `hand` is all that was held then, by suits, each from the ace up, jokers last.  `melds` are what
    counts nothing (H8), none in Koum-kan, where a hand counts in full (K24); `left` is the rest
    and `deadwood` its points, 0 for the one who went out.
    """

    seat: Seat
    hand: tuple[Card, ...]
    melds: tuple[Meld, ...]
    left: tuple[Card, ...]
    deadwood: int


@dataclass(frozen=True, slots=True)
class HandEndView:
    """`HandEnd` with its melds to look at."""

    seat: Seat
    hand: tuple[Card, ...]
    melds: tuple[MeldView, ...]
    left: tuple[Card, ...]
    deadwood: int


@dataclass(frozen=True, slots=True)
class RummyView:
    """A hand as one seat sees it.

    game          variant and edition, "koumkan@1"
    stage         what the hand waits for; in DRAW and PLAY it is `mover`
    dealer        who dealt, also after he has left
    live          the seats that take part, in order of play
    mover         whose turn it is; None before the deal and when the hand is over
    drawn         whether the mover has drawn (PLAY); False while a reshuffle is due for his draw
    hand          the own cards by suits (spades, hearts, diamonds, clubs), each from the ace up,
                  jokers last; () for a spectator
    counts        how many cards each seat of the table holds, 0 for one that takes no part
    stock_left    how many cards are in the stock
    reshuffles    how often the discards were shuffled in this hand (K22)
    discard_top   the top discard, the only one shown (K31); None if there is none
    discard_count how many discards there are
    turned        the card put aside, whose rank is wild (H2); while it is a joker or a wild two,
                  the one that is about to be put back (H3, D2); None in Koum-kan
    wild_ranks    the ranks that are jokers beside the printed ones, ("5",), ("2", "5")
    melds         the melds on the table in the order in which they were laid: number 1, 2 ...
    opened        for each seat of the table, whether a meld of its own lies there (K10, K15)
    taken         the card that the mover took from the discard pile, as long as he has used no
                  such card: he may not discard it unless he holds its twin too (K19)
    owed          how many jokers taken from the table the mover must still use in this turn (K11)
    out           who went out, None if nobody did
    ends          of each live seat what is shown and counted then; () until somebody goes out, and
                  in a void hand
    result        what each seat adds to its total, and "went-out", "void" or "forfeit"; None while
                  the hand is played
    """

    game: str
    stage: Stage
    dealer: Seat
    live: tuple[Seat, ...]
    mover: Seat | None
    drawn: bool
    hand: tuple[Card, ...]
    counts: tuple[int, ...]
    stock_left: int
    reshuffles: int
    discard_top: Card | None
    discard_count: int
    turned: Card | None
    wild_ranks: tuple[str, ...]
    melds: tuple[MeldView, ...]
    opened: tuple[bool, ...]
    taken: Card | None
    owed: int
    out: Seat | None
    ends: tuple[HandEndView, ...]
    result: Result | None


def view_of(
    game: str,
    state: State,
    seat: Seat | None,
    *,
    rules: MeldRules,
    table: tuple[Laid, ...] = (),
    taken: Card | None = None,
    owed: int = 0,
    ends: tuple[HandEnd, ...] = (),
) -> RummyView:
    """The view of `seat`, None for a spectator."""
    seats = range(len(state.hands))
    owners = {laid.owner for laid in table}
    moving = state.stage in (Stage.DRAW, Stage.RESHUFFLE, Stage.PLAY)
    return RummyView(
        game=game,
        stage=state.stage,
        dealer=state.dealer,
        live=state.live,
        mover=state.mover if moving else None,
        drawn=state.stage is Stage.PLAY,
        hand=state.hands[seat] if seat is not None and seat in seats else (),
        counts=tuple(map(len, state.hands)),
        stock_left=len(state.stock),
        reshuffles=state.reshuffles,
        discard_top=state.discards[-1] if state.discards else None,
        discard_count=len(state.discards),
        turned=state.turned[0] if state.turned else None,
        wild_ranks=tuple(rules.wild_ranks),
        melds=tuple(_meld_view(laid.owner, laid.meld, rules) for laid in table),
        opened=tuple(each in owners for each in seats),
        taken=taken,
        owed=owed,
        out=state.out,
        ends=tuple(_end_view(end, rules) for end in ends),
        result=state.result,
    )


def _meld_view(owner: Seat | None, meld: Meld, rules: MeldRules) -> MeldView:
    return MeldView(owner, meld.kind, meld.cards, stands_for(meld, rules))


def _end_view(end: HandEnd, rules: MeldRules) -> HandEndView:
    melds = tuple(_meld_view(None, meld, rules) for meld in end.melds)
    return HandEndView(end.seat, end.hand, melds, end.left, end.deadwood)
