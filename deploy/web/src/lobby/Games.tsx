/** Games that are being played: one's own to go on with, the others' to watch. */
import { GameStatus, type GameSummary, type Variant } from "@kafeneio/client/rules";
import { useHouse } from "../hooks/useHouse.js";
import type { Session } from "../session.js";
import { useTexts } from "../texts.js";
import { nameOf } from "./Variants.js";

const EVERY_MS = 10_000;
const SHOWN = 10;

export function Games({ session, variants }: { session: Session; variants: Variant[] }) {
  const { t } = useTexts();
  const { house, player } = session;
  const own = useHouse(
    () => house.games.listGames({ playerId: player, pageSize: SHOWN }),
    [session],
    EVERY_MS,
  );
  const running = useHouse(
    () => house.games.listGames({ status: GameStatus.RUNNING, pageSize: 3 * SHOWN }),
    [session],
    EVERY_MS,
  );
  const others = (running.value?.games ?? []).filter((game) => !game.playerIds.includes(player));
  return (
    <>
      <section>
        <h2>{t("yourGames")}</h2>
        <List games={own.value?.games ?? []} variants={variants} own />
      </section>
      <section>
        <h2>{t("otherGames")}</h2>
        <List games={others.slice(0, SHOWN)} variants={variants} />
      </section>
    </>
  );
}

interface ListProperties {
  games: GameSummary[];
  variants: Variant[];
  own?: boolean;
}

function List({ games, variants, own = false }: ListProperties) {
  const { language, t } = useTexts();
  if (games.length === 0) {
    return <p class="dim">{t("noGames")}</p>;
  }
  return (
    <ul class="games">
      {games.map((game) => {
        const alive = game.status === GameStatus.RUNNING || game.status === GameStatus.WAITING;
        return (
          <li key={game.gameId}>
            <span>
              <b>{nameOf(variants, game.terms?.variant ?? "", language)}</b>{" "}
              <span class="dim">{game.playerIds.join(" · ")}</span>
            </span>
            <a class={alive && own ? "button" : "button quiet"} href={`#/game/${game.gameId}`}>
              {t(alive ? (own ? "goOn" : "watch") : "look")}
            </a>
          </li>
        );
      })}
    </ul>
  );
}
