"""Games of tricks between messages and values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from kafeneio.rules.v1 import actions_pb2, views_pb2
from kafeneio_games import trick_actions as tricks
from kafeneio_games.cards import Card, Deal
from kafeneio_games.game import AnyGame, Seat
from kafeneio_games.trick_view import Stage, TrickView

SUITS: Final = {
    "": actions_pb2.SUIT_UNSPECIFIED,
    "S": actions_pb2.SUIT_SPADES,
    "H": actions_pb2.SUIT_HEARTS,
    "D": actions_pb2.SUIT_DIAMONDS,
    "C": actions_pb2.SUIT_CLUBS,
}
_LETTERS: Final = {number: letter for letter, number in SUITS.items()}
STAGES: Final = {stage: views_pb2.TrickStage.Value(f"TRICK_STAGE_{stage.name}") for stage in Stage}


def fill(message: actions_pb2.Action, text: str) -> None:
    """An action's text as a message; `Unreadable` where it is none."""
    match tricks.read(text):
        case Deal() as deal:
            put_deal(message.deal, deal)
        case tricks.Bid(value, suit):
            message.bid.value = value
            message.bid.suit = SUITS[suit]
        case tricks.Capot(suit):
            message.bid.capot = True
            message.bid.suit = SUITS[suit]
        case tricks.Pass():
            message.pass_turn.SetInParent()
        case tricks.Contra(bid):
            message.contra.bid = bid
        case tricks.Recontra():
            message.recontra.SetInParent()
        case tricks.Take():
            message.take.SetInParent()
        case tricks.Choose(suit):
            message.choose_trump.suit = SUITS[suit]
        case tricks.Exchange():
            message.exchange_seven.SetInParent()
        case tricks.Declare():
            message.declare.SetInParent()
        case tricks.PlayCard(card):
            message.play_card.card = card


def written(action: actions_pb2.Action) -> str | None:
    """The notation of a message; None where it is no action of a game of tricks."""
    value = _read(action)
    return None if value is None else tricks.write(value)


def _read(action: actions_pb2.Action) -> tricks.Action | None:
    match action.WhichOneof("action"):
        case "deal":
            return read_deal(action.deal)
        case "bid":
            suit = _LETTERS[action.bid.suit]
            return tricks.Capot(suit) if action.bid.capot else tricks.Bid(action.bid.value, suit)
        case "pass_turn":
            return tricks.PASS
        case "contra":
            return tricks.Contra(action.contra.bid)
        case "recontra":
            return tricks.RECONTRA
        case "take":
            return tricks.TAKE
        case "choose_trump":
            return tricks.Choose(_LETTERS[action.choose_trump.suit])
        case "exchange_seven":
            return tricks.EXCHANGE
        case "declare":
            return tricks.DECLARE
        case "play_card":
            return tricks.PlayCard(Card(action.play_card.card))
    return None


def put_deal(message: actions_pb2.Deal, deal: Deal) -> None:
    """A deal, as far as it is shown."""
    for hand in deal.hands:
        message.hands.add().cards.extend(hand)
    message.turned.extend(deal.turned)
    message.rest.extend(deal.rest)


def read_deal(message: actions_pb2.Deal) -> Deal:
    """The inverse of `put_deal`."""
    return Deal(
        tuple(tuple(map(Card, hand.cards)) for hand in message.hands),
        tuple(map(Card, message.turned)),
        tuple(map(Card, message.rest)),
    )


def settled(text: str) -> str:
    """There is one way to write an action."""
    return text


def candidates(game: AnyGame, state: Any, seat: Seat, kind: str) -> Iterator[Any]:
    """Every legal action: there are few, so none is left out for its kind."""
    return game.legal(state, seat)


def put_view(message: views_pb2.View, game: str, seen: TrickView) -> None:
    """A hand as its viewer sees it; `game` is what the view itself says."""
    table = message.tricks
    table.game = game
    table.stage = STAGES[seen.stage]
    table.dealer = seen.dealer
    if seen.seat is not None:
        table.seat = seen.seat
    table.hand.extend(seen.hand)
    table.counts.extend(seen.counts)
    for seat, call in seen.calls:
        table.calls.add(seat=seat, call=call)
    table.turned = seen.turned or ""
    if seen.contract is not None:
        made = seen.contract
        table.contract.seat, table.contract.side = made.seat, made.side
        table.contract.value, table.contract.trump = made.value, SUITS[made.trump]
        table.contract.capot, table.contract.multiplier = made.capot, made.multiplier
    for shown, cards in (
        (table.trick, seen.trick),
        (table.last_trick, seen.last_trick),
        (table.played, seen.played),
    ):
        for seat, card in cards:
            shown.add(seat=seat, card=card)
    table.tricks.extend(seen.tricks)
    table.points.extend(seen.points)
    for seat, call in seen.belote:
        table.belote.add(seat=seat, call=call)
    table.can_declare = seen.can_declare
    _put_end(table, seen)


def _put_end(table: views_pb2.TrickView, seen: TrickView) -> None:
    for each in seen.declarations:
        table.declarations.add(
            seat=each.seat,
            kind=each.kind or "",
            points=each.points,
            cards=each.cards,
            scored=each.scored,
        )
    if seen.result is not None:
        table.result.points.extend(seen.result.points)
        table.result.ending = seen.result.ending
    for side in seen.sheet or ():
        table.sheet.add(
            tricks=side.tricks,
            declarations=side.declarations,
            belote=side.belote,
            contract=side.contract,
            total=side.total,
            marked=side.marked,
        )
