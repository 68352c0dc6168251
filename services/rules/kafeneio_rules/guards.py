"""What a call must pass before it is judged, and what is read of a request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from kafeneio.common.v1 import errors_pb2
from kafeneio.rules.v1 import actions_pb2, game_pb2
from kafeneio_games import registry
from kafeneio_games.game import Illegal, OutOfOrder, Seat, Unreadable
from kafeneio_games.play import Play
from kafeneio_runtime.auth import Role
from kafeneio_runtime.errors import Refusal, failed, forbidden, illegal, malformed, not_found, stale
from kafeneio_runtime.ids import parse_id
from kafeneio_runtime.interceptors.current import caller, request_digest

from kafeneio_rules import wire
from kafeneio_rules.domain import Status, Terms
from kafeneio_rules.storage import Request
from kafeneio_rules.table import Table

COMPUTER_NAME: Final = "computer-"
"""How the names of computers begin."""


@contextmanager
def judged(table: Table, field: str = "actions") -> Iterator[None]:
    """Turns what the rules refuse into what a caller is told."""
    try:
        yield
    except Illegal as refusal:
        raise illegal(refusal.rule, str(refusal)) from refusal
    except Unreadable as refusal:
        raise malformed(field, str(refusal)) from refusal
    except OutOfOrder as refusal:
        if refusal.reason == "FORFEITED":
            raise forbidden(errors_pb2.ERROR_REASON_NOT_YOUR_SEAT, str(refusal)) from refusal
        if refusal.reason == "ELIMINATED":
            raise failed(errors_pb2.ERROR_REASON_SEAT_ELIMINATED, str(refusal)) from refusal
        if refusal.reason == "NOT_RESIGNABLE":
            raise failed(errors_pb2.ERROR_REASON_NOT_RESIGNABLE, str(refusal)) from refusal
        # The table runs, so one that is over is so in mid-batch only: nobody is to act then.
        raise not_your_turn(table) from refusal


def game_over() -> Refusal:
    """The game is decided or void."""
    return failed(errors_pb2.ERROR_REASON_GAME_OVER, "the game is over")


def game_cancelled() -> Refusal:
    """The game was cancelled before it started."""
    return failed(errors_pb2.ERROR_REASON_GAME_CANCELLED, "the game was cancelled")


def not_your_turn(table: Table) -> Refusal:
    """Another seat, or nobody, is to act."""
    return failed(
        errors_pb2.ERROR_REASON_NOT_YOUR_TURN,
        "it is not this seat's turn",
        version=str(table.version),
    )


def check_running(table: Table) -> None:
    """Raises GAME_NOT_STARTED, GAME_CANCELLED or GAME_OVER."""
    if table.status is Status.RUNNING:
        return
    if table.status is Status.WAITING:
        raise failed(errors_pb2.ERROR_REASON_GAME_NOT_STARTED, "not every seat has joined yet")
    check_not_ended(table)


def check_not_ended(table: Table) -> None:
    """Raises GAME_CANCELLED or GAME_OVER."""
    if table.status is Status.CANCELLED:
        raise game_cancelled()
    if table.status is Status.FINISHED:
        raise game_over()


def own_seat(table: Table) -> Seat:
    """The caller's seat; raises NOT_YOUR_SEAT where he has none."""
    seat = table.seat_of(caller().subject)
    if seat is None:
        raise forbidden(errors_pb2.ERROR_REASON_NOT_YOUR_SEAT, "you have no seat in this game")
    return seat


def check_in(table: Table, seat: Seat) -> None:
    """Raises NOT_YOUR_SEAT where the seat's player is out: a computer plays it now (F1)."""
    if table.play.forfeited(seat):
        raise forbidden(errors_pb2.ERROR_REASON_NOT_YOUR_SEAT, "you are out of this game")


def computer_seat(table: Table, as_seat: int) -> Seat:
    """A seat that a service speaks for; raises NOT_YOUR_SEAT where no computer plays it."""
    seat = Seat(as_seat)
    if caller().role is not Role.SERVICE or seat not in table.play.computers:
        raise forbidden(errors_pb2.ERROR_REASON_NOT_YOUR_SEAT, "no computer of yours sits there")
    return seat


