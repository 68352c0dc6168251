import { create } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { expect, test, vi } from "vitest";
import { Unreachable } from "../src/errors.js";
import { ActionSchema } from "../src/generated/kafeneio/rules/v1/actions_pb.js";
import { GameService } from "../src/generated/kafeneio/rules/v1/game_pb.js";
import { insist } from "../src/insist.js";
import { act, listLegal } from "../src/turn.js";
import { fakeHouse, GAME } from "./fake.js";

const step = (notation: string) => create(ActionSchema, { notation });

test("all pages of the legal actions, after what was chosen", async () => {
  const asked: [string[], string][] = [];
  const house = fakeHouse(({ service }) =>
    service(GameService, {
      listLegalActions: ({ after, pageToken }) => {
        asked.push([after.map((one) => one.notation), pageToken]);
        return pageToken
          ? { version: 4, actions: [step("8/5")] }
          : { version: 4, actions: [step("13/8")], nextPageToken: "more" };
      },
    }),
  );
  const legal = await listLegal(house, GAME, [step("24/23")]);
  expect(legal.actions.map((one) => one.notation)).toEqual(["13/8", "8/5"]);
  expect([legal.version, legal.complete]).toEqual([4, false]);
  expect(asked).toEqual([
    [["24/23"], ""],
    [["24/23"], "more"],
  ]);
});

test("a turn is played on the version that the player has seen", async () => {
  let expected = 0;
  const house = fakeHouse(({ service }) =>
    service(GameService, {
      act: ({ expectedVersion, actions }) => {
        expected = expectedVersion;
        return { played: { entries: actions.map((action) => ({ seat: 0, action })) } };
      },
    }),
  );
  const answer = await act(house, GAME, 12, [step("13/8"), step("8/5")]);
  expect(expected).toBe(12);
  expect(answer.played?.entries.map((one) => one.action?.notation)).toEqual(["13/8", "8/5"]);
});

test("what a player has done on a bad line is done once", async () => {
  const ids: string[] = [];
  const call = (requestId: string) => {
    ids.push(requestId);
    return ids.length < 3
      ? Promise.reject(new Unreachable("away", Code.Unavailable, requestId, undefined))
      : Promise.resolve("done");
  };
  vi.useFakeTimers();
  const insisting = insist(call);
  await vi.advanceTimersByTimeAsync(5_000);
  vi.useRealTimers();
  expect(await insisting).toBe("done");
  expect(ids).toHaveLength(3);
  expect(new Set(ids).size).toBe(1);
});
