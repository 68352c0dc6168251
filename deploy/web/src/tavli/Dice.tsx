/** The dice of a throw; those that are played are faint. */
import { type Die, HALVES, MIDDLE } from "./layout.js";

const EDGE = 46;
const GAP = 10;
const PIPS: Readonly<Record<number, readonly [number, number][]>> = {
  1: [[0, 0]],
  2: [
    [-1, -1],
    [1, 1],
  ],
  3: [
    [-1, -1],
    [0, 0],
    [1, 1],
  ],
  4: [
    [-1, -1],
    [1, -1],
    [-1, 1],
    [1, 1],
  ],
  5: [
    [-1, -1],
    [1, -1],
    [0, 0],
    [-1, 1],
    [1, 1],
  ],
  6: [
    [-1, -1],
    [1, -1],
    [-1, 0],
    [1, 0],
    [-1, 1],
    [1, 1],
  ],
};

export function Dice({ dice, mover }: { dice: Die[]; mover: "lower" | "upper" }) {
  const half = HALVES[mover === "lower" ? 1 : 0];
  const width = half?.width ?? 0;
  const edge = Math.min(EDGE, (width - GAP) / dice.length - GAP / 2);
  const gap = edge < EDGE ? GAP / 2 : GAP;
  const left = (half?.x ?? 0) + (width - dice.length * (edge + gap) + gap) / 2;
  const label = dice.map((die) => die.pips).join(" ");
  return (
    <g role="img" aria-label={label} class={`dice ${mover}`}>
      {dice.map((die, place) => (
        <g
          key={place}
          class={die.used ? "die used" : "die"}
          transform={`translate(${left + place * (edge + gap)} ${MIDDLE - edge / 2}) scale(${edge / EDGE})`}
        >
          <rect width={EDGE} height={EDGE} rx="9" />
          {(PIPS[die.pips] ?? []).map(([x, y]) => (
            <circle key={`${x} ${y}`} cx={EDGE / 2 + x * 12} cy={EDGE / 2 + y * 12} r="4.6" />
          ))}
        </g>
      ))}
    </g>
  );
}
