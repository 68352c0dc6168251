"""Rummy games between messages and values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from kafeneio.rules.v1 import actions_pb2, views_pb2
from kafeneio_games import koumkan, rummy, thanasis
from kafeneio_games.cards import JOKER, SUITS, Card, Deal
from kafeneio_games.game import AnyGame, Seat
from kafeneio_games.koumkan import Koumkan
from kafeneio_games.melds import End, Kind, Meld
from kafeneio_games.rummy_hand import Stage
from kafeneio_games.rummy_view import MeldView, RummyView
from kafeneio_games.thanasis import Thanasis

from kafeneio_rules.trick_wire import put_deal, read_deal

KINDS: Final = {kind: actions_pb2.MeldKind.Value(f"MELD_KIND_{kind.name}") for kind in Kind}
ENDS: Final = {end: actions_pb2.RunEnd.Value(f"RUN_END_{end.name}") for end in End}
STAGES: Final = {stage: views_pb2.RummyStage.Value(f"RUMMY_STAGE_{stage.name}") for stage in Stage}
_LISTED: Final = {
    "draw_stock": "draws",
    "take_discard": "draws",
    "lay_meld": "melds",
    "lay_off": "lay-offs",
    "swap_joker": "swaps",
    "discard": "discards",
    "go_out": "outs",
}
"""The kinds of `koumkan.KINDS` and `thanasis.KINDS`."""

DRAW: Final = rummy.write(rummy.DrawStock())

_KINDS: Final = {number: kind for kind, number in KINDS.items()}
_ENDS: Final = {number: end for end, number in ENDS.items()}


def fill(message: actions_pb2.Action, text: str) -> None:
    """An action's text as a message; `Unreadable` where it is none."""
    match rummy.read(text):
        case Deal() as deal:
            put_deal(message.deal, deal)
        case rummy.PutBack(place):
            message.put_back.SetInParent()
            if place is not None:
                message.put_back.place = place
        case rummy.Reshuffle(cards):
            message.reshuffle.cards.extend(cards)
        case rummy.DrawStock():
            message.draw_stock.SetInParent()
        case rummy.TakeDiscard():
            message.take_discard.SetInParent()
        case rummy.LayMeld(meld):
            message.lay_meld.kind = KINDS[meld.kind]
            message.lay_meld.cards.extend(meld.cards)
        case rummy.LayOff(card, number, end):
            message.lay_off.card, message.lay_off.meld = card, number
            if end is not None:
                message.lay_off.end = ENDS[end]
        case rummy.SwapJoker(card, number):
            message.swap_joker.card, message.swap_joker.meld = card, number
        case rummy.Discard(card):
            message.discard.card = card
        case rummy.GoOut(card):
            message.go_out.card = card


def written(action: actions_pb2.Action) -> str | None:
    """The notation of a message; None where it is no action of a rummy game."""
    value = _read(action)
    return None if value is None else rummy.write(value)


def _read(action: actions_pb2.Action) -> rummy.Action | None:
    match action.WhichOneof("action"):
        case "deal":
            return read_deal(action.deal)
        case "put_back":
            placed = action.put_back
            return rummy.PutBack(placed.place if placed.HasField("place") else None)
        case "reshuffle":
            return rummy.Reshuffle(_cards(action.reshuffle.cards))
        case "draw_stock":
            return rummy.DrawStock()
        case "take_discard":
            return rummy.TakeDiscard()
        case "lay_meld":
            laid = action.lay_meld
            return rummy.LayMeld(Meld(_KINDS[laid.kind], _cards(laid.cards)))
        case "lay_off":
            lay = action.lay_off
            return rummy.LayOff(Card(lay.card), lay.meld, _ENDS.get(lay.end))
        case "swap_joker":
            return rummy.SwapJoker(Card(action.swap_joker.card), action.swap_joker.meld)
        case "discard":
            return rummy.Discard(Card(action.discard.card))
        case "go_out":
            return rummy.GoOut(Card(action.go_out.card))
    return None


def settled(text: str) -> str:
    """A group's cards may come in any order (K7); the log has them by suits, jokers last."""
    action = rummy.read(text)
    if not isinstance(action, rummy.LayMeld) or action.meld.kind is not Kind.GROUP:
        return text
    cards = tuple(sorted(action.meld.cards, key=_place))
    return rummy.write(rummy.LayMeld(Meld(Kind.GROUP, cards)))


def _place(card: Card) -> int:
    return len(SUITS) if card == JOKER else SUITS.index(card[1])


def candidates(game: AnyGame, state: Any, seat: Seat, kind: str) -> Iterator[Any]:
    """Only the actions of the kind are looked for: melds can be many."""
    if not kind:
        return game.legal(state, seat)
    assert isinstance(game, Koumkan | Thanasis), "these are the games of the family"
    known = koumkan.KINDS if isinstance(game, Koumkan) else thanasis.KINDS
    listed = _LISTED.get(kind, "")
    return game.legal_of(state, seat, listed) if listed in known else iter(())


def _cards(cards: Iterable[str]) -> tuple[Card, ...]:
    return tuple(map(Card, cards))


def put_view(message: views_pb2.View, game: str, seen: RummyView) -> None:
    """A hand as its viewer sees it."""
    table = message.rummy
    table.game = game
    table.stage = STAGES[seen.stage]
    table.dealer = seen.dealer
    table.live.extend(seen.live)
    if seen.mover is not None:
        table.mover = seen.mover
    table.drawn = seen.drawn
    table.hand.extend(seen.hand)
    table.counts.extend(seen.counts)
    table.stock_left = seen.stock_left
    table.reshuffles = seen.reshuffles
    table.discard_top = seen.discard_top or ""
    table.discard_count = seen.discard_count
    table.turned = seen.turned or ""
    table.wild_ranks.extend(seen.wild_ranks)
    table.melds.extend(map(_meld, seen.melds))
    table.opened.extend(seen.opened)
    table.taken = seen.taken or ""
    table.owed = seen.owed
    if seen.out is not None:
        table.out = seen.out
    for end in seen.ends:
        table.ends.add(
            seat=end.seat,
            hand=end.hand,
            melds=map(_meld, end.melds),
            left=end.left,
            deadwood=end.deadwood,
        )
    if seen.result is not None:
        table.result.points.extend(seen.result.points)
        table.result.ending = seen.result.ending


def _meld(meld: MeldView) -> views_pb2.Meld:
    return views_pb2.Meld(
        owner=meld.owner,
        kind=KINDS[meld.kind],
        cards=meld.cards,
        stands_for=meld.stands_for,
    )
