/** One line above the table: whose turn it is. It is read aloud when it changes. */
import { GameStatus } from "@kafeneio/client/rules";
import type { Time } from "../hooks/useAttendance.js";
import type { Seen } from "../hooks/useGame.js";
import { useTexts } from "../texts.js";

interface Properties {
  seen: Seen;
  /** The player's seat, where he can act. */
  seat: number | undefined;
  watching: boolean;
  time: Time;
}

export function StatusLine({ seen, seat, watching, time }: Properties) {
  const { t } = useTexts();
  const { game, position } = seen;
  const prompted = position.turn?.seat;
  const mine = prompted !== undefined && prompted === seat;
  let text = "";
  if (position.status === GameStatus.WAITING) {
    const missing = game.seats.filter((one) => !one.joined).map((one) => one.playerId);
    // Where all have joined, the game is on, and who watches sees it late.
    text = missing.length > 0 ? `${t("waitingSeats")} ${missing.join(", ")}` : t("loading");
  } else if (time.clock?.pausedSince) {
    text = t("paused");
  } else if (mine) {
    text = t("yourTurn");
  } else if (prompted !== undefined) {
    text = t("turnOf") + (game.seats[prompted]?.playerId ?? "");
  }
  return (
    <p class={mine ? "status mine" : "status"} aria-live="polite">
      {text}
      {watching && <span class="dim"> {t("spectator")}</span>}
    </p>
  );
}