def acting_seat(table: Table, request: game_pb2.ActRequest) -> Seat:
    """For whom a call acts; raises NOT_YOUR_SEAT."""
    if request.HasField("as_seat"):
        return computer_seat(table, request.as_seat)
    return own_seat(table)


def answers_a_bid(actions: Sequence[actions_pb2.Action]) -> bool:
    """Whether a batch is a contra, and nothing else."""
    return len(actions) == 1 and (
        actions[0].HasField("contra") or actions[0].notation.startswith("contra ")
    )


def awaited(table: Table, seat: Seat | None) -> bool:
    """Whether a seat is to act."""
    return seat in table.play.to_act


def visible_seat(table: Table) -> Seat:
    """Whose actions a spectator may list: the prompted seat's, where nothing is hidden."""
    play = table.play
    if play.game is None or play.game.hidden or play.prompted is None:
        raise forbidden(errors_pb2.ERROR_REASON_NOT_YOUR_SEAT, "you have no seat in this game")
    return play.prompted


def read_actions(play: Play, actions: Sequence[actions_pb2.Action], field: str) -> list[str]:
    """A batch as texts of log entries; raises MALFORMED, naming the action."""
    game = play.game
    if game is None:  # only while the house is about to throw
        raise malformed(field, "there is no round to act in")
    return [
        wire.action_text(game, action, f"{field}[{index}]") for index, action in enumerate(actions)
    ]


def check_blind(play: Play, texts: Sequence[str], field: str) -> None:
    """Raises MALFORMED where more is to be judged after a card was drawn: whether it is refused
    would tell which card that is, and a refusal changes nothing."""
    for index, text in enumerate(texts):
        if play.game is not None and wire.reveals(play.game, text):
            raise malformed(f"{field}[{index}]", "nothing can follow until the card is seen")


def read_request(request_id: str) -> Request:
    """The call itself, as the log keeps it."""
    return Request(caller().subject, parse_id(request_id, "request_id"), request_digest())


def storable(text: str, field: str) -> str:
    """A text as it was sent; raises MALFORMED where PostgreSQL cannot keep it."""
    if "\0" in text:
        raise malformed(field, "must not have a NUL in it")
    return text


def read_terms(message: game_pb2.Terms, players: int) -> Terms:
    """What is to be agreed, with every option and the target settled.

    Raises VARIANT_UNKNOWN, OPTION_INVALID, or MALFORMED for a wrong number of players.
    """
    try:
        variant = registry.variant(message.variant, message.edition or None)
        options = variant.settled_options(message.options)
        target = variant.settled_target(message.target or None)
    except (registry.UnknownVariantError, registry.UnknownEditionError) as error:
        raise not_found(errors_pb2.ERROR_REASON_VARIANT_UNKNOWN, str(error)) from error
    except registry.BuildError as error:
        name = "target" if isinstance(error, registry.BadTargetError) else error.name
        raise failed(errors_pb2.ERROR_REASON_OPTION_INVALID, str(error), option=name) from error
    seats = sum(map(len, variant.sides_with(options)))
    if players != seats:
        raise malformed("player_ids", f"with these options {variant.id} is played by {seats}")
    return Terms(variant.id, variant.edition, tuple(sorted(options.items())), target)


def read_computers(request: game_pb2.CreateGameRequest) -> tuple[Seat, ...]:
    """The seats that computers play from the start; raises MALFORMED."""
    computers = tuple(sorted(map(Seat, request.computer_seats)))
    players = len(request.player_ids)
    if computers and (computers[-1] >= players or len(computers) == players):
        raise malformed("computer_seats", "must be seats of the game, and leave one to a person")
    for seat, player in enumerate(request.player_ids):
        if player.casefold().startswith(COMPUTER_NAME) and seat not in computers:  # M7
            raise malformed(f"player_ids[{seat}]", "a person is not called like a computer")
    return computers


def page_start(token: str, version: int) -> int:
    """Where a page of legal actions begins; raises STALE_VERSION where the game has moved on."""
    if not token:
        return 0
    seen, _, start = token.partition(".")
    if not (token.isascii() and seen.isdecimal() and start.isdecimal() and len(start) < 10):
        raise malformed("page_token", "this token was not made here")
    if int(seen) != version:
        raise stale(version)
    return int(start)
