/** What has been declared, as far as this player may know it. */
import type { TrickView } from "@kafeneio/client/rules";
import { Card } from "../cards/Card.js";
import { codeText } from "../codes.js";
import { useTexts } from "../texts.js";

export function Declarations({
  view,
  place,
}: {
  view: TrickView;
  place: (seat: number) => string;
}) {
  const { language, t } = useTexts();
  if (view.declarations.length === 0) {
    return null;
  }
  return (
    <ul class="declarations" aria-label={t("declared")}>
      {view.declarations.map((one, number) => (
        <li
          key={number}
          class={`${place(one.seat)}${one.scored === false ? " unscored" : ""}`}
          title={one.scored === false ? t("notScored") : ""}
        >
          <b>{codeText(one.kind, language) || one.points}</b>
          {one.cards.map((card) => (
            <Card key={card} code={card} class="tiny" />
          ))}
        </li>
      ))}
    </ul>
  );
}
