/** One player at a table of cards: his backs, what he said last, who deals. */
import type { TrickView } from "@kafeneio/client/rules";
import type { Seen } from "../hooks/useGame.js";
import { callText } from "../table/actionText.js";
import { Backs, PlayerTag } from "../table/PlayerTag.js";
import { useTexts } from "../texts.js";

interface Properties {
  view: TrickView;
  seen: Seen;
  seat: number;
  count: number;
  place: string;
}

export function Player({ view, seen, seat, count, place }: Properties) {
  const { language } = useTexts();
  const said = view.calls.filter((call) => call.seat === seat).at(-1);
  const announced = view.belote.filter((call) => call.seat === seat).at(-1);
  const speech = announced?.call ?? (view.played.length === 0 ? said?.call : undefined);
  const onTurn = seen.position.turn?.seat === seat;
  return (
    <div class={`player ${place}${onTurn ? " on-turn" : ""}`}>
      <PlayerTag seen={seen} seat={seat} dealer={view.dealer} />
      {place !== "bottom" && <Backs count={count} />}
      {speech && <q class="speech">{callText(speech, language)}</q>}
    </div>
  );
}
