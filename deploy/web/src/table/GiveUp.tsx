/** Giving up: the round, where the game knows that, or the whole game for good. */
import { type House, insist, type KafeneioError, toKafeneioError } from "@kafeneio/client";
import type { Game } from "@kafeneio/client/rules";
import { useState } from "preact/hooks";
import { type TextKey, useTexts } from "../texts.js";

interface Properties {
  house: House;
  game: Game;
  round: number;
  /** Whether the game knows resigning. */
  resignable: boolean;
  onError: (error: KafeneioError) => void;
}

type Asked = "leave" | "resign";
const SURE: Readonly<Record<Asked, TextKey>> = { leave: "leaveSure", resign: "resignSure" };

export function GiveUp({ house, game: { gameId }, round, resignable, onError }: Properties) {
  const { t } = useTexts();
  const [asked, setAsked] = useState<Asked>();

  function give() {
    const call =
      asked === "leave"
        ? insist((requestId) => house.clock.leave({ requestId, gameId }))
        : insist((requestId) => house.games.resign({ requestId, gameId, round }));
    setAsked(undefined);
    call.catch((thrown) => onError(toKafeneioError(thrown)));
  }

  if (asked) {
    return (
      <div class="sure" role="alertdialog" aria-label={t(SURE[asked])}>
        <p>{t(SURE[asked])}</p>
        <div class="buttons">
          <button type="button" class="danger" onClick={give}>
            {t("yes")}
          </button>
          <button type="button" onClick={() => setAsked(undefined)}>
            {t("no")}
          </button>
        </div>
      </div>
    );
  }
  return (
    <>
      {resignable && (
        <button type="button" class="quiet" onClick={() => setAsked("resign")}>
          {t("resign")}
        </button>
      )}
      <button type="button" class="quiet" onClick={() => setAsked("leave")}>
        {t("leave")}
      </button>
    </>
  );
}
