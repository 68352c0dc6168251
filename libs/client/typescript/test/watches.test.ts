import { Code, ConnectError } from "@connectrpc/connect";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Refused, Unreachable } from "../src/errors.js";
import {
  QuickMatchService,
  TicketEnd,
  TicketStatus,
} from "../src/generated/kafeneio/matchmaking/v1/quick_match_pb.js";
import { TableService, TableStatus } from "../src/generated/kafeneio/matchmaking/v1/tables_pb.js";
import { GameService, GameStatus } from "../src/generated/kafeneio/rules/v1/game_pb.js";
import { WalletService } from "../src/generated/kafeneio/settlement/v1/wallet_pb.js";
import { watchGame, watchTable, watchTables, watchTicket, watchWallet } from "../src/watches.js";
import { fakeHouse, GAME, open, refusal, thrownBy } from "./fake.js";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

type Say = "draining" | "break" | "silence" | "end" | { version: number; over?: boolean };

function row({ version, over = false }: { version: number; over?: boolean }) {
  const status = over ? GameStatus.FINISHED : GameStatus.RUNNING;
  return { message: { case: "update" as const, value: { position: { version, status } } } };
}

/** A house that says on each opened stream what the script has for it; and from where each began. */
function scripted(...streams: Say[][]) {
  const begun: number[] = [];
  const house = fakeHouse(({ service }) =>
    service(GameService, {
      async *watchGame({ afterVersion }, { signal }) {
        begun.push(afterVersion);
        for (const say of streams[begun.length - 1] ?? []) {
          if (say === "draining") {
            yield { message: { case: "draining" as const, value: {} } };
          } else if (say === "break") {
            throw new ConnectError("reset", Code.Internal);
          } else if (say === "silence") {
            await open(signal);
          } else if (say !== "end") {
            yield row(say);
          }
        }
      },
      getGame: () => ({ game: { position: { version: 3, status: GameStatus.FINISHED } } }),
    }),
  );
  return { house, begun };
}

async function versions(house: ReturnType<typeof fakeHouse>, after = 0): Promise<number[]> {
  const seen: number[] = [];
  for await (const update of watchGame(house, GAME, after)) {
    seen.push(update.position?.version ?? 0);
  }
  return seen;
}

async function soon<T>(promise: Promise<T>, ms = 120_000): Promise<T> {
  promise.catch(() => {}); // it is awaited below, after the time has passed
  await vi.advanceTimersByTimeAsync(ms);
  return promise;
}

test("every row comes once, over streams that drain, break and fall silent", async () => {
  const { house, begun } = scripted(
    [{ version: 1 }, "draining"],
    [{ version: 1 }, { version: 2 }, "break"],
    ["silence"],
    [{ version: 3, over: true }],
  );
  expect(await soon(versions(house))).toEqual([1, 2, 3]);
  expect(begun).toEqual([0, 1, 2, 2]);
});

test("a stream that ends without a word is over where the game was", async () => {
  const { house, begun } = scripted(["end"]);
  expect(await soon(versions(house, 3))).toEqual([]);
  expect(begun).toEqual([3]);
});

test("a stream that ends without a word goes on where the game did", async () => {
  const { house, begun } = scripted(["end"], [{ version: 3, over: true }]);
  expect(await soon(versions(house, 2))).toEqual([3]);
  expect(begun).toEqual([2, 2]);
});

test("a refusal ends it", async () => {
  const house = fakeHouse(({ service }) =>
    service(GameService, {
      // biome-ignore lint/correctness/useYield: it is refused before it has said anything
      async *watchGame() {
        throw refusal(Code.NotFound, "GAME_UNKNOWN");
      },
    }),
  );
  expect(await thrownBy(soon(versions(house)))).toBeInstanceOf(Refused);
});

test("a house that stays away is given up after a minute", async () => {
  const { house, begun } = scripted(...Array.from({ length: 200 }, () => ["break" as const]));
  const started = Date.now();
  const error = soon(versions(house), 60_000);
  expect(await thrownBy(error)).toBeInstanceOf(Refused);
  expect(Date.now() - started).toBeLessThanOrEqual(60_000);
  expect(begun.length).toBeGreaterThan(20);
});

test("whoever stops watching closes the stream", async () => {
  let closed = false;
  const house = fakeHouse(({ service }) =>
    service(GameService, {
      async *watchGame(_, { signal }) {
        signal.addEventListener("abort", () => {
          closed = true;
        });
        yield row({ version: 1 });
      },
    }),
  );
  for await (const _ of watchGame(house, GAME)) {
    break;
  }
  expect(closed).toBe(true);
});

