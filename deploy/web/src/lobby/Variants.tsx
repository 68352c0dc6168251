/** Everything that the house plays, to choose from. */
import type { Variant } from "@kafeneio/client/rules";
import { useTexts } from "../texts.js";

/** What a payout rule is for tells which kind of game it is: for the sign only. */
const SIGNS: Readonly<Record<string, string>> = { S1: "♠", S2: "♦", S3: "🃏", S4: "⚅" };

interface Properties {
  variants: Variant[];
  chosen: string;
  onChoose: (variant: string) => void;
}

export function Variants({ variants, chosen, onChoose }: Properties) {
  const { language } = useTexts();
  return (
    <div class="variants" role="group">
      {variants.map((one) => (
        <button
          key={one.variant}
          type="button"
          class="variant"
          data-variant={one.variant}
          aria-pressed={one.variant === chosen}
          onClick={() => onChoose(one.variant === chosen ? "" : one.variant)}
        >
          <span class="sign" aria-hidden="true">
            {SIGNS[one.payoutRule] ?? "•"}
          </span>
          <span class="name">{one.name?.[language] ?? one.variant}</span>
          <span class="dim">{"●".repeat(one.seats)}</span>
        </button>
      ))}
    </div>
  );
}

/** The name of a variant in the language of the page. */
export function nameOf(variants: Variant[], id: string, language: "el" | "en"): string {
  return variants.find((one) => one.variant === id)?.name?.[language] ?? id;
}
