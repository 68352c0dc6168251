import { fromJson, type JsonValue } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { commitmentOf, contextOf, ProvableDraw, verifyChance } from "../src/chance.js";
import { RecordSchema } from "../src/generated/kafeneio/rules/v1/game_pb.js";
import vectors from "./vectors.json" with { type: "json" };

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");
const secret = Uint8Array.from(Buffer.from(vectors.secret, "hex"));
const words = vectors.words.map((word) => new TextEncoder().encode(word));
const records = vectors.records.map((json) => fromJson(RecordSchema, json as JsonValue));

test("the published vectors", async () => {
  expect(hex(await commitmentOf(secret))).toBe(vectors.commitment);
  const context = await contextOf(vectors.gameId, words);
  expect(hex(context)).toBe(vectors.context);
  const draw = await ProvableDraw.of(secret, context);
  let dice = "";
  while (dice.length < vectors.dice.length) {
    dice += 1 + (await draw.below(6));
  }
  expect(dice).toBe(vectors.dice);
  const cards = Array.from({ length: 32 }, (_, place) => place);
  const again = await ProvableDraw.of(secret, context);
  expect(await again.shuffled(cards)).toEqual(vectors.shuffledOf32);
});

describe.each(records)("the record of $terms.variant", (record) => {
  test("is good", async () => {
    const report = await verifyChance(record);
    expect(report).toEqual({ committed: true, checked: report.checked, findings: [] });
    expect(report.checked).toBeGreaterThan(0);
  });

  test("is bad under another secret", async () => {
    const report = await verifyChance({ ...record, secret: new Uint8Array(32) });
    expect(report.committed).toBe(false);
    expect(report.findings).not.toEqual([]);
  });

  test("is bad with another word", async () => {
    const [first = new Uint8Array(), ...others] = record.words;
    const report = await verifyChance({
      ...record,
      words: [Uint8Array.of(...first, 1), ...others],
    });
    expect(report.committed).toBe(true);
    expect(report.findings).not.toEqual([]);
  });
});

test("one changed throw is found where it is", async () => {
  const [portes] = records;
  const rows = (portes?.rows ?? []).map((row) => ({
    ...row,
    entries: row.entries.map((entry) =>
      row.version === 5 && entry.startsWith("-1 ") ? "-1 77" : entry,
    ),
  }));
  const changed = { ...portes, rows } as NonNullable<typeof portes>;
  const report = await verifyChance(changed);
  expect(report.findings.map((one) => [one.version, one.found])).toEqual([[5, "-1 77".slice(3)]]);
});
