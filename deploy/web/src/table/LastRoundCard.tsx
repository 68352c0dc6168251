/** How the round before this one ended, until it is put away. */
import type { SideSheet } from "@kafeneio/client/rules";
import { useState } from "preact/hooks";
import { codeText } from "../codes.js";
import type { Seen } from "../hooks/useGame.js";
import { HandEnds } from "../rummy/HandEnds.js";
import { type TextKey, useTexts } from "../texts.js";

export function LastRoundCard({ seen }: { seen: Seen }) {
  const { language, t } = useTexts();
  const [putAway, setPutAway] = useState(0);
  const last = seen.position.lastRound;
  if (!last || last.round <= putAway) {
    return null;
  }
  const table = last.view?.table;
  const names = seen.game.seats.map((one) => one.playerId);
  return (
    <div class="last-round" role="status">
      <p>
        <b>
          {t("lastRound")} {last.round}
        </b>
        : {codeText(last.ending, language)} · {last.points.join(" : ")}
      </p>
      {table?.case === "tricks" && <Sheet sides={table.value.sheet} />}
      {table?.case === "rummy" && <HandEnds ends={table.value.ends} names={names} />}
      <button type="button" class="quiet" onClick={() => setPutAway(last.round)}>
        {t("close")}
      </button>
    </div>
  );
}

const LINES: readonly (keyof SideSheet & TextKey)[] = [
  "tricks",
  "declarations",
  "belote",
  "contract",
  "total",
  "marked",
];

/** The arithmetic of a hand, a column for each side. */
function Sheet({ sides }: { sides: SideSheet[] }) {
  const { t } = useTexts();
  if (sides.length === 0) {
    return null;
  }
  return (
    <table class="sheet">
      <tbody>
        {LINES.map((line) => (
          <tr key={line}>
            <th scope="row">{t(line)}</th>
            {sides.map((side, number) => (
              <td key={number}>{String(side[line])}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
