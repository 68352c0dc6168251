/** A game as this player, or a spectator, sees it: joined where that is due, then followed. */
import {
  type House,
  insist,
  isOver,
  type KafeneioError,
  toKafeneioError,
  watchGame,
} from "@kafeneio/client";
import { type Game, GameStatus, type GameUpdate, type Position } from "@kafeneio/client/rules";
import { useEffect, useState } from "preact/hooks";
import { promiseOf, rememberPromise } from "../promise.js";
import type { Session } from "../session.js";

/** How many rows of the log are shown. */
const ROWS = 30;

export interface Seen {
  game: Game;
  position: Position;
  /** The last rows of the log, the newest last. */
  rows: GameUpdate[];
}

export interface Watched {
  seen?: Seen;
  connected: boolean;
  error?: KafeneioError;
}

export function useGame({ house, player }: Session, gameId: string): Watched {
  const [watched, setWatched] = useState<Watched>({ connected: true });

  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const onConnection = (connected: boolean) => setWatched((before) => ({ ...before, connected }));
    const following = { signal, patienceMs: Number.POSITIVE_INFINITY, onConnection };

    async function follow() {
      const game = await joined(house, player, gameId, signal);
      const position = game.position as Position;
      setWatched({ connected: true, seen: { game, position, rows: [] } });
      const after = Math.max(0, position.version - ROWS);
      for await (const update of watchGame(house, gameId, after, following)) {
        setWatched((before) => ({ ...before, ...withRow(before, update) }));
        if (update.position?.version === 1 || (update.position && isOver(update.position))) {
          // Who has joined, and who was replaced by a computer, stands in the game itself.
          const fresh = (await house.games.getGame({ gameId })).game;
          setWatched((before) => ({ ...before, ...withGame(before, fresh) }));
        }
      }
    }

    follow().catch((thrown) => {
      if (!signal.aborted) {
        setWatched((before) => ({ ...before, error: toKafeneioError(thrown) }));
      }
    });
    return () => controller.abort();
  }, [house, player, gameId]);

  return watched;
}

/** The game, in which the player has taken his seat where it waits for him. */
async function joined(
  house: House,
  player: string,
  gameId: string,
  signal: AbortSignal,
): Promise<Game> {
  const game = (await house.games.getGame({ gameId }, { signal })).game as Game;
  const seat = game.seats.find((one) => one.playerId === player && !one.computer);
  if (game.position?.status !== GameStatus.WAITING || !seat || seat.joined) {
    return game;
  }
  const { commitment } = game;
  const word = promiseOf(gameId)?.word ?? crypto.getRandomValues(new Uint8Array(16));
  rememberPromise(gameId, { commitment, word, seat: seat.seat });
  const join = (requestId: string) =>
    house.games.joinGame({ requestId, gameId, commitment, word }, { signal });
  return (await insist(join, signal)).game as Game;
}

function withRow({ seen }: Watched, update: GameUpdate): Watched | object {
  if (!seen || !update.position) {
    return {};
  }
  const newer = update.position.version > seen.position.version;
  const position = newer ? update.position : seen.position;
  return { seen: { ...seen, position, rows: [...seen.rows, update].slice(-ROWS) } };
}

function withGame({ seen }: Watched, game: Game | undefined): Watched | object {
  return seen && game ? { seen: { ...seen, game } } : {};
}
