/** A game: the table, who sits there, what happened, and what it paid. */
import { type KafeneioError, Refused } from "@kafeneio/client";
import { GameStatus } from "@kafeneio/client/rules";
import { useState } from "preact/hooks";
import { useAttendance } from "../hooks/useAttendance.js";
import { type Seen, useGame } from "../hooks/useGame.js";
import { useHouse } from "../hooks/useHouse.js";
import { useRules } from "../hooks/useRules.js";
import { useTurn } from "../hooks/useTurn.js";
import { RummyTable } from "../rummy/RummyTable.js";
import type { Session } from "../session.js";
import { TavliTable } from "../tavli/TavliTable.js";
import { useTexts } from "../texts.js";
import { TrickTable } from "../tricks/TrickTable.js";
import { Ending } from "./Ending.js";
import { GiveUp } from "./GiveUp.js";
import { LastRoundCard } from "./LastRoundCard.js";
import { Log } from "./Log.js";
import { Refusal } from "./Refusal.js";
import { Score } from "./Score.js";
import { Seats } from "./Seats.js";
import { StatusLine } from "./StatusLine.js";

export function GamePage({ session, gameId }: { session: Session; gameId: string }) {
  const { language, t } = useTexts();
  const { seen, connected, error } = useGame(session, gameId);
  return (
    <div class="game">
      {!connected && (
        <p class="banner" role="status">
          {t("offline")}
        </p>
      )}
      {error && (
        <p class="banner" role="alert">
          {error.text(language)}
        </p>
      )}
      {!seen && !error && <p>{t("loading")}</p>}
      {seen && <Playing session={session} gameId={gameId} seen={seen} />}
    </div>
  );
}

interface PlayingProperties {
  session: Session;
  gameId: string;
  seen: Seen;
}

function Playing({ session, gameId, seen }: PlayingProperties) {
  const { language, t } = useTexts();
  const { game, position } = seen;
  const { house, player } = session;
  const [refusal, setRefusal] = useState<KafeneioError>();
  const [again, setAgain] = useState(0);
  const variant = game.terms?.variant ?? "";
  const rules = useRules(house, variant, game.terms?.edition);

  const asked = () => house.rulebook.getVariant({ variant });
  const name = useHouse(asked, [house, variant]).value?.variant?.name?.[language] ?? variant;

  const taken = game.seats.find((one) => one.playerId === player && !one.computer)?.seat;
  const out = position.forfeits.some((forfeit) => forfeit.seat === taken);
  const seat = out ? undefined : taken;
  const running = position.status === GameStatus.RUNNING;
  const time = useAttendance(house, gameId, running, seat !== undefined, again);
  const away = time.end === "taken-over";
  const tavli = position.view?.table.case === "tavli";
  const acting = running && !away ? seat : undefined;
  const turn = useTurn({
    session,
    gameId,
    position,
    seat: acting,
    confirming: tavli,
    onError: (error) => setRefusal(error as KafeneioError),
  });

  return (
    <>
      <aside class="side">
        <Score seen={seen} name={name} />
        <Seats seen={seen} time={time} own={taken} />
      </aside>
      <section
        class="table"
        data-version={position.version}
        data-status={GameStatus[position.status]}
      >
        <StatusLine seen={seen} seat={acting} watching={taken === undefined} time={time} />
        {away && (
          <p class="banner">
            {t("takenOver")}{" "}
            <button type="button" onClick={() => setAgain(again + 1)}>
              {t("takeBack")}
            </button>
          </p>
        )}
        {refusal && (
          <Refusal
            error={refusal}
            rules={refusal instanceof Refused ? rules : undefined}
            onClose={() => setRefusal(undefined)}
          />
        )}
        {(position.status === GameStatus.FINISHED || position.status === GameStatus.CANCELLED) && (
          <Ending session={session} seen={seen} seat={taken} />
        )}
        <LastRoundCard seen={seen} />
        <TableOf seen={seen} seat={seat} turn={turn} />
      </section>
      <aside class="more">
        <div class="buttons">
          {seat !== undefined && running && (
            <GiveUp
              house={house}
              game={game}
              round={position.round}
              resignable={tavli}
              onError={setRefusal}
            />
          )}
          <a class="button quiet" href={`#/rules/${variant}`} target="_blank" rel="noreferrer">
            {t("readRules")}
          </a>
        </div>
        <Log seen={seen} />
      </aside>
    </>
  );
}

interface TableOfProperties {
  seen: Seen;
  seat: number | undefined;
  turn: ReturnType<typeof useTurn>;
}

function TableOf({ seen, seat, turn }: TableOfProperties) {
  const table = seen.position.view?.table;
  switch (table?.case) {
    case "tavli":
      return <TavliTable view={table.value} seen={seen} seat={seat} turn={turn} />;
    case "tricks":
      return <TrickTable view={table.value} seen={seen} seat={seat} turn={turn} />;
    case "rummy":
      return <RummyTable view={table.value} seen={seen} seat={seat} turn={turn} />;
    default:
      return null;
  }
}
