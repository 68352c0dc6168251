"""Two players of a staked game, played by lot over the public API."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from kafeneio.rules.v1 import actions_pb2
from kafeneio.rules.v1 import game_pb2 as pb

from tests.survival.process import Running

PLAYERS = ("eleni", "nikos")


async def started(house: Running, target: int = 1) -> str:
    """The id of a game that both have joined."""
    game = await house.service.games.create("portes", PLAYERS, target=target)
    for player in PLAYERS:
        await house.client(player).games.join(game.game_id, game.commitment, player.encode())
    return game.game_id


@dataclass
class Turn:
    """A whole turn that has been chosen and not been sent."""

    player: str
    version: int
    steps: list[actions_pb2.Action]

    @classmethod
    async def chosen(cls, house: Running, game_id: str, seed: int) -> Turn:
        """One of the prompted seat's turns."""
        random = Random(seed)
        game = await house.service.games.get(game_id)
        position = game.position
        player = game.seats[position.turn.seat].player_id
        games, steps = house.client(player).games, list[actions_pb2.Action]()
        while not (legal := await games.legal_actions(game_id, steps)).complete:
            steps.append(random.choice(legal.actions))
        return cls(player, position.version, steps)

    async def play(self, house: Running, game_id: str, request_id: str = "") -> pb.ActResponse:
        """Send it."""
        games = house.client(self.player).games
        return await games.act(game_id, self.version, self.steps, request_id=request_id)


async def play(house: Running, game_id: str, turns: int, seed: int = 1) -> pb.Position:
    """So many turns, or until the game is over; the position after them."""
    for number in range(turns):
        position = (await house.service.games.get(game_id)).position
        if position.status != pb.GAME_STATUS_RUNNING:
            break
        turn = await Turn.chosen(house, game_id, seed * 1000 + number)
        await turn.play(house, game_id)
    return (await house.service.games.get(game_id)).position
