/** A player at a table of cards: his name, who deals, his cards from behind. */
import type { Seen } from "../hooks/useGame.js";
import { useTexts } from "../texts.js";
import { isComputer } from "./Seats.js";

export function PlayerTag({ seen, seat, dealer }: { seen: Seen; seat: number; dealer: number }) {
  const { t } = useTexts();
  return (
    <span class="player-name">
      {isComputer(seen, seat) && "⚙ "}
      {seen.game.seats[seat]?.playerId}
      {dealer === seat && (
        <abbr class="dealer" title={t("dealer")}>
          D
        </abbr>
      )}
    </span>
  );
}

export function Backs({ count }: { count: number }) {
  const { t } = useTexts();
  return (
    <span class="backs" role="img" aria-label={`${count} ${t("cards")}`}>
      {Array.from({ length: count }, (_, number) => (
        <i key={number} />
      ))}
    </span>
  );
}
