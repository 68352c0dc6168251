import {
  type Ticket,
  TicketStatus,
  type WatchTicketResponse,
} from "./generated/kafeneio/matchmaking/v1/quick_match_pb.js";
import {
  type Table,
  TableStatus,
  type WatchTableResponse,
  type WatchTablesResponse,
} from "./generated/kafeneio/matchmaking/v1/tables_pb.js";
import {
  GameStatus,
  type GameUpdate,
  type Position,
  type WatchGameResponse,
} from "./generated/kafeneio/rules/v1/game_pb.js";
import type { Entry, WatchWalletResponse } from "./generated/kafeneio/settlement/v1/wallet_pb.js";
import type { House } from "./house.js";
import { type Following, resumed, type Source } from "./resumed.js";

/** Whether nothing can happen in a game any more. */
export function isOver(position: Position): boolean {
  return position.status === GameStatus.FINISHED || position.status === GameStatus.CANCELLED;
}

/**
 * WatchGame: every row of a game's log after `afterVersion`, each once, until the game is over.
 */
export function watchGame(
  house: House,
  gameId: string,
  afterVersion = 0,
  following: Following = {},
): AsyncGenerator<GameUpdate> {
  let version = afterVersion;
  let over = false;
  const source: Source<WatchGameResponse, GameUpdate> = {
    open: (signal) => house.games.watchGame({ gameId, afterVersion: version }, { signal }),
    take({ message }) {
      const position = message.case === "update" ? message.value.position : undefined;
      if (message.case !== "update" || !position || position.version <= version) {
        return undefined;
      }
      version = position.version;
      over = isOver(position);
      return message.value;
    },
    finished: () => over,
    // It ends without a word when the game was over before: then there is no more.
    async ended() {
      const position = (await house.games.getGame({ gameId })).game?.position;
      over = position !== undefined && isOver(position) && position.version <= version;
    },
  };
  return resumed(source, following);
}

/**
 * WatchTicket: the changes of a ticket, until its game has started or it has led to none. Once it is
 * MATCHED join the game; if others don't, the ticket is back in the queue, and goes on.
 */
export function watchTicket(
  house: House,
  ticketId: string,
  following: Following = {},
): AsyncGenerator<Ticket> {
  let afterVersion = 0;
  let last: Ticket | undefined;
  const source: Source<WatchTicketResponse, Ticket> = {
    open: (signal) => house.queue.watchTicket({ ticketId, afterVersion }, { signal }),
    take({ message }) {
      if (message.case !== "ticket" || message.value.version <= afterVersion) {
        return undefined;
      }
      last = message.value;
      afterVersion = last.version;
      return last;
    },
    finished: () => last?.status === TicketStatus.STARTED || last?.status === TicketStatus.ENDED,
  };
  return resumed(source, following);
}

/** WatchTable: the changes of a table, until it is closed. */
export function watchTable(
  house: House,
  tableId: string,
  following: Following = {},
): AsyncGenerator<Table> {
  let afterVersion = 0;
  let closed = false;
  const source: Source<WatchTableResponse, Table> = {
    open: (signal) => house.tables.watchTable({ tableId, afterVersion }, { signal }),
    take({ message }) {
      if (message.case !== "table" || message.value.version <= afterVersion) {
        return undefined;
      }
      afterVersion = message.value.version;
      closed = message.value.status === TableStatus.CLOSED;
      return message.value;
    },
    finished: () => closed,
  };
  return resumed(source, following);
}

/** WatchTables: the public tables that are open, then each that changes, without end. */
export function watchTables(house: House, following: Following = {}): AsyncGenerator<Table> {
  let afterChange = 0n;
  const source: Source<WatchTablesResponse, Table> = {
    open: (signal) => house.tables.watchTables({ afterChange }, { signal }),
    take({ message }) {
      if (message.case !== "changed" || message.value.change <= afterChange) {
        return undefined;
      }
      afterChange = message.value.change;
      return message.value.table;
    },
    finished: () => false,
  };
  return resumed(source, following);
}

/** WatchWallet: every entry of the caller's account after `afterVersion`, without end. */
export function watchWallet(
  house: House,
  currencyCode: string,
  afterVersion = 0n,
  following: Following = {},
): AsyncGenerator<Entry> {
  let version = afterVersion;
  const source: Source<WatchWalletResponse, Entry> = {
    open: (signal) => house.wallet.watchWallet({ currencyCode, afterVersion: version }, { signal }),
    take({ message }) {
      if (message.case !== "entry" || message.value.version <= version) {
        return undefined;
      }
      version = message.value.version;
      return message.value;
    },
    finished: () => false,
  };
  return resumed(source, following);
}
