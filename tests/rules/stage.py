"""A house with games in every state, and for every method a request that it accepts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import Message
from kafeneio.rules.v1 import actions_pb2, rulebook_pb2
from kafeneio.rules.v1 import game_pb2 as pb

from tests.harness import OPERATOR, SEATS, SERVICE, STRANGER, Rules, new_id
from tests.rules.moves import latest

METHODS: Final[dict[str, MethodDescriptor]] = {
    f"/{service.full_name}/{method.name}": method
    for service in (
        pb.DESCRIPTOR.services_by_name["GameService"],
        rulebook_pb2.DESCRIPTOR.services_by_name["RuleBookService"],
    )
    for method in service.methods
}
"""Every method of the two services by its path, from their descriptors."""

MUTATING: Final = tuple(
    path for path, method in METHODS.items() if "request_id" in method.input_type.fields_by_name
)
"""Those that change something are those that take a request id."""

COMPUTER: Final = "old hand"
"""What a computer is called. A person of that name is another one."""


def path_of(name: str) -> str:
    """The path of the one method that is called so."""
    (found,) = (path for path, method in METHODS.items() if method.name == name)
    return found


@dataclass(frozen=True)
class Said:
    """A request, and who sends it."""

    who: str
    request: Message


@dataclass(frozen=True)
class Stage:
    """Games of eleni (seat 0) and nikos (seat 1), and the calls that made them.

    `sent` has one call of every mutating method that was carried out.
    """

    rules: Rules
    waiting: pb.Game
    """eleni has joined, nikos has not."""
    idle: pb.Game
    """Nobody has joined."""
    running: pb.Game
    """A match to 3 in its first round, one turn played."""
    spare: pb.Game
    """The same without a turn played."""
    against: pb.Game
    """Seat 1 is a computer, called COMPUTER, and it is to move."""
    over: pb.Game
    """eleni has resigned."""
    cancelled: pb.Game
    """Cancelled while it waited."""
    tombstone: str
    """Cancelled before it was made."""
    unknown: str
    """Never heard of."""
    turn: tuple[actions_pb2.Action, ...]
    """What the mover of `running` may play."""
    sent: dict[str, Said]

    @property
    def mover(self) -> str:
        """Whose turn it is in `running`."""
        return SEATS[self.running.position.turn.seat]

    @property
    def waiter(self) -> str:
        """Whose turn it is not."""
        return SEATS[1 - self.running.position.turn.seat]

    @property
    def version(self) -> int:
        """Of `running`."""
        return self.running.position.version

    @classmethod
    async def set(cls, rules: Rules) -> Stage:
        """Plays everything up to the state that the tests begin with."""
        games = rules.games
        made = pb.CreateGameRequest(
            request_id=new_id(),
            game_id=new_id(),
            terms=pb.Terms(variant="portes"),
            player_ids=SEATS,
        )
        made.join_timeout.seconds = 600
        waiting = (await rules.ask(games.CreateGame, made)).game
        joined = pb.JoinGameRequest(
            request_id=new_id(),
            game_id=waiting.game_id,
            commitment=waiting.commitment,
            word=b"a word of hers",
        )
        await rules.ask(games.JoinGame, joined, SEATS[0])
        idle = await rules.create(join_timeout=600)

        against = await rules.start(players=(SEATS[0], COMPUTER), computers=[1])
        if against.position.turn.seat == 0:
            await rules.play_turn(against.game_id, against.position)

        running = await rules.start(target=3)
        mover = SEATS[running.position.turn.seat]
        acted = pb.ActRequest(
            request_id=new_id(),
            game_id=running.game_id,
            expected_version=running.position.version,
            actions=await rules.whole_turn(running.game_id, mover),
        )
        answer = await rules.ask(games.Act, acted, mover)
        running = await rules.get(running.game_id)
        assert running.position == latest(answer)
        turn = await rules.whole_turn(running.game_id, SEATS[running.position.turn.seat])

        over = await rules.start()
        resigned = pb.ResignRequest(request_id=new_id(), game_id=over.game_id, round=1)
        await rules.ask(games.Resign, resigned, SEATS[0])
        gone = pb.ForfeitSeatRequest(
            request_id=new_id(),
            game_id=(await rules.start()).game_id,
            seat=1,
            reason=actions_pb2.FORFEIT_REASON_LEFT,
        )
        await rules.ask(games.ForfeitSeat, gone)
        aborted = pb.AbortGameRequest(
            request_id=new_id(), game_id=(await rules.start()).game_id, reason="flood"
        )
        await rules.ask(games.AbortGame, aborted, OPERATOR)
        cancelled = await rules.create()
        called_off = pb.CancelGameRequest(request_id=new_id(), game_id=cancelled.game_id)
        await rules.ask(games.CancelGame, called_off)
        tombstone = new_id()
        await rules.cancel(tombstone)

        return cls(
            rules=rules,
            waiting=await rules.get(waiting.game_id),
            idle=idle,
            running=running,
            spare=await rules.start(target=3),
            against=await rules.get(against.game_id),
            over=await rules.get(over.game_id),
            cancelled=await rules.get(cancelled.game_id),
            tombstone=tombstone,
            unknown=new_id(),
            turn=tuple(turn),
            sent={
                path_of("CreateGame"): Said(SERVICE, made),
                path_of("JoinGame"): Said(SEATS[0], joined),
                path_of("Act"): Said(mover, acted),
                path_of("Resign"): Said(SEATS[0], resigned),
                path_of("ForfeitSeat"): Said(SERVICE, gone),
                path_of("AbortGame"): Said(OPERATOR, aborted),
                path_of("CancelGame"): Said(SERVICE, called_off),
            },
        )

    def accepted(self) -> dict[str, Said]:
        """For every method a request that is carried out if it is sent, in an order in which all
        of them are."""
        running, over = self.running.game_id, self.over.game_id
        said = {
            "ListVariants": Said(STRANGER, rulebook_pb2.ListVariantsRequest()),
            "GetVariant": Said(STRANGER, rulebook_pb2.GetVariantRequest(variant="portes")),
            "GetRules": Said(STRANGER, rulebook_pb2.GetRulesRequest(variant="portes")),
            "GetGame": Said(STRANGER, pb.GetGameRequest(game_id=running)),
            "WatchGame": Said(STRANGER, pb.WatchGameRequest(game_id=running)),
            "ListLegalActions": Said(self.mover, pb.ListLegalActionsRequest(game_id=running)),
            "GetTurn": Said(SERVICE, pb.GetTurnRequest(game_id=running)),
            "GetRecord": Said(STRANGER, pb.GetRecordRequest(game_id=over)),
            "VerifyRecord": Said(STRANGER, pb.VerifyRecordRequest(game_id=over)),
            "ListGames": Said(STRANGER, pb.ListGamesRequest()),
            "ListEvents": Said(SERVICE, pb.ListEventsRequest(game_id=running)),
            "WatchComputerTurns": Said(SERVICE, pb.WatchComputerTurnsRequest()),
            "CreateGame": Said(
                SERVICE,
                pb.CreateGameRequest(
                    request_id=new_id(),
                    game_id=new_id(),
                    terms=pb.Terms(variant="portes", options={"disconnect_points": "two"}),
                    player_ids=SEATS,
                ),
            ),
            "CancelGame": Said(
                SERVICE, pb.CancelGameRequest(request_id=new_id(), game_id=self.idle.game_id)
            ),
            "JoinGame": Said(
                SEATS[1],
                pb.JoinGameRequest(
                    request_id=new_id(),
                    game_id=self.waiting.game_id,
                    commitment=self.waiting.commitment,
                    word=b"a word of his",
                ),
            ),
            "Act": Said(
                self.mover,
                pb.ActRequest(
                    request_id=new_id(),
                    game_id=running,
                    expected_version=self.version,
                    actions=self.turn,
                ),
            ),
            "Resign": Said(
                self.mover, pb.ResignRequest(request_id=new_id(), game_id=running, round=1)
            ),
            "ForfeitSeat": Said(
                SERVICE,
                pb.ForfeitSeatRequest(
                    request_id=new_id(),
                    game_id=running,
                    seat=1,
                    reason=actions_pb2.FORFEIT_REASON_LEFT,
                ),
            ),
            "AbortGame": Said(
                OPERATOR,
                pb.AbortGameRequest(request_id=new_id(), game_id=self.spare.game_id, reason="fire"),
            ),
        }
        return {path_of(name): each for name, each in said.items()}
