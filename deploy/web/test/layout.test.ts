import { create } from "@kafeneio/client";
import { ActionSchema, type TavliView, TavliViewSchema } from "@kafeneio/client/rules";
import { expect, test } from "vitest";
import {
  diceOf,
  facing,
  heightOf,
  landing,
  lifted,
  placeOf,
  SIZE,
  stacked,
  standing,
} from "../src/tavli/layout.js";

/** A board with these checkers, by the own numbers of each seat. */
function board(
  game: string,
  lower: Record<number, number>,
  upper: Record<number, number>,
  more: { pinned?: number[]; rolled?: number[]; dice?: number[]; received?: number[] } = {},
): TavliView {
  const points = (of: Record<number, number>) => Array.from({ length: 26 }, (_, p) => of[p] ?? 0);
  const { pinned = [], ...dice } = more;
  return create(TavliViewSchema, {
    game,
    sides: [{ points: points(lower) }, { points: points(upper), pinned }],
    ...dice,
  });
}

const move = (start: number, die: number) =>
  create(ActionSchema, { action: { case: "moveChecker", value: { start, die } } });

test.each([
  ["portes", 1, 24],
  ["plakoto", 13, 12],
  ["fevga", 1, 13],
  ["gulbara", 24, 12],
])("in %s my point %i is the other's %i", (game, mine, other) => {
  expect(facing(game, mine)).toBe(other);
  expect(facing(game, other)).toBe(mine);
});

test("home is below on the right, the farthest point above it", () => {
  const [one, six, twelve, thirteen, last] = [1, 6, 12, 13, 24].map(placeOf);
  expect(one?.x).toBeGreaterThan(six?.x ?? 0);
  expect(six?.x).toBeGreaterThan(twelve?.x ?? 0);
  expect(twelve?.x).toBe(thirteen?.x);
  expect(one?.x).toBe(last?.x);
  expect(one?.direction).toBe(-1);
  expect(last?.direction).toBe(1);
});

test("every checker of the tallest stack is on its own half of the board", () => {
  const seats = Array<number>(15).fill(0);
  for (const { y } of stacked(seats, placeOf(1))) {
    expect(y).toBeGreaterThan(SIZE.height / 2);
    expect(y).toBeLessThan(SIZE.height);
  }
  expect(stacked(seats, placeOf(1)).at(-1)?.label).toBe("15");
  expect(heightOf(0, 1, placeOf(24))).toBeLessThan(heightOf(1, 2, placeOf(24)));
});

test("a pinned checker lies beneath", () => {
  expect(standing(board("plakoto", { 20: 1 }, { 5: 1 }, { pinned: [5] }), 0, 20)).toEqual([1, 0]);
  expect(standing(board("portes", { 20: 2 }, {}), 0, 20)).toEqual([0, 0]);
});

test("steps that were not sent lift only one's own checkers", () => {
  const before = board("portes", { 3: 1, 8: 2 }, { 22: 1 });
  const after = lifted(before, 0, [move(8, 5), move(3, 6)]);
  expect(after.sides[0]?.points[8]).toBe(1);
  expect(after.sides[0]?.points[3]).toBe(1);
  expect(after.sides[0]?.points[0]).toBe(1);
  expect(after.sides[1]?.points[22]).toBe(1);
  expect(before.sides[0]?.points[8]).toBe(2);
  expect(landing(3, 6)).toBe(0);
});

test("dice that are played are faint, in the order thrown", () => {
  const view = board("portes", {}, {}, { rolled: [3, 6], dice: [6, 3] });
  const faint = (steps: number[][]) =>
    diceOf(
      view,
      steps.map(([start, die]) => move(start ?? 0, die ?? 0)),
    ).map((die) => die.used);
  expect(faint([])).toEqual([false, false]);
  expect(faint([[8, 6]])).toEqual([false, true]);
  const doubles = board("portes", {}, {}, { rolled: [2, 2], dice: [2, 2, 2] });
  expect(diceOf(doubles, []).map((die) => [die.pips, die.used])).toEqual([
    [2, false],
    [2, false],
    [2, false],
    [2, true],
  ]);
  const received = board("gulbara", {}, {}, { received: [5, 5, 6, 6], dice: [6, 6] });
  expect(
    diceOf(received, [])
      .filter((die) => die.used)
      .map((die) => die.pips),
  ).toEqual([5, 5]);
});
