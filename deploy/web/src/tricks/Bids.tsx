/** The bids that may be made now: a row for each number, a column for each suit. */
import type { Action } from "@kafeneio/client/rules";
import { suitLetter, suitSign } from "../cards/names.js";
import { actionText } from "../table/actionText.js";
import { useTexts } from "../texts.js";

/** More numbers than these are reached by the list at the side. */
const ROWS = 4;

interface Properties {
  actions: Action[];
  onChoose: (action: Action) => void;
}

export function Bids({ actions, onChoose }: Properties) {
  const { language, t } = useTexts();
  const rows = new Map<string, Action[]>();
  for (const action of actions) {
    if (action.action.case === "bid") {
      const { capot, value } = action.action.value;
      const row = capot ? t("capot") : String(value);
      rows.set(row, [...(rows.get(row) ?? []), action]);
    }
  }
  if (rows.size === 0) {
    return null;
  }
  const all = [...rows];
  return (
    <div class="bids">
      {all.slice(0, ROWS).map(([row, bids]) => (
        <Row key={row} row={row} bids={bids} onChoose={onChoose} />
      ))}
      {all.length > ROWS && (
        <details>
          <summary>…</summary>
          {all.slice(ROWS).map(([row, bids]) => (
            <Row key={row} row={row} bids={bids} onChoose={onChoose} />
          ))}
        </details>
      )}
    </div>
  );

  function Row({
    row,
    bids,
    onChoose: choose,
  }: { row: string; bids: Action[] } & Omit<Properties, "actions">) {
    return (
      <div class="bid-row">
        <span>{row}</span>
        {bids.map((bid) => {
          const letter = bid.action.case === "bid" ? suitLetter(bid.action.value.suit) : "";
          return (
            <button
              key={bid.notation}
              type="button"
              data-action="bid"
              data-notation={bid.notation}
              class={`suit ${letter}`}
              aria-label={actionText(bid, language)}
              onClick={() => choose(bid)}
            >
              {suitSign(letter)}
            </button>
          );
        })}
      </div>
    );
  }
}
