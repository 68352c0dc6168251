/** How a tavli board lies on the table. This is what anybody sees who looks at one; it is no rule. */
import type { Action, TavliView } from "@kafeneio/client/rules";

export const OFF = 0;
export const BAR = 25;
export const RADIUS = 26;

const FRAME = 18;
const COLUMN = 58;
const BAR_WIDTH = 64;
const TRAY_WIDTH = 78;
const TRAY_GAP = 8;
export const SIZE = {
  width: 2 * FRAME + 12 * COLUMN + BAR_WIDTH + TRAY_GAP + TRAY_WIDTH,
  height: 640,
};
/** In these games both sides walk the same way round, starting from opposite corners. */
const SAME_WAY = new Set(["fevga", "gulbara"]);

/** The other seat's number of the point that one seat calls `point`, 1 to 24. */
export function facing(game: string, point: number): number {
  if (SAME_WAY.has(game)) {
    return point <= 12 ? point + 12 : point - 12;
  }
  return 25 - point;
}

/** Where a checker comes to stand: a point, or `OFF`. */
export function landing(start: number, die: number): number {
  return Math.max(OFF, start - die);
}

export interface Place {
  /** The middle of its column. */
  x: number;
  /** Its edge at the frame. */
  y: number;
  /** 1 where checkers grow downwards, -1 where upwards. */
  direction: 1 | -1;
  width: number;
}

const BAR_X = FRAME + 6 * COLUMN + BAR_WIDTH / 2;
const TRAY_X = FRAME + 12 * COLUMN + BAR_WIDTH + TRAY_GAP + TRAY_WIDTH / 2;
export const MIDDLE = SIZE.height / 2;
export const HALVES = [FRAME, FRAME + 6 * COLUMN + BAR_WIDTH].map((x) => ({
  x,
  y: FRAME,
  width: 6 * COLUMN,
  height: SIZE.height - 2 * FRAME,
}));

/** Where a point lies, by the number that the lower seat gives it: 1 to 12 below, from right to left. */
export function placeOf(point: number): Place {
  const lower = point <= 12;
  const column = lower ? 12 - point : point - 13;
  const x = FRAME + column * COLUMN + COLUMN / 2 + (column >= 6 ? BAR_WIDTH : 0);
  return { x, width: COLUMN, ...edge(lower) };
}

/** Where the checkers of a seat wait on the bar: in the half in which they have to enter. */
export function barOf(lower: boolean): Place {
  const enters = edge(!lower);
  return {
    x: BAR_X,
    width: BAR_WIDTH,
    y: MIDDLE - enters.direction * 190,
    direction: enters.direction,
  };
}

/** Where a seat's borne off checkers lie. */
export function trayOf(lower: boolean): Place {
  return { x: TRAY_X, width: TRAY_WIDTH, ...edge(lower) };
}

function edge(lower: boolean): { y: number; direction: 1 | -1 } {
  return lower ? { y: SIZE.height - FRAME, direction: -1 } : { y: FRAME, direction: 1 };
}

export interface Checker {
  seat: number;
  /** A number beside it, where not every checker can be told from the others. */
  label?: string;
  x: number;
  y: number;
}

const STACK = MIDDLE - FRAME - 46;

/** Where the checker of this number in a stack of `count` lies, from 0 at the edge. */
export function heightOf(number: number, count: number, { y, direction }: Place): number {
  const step = Math.min(2 * RADIUS, (STACK - 2 * RADIUS) / Math.max(1, count - 1));
  return y + direction * (RADIUS + number * step);
}

/** The checkers of a stack, from the edge inwards; many of them move together. */
export function stacked(seats: readonly number[], place: Place): Checker[] {
  return seats.map((seat, number) => {
    const at = { seat, x: place.x, y: heightOf(number, seats.length, place) };
    const last = number === seats.length - 1 && seats.length > 5;
    return last ? { ...at, label: String(seats.length) } : at;
  });
}

/** Who stands on a point, the one that lies beneath first; `point` as the lower seat calls it. */
export function standing(view: TavliView, lower: number, point: number): number[] {
  const upper = 1 - lower;
  const across = facing(view.game, point);
  const own = Array<number>(view.sides[lower]?.points[point] ?? 0).fill(lower);
  const others = Array<number>(view.sides[upper]?.points[across] ?? 0).fill(upper);
  const pinned = view.sides[upper]?.pinned.includes(across);
  return pinned ? [...others, ...own] : [...own, ...others];
}

/** The board with steps of a seat put on it that were not sent: its own checkers stand elsewhere. */
export function lifted(view: TavliView, seat: number, steps: readonly Action[]): TavliView {
  const sides = view.sides.map((side) => ({ ...side, points: [...side.points] }));
  const points = sides[seat]?.points ?? [];
  for (const { action } of steps) {
    if (action.case === "moveChecker") {
      const { start, die } = action.value;
      points[start] = (points[start] ?? 0) - 1;
      points[landing(start, die)] = (points[landing(start, die)] ?? 0) + 1;
    }
  }
  return { ...view, sides };
}

export interface Die {
  pips: number;
  used: boolean;
}

/** The dice as they lie there: a throw in its order, equal ones as four, and which are played. */
export function diceOf(view: TavliView, steps: readonly Action[]): Die[] {
  const left = [...view.dice];
  for (const { action } of steps) {
    const at = action.case === "moveChecker" ? left.indexOf(action.value.die) : -1;
    if (at >= 0) {
      left.splice(at, 1);
    }
  }
  const [one, two] = view.rolled;
  const thrown =
    view.rolled.length === 2 && one === two ? Array<number>(4).fill(one ?? 0) : view.rolled;
  const shown = thrown.length > 0 ? thrown : view.received;
  return [...shown].map((pips) => {
    const at = left.indexOf(pips);
    if (at >= 0) {
      left.splice(at, 1);
    }
    return { pips, used: at < 0 };
  });
}
