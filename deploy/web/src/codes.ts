/** The words for what the house says in one word: endings, reasons, kinds of declarations. */
import type { Language } from "./texts.js";

const CODES: Readonly<Record<string, readonly [string, string]>> = {
  // how a round ends
  single: ["μονό", "single"],
  double: ["διπλό", "double"],
  mother: ["μάνα", "mother"],
  resigned: ["παραίτηση", "resigned"],
  forfeit: ["αποχώρηση", "forfeit"],
  made: ["βγήκε", "made"],
  failed: ["έπεσε", "failed"],
  capot: ["καπό", "capot"],
  passed: ["όλοι πάσο", "all passed"],
  litige: ["ισοπαλία", "litige"],
  "went-out": ["έκλεισε", "went out"],
  void: ["άκυρη", "void"],
  // declarations
  tierce: ["τρίφυλλη", "tierce"],
  fifty: ["πενήντα", "fifty"],
  hundred: ["εκατό", "hundred"],
  carre: ["τετράδα", "four of a kind"],
  // why a game, a ticket or a table led to nothing
  ALL_FORFEITED: ["έφυγαν όλοι", "everybody is gone"],
  NO_SHOW: ["δεν κάθισαν όλοι", "not everybody sat down"],
  HOUSE: ["το σπίτι δεν μπόρεσε να συνεχίσει", "the house could not go on"],
  OPERATOR: ["το τερμάτισε χειριστής", "an operator ended it"],
  CANCELLED: ["ακυρώθηκε", "it was cancelled"],
  EXPIRED: ["κανείς δεν ήρθε", "nobody came in time"],
  INSUFFICIENT_FUNDS: ["δεν φτάνουν τα χρήματα", "there is not enough money"],
  SUSPENDED: ["ο λογαριασμός είναι σε αναστολή", "the account is suspended"],
  PLAYER_UNKNOWN: ["δεν υπάρχει πορτοφόλι", "there is no wallet"],
  TERMS_REFUSED: ["δεν παίζεται έτσι", "it can't be played on these terms"],
  PARTNER_LEFT: ["έφυγε ο συμπαίκτης", "the partner has left"],
  DESERTED: ["έφυγαν όλοι", "everybody has left"],
  PLAYED: ["το παιχνίδι τελείωσε", "the game is over"],
  // why a seat is out
  LEFT: ["έφυγε", "left"],
  CONNECTION_LOST: ["έλειψε πολύ", "was away for too long"],
  TIMEOUTS_EXCEEDED: ["άργησε πολλές φορές", "was late too often"],
};

/** The words for a code; the code itself where the house has a new one. */
export function codeText(code: string, language: Language): string {
  return CODES[code]?.[language === "el" ? 0 : 1] ?? code;
}
