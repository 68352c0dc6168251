/** One table before its game: who sits where, who is ready. */
import { formatMoney, type KafeneioError, toKafeneioError, watchTable } from "@kafeneio/client";
import { type Table, TableEnd, TableStatus, TicketEnd } from "@kafeneio/client/matchmaking";
import { useEffect, useState } from "preact/hooks";
import { codeText } from "../codes.js";
import { useHouse } from "../hooks/useHouse.js";
import type { Session } from "../session.js";
import { useTexts } from "../texts.js";
import { nameOf } from "./Variants.js";

export function TablePage({ session, tableId }: { session: Session; tableId: string }) {
  const { language, t } = useTexts();
  const { house, player } = session;
  const [table, setTable] = useState<Table>();
  const [problem, setProblem] = useState<KafeneioError>();
  const variants = useHouse(() => house.rulebook.listVariants({}), [house]).value?.variants ?? [];
  const own = table?.seats.find((seat) => seat.playerId === player);

  useEffect(() => {
    const controller = new AbortController();
    const following = { signal: controller.signal, patienceMs: Number.POSITIVE_INFINITY };
    async function follow() {
      for await (const changed of watchTable(house, tableId, following)) {
        setTable(changed);
        const sits = changed.seats.some((seat) => seat.playerId === player);
        if (sits && changed.status === TableStatus.MATCHED) {
          location.hash = `#/game/${changed.gameId}`;
        }
      }
    }
    follow().catch((thrown) => setProblem(toKafeneioError(thrown)));
    return () => controller.abort();
  }, [house, player, tableId]);

  async function ask(call: () => Promise<{ table?: Table | undefined }>) {
    setProblem(undefined);
    try {
      const answer = await call();
      setTable((before) => newer(before, answer.table));
    } catch (thrown) {
      setProblem(toKafeneioError(thrown));
    }
  }

  if (!table) {
    return <p role={problem ? "alert" : "status"}>{problem?.text(language) ?? t("loading")}</p>;
  }
  const { terms, seating } = table;
  const open = table.status === TableStatus.OPEN;
  const sit = (seat: number) =>
    ask(() => house.tables.joinTable({ table: { case: "tableId", value: tableId }, seat }));
  return (
    <section class="card one-table">
      <a href="#/">← {t("backToLobby")}</a>
      <h1>
        {t("table")}: {nameOf(variants, terms?.variant ?? "", language)}
      </h1>
      <p class="dim">
        {t("upTo")} {terms?.target}
        {terms?.stake &&
          ` · ${formatMoney(terms.stake.minorUnits, terms.stake.currencyCode, language)}`}
        {table.computersFill && ` · ${t("computersFill")}`}
      </p>
      {table.invitationCode && (
        <p>
          {t("invitation")}: <code class="invitation">{table.invitationCode}</code>
        </p>
      )}
      <ul class="games">
        {table.seats.map(({ seat, playerId, ready }) => (
          <li key={seat}>
            <span>
              {t("seat")} {seat + 1}: <b>{playerId || t("freeSeat")}</b> {ready && "✓"}
            </span>
            {open && !playerId && (
              <button type="button" class="quiet" onClick={() => sit(seat)}>
                {t("sitDown")}
              </button>
            )}
          </li>
        ))}
      </ul>
      {table.putOut.length > 0 && (
        <p class="dim">
          {t("putOut")}
          {table.putOut
            .map((one) => `${one.playerId} (${codeText(TicketEnd[one.reason], language)})`)
            .join(", ")}
        </p>
      )}
      {table.status === TableStatus.CLOSED && (
        <p>{t("tableClosed") + codeText(TableEnd[table.end], language)}</p>
      )}
      {problem && <p role="alert">{problem.text(language)}</p>}
      {open && own && (
        <div class="buttons">
          <button
            type="button"
            onClick={() =>
              ask(() => house.tables.setReady({ tableId, ready: !own.ready, seating }))
            }
          >
            {t(own.ready ? "notReady" : "ready")}
          </button>
          <button
            type="button"
            class="quiet"
            onClick={() => ask(() => house.tables.leaveTable({ tableId }))}
          >
            {t("standUp")}
          </button>
        </div>
      )}
      {table.gameId && !open && (
        <a class="button" href={`#/game/${table.gameId}`}>
          {t(own ? "goOn" : "watch")}
        </a>
      )}
    </section>
  );
}

/** Of what a call has answered and what the stream has told, the newer one. */
function newer(before: Table | undefined, answered: Table | undefined): Table | undefined {
  return answered && answered.version > (before?.version ?? 0) ? answered : before;
}
