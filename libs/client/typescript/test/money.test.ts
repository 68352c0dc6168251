import { expect, test } from "vitest";
import { formatMoney, parseMoney } from "../src/money.js";

test.each([
  ["5", "EUR", 500n],
  ["5.5", "EUR", 550n],
  ["12,34", "EUR", 1234n],
  [" 0.01 ", "EUR", 1n],
  ["7", "JPY", 7n],
  ["1.234", "KWD", 1234n],
  ["999999999999999", "EUR", 99999999999999900n],
])("%s %s", (text, currency, units) => {
  expect(parseMoney(text, currency)?.minorUnits).toBe(units);
});

test.each(["", "-1", "1.234", "1e3", "five", "1.", ".5", "1 000"])("%j is no amount", (text) => {
  expect(parseMoney(text, "EUR")).toBeUndefined();
});

test("amounts are written exactly, however large", () => {
  expect(formatMoney(9007199254740993_01n, "EUR", "en")).toBe("€9,007,199,254,740,993.01");
  expect(formatMoney(-5n, "EUR", "en")).toBe("-€0.05");
  expect(formatMoney(7n, "JPY", "en")).toBe("¥7");
  expect(formatMoney(1234n, "EUR", "el")).toBe("12,34\u00a0€");
});
