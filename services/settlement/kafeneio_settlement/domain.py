"""What `settlement` knows: movements of money, and what is to be done with the stakes of a game.

Pure: no wire, no store, no clock. Money moves by transfers only, each with a debit, a credit and an
amount of more than nothing, so no movement changes the total.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final, NamedTuple
from uuid import UUID, uuid5

from kafeneio_settlement import payouts
from kafeneio_settlement.payouts import LARGEST, Payout, Result, Stakes

FEES = "house:fees"
CASHIER = "external:cashier"
"""Everything that is outside of the house; its balance is below zero by what is inside."""

PAYOUT_VERSION = 1
"""The settlement version of a payout; what follows it is a correction."""


class LedgerError(Exception):
    """A movement that the ledger refuses. Nothing of it is done."""


class InsufficientFundsError(LedgerError):
    """Accounts that would have gone below zero."""

    def __init__(self, accounts: Iterable[Account]) -> None:
        self.accounts = tuple(accounts)
        super().__init__(f"{len(self.accounts)} accounts have too little")


class OverflowingError(LedgerError):
    """An account would have held more than can be counted."""


class Account(NamedTuple):
    """Money of one currency in one place. `name` is "player:ID", "escrow:GAME" (or a tournament's),
    or one of the house's own."""

    name: str
    currency: str

    @property
    def may_owe(self) -> bool:
        """Whether anything may leave it below zero: only what stands for the outside may."""
        return self.name == CASHIER


class Standing(NamedTuple):
    """An account's money, and how many transfers made it so."""

    balance: int = 0
    version: int = 0


class Kind(StrEnum):
    """Why money moves."""

    DEPOSIT = "deposit"
    WITHDRAWAL = "withdrawal"
    HOLD = "hold"
    RELEASE = "release"
    PAYOUT = "payout"
    REVERSAL = "reversal"
    CORRECTION = "correction"


CORRECTING: Final = frozenset({Kind.REVERSAL, Kind.CORRECTION})
"""Only these may leave a debt, and only to a player (S6)."""


@dataclass(frozen=True, slots=True)
class Transfer:
    """One movement between two accounts."""

    debit: str
    credit: str
    amount: int

    def __post_init__(self) -> None:
        if self.amount <= 0 or self.debit == self.credit:
            raise ValueError("a transfer moves more than nothing, to another account")


@dataclass(frozen=True, slots=True)
class Movement:
    """One transaction of the ledger, in one currency: all of its transfers are done, or none.

    The id follows from what it is done for, so that the database itself refuses to do it twice.
    """

    id: UUID
    kind: Kind
    currency: str
    transfers: tuple[Transfer, ...]
    game_id: UUID | None = None
    tournament_id: UUID | None = None

    @property
    def accounts(self) -> set[Account]:
        """Every account that it touches."""
        names = {transfer.debit for transfer in self.transfers}
        names.update(transfer.credit for transfer in self.transfers)
        return {Account(name, self.currency) for name in names}

    @property
    def opened(self) -> set[Account]:
        """Those of them that there may not be yet, and where the fee will go. What comes out of an
        escrow goes to those who have staked into it, so all other kinds open none."""
        if self.kind not in (Kind.DEPOSIT, Kind.HOLD):
            return set()
        other = CASHIER if self.kind is Kind.DEPOSIT else FEES
        credited = {transfer.credit for transfer in self.transfers}
        return {Account(name, self.currency) for name in (*credited, other)}


class Posting(NamedTuple):
    """A transfer with what it makes of its two accounts."""

    movement: Movement
    position: int
    transfer: Transfer
    debited: Standing
    credited: Standing


PLAYERS: Final = "player:"
ESCROWS: Final = "escrow:"


def player_account(player: str) -> str:
    """A player's wallet."""
    return PLAYERS + player


def escrow_account(subject: UUID) -> str:
    """Where the stakes of a game lie, or the entry fees of a tournament."""
    return f"{ESCROWS}{subject}"


def post(
    standings: Mapping[Account, Standing], movements: Iterable[Movement]
) -> tuple[list[Posting], dict[Account, Standing]]:
    """Do the transfers one by one; what each made of its accounts, and where those stand after all.

    Raises InsufficientFundsError where a movement would take from an account what is not there
    (a correction may, from a player), and OverflowingError.
    """
    now = dict(standings)
    postings: list[Posting] = []
    for movement in movements:
        short: set[Account] = set()
        most = 0
        for position, transfer in enumerate(movement.transfers):
            debit = Account(transfer.debit, movement.currency)
            credit = Account(transfer.credit, movement.currency)
            debited = now[debit] = _moved(now[debit], -transfer.amount)
            credited = now[credit] = _moved(now[credit], transfer.amount)
            if debited.balance < 0 and not _may_owe(debit, movement.kind):
                short.add(debit)
            most = max(most, -debited.balance, credited.balance)
            postings.append(Posting(movement, position, transfer, debited, credited))
        if short:
            raise InsufficientFundsError(sorted(short))
        if most > LARGEST:
            raise OverflowingError("a balance would be more than can be counted")
    return postings, now


def _may_owe(account: Account, kind: Kind) -> bool:
    return account.may_owe or (kind in CORRECTING and account.name.startswith(PLAYERS))


def _moved(standing: Standing, amount: int) -> Standing:
    return Standing(standing.balance + amount, standing.version + 1)


def deposit(name: UUID, player: str, currency: str, amount: int) -> Movement:
    """Money comes in."""
    transfer = Transfer(CASHIER, player_account(player), amount)
    return Movement(name, Kind.DEPOSIT, currency, (transfer,))


def withdrawal(name: UUID, player: str, currency: str, amount: int) -> Movement:
    """Money goes out."""
    transfer = Transfer(player_account(player), CASHIER, amount)
    return Movement(name, Kind.WITHDRAWAL, currency, (transfer,))


# --- games -----------------------------------------------------------------------------------


class State(StrEnum):
    """Where the money of a game stands."""

    HELD = "held"
    RELEASED = "released"
    STARTED = "started"
    PENDING = "pending"
    MISMATCH = "mismatch"
    SETTLED = "settled"


class Problem(StrEnum):
    """Why a game that is over is not paid."""

    FORFEITS_DIFFER = "forfeits_differ"
    PLAYERS_DIFFER = "players_differ"
    NOT_PAYABLE = "not_payable"
    STAKES_RELEASED = "stakes_released"


@dataclass(frozen=True, slots=True)
class Hold:
    """The stakes of a game; `players` in the order of the seats."""

    players: tuple[str, ...]
    currency: str
    stake: int
    fee_basis_points: int

    @property
    def stakes(self) -> Stakes:
        """What was put in."""
        return Stakes(self.stake, len(self.players))


@dataclass(frozen=True, slots=True, order=True)
class Forfeit:
    """A seat that is out, with its reason of X12."""

    seat: int
    reason: str


@dataclass(frozen=True, slots=True)
class Finish:
    """The first witness: what `rules` says of the end of a game."""

    winners: tuple[int, ...]
    score: tuple[int, ...]
    ending: str
    void: str
    forfeits: tuple[Forfeit, ...]
    variant: str
    payout_rule: str


@dataclass(frozen=True, slots=True)
class Closing:
    """The second witness: the forfeits that `clock` has announced."""

    forfeits: tuple[Forfeit, ...]


class Game(NamedTuple):
    """All that is known of a game. `seated` is who played, as `rules` said at the start."""

    game_id: UUID
    state: State
    hold: Hold | None = None
    held_at: datetime | None = None
    released: bool = False
    seated: tuple[str, ...] | None = None
    started_at: datetime | None = None
    finish: Finish | None = None
    finished_at: datetime | None = None
    closing: Closing | None = None
    closed_at: datetime | None = None
    problem: Problem | None = None
    announced: int = 0

    @property
    def escrow(self) -> Hold | None:
        """The stakes that lie in escrow, unless they are paid already."""
        return None if self.released else self.hold

    @property
    def players(self) -> tuple[str, ...]:
        """Whose game it is."""
        return self.hold.players if self.hold else self.seated or ()

    @property
    def ending(self) -> bool:
        """Whether a witness has spoken."""
        return self.finish is not None or self.closing is not None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is to be paid; no payout where no stakes were held."""

    payout_rule: str
    rule_version: int
    void: bool
    payout: Payout | None


def by_rules(game: Game) -> Verdict | None:
    """What the log of `rules` makes of a finished game; None where that can't be paid."""
    finish, hold = game.finish, game.escrow
    assert finish is not None, "only a finished game is paid"
    try:
        result = Result(finish.winners, finish.void)
        rule = payouts.rule_named(finish.payout_rule)
        if hold is None:
            return Verdict(rule.name, rule.version, bool(finish.void), None)
        out = frozenset(forfeit.seat for forfeit in finish.forfeits)
        payout = payouts.pay(rule.name, hold.stakes, result, out, hold.fee_basis_points)
    except (payouts.NotPayableError, payouts.UnknownRuleError):
        return None
    return Verdict(rule.name, rule.version, payout.void, payout)


def nothing_won(game: Game) -> Verdict:
    """Everything goes back, whatever the witnesses say."""
    finish, hold = game.finish, game.escrow
    known = payouts.RULES.get(finish.payout_rule) if finish else None
    return Verdict(
        finish.payout_rule if finish else "",
        known.version if known else 0,
        True,
        None if hold is None else payouts.everything_back(hold.stakes),
    )


def hold_movement(game_id: UUID, hold: Hold) -> Movement:
    """Every seat's stake goes into escrow."""
    escrow = escrow_account(game_id)
    transfers = tuple(Transfer(player_account(p), escrow, hold.stake) for p in hold.players)
    return Movement(uuid5(game_id, "hold"), Kind.HOLD, hold.currency, transfers, game_id)


def release_movement(game_id: UUID, hold: Hold) -> Movement:
    """Every stake goes back, before the start."""
    shares = (hold.stake,) * len(hold.players)
    transfers = out_of_escrow(game_id, hold.players, shares, 0)
    return Movement(uuid5(game_id, "release"), Kind.RELEASE, hold.currency, transfers, game_id)


def payout_movement(game_id: UUID, hold: Hold, payout: Payout) -> Movement:
    """The escrow is paid out, all of it."""
    transfers = out_of_escrow(game_id, hold.players, payout.shares, payout.fee)
    name = settlement_id(game_id, PAYOUT_VERSION)
    return Movement(name, Kind.PAYOUT, hold.currency, transfers, game_id)


def settlement_id(subject: UUID, version: int) -> UUID:
    """The id of the transaction that a settlement of a game or tournament is: from what does not
    change on a retry."""
    return uuid5(subject, f"settlement {version}")


def reversal_id(subject: UUID, version: int) -> UUID:
    """The id of the transaction that reverses a settlement."""
    return uuid5(subject, f"reversal {version}")


def out_of_escrow(
    subject: UUID, players: Sequence[str], shares: Sequence[int], fee: int
) -> tuple[Transfer, ...]:
    """What takes each player's share, and the fee, out of the escrow of a game or tournament."""
    escrow = escrow_account(subject)
    places = [*map(player_account, players), FEES]
    amounts = [*shares, fee]
    return tuple(
        Transfer(escrow, place, amount)
        for place, amount in zip(places, amounts, strict=True)
        if amount
    )


def restaked(subject: UUID, players: Sequence[str], more: int) -> tuple[Transfer, ...]:
    """What each player puts into escrow yet, or gets back where it is less than nothing."""
    escrow, wallets = escrow_account(subject), map(player_account, players)
    if more > 0:
        return tuple(Transfer(wallet, escrow, more) for wallet in wallets)
    if more < 0:
        return tuple(Transfer(escrow, wallet, -more) for wallet in wallets)
    return ()


def undone(transfers: Sequence[Transfer]) -> tuple[Transfer, ...]:
    """What takes transfers back, the last first."""
    return tuple(Transfer(each.credit, each.debit, each.amount) for each in reversed(transfers))


def movement_of(verdict: Verdict, game: Game) -> Movement | None:
    """The movement that a verdict asks for; None where nothing was staked."""
    if verdict.payout is None or game.escrow is None:
        return None
    return payout_movement(game.game_id, game.escrow, verdict.payout)
