/** A player's own cards, side by side as far as there is room, each a button. */
import { useTexts } from "../texts.js";
import { Card } from "./Card.js";
import { cardName } from "./names.js";

export interface HandCard {
  /** Tells twins apart. */
  key: string;
  code: string;
  legal: boolean;
  selected?: boolean;
}

/** The cards of a hand; of two packs a card may come twice. */
export function keyed(hand: readonly string[]): { key: string; code: string }[] {
  return hand.map((code, place) => ({
    code,
    key: `${code}${hand.slice(0, place).filter((other) => other === code).length}`,
  }));
}

interface Properties {
  cards: HandCard[];
  onClick: (card: HandCard) => void;
  /** Whether cards are picked up, several at a time, and not played at once. */
  picking?: boolean;
}

export function Hand({ cards, onClick, picking = false }: Properties) {
  const { language, t } = useTexts();
  return (
    <div class="hand" role="group" aria-label={t("hand")} style={`--cards: ${cards.length}`}>
      {cards.map((card) => (
        <button
          key={card.key}
          type="button"
          class={`hand-card${card.legal ? " legal" : ""}${card.selected ? " selected" : ""}`}
          aria-label={cardName(card.code, language)}
          {...(picking ? { "aria-pressed": card.selected ?? false } : {})}
          onClick={() => onClick(card)}
        >
          <Card code={card.code} />
        </button>
      ))}
    </div>
  );
}
