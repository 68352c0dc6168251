/** What a tavli board is made of. */
import type { Action, TavliView } from "@kafeneio/client/rules";
import type { TargetedKeyboardEvent } from "preact";
import {
  type Checker,
  HALVES,
  heightOf,
  MIDDLE,
  OFF,
  type Place,
  placeOf,
  RADIUS,
  SIZE,
  trayOf,
} from "./layout.js";

const TIP = 250;
const CHECKERS = 15;

/** The frame, the two halves, and the wood's light. */
export function Wood() {
  return (
    <g>
      <defs>
        <linearGradient id="frame" x1="0" y1="0" x2="1" y2="1">
          <stop offset="0" stop-color="#7a4a26" />
          <stop offset="0.5" stop-color="#5a3218" />
          <stop offset="1" stop-color="#3d2110" />
        </linearGradient>
        <linearGradient id="field" x1="0" y1="0" x2="0" y2="1">
          <stop offset="0" stop-color="#e6cfa4" />
          <stop offset="0.5" stop-color="#d9bd8b" />
          <stop offset="1" stop-color="#e6cfa4" />
        </linearGradient>
        <radialGradient id="ivory" cx="0.38" cy="0.32" r="0.8">
          <stop offset="0" stop-color="#fffdf4" />
          <stop offset="0.7" stop-color="#efe2c4" />
          <stop offset="1" stop-color="#c9b88f" />
        </radialGradient>
        <radialGradient id="ebony" cx="0.38" cy="0.32" r="0.8">
          <stop offset="0" stop-color="#77544a" />
          <stop offset="0.65" stop-color="#3b2019" />
          <stop offset="1" stop-color="#1e0d09" />
        </radialGradient>
      </defs>
      <rect width={SIZE.width} height={SIZE.height} rx="16" fill="url(#frame)" />
      {HALVES.map((half) => (
        <rect key={half.x} {...half} rx="4" fill="url(#field)" stroke="#2b1509" stroke-width="2" />
      ))}
      {[true, false].map((lower) => {
        const { x, y, width } = trayOf(lower);
        const height = MIDDLE - 36;
        const top = lower ? y - height : y;
        return (
          <rect
            key={String(lower)}
            x={x - width / 2}
            y={top}
            width={width}
            height={height}
            rx="6"
            fill="#33190c"
            stroke="#1d0d05"
          />
        );
      })}
    </g>
  );
}

export function Point({ point, marked }: { point: number; marked: boolean }) {
  const { x, y, direction, width } = placeOf(point);
  const half = width / 2 - 3;
  const d = `M${x - half} ${y} L${x + half} ${y} L${x} ${y + direction * TIP} Z`;
  const kind = point % 2 === 0 ? "point dark" : "point light";
  return <path d={d} class={marked ? `${kind} marked` : kind} />;
}

export function PointLabel({ point }: { point: number }) {
  const { x, y, direction } = placeOf(point);
  return (
    <text class="point-label" x={x} y={y - direction * 9} aria-hidden="true">
      {point}
    </text>
  );
}

export function CheckerDisc({ checker, side }: { checker: Checker; side: "lower" | "upper" }) {
  const fill = side === "lower" ? "url(#ivory)" : "url(#ebony)";
  const rim = side === "lower" ? "#8d7a4f" : "#100503";
  return (
    <g class={`checker ${side}`} transform={`translate(${checker.x} ${checker.y})`}>
      <circle r={RADIUS} cy="3" fill="rgba(0,0,0,.35)" />
      <circle r={RADIUS} fill={fill} stroke={rim} stroke-width="1.5" />
      <circle r={RADIUS * 0.66} fill="none" stroke={rim} stroke-opacity=".5" stroke-width="1.5" />
      {checker.label && <text class="count">{checker.label}</text>}
    </g>
  );
}

/** The checkers that a seat has borne off, edgewise. */
export function Tray({ view, seat, lower }: { view: TavliView; seat: number; lower: number }) {
  const off = view.sides[seat]?.points[OFF] ?? 0;
  const { x, y, direction, width } = trayOf(seat === lower);
  const thickness = (MIDDLE - 56) / CHECKERS;
  return (
    <g aria-hidden="true">
      {Array.from({ length: off }, (_, place) => (
        <rect
          key={place}
          x={x - width / 2 + 6}
          y={y + direction * (8 + place * thickness) - (direction < 0 ? thickness : 0)}
          width={width - 12}
          height={thickness - 2}
          rx="3"
          fill={seat === lower ? "url(#ivory)" : "url(#ebony)"}
        />
      ))}
      {off > 0 && (
        <text class="off-count" x={x} y={MIDDLE - direction * 30}>
          {off}
        </text>
      )}
    </g>
  );
}

export interface SpotProperties {
  place: Place;
  label: string;
  /** How many checkers stand there. */
  count: number;
  /** The moves by which the checker that was taken up would arrive here. */
  arriving: Action[];
  isStart: boolean;
  isSelected: boolean;
  onMove: (action: Action) => void;
  onSelect: () => void;
  /** A click on what is neither: the house tells the rule. */
  onWhy: () => void;
}

/** A place that can be clicked or reached with the keyboard. */
export function Spot(properties: SpotProperties) {
  const { place, label, count, arriving, isStart, isSelected, onMove, onSelect, onWhy } =
    properties;
  const [arrival] = arriving;
  const active = arrival !== undefined || isStart;
  const click = () => (arrival ? onMove(arrival) : isStart ? onSelect() : onWhy());
  function key(event: TargetedKeyboardEvent<SVGGElement>) {
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      click();
    }
  }
  const kind = arrival ? "target" : isSelected ? "start selected" : isStart ? "start" : "";
  const top = place.direction > 0 ? place.y : place.y - TIP - 20;
  const number = arrival ? count : count - 1;
  const middle = heightOf(number, number + 1, place);
  const box = {
    x: place.x - place.width / 2,
    y: top,
    width: place.width,
    height: TIP + 20,
    rx: 6,
  };
  if (!active) {
    // biome-ignore lint/a11y/noStaticElementInteractions: asks why, which the list of moves makes needless
    return <rect class="spot" {...box} onClick={click} aria-label={label} />;
  }
  return (
    <g
      class={`spot ${kind}`}
      role="button"
      tabindex={0}
      aria-label={label}
      onClick={click}
      onKeyDown={key}
    >
      <rect {...box} />
      <circle class="mark" cx={place.x} cy={middle} r={arrival ? 12 : RADIUS + 2} />
    </g>
  );
}
