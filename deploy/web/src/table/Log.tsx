/** What happened, the newest first. */
import type { Seen } from "../hooks/useGame.js";
import { useTexts } from "../texts.js";
import { rowText } from "./actionText.js";

export function Log({ seen }: { seen: Seen }) {
  const { language, t } = useTexts();
  const names = seen.game.seats.map((one) => one.playerId);
  return (
    <details class="log">
      <summary>{t("happened")}</summary>
      <ol reversed>
        {seen.rows.toReversed().map((row) => (
          <li key={row.position?.version}>{rowText(row.entries, names, language)}</li>
        ))}
      </ol>
    </details>
  );
}
