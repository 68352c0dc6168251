import { create } from "@kafeneio/client";
import { type Action, ActionSchema, LogEntrySchema, Suit } from "@kafeneio/client/rules";
import { expect, test } from "vitest";
import { cardName, cardText, withSigns } from "../src/cards/names.js";
import { actionsWith, cardsOf } from "../src/rummy/selection.js";
import { actionText, callText, rowText } from "../src/table/actionText.js";

const action = (one: Action["action"], notation = "") =>
  create(ActionSchema, { action: one, notation });

test.each([
  ["TS", "10♠", "δεκάρι μπαστούνι", "ten of spades"],
  ["QH", "Ν♥", "ντάμα κούπα", "queen of hearts"],
  ["7D", "7♦", "7 καρό", "7 of diamonds"],
  ["*", "★", "μπαλαντέρ", "joker"],
])("%s", (code, text, greek, english) => {
  expect(cardText(code, "el")).toBe(text);
  expect(cardName(code, "el")).toBe(greek);
  expect(cardName(code, "en")).toBe(english);
});

test("cards within a notation get their signs, and nothing else does", () => {
  expect(withSigns("swap 3C 1", "en")).toBe("swap 3♣ 1");
  expect(withSigns("13/8", "en")).toBe("13/8");
  expect(withSigns("bar/20", "en")).toBe("bar/20");
});

test("actions as people read them", () => {
  const bid = { value: 90, suit: Suit.HEARTS, capot: false } as never;
  expect(actionText(action({ case: "bid", value: bid }), "en")).toBe("90 ♥");
  const capot = { value: 0, suit: Suit.SPADES, capot: true } as never;
  expect(actionText(action({ case: "bid", value: capot }), "el")).toBe("Καπό ♠");
  expect(actionText(action({ case: "contra", value: { bid: 1 } as never }), "el")).toBe("Κόντρα");
  const meld = { cards: ["4C", "*", "6C"] } as never;
  expect(actionText(action({ case: "layMeld", value: meld }), "en")).toBe("Meld 4♣ ★ 6♣");
  expect(actionText(action({ case: undefined }, "13/8"), "en")).toBe("13/8");
});

test.each([
  ["90H", "90 ♥"],
  ["capotS", "Capot ♠"],
  ["pass", "Pass"],
  ["contra 3", "Contra"],
  ["choose D", "♦"],
  ["belote", "belote"],
])("the call %s", (call, text) => {
  expect(callText(call, "en")).toBe(text);
});

test("a row of the log names each seat once", () => {
  const entries = [
    create(LogEntrySchema, { seat: 0, action: action({ case: undefined }, "13/8") }),
    create(LogEntrySchema, { seat: 0, action: action({ case: undefined }, "8/5") }),
  ];
  expect(rowText(entries, ["eleni", "nikos"], "en")).toBe("eleni: 13/8 8/5");
  const dice = { dice: [6, 4] } as never;
  const thrown = create(LogEntrySchema, {
    seat: -1,
    action: action({ case: "rollDice", value: dice }),
  });
  expect(rowText([thrown], ["eleni", "nikos"], "en")).toBe("🎲 6-4");
});

test("what can be done with exactly the cards that were picked up", () => {
  const meld = action({ case: "layMeld", value: { cards: ["4C", "5C", "6C"] } as never });
  const discard = action({ case: "discard", value: { card: "5C" } as never });
  expect(cardsOf(action({ case: "drawStock", value: {} as never }))).toEqual([]);
  expect(actionsWith([meld, discard], ["6C", "4C", "5C"])).toEqual([meld]);
  expect(actionsWith([meld, discard], ["5C"])).toEqual([discard]);
  expect(actionsWith([meld, discard], ["5C", "6C"])).toEqual([]);
});