test("an abort ends it quietly, and the connection is told of", async () => {
  const told: boolean[] = [];
  const controller = new AbortController();
  const { house } = scripted(["break"], [{ version: 1 }, "silence"]);
  const following = {
    signal: controller.signal,
    onConnection: (connected: boolean) => told.push(connected),
  };
  const watching = (async () => {
    for await (const _ of watchGame(house, GAME, 0, following)) {
      controller.abort();
    }
  })();
  await soon(watching);
  expect(told).toEqual([false, true]);
});

test("without any answer it is unreachable", async () => {
  const house = fakeHouse(({ service }) =>
    service(GameService, {
      // biome-ignore lint/correctness/useYield: nobody is there
      async *watchGame() {
        throw new ConnectError("away", Code.Unavailable);
      },
    }),
  );
  expect(await thrownBy(soon(versions(house)))).toBeInstanceOf(Unreachable);
});

test("a ticket is followed to its end", async () => {
  const ticket = (version: number, status: TicketStatus, end = TicketEnd.UNSPECIFIED) => ({
    message: { case: "ticket" as const, value: { version, status, end } },
  });
  const begun: number[] = [];
  const house = fakeHouse(({ service }) =>
    service(QuickMatchService, {
      async *watchTicket({ afterVersion }) {
        begun.push(afterVersion);
        if (begun.length === 1) {
          yield ticket(1, TicketStatus.QUEUED);
          yield { message: { case: "heartbeat" as const, value: {} } };
          yield { message: { case: "draining" as const, value: {} } };
        } else {
          yield ticket(2, TicketStatus.MATCHED);
          yield ticket(3, TicketStatus.ENDED, TicketEnd.EXPIRED);
        }
      },
    }),
  );
  const seen: TicketStatus[] = [];
  const following = (async () => {
    for await (const one of watchTicket(house, GAME)) {
      seen.push(one.status);
    }
  })();
  await soon(following);
  expect(seen).toEqual([TicketStatus.QUEUED, TicketStatus.MATCHED, TicketStatus.ENDED]);
  expect(begun).toEqual([0, 1]);
});

test("a wallet goes on with the entry after the last", async () => {
  const begun: bigint[] = [];
  const house = fakeHouse(({ service }) =>
    service(WalletService, {
      async *watchWallet({ afterVersion }, { signal }) {
        begun.push(afterVersion);
        yield { message: { case: "entry" as const, value: { version: afterVersion + 1n } } };
        if (begun.length === 1) {
          throw new ConnectError("reset", Code.Internal);
        }
        await open(signal);
      },
    }),
  );
  const seen: bigint[] = [];
  const following = (async () => {
    for await (const entry of watchWallet(house, "EUR", 5n)) {
      seen.push(entry.version);
      if (seen.length === 2) {
        return;
      }
    }
  })();
  await soon(following);
  expect(seen).toEqual([6n, 7n]);
  expect(begun).toEqual([5n, 6n]);
});

test("a table is followed until it is closed, the lists of tables without end", async () => {
  const seen: [string, bigint | number][] = [];
  const begun: bigint[] = [];
  const house = fakeHouse(({ service }) =>
    service(TableService, {
      async *watchTable({ afterVersion }) {
        const table = { version: afterVersion + 1, status: TableStatus.OPEN };
        yield { message: { case: "table" as const, value: table } };
        const closed = { version: afterVersion + 2, status: TableStatus.CLOSED };
        yield { message: { case: "table" as const, value: closed } };
      },
      async *watchTables({ afterChange }) {
        begun.push(afterChange);
        const changed = { change: afterChange + 1n, table: { version: begun.length } };
        yield { message: { case: "changed" as const, value: changed } };
        yield { message: { case: "draining" as const, value: {} } };
      },
    }),
  );
  const following = (async () => {
    for await (const { version } of watchTable(house, GAME)) {
      seen.push(["table", version]);
    }
    for await (const { version } of watchTables(house)) {
      seen.push(["tables", version]);
      if (version === 3) {
        return;
      }
    }
  })();
  await soon(following);
  expect(seen).toEqual([
    ["table", 1],
    ["table", 2],
    ["tables", 1],
    ["tables", 2],
    ["tables", 3],
  ]);
  expect(begun).toEqual([0n, 1n, 2n]);
});
