"""What a seat sees, as the values of `kafeneio_games`: for programs that know the rules themselves.

The inverse of what `rules` makes of a view. A computer player is given such a view and nothing
else of the game.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, TypeAlias

from kafeneio.rules.v1 import actions_pb2, views_pb2
from kafeneio.rules.v1 import game_pb2 as pb
from kafeneio_games import fevga, gulbara, melds, plakoto, portes, rummy_hand
from kafeneio_games.belote_match import BeloteMatch
from kafeneio_games.cards import Card
from kafeneio_games.declarations import Kind
from kafeneio_games.elimination_match import EliminationMatch
from kafeneio_games.game import AnyGame, Result, Seat
from kafeneio_games.match import Match, PointsMatch
from kafeneio_games.registry import build
from kafeneio_games.rummy_view import HandEndView, MeldView, RummyView
from kafeneio_games.target_match import TargetMatch
from kafeneio_games.tavli import Stage as TavliStage
from kafeneio_games.trick_view import Contract, Declared, SideSheet, Stage, TrickView

TavliState: TypeAlias = portes.State | plakoto.State | fevga.State | gulbara.State
View: TypeAlias = TavliState | TrickView | RummyView

_SUITS: Final = {
    actions_pb2.SUIT_UNSPECIFIED: "",
    actions_pb2.SUIT_SPADES: "S",
    actions_pb2.SUIT_HEARTS: "H",
    actions_pb2.SUIT_DIAMONDS: "D",
    actions_pb2.SUIT_CLUBS: "C",
}
_STAGES: Final = {views_pb2.TrickStage.Value(f"TRICK_STAGE_{stage.name}"): stage for stage in Stage}
_RUMMY_STAGES: Final = {
    views_pb2.RummyStage.Value(f"RUMMY_STAGE_{stage.name}"): stage for stage in rummy_hand.Stage
}
_MELD_KINDS: Final = {
    actions_pb2.MeldKind.Value(f"MELD_KIND_{kind.name}"): kind for kind in melds.Kind
}


class NotSeenError(ValueError):
    """A message that shows no table, or one that this program does not know."""


def games_of(match: Match) -> tuple[AnyGame, ...]:
    """The games that a match consists of, with its house rules; each may be played many times."""
    match match:
        case PointsMatch():
            return match.games
        case TargetMatch() | BeloteMatch() | EliminationMatch():
            return (match.game,)
    raise NotSeenError(f"a {type(match).__name__} is unknown")


def game_of(terms: pb.Terms, position: pb.Position) -> AnyGame:
    """The rules of the round that a position shows.

    NotSeenError where it shows none; a `BuildError` for terms that this program does not know.
    """
    name = _table_name(position.view)
    match = build(terms.variant, terms.edition, dict(terms.options), terms.target)
    for game in games_of(match):
        if game.name.partition("@")[0] == name:
            return game
    raise NotSeenError(f"{terms.variant} has no game {name!r}")


def view(game: AnyGame, position: pb.Position) -> View:
    """What whoever got the position sees of the round, as `game.view` gives it.

    Of a game of tavli that is over the result is not there. NotSeenError where it shows no table,
    or one of another game.
    """
    name = game.name.partition("@")[0]
    shown = _table_name(position.view)
    if shown != name:
        raise NotSeenError(f"{shown!r} is on the table, and not {name!r}")
    match position.view.WhichOneof("table"):
        case "tavli":
            return _tavli(position)
        case "tricks":
            return _tricks(position)
        case "rummy":
            return _rummy(game.name, position.view.rummy)
    raise NotSeenError(f"a table of {shown!r} is unknown")


def _table_name(shown: views_pb2.View) -> str:
    """Which game lies on the table."""
    match shown.WhichOneof("table"):
        case "tavli":
            return shown.tavli.game
        case "tricks":
            return shown.tricks.game
        case "rummy":
            return shown.rummy.game
    raise NotSeenError("no table is shown")


# --- tavli -----------------------------------------------------------------------------------


def _tavli(position: pb.Position) -> TavliState:
    table = position.view.tavli
    first, second = (bytes(side.points) for side in table.sides)
    boards, mover, dice = (first, second), Seat(table.mover), tuple(table.dice)
    rolled = tuple(table.rolled)
    stage = TavliStage.MOVE if dice else TavliStage.ROLL
    if position.status == pb.GAME_STATUS_FINISHED:
        stage = TavliStage.OVER
    match table.game:
        case "portes":
            return portes.State(boards, mover, dice, rolled, stage, None)
        case "fevga":
            return fevga.State(boards, mover, dice, rolled, stage, None)
        case "plakoto":
            pinned = (tuple(table.sides[0].pinned), tuple(table.sides[1].pinned))
            return plakoto.State(boards, mover, dice, rolled, stage, None, pinned)
        case "gulbara":
            received, throws = tuple(table.received), (table.throws[0], table.throws[1])
            return gulbara.State(boards, mover, dice, rolled, stage, None, received, throws)
    raise NotSeenError(f"no game of tavli is called {table.game!r}")


# --- tricks ----------------------------------------------------------------------------------


def _tricks(position: pb.Position) -> TrickView:
    table = position.view.tricks
    return TrickView(
        game=table.game,
        stage=_STAGES[table.stage],
        dealer=Seat(table.dealer),
        seat=Seat(table.seat) if table.HasField("seat") else None,
        hand=tuple(map(Card, table.hand)),
        counts=tuple(table.counts),
        calls=_calls(table.calls),
        turned=_card(table.turned),
        contract=_contract(table.contract) if table.HasField("contract") else None,
        prompted=Seat(position.turn.seat) if position.HasField("turn") else None,
        trick=_cards(table.trick),
        last_trick=_cards(table.last_trick),
        played=_cards(table.played),
        tricks=tuple(table.tricks),
        points=tuple(table.points),
        declarations=tuple(map(_declared, table.declarations)),
        belote=_calls(table.belote),
        can_declare=table.can_declare,
        result=_result(table.result) if table.HasField("result") else None,
        sheet=tuple(map(_side_sheet, table.sheet)) or None,
    )


def _calls(messages: Iterable[views_pb2.TrickCall]) -> tuple[tuple[Seat, str], ...]:
    return tuple([(Seat(each.seat), each.call) for each in messages])


def _cards(messages: Iterable[views_pb2.TrickCard]) -> tuple[tuple[Seat, Card], ...]:
    return tuple([(Seat(each.seat), Card(each.card)) for each in messages])


def _contract(message: views_pb2.Contract) -> Contract:
    return Contract(
        seat=Seat(message.seat),
        side=message.side,
        value=message.value,
        trump=_SUITS[message.trump],
        capot=message.capot,
        multiplier=message.multiplier,
    )


def _declared(message: views_pb2.Declaration) -> Declared:
    return Declared(
        seat=Seat(message.seat),
        kind=Kind(message.kind) if message.kind else None,
        points=message.points,
        cards=tuple(map(Card, message.cards)),
        scored=message.scored if message.HasField("scored") else None,
    )


def _result(message: views_pb2.HandResult) -> Result:
    return Result(tuple(message.points), message.ending)


def _side_sheet(message: views_pb2.SideSheet) -> SideSheet:
    return SideSheet(
        tricks=message.tricks,
        declarations=message.declarations,
        belote=message.belote,
        contract=message.contract,
        total=message.total,
        marked=message.marked,
    )


# --- rummy -----------------------------------------------------------------------------------


def _rummy(name: str, table: views_pb2.RummyView) -> RummyView:
    return RummyView(
        game=name,
        stage=_RUMMY_STAGES[table.stage],
        dealer=Seat(table.dealer),
        live=tuple(map(Seat, table.live)),
        mover=Seat(table.mover) if table.HasField("mover") else None,
        drawn=table.drawn,
        hand=tuple(map(Card, table.hand)),
        counts=tuple(table.counts),
        stock_left=table.stock_left,
        reshuffles=table.reshuffles,
        discard_top=_card(table.discard_top),
        discard_count=table.discard_count,
        turned=_card(table.turned),
        wild_ranks=tuple(table.wild_ranks),
        melds=tuple(map(_meld, table.melds)),
        opened=tuple(table.opened),
        taken=_card(table.taken),
        owed=table.owed,
        out=Seat(table.out) if table.HasField("out") else None,
        ends=tuple(map(_hand_end, table.ends)),
        result=_result(table.result) if table.HasField("result") else None,
    )


def _card(text: str) -> Card | None:
    return Card(text) if text else None


def _meld(message: views_pb2.Meld) -> MeldView:
    return MeldView(
        owner=Seat(message.owner) if message.HasField("owner") else None,
        kind=_MELD_KINDS[message.kind],
        cards=tuple(map(Card, message.cards)),
        stands_for=tuple(map(Card, message.stands_for)),
    )


def _hand_end(message: views_pb2.HandEnd) -> HandEndView:
    return HandEndView(
        seat=Seat(message.seat),
        hand=tuple(map(Card, message.hand)),
        melds=tuple(map(_meld, message.melds)),
        left=tuple(map(Card, message.left)),
        deadwood=message.deadwood,
    )
