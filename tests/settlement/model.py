"""The ledger as a child would keep it: what each has, and where each game stands."""

from __future__ import annotations

from dataclasses import dataclass, field

from kafeneio_runtime.bus import Event

from tests.settlement.house import Says


@dataclass
class Game:
    """A game, how it will end, and what has become of its stakes; `paid` is what the settlement
    that counts has given to whom."""

    says: Says
    seats: tuple[str, str]
    stake: int
    fee: int
    start: Event
    finish: Event
    closing: Event
    winner: int
    void: bool
    out: bool
    differ: bool
    state: str = "held"
    witnesses: set[str] = field(default_factory=set)
    paid: dict[str, int] = field(default_factory=dict)
    version: int = 0
    proposed: list[tuple[int, int | None]] = field(default_factory=list)
    """(settlement that it corrects, winner or None for void), by number."""


@dataclass
class Tournament:
    """A tournament of single players who pay `entry_fee` each, who is in it (by entry), and what
    the settlement that counts has given to whom. Its prizes are 70 % and 30 %."""

    tournament_id: str
    entry_fee: int
    fee: int
    entries: dict[str, str] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    state: str = "open"
    paid: dict[str, int] = field(default_factory=dict)
    version: int = 0
    first: list[str] | None = None
    proposed: list[tuple[int, list[str] | None]] = field(default_factory=list)
    """(settlement that it corrects, order of the entries or None for void), by number."""


FEES = "the house"


@dataclass
class Model:
    """All of it; the house's fees are FEES."""

    money: dict[str, int] = field(default_factory=dict)
    suspended: set[str] = field(default_factory=set)
    fees: int = 0

    def can_hold(self, seats: tuple[str, str], stake: int) -> bool:
        """Whether a hold is answered: nobody is suspended, and nobody has too little or owes."""
        return all(who not in self.suspended and self.money.get(who, -1) >= stake for who in seats)

    def pay(self, game: Game, winner: int | None, fee: int) -> None:
        """The winner takes all but the fee; without one everything goes back. What was paid before
        is taken back first, whether it is still there or not."""
        for who, amount in game.paid.items():
            self._give(who, -amount)
        if winner is None:
            game.paid = dict.fromkeys(game.seats, game.stake)
        else:
            game.paid = {game.seats[winner]: 2 * game.stake - fee, FEES: fee}
        for who, amount in game.paid.items():
            self._give(who, amount)
        game.version += 1
        game.state = "settled"

    def _give(self, who: str, amount: int) -> None:
        if who == FEES:
            self.fees += amount
        else:
            self.money[who] += amount

    def enter(self, tournament: Tournament, entry: str, who: str) -> bool:
        """Whether somebody is let in; then he has paid."""
        free = not tournament.entry_fee
        able = free or (
            who not in self.suspended and self.money.get(who, -1) >= tournament.entry_fee
        )
        if entry in tournament.gone or tournament.state != "open" or not able:
            return False
        tournament.entries[entry] = who
        if not free:
            self.money[who] -= tournament.entry_fee
        return True

    def leave(self, tournament: Tournament, entry: str) -> bool:
        """Whether an entry is taken back, or is gone already."""
        if entry in tournament.gone:
            return True
        if tournament.state != "open":
            return False
        if entry in tournament.entries and tournament.entry_fee:
            self.money[tournament.entries[entry]] += tournament.entry_fee
        tournament.entries.pop(entry, None)
        tournament.gone.add(entry)
        return True

    def award(self, tournament: Tournament, order: list[str] | None) -> None:
        """The first gets what the house and the second leave of the pool; without an order
        everything goes back. What was paid before is taken back first."""
        for who, amount in tournament.paid.items():
            self._give(who, -amount)
        pool = tournament.entry_fee * len(tournament.entries)
        paid: dict[str, int] = {}
        if order is None:
            for who in tournament.entries.values():
                paid[who] = paid.get(who, 0) + tournament.entry_fee
        else:
            paid[FEES] = pool * tournament.fee // 10_000
            rest = pool - paid[FEES]
            second = rest * 30 // 100 if len(order) > 1 else 0
            for entry, amount in zip(order, (rest - second, second), strict=False):
                who = tournament.entries[entry]
                paid[who] = paid.get(who, 0) + amount
        tournament.paid = paid if pool else {}
        for who, amount in tournament.paid.items():
            self._give(who, amount)
        tournament.version += 1
        tournament.state = "void" if order is None else "settled"

    def heard(self, game: Game, witness: str) -> None:
        """One of the two has spoken."""
        game.witnesses.add(witness)
        if game.state not in ("held", "started", "pending"):
            return
        game.state = "pending"
        if len(game.witnesses) == 2 and game.differ:
            game.state = "mismatch"
        elif len(game.witnesses) == 2:
            self.end(game, void=game.void)

    def end(self, game: Game, *, void: bool) -> None:
        """As `rules` has it, or void."""
        fee = 0 if game.out else fee_of(game)
        self.pay(game, None if void else game.winner, fee)

    def release(self, game: Game) -> None:
        """Everything goes back before the start."""
        for who in game.seats:
            self.money[who] += game.stake
        game.state = "released"

    def approve(self, game: Game, number: int) -> None:
        """What was proposed is done."""
        _, winner = game.proposed[number - 1]
        self.pay(game, winner, fee_of(game))


def fee_of(game: Game) -> int:
    """What the house takes where nobody was forfeited."""
    return 2 * game.stake * game.fee // 10_000
