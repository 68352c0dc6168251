/** Tavli: the board, and the moves as a list. */
import type { TavliView } from "@kafeneio/client/rules";
import { Choices } from "../table/Choices.js";
import type { TableProperties } from "../table/properties.js";
import { useTexts } from "../texts.js";
import { Board } from "./Board.js";
import { facing, landing } from "./layout.js";

export function TavliTable({ view, seen, seat, turn }: TableProperties<TavliView>) {
  const { t } = useTexts();
  const lower = seat ?? 0;
  return (
    <div class="tavli">
      <Board view={view} lower={lower} turn={turn} touched={touchedBy(seen, view, lower)} />
      <div class="controls">
        {turn.chosen.length > 0 && (
          <button type="button" class="quiet" onClick={turn.undo} disabled={turn.busy}>
            ↶ {t("undo")}
          </button>
        )}
        {turn.complete && (
          <button type="button" class="go" onClick={turn.send} disabled={turn.busy}>
            ✓ {t("play")}
          </button>
        )}
        <Choices actions={turn.legal} onChoose={turn.choose} class="small" />
      </div>
    </div>
  );
}

/** Where the checkers of the last move have come to stand, as the lower seat calls these points. */
function touchedBy(
  { rows }: TableProperties<TavliView>["seen"],
  view: TavliView,
  lower: number,
): number[] {
  const moved = rows.findLast((row) => row.entries.some(isMove))?.entries ?? [];
  return moved.flatMap(({ seat, action }) => {
    if (action?.action.case !== "moveChecker") {
      return [];
    }
    const point = landing(action.action.value.start, action.action.value.die);
    return point === 0 ? [] : [seat === lower ? point : facing(view.game, point)];
  });
}

function isMove({
  action,
}: {
  action?: { action: { case?: string | undefined } } | undefined;
}): boolean {
  return action?.action.case === "moveChecker";
}
