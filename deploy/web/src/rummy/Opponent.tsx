/** Another player at a table of rummy. */
import type { RummyView } from "@kafeneio/client/rules";
import type { Seen } from "../hooks/useGame.js";
import { Backs, PlayerTag } from "../table/PlayerTag.js";
import { useTexts } from "../texts.js";

interface Properties {
  view: RummyView;
  seen: Seen;
  seat: number;
  count: number;
  place: string;
}

export function Opponent({ view, seen, seat, count, place }: Properties) {
  const { t } = useTexts();
  const out = !view.live.includes(seat);
  return (
    <div class={`opponent ${place}${view.mover === seat ? " on-turn" : ""}`}>
      <PlayerTag seen={seen} seat={seat} dealer={view.dealer} />
      {out ? <span class="dim">{t("forfeited")}</span> : <Backs count={count} />}
    </div>
  );
}
