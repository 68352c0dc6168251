/** The record of a finished game, verified: its chance here, its moves by the house. */
import { toJson, toKafeneioError, verifyChance } from "@kafeneio/client";
import { type Game, type Record as GameRecord, RecordSchema } from "@kafeneio/client/rules";
import { useState } from "preact/hooks";
import { promiseOf } from "../promise.js";
import type { Session } from "../session.js";
import { useTexts } from "../texts.js";

interface Finding {
  good: boolean;
  text: string;
}

export function Verify({ session, game }: { session: Session; game: Game }) {
  const { language, t } = useTexts();
  const [findings, setFindings] = useState<Finding[]>();
  const [record, setRecord] = useState<GameRecord>();
  const { gameId } = game;

  async function verify() {
    try {
      const fetched = (await session.house.games.getRecord({ gameId })).record;
      if (fetched) {
        setRecord(fetched);
        setFindings([...(await ofChance(fetched)), ...(await ofHouse())]);
      }
    } catch (thrown) {
      setFindings([{ good: false, text: toKafeneioError(thrown).text(language) }]);
    }
  }

  async function ofChance(fetched: GameRecord): Promise<Finding[]> {
    const promised = promiseOf(gameId);
    const shown = promised?.commitment ?? game.commitment;
    const { committed, checked, findings: wrong } = await verifyChance(fetched);
    const found = [
      { good: committed && equal(shown, fetched.commitment), text: t("verifyCommitted") },
      { good: wrong.length === 0, text: `${checked} ${t("verifyOutcomes")}` },
    ];
    if (promised) {
      const word = fetched.words[promised.seat] ?? new Uint8Array();
      found.push({ good: equal(word, promised.word), text: t("verifyWord") });
    }
    return found;
  }

  async function ofHouse(): Promise<Finding[]> {
    const subject = { case: "gameId" as const, value: gameId };
    const verdict = await session.house.games.verifyRecord({ subject });
    return verdict.valid
      ? [{ good: true, text: t("verifyHouse") }]
      : verdict.findings.map(({ text }) => ({ good: false, text: t("verifyBad") + text }));
  }

  return (
    <div class="verify">
      {!findings && (
        <button type="button" onClick={verify}>
          {t("verify")}
        </button>
      )}
      <ul>
        {findings?.map(({ good, text }) => (
          <li key={text} class={good ? "good" : "bad"}>
            {good ? "✓" : "✗"} {text}
          </li>
        ))}
      </ul>
      {record && (
        <a class="button quiet" download={`${gameId}.json`} href={fileOf(record)}>
          {t("saveRecord")}
        </a>
      )}
    </div>
  );
}

function equal(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, place) => byte === other[place]);
}

/** The record as the file that `kafeneio verify` reads. */
function fileOf(record: GameRecord): string {
  const json = JSON.stringify(toJson(RecordSchema, record), undefined, 2);
  return `data:application/json;charset=utf-8,${encodeURIComponent(json)}`;
}
