"""What a call must pass before it is judged, and how the ledger's refusals are told."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final
from uuid import UUID, uuid5

import asyncpg
import grpc
from kafeneio.common.v1 import errors_pb2
from kafeneio_runtime.auth import Role
from kafeneio_runtime.errors import Reason, Refusal, exists, failed, forbidden, malformed, not_found
from kafeneio_runtime.interceptors.current import caller

from kafeneio_settlement import payouts, pools
from kafeneio_settlement.domain import (
    InsufficientFundsError,
    OverflowingError,
    State,
    player_account,
)

LONGEST_PLAYER: Final = 64


def storable(text: str, field: str) -> str:
    """A text as it was sent; raises MALFORMED where PostgreSQL cannot keep it."""
    if "\0" in text:
        raise malformed(field, "must not have a NUL in it")
    return text


def whose(player: str) -> str:
    """Into whose wallet the caller looks: his own, unless he is a service or an operator.

    Raises NOT_YOUR_WALLET, or MALFORMED where nobody is named and the caller has no wallet.
    """
    who = caller()
    if who.role is Role.PLAYER:
        if player not in ("", who.subject):
            raise forbidden(
                errors_pb2.ERROR_REASON_NOT_YOUR_WALLET, "a player sees his own wallet only"
            )
        return who.subject
    if not player:
        raise malformed("player_id", f"a {who.role.value} has no wallet: say whose you mean")
    return storable(player, "player_id")


def check_own_game(players: Sequence[str]) -> None:
    """Raises NOT_YOUR_SEAT for a player who has no part in a game."""
    who = caller()
    if who.role is Role.PLAYER and who.subject not in players:
        raise forbidden(errors_pb2.ERROR_REASON_NOT_YOUR_SEAT, "you had no seat in this game")


def transaction_id(request_id: UUID, method: str) -> UUID:
    """The id of what a call does to the ledger. It outlives the kept answers: a call that is sent
    again after they are forgotten finds it taken."""
    return uuid5(request_id, f"{caller().subject} {method}")


def game_unknown(game_id: UUID) -> Refusal:
    """Nothing was ever heard of the game."""
    return not_found(errors_pb2.ERROR_REASON_GAME_UNKNOWN, f"there is no game {game_id}")


def wallet_unknown() -> Refusal:
    """Nothing was ever paid in."""
    return not_found(errors_pb2.ERROR_REASON_WALLET_UNKNOWN, "there is no such wallet")


def check_settled(state: State) -> None:
    """Raises GAME_NOT_OVER where a game is not paid: until then nothing of it is to be corrected.
    HOLD_RELEASED where it never will be."""
    if state is State.RELEASED:
        raise failed(errors_pb2.ERROR_REASON_HOLD_RELEASED, "the stakes of the game were released")
    if state is not State.SETTLED:
        raise failed(errors_pb2.ERROR_REASON_GAME_NOT_OVER, "the game is not settled yet")


def check_second(proposed_by: str) -> None:
    """Raises ROLE_REQUIRED to an operator who would approve what he has proposed himself."""
    if caller().subject == proposed_by:
        raise forbidden(
            errors_pb2.ERROR_REASON_ROLE_REQUIRED,
            "another operator must approve it",
            roles=Role.OPERATOR.value,
        )


def pool_unknown(tournament_id: UUID) -> Refusal:
    """No terms were published."""
    return not_found(
        errors_pb2.ERROR_REASON_POOL_UNKNOWN, f"there is no prize pool of {tournament_id}"
    )


def pool_settled(state: pools.State) -> Refusal:
    """Too late."""
    return failed(
        errors_pb2.ERROR_REASON_POOL_SETTLED,
        f"the prize pool is {state.value}",
        state=state.name,
    )


def check_pool_open(state: pools.State) -> None:
    """Raises POOL_SETTLED."""
    if state is not pools.State.OPEN:
        raise pool_settled(state)


@contextmanager
def complete() -> Iterator[None]:
    """Turns what is wrong with standings into what a caller is told."""
    try:
        yield
    except pools.IncompleteError as error:
        first = next(iter((*error.missing, *error.unknown, *error.repeated)))
        raise failed(
            errors_pb2.ERROR_REASON_STANDINGS_INCOMPLETE,
            str(error),
            missing=str(len(error.missing)),
            unknown=str(len(error.unknown)),
            repeated=str(len(error.repeated)),
            entry_id=str(first),
        ) from error


@contextmanager
def payable() -> Iterator[None]:
    """Turns what a payout rule refuses into what a caller is told."""
    try:
        yield
    except payouts.UnknownRuleError as error:
        raise not_found(errors_pb2.ERROR_REASON_PAYOUT_RULE_UNKNOWN, str(error)) from error
    except payouts.NotPayableError as error:
        raise failed(errors_pb2.ERROR_REASON_PAYOUT_IMPOSSIBLE, str(error)) from error
    except payouts.TooLargeError as error:
        raise failed(errors_pb2.ERROR_REASON_AMOUNT_OVERFLOW, str(error)) from error


def check_before_start(state: State) -> None:
    """Raises GAME_STARTED or GAME_OVER."""
    if state is State.STARTED:
        raise failed(errors_pb2.ERROR_REASON_GAME_STARTED, "the game has started")
    if state in (State.PENDING, State.MISMATCH, State.SETTLED):
        raise failed(errors_pb2.ERROR_REASON_GAME_OVER, "the game is over")


def check_wallets(players: Sequence[str], statuses: dict[str, str]) -> None:
    """Raises WALLET_UNKNOWN, WALLET_SUSPENDED, or INSUFFICIENT_FUNDS where a wallet owes (S6), with
    the seats concerned."""
    unknown = [seat for seat, player in enumerate(players) if player not in statuses]
    if unknown:
        raise _of_seats(
            grpc.StatusCode.NOT_FOUND,
            errors_pb2.ERROR_REASON_WALLET_UNKNOWN,
            "nothing was ever paid in",
            unknown,
        )
    suspended = [seat for seat, player in enumerate(players) if statuses[player] == "suspended"]
    if suspended:
        raise _of_seats(
            grpc.StatusCode.FAILED_PRECONDITION,
            errors_pb2.ERROR_REASON_WALLET_SUSPENDED,
            "the wallet is suspended",
            suspended,
        )
    owing = [seat for seat, player in enumerate(players) if statuses[player] == "owing"]
    if owing:
        raise _of_seats(
            grpc.StatusCode.FAILED_PRECONDITION,
            errors_pb2.ERROR_REASON_INSUFFICIENT_FUNDS,
            "the wallet owes money, and that is to be paid first",
            owing,
        )


@contextmanager
def refused(players: Sequence[str] = ()) -> Iterator[None]:
    """Turns what the ledger refuses into what a caller is told; `players` by seat where the call
    names several."""
    try:
        yield
    except InsufficientFundsError as error:
        short = {account.name for account in error.accounts}
        seats = [seat for seat, player in enumerate(players) if player_account(player) in short]
        raise _of_seats(
            grpc.StatusCode.FAILED_PRECONDITION,
            errors_pb2.ERROR_REASON_INSUFFICIENT_FUNDS,
            "there is not enough money",
            seats,
        ) from error
    except OverflowingError as error:
        raise failed(
            errors_pb2.ERROR_REASON_AMOUNT_OVERFLOW, "the sum is more than can be counted"
        ) from error
    except asyncpg.UniqueViolationError as error:
        if error.table_name not in ("transactions", "transfers"):
            raise
        raise exists(
            errors_pb2.ERROR_REASON_REQUEST_ID_REUSED, "the request id was used long ago"
        ) from error


def _of_seats(code: grpc.StatusCode, reason: Reason, message: str, seats: Iterable[int]) -> Refusal:
    """A refusal for what some seats lack; without seats where the call names one player."""
    listed = ",".join(map(str, seats))
    text = f"{message}: seats {listed}" if listed else message
    return Refusal(code, reason, text, metadata={"seats": listed} if listed else None)
