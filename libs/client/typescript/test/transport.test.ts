import { Code, ConnectError } from "@connectrpc/connect";
import { expect, test, vi } from "vitest";
import { isRefused, Refused, Unreachable } from "../src/errors.js";
import { ErrorReason } from "../src/generated/kafeneio/common/v1/errors_pb.js";
import { GameService } from "../src/generated/kafeneio/rules/v1/game_pb.js";
import { RuleBookService } from "../src/generated/kafeneio/rules/v1/rulebook_pb.js";
import { act } from "../src/turn.js";
import { away, fakeHouse, GAME, refusal, thrownBy } from "./fake.js";

const UUID_7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test("a call carries the token, the game and a deadline", async () => {
  const seen: Headers[] = [];
  const house = fakeHouse(({ service }) =>
    service(GameService, {
      getGame: (_, context) => {
        seen.push(context.requestHeader);
        expect(context.timeoutMs()).toBeLessThanOrEqual(10_000);
        return {};
      },
    }),
  );
  await house.games.getGame({ gameId: GAME });
  expect(seen[0]?.get("authorization")).toBe("Bearer TOKEN");
  expect(seen[0]?.get("x-game-id")).toBe(GAME);
});

test("without a token there is no header", async () => {
  let header: string | null = "";
  const house = fakeHouse(
    ({ service }) =>
      service(RuleBookService, {
        listVariants: (_, context) => {
          header = context.requestHeader.get("authorization");
          return {};
        },
      }),
    "",
  );
  await house.rulebook.listVariants({});
  expect(header).toBeNull();
});

test("one intent has one request id, however often it is sent", async () => {
  const ids: string[] = [];
  const house = fakeHouse(({ service }) =>
    service(GameService, {
      act: ({ requestId }) => {
        ids.push(requestId);
        if (ids.length < 3) {
          throw away();
        }
        return {};
      },
    }),
  );
  await act(house, GAME, 1, []);
  await act(house, GAME, 2, []);
  expect(ids[0]).toMatch(UUID_7);
  expect(new Set(ids.slice(0, 3)).size).toBe(1);
  expect(ids[3]).not.toBe(ids[0]);
});

test("a call that never was answered can be sent again with its request id", async () => {
  const ids: string[] = [];
  let reachable = false;
  const house = fakeHouse(({ service }) =>
    service(GameService, {
      joinGame: ({ requestId }) => {
        ids.push(requestId);
        if (!reachable) {
          throw away();
        }
        return {};
      },
    }),
  );
  const error = await thrownBy(house.games.joinGame({ gameId: GAME }));
  expect(error).toBeInstanceOf(Unreachable);
  expect(ids).toHaveLength(4);
  reachable = true;
  await house.games.joinGame({ gameId: GAME, requestId: (error as Unreachable).requestId });
  expect(new Set(ids).size).toBe(1);
});

test("a refusal has its reason, rule and metadata, and is not sent again", async () => {
  let calls = 0;
  const house = fakeHouse(({ service }) =>
    service(GameService, {
      act: () => {
        calls++;
        throw refusal(Code.FailedPrecondition, "ILLEGAL_ACTION", { rule: "V2.3", version: "7" });
      },
    }),
  );
  const error = await thrownBy(act(house, GAME, 7, []));
  expect(isRefused(error, ErrorReason.ILLEGAL_ACTION)).toBe(true);
  expect(isRefused(error, ErrorReason.STALE_VERSION)).toBe(false);
  const refused = error as Refused;
  expect([refused.rule, refused.version, refused.reasonName]).toEqual([
    "V2.3",
    7,
    "ILLEGAL_ACTION",
  ]);
  expect(refused.requestId).toMatch(UUID_7);
  expect(calls).toBe(1);
});

test("a house that asks to wait is asked again", async () => {
  let calls = 0;
  const house = fakeHouse(({ service }) =>
    service(GameService, {
      getGame: () => {
        calls++;
        if (calls === 1) {
          throw refusal(Code.ResourceExhausted, "RATE_LIMITED", {}, 0);
        }
        return {};
      },
    }),
  );
  await house.games.getGame({ gameId: GAME });
  expect(calls).toBe(2);
});

test("a proxy that lets nobody make so many calls is asked again later", async () => {
  let calls = 0;
  const limited = new Headers({ "x-envoy-ratelimited": "true" });
  const house = fakeHouse(({ service }) =>
    service(GameService, {
      getGame: () => {
        calls++;
        if (calls === 1) {
          throw new ConnectError("limited", Code.ResourceExhausted, limited);
        }
        return {};
      },
    }),
  );
  vi.useFakeTimers();
  const answer = house.games.getGame({ gameId: GAME });
  await vi.advanceTimersByTimeAsync(1_500);
  vi.useRealTimers();
  await answer;
  expect(calls).toBe(2);
});

test("a reason that this client does not know is still a refusal", async () => {
  const house = fakeHouse(({ service }) =>
    service(GameService, {
      getGame: () => {
        throw refusal(Code.FailedPrecondition, "INVENTED_LATER");
      },
    }),
  );
  const error = await thrownBy(house.games.getGame({ gameId: GAME }));
  expect(error).toBeInstanceOf(Refused);
  expect((error as Refused).reason).toBe(ErrorReason.UNSPECIFIED);
});

test("a missed deadline leaves open whether the call had its effect, and is not sent again", async () => {
  let calls = 0;
  const house = fakeHouse(({ service }) =>
    service(GameService, {
      getGame: () => {
        calls++;
        throw new ConnectError("late", Code.DeadlineExceeded);
      },
    }),
  );
  const error = await thrownBy(house.games.getGame({ gameId: GAME }));
  expect(error).toBeInstanceOf(Unreachable);
  expect(calls).toBe(1);
});
