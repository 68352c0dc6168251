/** How a game ended, what it paid, and whether its chance was honest. */
import { formatMoney } from "@kafeneio/client";
import { GameStatus, VoidReason } from "@kafeneio/client/rules";
import { type Settlement, SettlementState } from "@kafeneio/client/settlement";
import { codeText } from "../codes.js";
import type { Seen } from "../hooks/useGame.js";
import { useHouse } from "../hooks/useHouse.js";
import type { Session } from "../session.js";
import { useTexts } from "../texts.js";
import { Verify } from "./Verify.js";

interface Properties {
  session: Session;
  seen: Seen;
  /** The seat that the player had; undefined for who only watched. */
  seat: number | undefined;
}

export function Ending({ session, seen, seat }: Properties) {
  const { language, t } = useTexts();
  const { game, position } = seen;
  const end = position.outcome?.end;
  const winners = end?.case === "decided" ? end.value.winners : [];
  let text = t("cancelled");
  if (end?.case === "voidReason") {
    text = t("void") + codeText(VoidReason[end.value], language);
  } else if (end?.case === "decided") {
    text =
      seat === undefined
        ? t("winners") + winners.map((one) => game.seats[one]?.playerId).join(" & ")
        : t(winners.includes(seat) ? "won" : "lostGame");
  }
  return (
    <section class="card ending">
      <h2>{text}</h2>
      {end?.case === "decided" && (
        <p class="final">
          {end.value.score.join(" : ")}{" "}
          <span class="dim">({codeText(end.value.ending, language)})</span>
        </p>
      )}
      {seat !== undefined && position.status === GameStatus.FINISHED && (
        <Paid session={session} seen={seen} />
      )}
      {position.status === GameStatus.FINISHED && <Verify session={session} game={game} />}
      <a class="button quiet" href="#/">
        {t("backToLobby")}
      </a>
    </section>
  );
}

const LOOK_MS = 1_000;

function Paid({ session, seen }: { session: Session; seen: Seen }) {
  const { t } = useTexts();
  const { gameId } = seen.game;
  const asked = () => session.house.settlement.getSettlement({ gameId });
  const { value } = useHouse(asked, [session, gameId], LOOK_MS);
  const settlement = value?.settlement;
  if (!settlement) {
    return null;
  }
  if (!settlement.hold) {
    return <p class="dim">{t("noMoney")}</p>;
  }
  return settlement.settled ? (
    <Nets settlement={settlement} />
  ) : (
    <p>
      {t("settling")} <span class="dim">{SettlementState[settlement.state]}</span>
    </p>
  );
}

function Nets({ settlement }: { settlement: Settlement }) {
  const { language, t } = useTexts();
  const payout = settlement.settled?.payout;
  const currency = settlement.hold?.stake?.currencyCode ?? "EUR";
  return (
    <table class="sheet">
      <caption>{t("settlement")}</caption>
      <tbody>
        {settlement.hold?.playerIds.map((player, seat) => {
          const net = payout?.nets[seat] ?? 0n;
          return (
            <tr key={player} class={net > 0n ? "gain" : net < 0n ? "loss" : ""}>
              <th scope="row">{player}</th>
              <td>
                {net > 0n ? "+" : ""}
                {formatMoney(net, currency, language)}
              </td>
            </tr>
          );
        })}
        {payout !== undefined && payout.fee > 0n && (
          <tr>
            <th scope="row">{t("fee")}</th>
            <td>{formatMoney(payout.fee, currency, language)}</td>
          </tr>
        )}
      </tbody>
    </table>
  );
}
