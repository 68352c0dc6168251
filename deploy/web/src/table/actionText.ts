/** Actions as people read them, on a button and in the log. */
import {
  type Action,
  ForfeitReason,
  type LogEntry,
  RunEnd,
  VoidReason,
} from "@kafeneio/client/rules";
import { cardText, suitLetter, suitSign, withSigns } from "../cards/names.js";
import { codeText } from "../codes.js";
import { type Language, type TextKey, textOf } from "../texts.js";

const CHANCE = -1;
const WITHOUT_CARDS: Readonly<Record<string, TextKey>> = {
  passTurn: "pass",
  contra: "contra",
  recontra: "recontra",
  take: "take",
  exchangeSeven: "exchange",
  declare: "declare",
  drawStock: "stock",
  takeDiscard: "takeDiscard",
};

/** "90♥", "Contra", "Discard 9♠", "13/8". */
export function actionText({ action, notation }: Action, language: Language): string {
  const t = (key: TextKey) => textOf(language, key);
  const cards = (codes: readonly string[]) =>
    codes.map((code) => cardText(code, language)).join(" ");
  switch (action.case) {
    case "bid": {
      const { value, suit, capot } = action.value;
      return `${capot ? t("capot") : value} ${suitSign(suitLetter(suit))}`;
    }
    case "chooseTrump":
      return suitSign(suitLetter(action.value.suit));
    case "playCard":
      return cards([action.value.card]);
    case "layMeld":
      return `${t("meld")} ${cards(action.value.cards)}`;
    case "layOff": {
      const { card, meld, end } = action.value;
      const where =
        end === RunEnd.LOW ? ` (${t("low")})` : end === RunEnd.HIGH ? ` (${t("high")})` : "";
      return `${cards([card])}: ${t("layOff")} ${meld}${where}`;
    }
    case "swapJoker":
      return `${cards([action.value.card])}: ${t("swapJoker")} ${action.value.meld}`;
    case "discard":
      return `${t("discard")} ${cards([action.value.card])}`;
    case "goOut":
      return `${t("goOut")} ${cards([action.value.card])}`;
    case "rollDice":
      return `🎲 ${action.value.dice.join("-")}`;
    case "openingThrow":
      return `🎲 ${action.value.dice.join(" : ")}`;
    case "resignRound":
      return t("resign");
    case "forfeit":
      return codeText(ForfeitReason[action.value.reason], language);
    case "voidGame":
      return t("void") + codeText(VoidReason[action.value.reason], language);
    case "deal":
      return "🂠";
    default: {
      const key = WITHOUT_CARDS[action.case ?? ""];
      return key ? t(key) : withSigns(notation, language);
    }
  }
}

/** What a seat has said in an auction, "90♥" for "90H". */
export function callText(call: string, language: Language): string {
  const [word = "", suit = ""] = call.split(" ");
  const known: Readonly<Record<string, TextKey>> = {
    pass: "pass",
    contra: "contra",
    recontra: "recontra",
    take: "take",
    exchange: "exchange",
    declare: "declare",
  };
  const key = known[word];
  if (key) {
    return textOf(language, key);
  }
  const bid = /^(\d+|capot)([SHDC])$/.exec(call);
  if (bid) {
    const value = bid[1] === "capot" ? textOf(language, "capot") : bid[1];
    return `${value} ${suitSign(bid[2] ?? "")}`;
  }
  return word === "choose" ? suitSign(suit) : call;
}

/** Who has done what in one row of the log: "eleni: 13/8 8/5". */
export function rowText(entries: LogEntry[], names: string[], language: Language): string {
  const parts: string[] = [];
  let before: number | undefined;
  for (const { seat, action } of entries) {
    const text = action ? actionText(action, language) : "";
    const name = seat === CHANCE ? "" : (names[seat] ?? textOf(language, "house"));
    parts.push(seat === before || !name ? text : `${name}: ${text}`);
    before = seat;
  }
  return parts.join(" ");
}
