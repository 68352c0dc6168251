import type { Seen } from "../hooks/useGame.js";
import type { Turn } from "../hooks/useTurn.js";

/** What every kind of table is given. */
export interface TableProperties<View> {
  view: View;
  seen: Seen;
  /** The player's seat; undefined for a spectator. */
  seat: number | undefined;
  turn: Turn;
}

/** Where the seats sit, seen from below, in order of play: anti-clockwise, as cards are played here. */
const PLACES: Readonly<Record<number, readonly string[]>> = {
  2: ["bottom", "top"],
  3: ["bottom", "right", "left"],
  4: ["bottom", "right", "top", "left"],
};

/** Where a seat sits, where `lower` sits at the bottom. */
export function placeOfSeat(seat: number, lower: number, seats: number): string {
  return PLACES[seats]?.[(seat - lower + seats) % seats] ?? "top";
}
