/** The melds on the table; those to which what was picked up can be laid are buttons. */
import type { Action, RummyView } from "@kafeneio/client/rules";
import { Card } from "../cards/Card.js";
import { actionText } from "../table/actionText.js";
import { useTexts } from "../texts.js";

interface Properties {
  view: RummyView;
  names: string[];
  /** What may be done with the cards that were picked up. */
  offered: Action[];
  onChoose: (action: Action) => void;
}

export function Melds({ view, names, offered, onChoose }: Properties) {
  const { language, t } = useTexts();
  return (
    <ol class="melds" aria-label={t("melds")}>
      {view.melds.map((meld, place) => {
        const number = place + 1;
        const fitting = offered.filter(({ action }) => meldOf(action) === number);
        const [action] = fitting;
        const cards = meld.cards.map((card, index) => (
          <Card key={index} code={card} standsFor={meld.standsFor[index] ?? card} class="small" />
        ));
        return (
          <li key={number} class="meld">
            <span class="meld-number">{number}</span>
            {action ? (
              <button
                type="button"
                class="meld-cards legal"
                aria-label={actionText(action, language)}
                onClick={() => onChoose(action)}
              >
                {cards}
              </button>
            ) : (
              <span class="meld-cards">{cards}</span>
            )}
            {meld.owner !== undefined && <small class="dim">{names[meld.owner]}</small>}
          </li>
        );
      })}
    </ol>
  );
}

function meldOf(action: Action["action"]): number | undefined {
  return action.case === "layOff" || action.case === "swapJoker" ? action.value.meld : undefined;
}
