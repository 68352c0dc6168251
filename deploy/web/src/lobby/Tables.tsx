/** The public tables that are open, as they change; and the way to a private one. */
import { formatMoney, type KafeneioError, toKafeneioError, watchTables } from "@kafeneio/client";
import { type Table, TableStatus } from "@kafeneio/client/matchmaking";
import type { Variant } from "@kafeneio/client/rules";
import { useEffect, useState } from "preact/hooks";
import type { Session } from "../session.js";
import { useTexts } from "../texts.js";
import { nameOf } from "./Variants.js";

export function Tables({ session, variants }: { session: Session; variants: Variant[] }) {
  const { language, t } = useTexts();
  const [tables, setTables] = useState<ReadonlyMap<string, Table>>(new Map());
  const [problem, setProblem] = useState<KafeneioError>();

  useEffect(() => {
    const controller = new AbortController();
    const following = { signal: controller.signal, patienceMs: Number.POSITIVE_INFINITY };
    async function follow() {
      try {
        for await (const table of watchTables(session.house, following)) {
          setTables((before) => changed(before, table));
        }
      } catch (thrown) {
        setProblem(toKafeneioError(thrown));
      }
    }
    void follow();
    return () => controller.abort();
  }, [session]);

  async function join(event: SubmitEvent) {
    event.preventDefault();
    const given = new FormData(event.currentTarget as HTMLFormElement).get("code");
    const table = { case: "invitationCode" as const, value: String(given).trim() };
    try {
      const joined = (await session.house.tables.joinTable({ table })).table;
      location.hash = `#/table/${joined?.tableId}`;
    } catch (thrown) {
      setProblem(toKafeneioError(thrown));
    }
  }

  return (
    <section>
      <h2>{t("tables")}</h2>
      {tables.size === 0 && <p class="dim">{t("noTables")}</p>}
      <ul class="games">
        {[...tables.values()].map(({ tableId, terms, seats }) => (
          <li key={tableId}>
            <span>
              <b>{nameOf(variants, terms?.variant ?? "", language)}</b>{" "}
              <span class="dim">
                {seats.map((seat) => seat.playerId || "–").join(" · ")}
                {terms?.stake &&
                  ` · ${formatMoney(terms.stake.minorUnits, terms.stake.currencyCode, language)}`}
              </span>
            </span>
            <a class="button quiet" href={`#/table/${tableId}`}>
              {t("look")}
            </a>
          </li>
        ))}
      </ul>
      <form class="inline" onSubmit={join}>
        <label>
          {t("byInvitation")}
          <input name="code" required maxLength={20} autoComplete="off" />
        </label>
        <button type="submit" class="quiet">
          {t("sitDown")}
        </button>
      </form>
      {problem && <p role="alert">{problem.text(language)}</p>}
    </section>
  );
}

/** The open tables with one of them as it is now. */
function changed(before: ReadonlyMap<string, Table>, table: Table): ReadonlyMap<string, Table> {
  const after = new Map(before);
  if (table.status === TableStatus.OPEN) {
    after.set(table.tableId, table);
  } else {
    after.delete(table.tableId);
  }
  return after;
}
