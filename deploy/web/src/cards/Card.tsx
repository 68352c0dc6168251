/** One card, drawn. */
import { useTexts } from "../texts.js";
import { cardName, isCard, isRed, rankSign, type SuitLetter } from "./names.js";

const WIDTH = 100;
const HEIGHT = 144;

/** The outlines of the suits around (0, 0), about 20 wide and high. */
const SUIT_PATHS: Readonly<Record<SuitLetter, string>> = {
  S: "M0-10C4-4 10-1 10 4C10 9 3 9 1.4 5C1.6 8 2.6 9.4 4 10H-4C-2.6 9.4-1.6 8-1.4 5C-3 9-10 9-10 4C-10-1-4-4 0-10Z",
  H: "M0 10C-6 4-10 0-10-5C-10-10-3-11 0-5C3-11 10-10 10-5C10 0 6 4 0 10Z",
  D: "M0-11C2.5-6.5 5-3.2 8.4 0C5 3.2 2.5 6.5 0 11C-2.5 6.5-5 3.2-8.4 0C-5-3.2-2.5-6.5 0-11Z",
  C: "M0-10C4-10 6-6 3.6-2.4C7-5 11-2 10 2C9 6 3.5 6 1.3 2.8C1.5 7 2.6 9.2 4.4 10H-4.4C-2.6 9.2-1.5 7-1.3 2.8C-3.5 6-9 6-10 2C-11-2-7-5-3.6-2.4C-6-6-4-10 0-10Z",
};

/** Where the pips of a number lie, in a field of 2 by 6 around the middle. */
const PIPS: Readonly<Record<string, readonly [number, number][]>> = {
  "2": [
    [0, -3],
    [0, 3],
  ],
  "3": [
    [0, -3],
    [0, 0],
    [0, 3],
  ],
  "4": [
    [-1, -3],
    [1, -3],
    [-1, 3],
    [1, 3],
  ],
  "5": [
    [-1, -3],
    [1, -3],
    [0, 0],
    [-1, 3],
    [1, 3],
  ],
  "6": [
    [-1, -3],
    [1, -3],
    [-1, 0],
    [1, 0],
    [-1, 3],
    [1, 3],
  ],
  "7": [
    [-1, -3],
    [1, -3],
    [0, -1.5],
    [-1, 0],
    [1, 0],
    [-1, 3],
    [1, 3],
  ],
  "8": [
    [-1, -3],
    [1, -3],
    [0, -1.5],
    [-1, 0],
    [1, 0],
    [0, 1.5],
    [-1, 3],
    [1, 3],
  ],
  "9": [
    [-1, -3],
    [1, -3],
    [-1, -1],
    [1, -1],
    [0, 0],
    [-1, 1],
    [1, 1],
    [-1, 3],
    [1, 3],
  ],
  T: [
    [-1, -3],
    [1, -3],
    [0, -2],
    [-1, -1],
    [1, -1],
    [-1, 1],
    [1, 1],
    [0, 2],
    [-1, 3],
    [1, 3],
  ],
};

interface Properties {
  /** "TS", "*", or "?" for one that is face down. */
  code: string;
  /** What stands in for it: for a joker on the table. */
  standsFor?: string;
  class?: string;
}

export function Card({ code, standsFor, class: kind = "" }: Properties) {
  const { language } = useTexts();
  const hidden = code === "?";
  const name = hidden ? "" : cardName(code, language);
  return (
    <svg
      class={`card-face ${kind}`}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      role="img"
      aria-label={name}
      aria-hidden={hidden}
    >
      {name && <title>{name}</title>}
      <rect class="paper" x="1" y="1" width={WIDTH - 2} height={HEIGHT - 2} rx="10" />
      {hidden ? <Back /> : isCard(code) ? <Face code={code} /> : <Joker standsFor={standsFor} />}
    </svg>
  );
}

