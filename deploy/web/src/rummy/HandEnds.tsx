/** What each hand was worth, once somebody has gone out. */
import type { HandEnd } from "@kafeneio/client/rules";
import { Card } from "../cards/Card.js";
import { useTexts } from "../texts.js";

export function HandEnds({ ends, names }: { ends: HandEnd[]; names: string[] }) {
  const { t } = useTexts();
  return (
    <ul class="ends">
      {ends.map((end) => (
        <li key={end.seat}>
          <b>{names[end.seat]}</b> {end.deadwood} {t("deadwood")}
          <span class="meld-cards">
            {[...end.melds.flatMap((meld) => meld.cards), ...end.left].map((card, place) => (
              <Card key={place} code={card} class="tiny" />
            ))}
          </span>
        </li>
      ))}
    </ul>
  );
}
