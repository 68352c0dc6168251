/** The game's name and its score. */
import type { Seen } from "../hooks/useGame.js";
import { useTexts } from "../texts.js";

export function Score({ seen, name }: { seen: Seen; name: string }) {
  const { t } = useTexts();
  const { game, position } = seen;
  const sides = position.score.map((points, side) => ({
    points,
    names: game.seats.filter(({ seat }) => seat % position.score.length === side),
  }));
  const table = position.view?.table.value;
  return (
    <div class="score">
      <h1>{name}</h1>
      <p class="dim">
        {position.round > 0 && `${t("round")} ${position.round}`}
        {table && table.game !== game.terms?.variant && ` · ${table.game}`} · {t("upTo")}{" "}
        {game.terms?.target}
      </p>
      <dl>
        {sides.map(({ points, names }, side) => (
          <div key={side} class={`side-${side}`}>
            <dt>{names.map((one) => one.playerId).join(" & ")}</dt>
            <dd>{points}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
