/** Cards as the contracts write them, "TS" the ten of spades, "*" a joker, "?" hidden; and their names. */
import { Suit } from "@kafeneio/client/rules";
import type { Language } from "../texts.js";

export type SuitLetter = "S" | "H" | "D" | "C";

const SUIT_SIGNS: Readonly<Record<string, string>> = { S: "♠", H: "♥", D: "♦", C: "♣" };
const SUIT_NAMES: Readonly<Record<string, readonly [string, string]>> = {
  S: ["μπαστούνι", "spades"],
  H: ["κούπα", "hearts"],
  D: ["καρό", "diamonds"],
  C: ["σπαθί", "clubs"],
};
const RANK_NAMES: Readonly<Record<string, readonly [string, string]>> = {
  A: ["άσος", "ace"],
  K: ["ρήγας", "king"],
  Q: ["ντάμα", "queen"],
  J: ["βαλές", "jack"],
  T: ["δεκάρι", "ten"],
};
const GREEK_RANKS: Readonly<Record<string, string>> = { A: "Α", K: "Ρ", Q: "Ν", J: "Β" };
const SUIT_LETTERS: Readonly<Record<Suit, string>> = {
  [Suit.UNSPECIFIED]: "",
  [Suit.SPADES]: "S",
  [Suit.HEARTS]: "H",
  [Suit.DIAMONDS]: "D",
  [Suit.CLUBS]: "C",
};

export const isCard = (code: string): boolean => /^[2-9TJQKA][SHDC]$/.test(code);
export const isRed = (code: string): boolean => /[HD]$/.test(code);
export const suitLetter = (suit: Suit): string => SUIT_LETTERS[suit];

/** "♠" for "S"; "" for none. */
export function suitSign(letter: string): string {
  return SUIT_SIGNS[letter] ?? "";
}

/** What stands in the corner of a card: "10", "Ν" for a Greek queen. */
export function rankSign(code: string, language: Language): string {
  const rank = code.charAt(0);
  if (rank === "T") {
    return "10";
  }
  return language === "el" ? (GREEK_RANKS[rank] ?? rank) : rank;
}

/** "10♠", as it is written in a line of text; a joker is "★". */
export function cardText(code: string, language: Language): string {
  return isCard(code) ? rankSign(code, language) + suitSign(code.charAt(1)) : "★";
}

/** "ντάμα κούπα", "queen of hearts": for who does not see the picture. */
export function cardName(code: string, language: Language): string {
  const place = language === "el" ? 0 : 1;
  if (!isCard(code)) {
    return ["μπαλαντέρ", "joker"][place] ?? "";
  }
  const rank = RANK_NAMES[code.charAt(0)]?.[place] ?? code.charAt(0);
  const suit = SUIT_NAMES[code.charAt(1)]?.[place] ?? "";
  return language === "el" ? `${rank} ${suit}` : `${rank} of ${suit}`;
}

/** Cards within a notation, "meld run 4C*6C" as "meld run 4♣★6♣". */
export function withSigns(notation: string, language: Language): string {
  return notation.replaceAll(/(?<![A-Za-z])([2-9TJQKA])([SHDC])(?![a-z])/g, (code) =>
    cardText(code, language),
  );
}
