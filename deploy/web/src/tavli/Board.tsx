/** A tavli board as the lower seat sees it. What can be clicked are the moves that the house lists. */
import { create } from "@kafeneio/client";
import { type Action, ActionSchema, type TavliView } from "@kafeneio/client/rules";
import { useEffect, useState } from "preact/hooks";
import type { Turn } from "../hooks/useTurn.js";
import { useTexts } from "../texts.js";
import { Dice } from "./Dice.js";
import {
  BAR,
  barOf,
  type Checker,
  diceOf,
  landing,
  lifted,
  OFF,
  placeOf,
  SIZE,
  stacked,
  standing,
  trayOf,
} from "./layout.js";
import { CheckerDisc, Point, PointLabel, Spot, type SpotProperties, Tray, Wood } from "./pieces.js";

interface Properties {
  view: TavliView;
  /** Whose home is below. */
  lower: number;
  turn: Turn;
  /** The points, as the lower seat calls them, on which the last move ended. */
  touched: readonly number[];
}

const POINTS = Array.from({ length: 24 }, (_, place) => place + 1);

export function Board({ view, lower, turn, touched }: Properties) {
  const { t } = useTexts();
  const [selected, setSelected] = useState<number>();
  const moves = turn.legal.filter((one) => one.action.case === "moveChecker");
  const starts = new Set(moves.map(startOf));
  const from = selected !== undefined && starts.has(selected) ? selected : undefined;
  const shown = lifted(view, lower, turn.chosen);

  // A checker that has moved goes on, where it can.
  const last = turn.chosen.at(-1);
  useEffect(() => {
    setSelected(last && landingOf(last) !== OFF ? landingOf(last) : undefined);
  }, [last, view]);

  /** What a click on a place of the mover does: go there, or take up the checker that stands there. */
  function spot(point: number): Omit<SpotProperties, "place" | "label" | "count"> {
    const arriving = moves.filter((one) => startOf(one) === from && landingOf(one) === point);
    return {
      arriving,
      isStart: starts.has(point),
      isSelected: from === point,
      onMove: turn.choose,
      onSelect: () => setSelected(from === point ? undefined : point),
      onWhy: () => turn.legal.length > 0 && askWhy(point),
    };
  }

  function pointsOf(point: number): number {
    return shown.sides[lower]?.points[point] ?? 0;
  }

  function askWhy(point: number) {
    const die = view.dice[0];
    if (die !== undefined && point !== OFF && pointsOf(point) > 0) {
      turn.askWhy(move(point, die));
    }
  }

  return (
    <svg class="board" viewBox={`0 0 ${SIZE.width} ${SIZE.height}`} aria-label={t("board")}>
      <title>{t("board")}</title>
      <Wood />
      {POINTS.map((point) => (
        <Point key={point} point={point} marked={touched.includes(point)} />
      ))}
      {POINTS.map((point) => (
        <PointLabel key={point} point={point} />
      ))}
      <Dice dice={diceOf(view, turn.chosen)} mover={view.mover === lower ? "lower" : "upper"} />
      {POINTS.flatMap((point) => stacked(standing(shown, lower, point), placeOf(point))).map(draw)}
      {[lower, 1 - lower].flatMap((seat) => {
        const waiting = Array<number>(shown.sides[seat]?.points[BAR] ?? 0).fill(seat);
        return stacked(waiting, barOf(seat === lower)).map(draw);
      })}
      <Tray view={shown} seat={1 - lower} lower={lower} />
      <Tray view={shown} seat={lower} lower={lower} />
      {POINTS.map((point) => (
        <Spot
          key={point}
          place={placeOf(point)}
          label={pointLabel(point, standing(shown, lower, point))}
          count={standing(shown, lower, point).length}
          {...spot(point)}
        />
      ))}
      <Spot place={barOf(true)} label={t("bar")} count={pointsOf(BAR)} {...spot(BAR)} />
      <Spot place={trayOf(true)} label={t("off")} count={0} {...spot(OFF)} />
    </svg>
  );

  function draw(checker: Checker, place: number) {
    const side = checker.seat === lower ? "lower" : "upper";
    return <CheckerDisc key={`${checker.x} ${checker.y} ${place}`} checker={checker} side={side} />;
  }

  function pointLabel(point: number, seats: number[]): string {
    const own = seats.filter((seat) => seat === lower).length;
    return `${t("point")} ${point}: ${own} / ${seats.length - own} ${t("checkers")}`;
  }
}

function startOf({ action }: Action): number {
  return action.case === "moveChecker" ? action.value.start : -1;
}

function landingOf({ action }: Action): number {
  return action.case === "moveChecker" ? landing(action.value.start, action.value.die) : -1;
}

function move(start: number, die: number): Action {
  return create(ActionSchema, { action: { case: "moveChecker", value: { start, die } } });
}