function Face({ code }: { code: string }) {
  const { language } = useTexts();
  const rank = code.charAt(0);
  const suit = code.charAt(1) as SuitLetter;
  const pips = PIPS[rank];
  return (
    <g class={isRed(code) ? "ink red" : "ink black"}>
      <Corner rank={rankSign(code, language)} suit={suit} />
      <g transform={`rotate(180 ${WIDTH / 2} ${HEIGHT / 2})`}>
        <Corner rank={rankSign(code, language)} suit={suit} />
      </g>
      {pips?.map(([x, y]) => (
        <Sign
          key={`${x} ${y}`}
          suit={suit}
          x={50 + x * 16}
          y={72 + y * 15}
          size={0.92}
          down={y > 0}
        />
      ))}
      {rank === "A" && <Sign suit={suit} x={50} y={72} size={2.6} />}
      {"JQK".includes(rank) && <Court rank={rank} sign={rankSign(code, language)} suit={suit} />}
    </g>
  );
}

function Corner({ rank, suit }: { rank: string; suit: SuitLetter }) {
  return (
    <g>
      <text class={rank.length > 1 ? "rank narrow" : "rank"} x="15" y="27">
        {rank}
      </text>
      <Sign suit={suit} x={15} y={42} size={0.85} />
    </g>
  );
}

interface SignProperties {
  suit: SuitLetter;
  x: number;
  y: number;
  size: number;
  down?: boolean;
}

function Sign({ suit, x, y, size, down = false }: SignProperties) {
  const turn = down ? " rotate(180)" : "";
  return <path d={SUIT_PATHS[suit]} transform={`translate(${x} ${y})${turn} scale(${size})`} />;
}

/** A jack has a feather, a queen a diadem, a king a crown; above and below alike. */
const HEADS: Readonly<Record<string, string>> = {
  J: "M-13 0C-13-9-6-13 1-13C9-13 13-8 13 0ZM6-11C9-19 16-21 21-18C16-17 13-13 12-8Z",
  Q: "M-14 0L-15-9L-8-4L-5-13L0-5L5-13L8-4L15-9L14 0Z",
  K: "M-15 0L-16-12L-8-5L0-16L8-5L16-12L15 0ZM-2-22H2V-18H-2Z",
};

function Court({ rank, sign, suit }: { rank: string; sign: string; suit: SuitLetter }) {
  const half = (
    <g>
      <path class="crown" d={HEADS[rank]} transform="translate(50 48)" />
      <path class="robe" d="M30 72C30 58 38 51 50 51C62 51 70 58 70 72Z" />
      <Sign suit={suit} x={35} y={35} size={0.62} />
    </g>
  );
  return (
    <g class="court">
      <rect class="court-frame" x="26" y="22" width="48" height="100" rx="4" />
      {half}
      <g transform={`rotate(180 ${WIDTH / 2} ${HEIGHT / 2})`}>{half}</g>
      <circle class="medal" cx="50" cy="72" r="15" />
      <text class="court-rank" x="50" y="81">
        {sign}
      </text>
    </g>
  );
}

function Joker({ standsFor }: { standsFor: string | undefined }) {
  const { language, t } = useTexts();
  const shown = standsFor && isCard(standsFor) ? standsFor : undefined;
  return (
    <g class="joker">
      <path d="M50 34L58 60L85 60L63 76L71 102L50 86L29 102L37 76L15 60L42 60Z" />
      <text class="joker-name" x="50" y="124">
        {shown ? rankSign(shown, language) : t("joker")}
      </text>
      {shown && <Corner rank={rankSign(shown, language)} suit={shown.charAt(1) as SuitLetter} />}
    </g>
  );
}

function Back() {
  return (
    <g>
      <rect class="back" x="7" y="7" width={WIDTH - 14} height={HEIGHT - 14} rx="6" />
      <path
        class="lattice"
        d="M7 37L37 7M7 67L67 7M7 97L93 11M7 127L93 41M17 137L93 71M47 137L93 101M77 137L93 131M63 7L93 37M33 7L93 67M7 11L93 97M7 41L93 127M7 71L83 137M7 101L53 137"
      />
      <circle class="back-medal" cx="50" cy="72" r="17" />
    </g>
  );
}
