/** What the page says, in Greek and in English. The rules' own words come from the house. */
import { createContext } from "preact";
import { useContext } from "preact/hooks";

export type Language = "el" | "en";

const TEXTS = {
  title: ["Καφενείο", "Kafeneio"],
  reference: [
    "Πελάτης αναφοράς: δείχνει πώς μιλά μια σελίδα με το σπίτι. Δεν ξέρει κανόνες.",
    "A reference client: it shows how a page talks to the house. It holds no rules.",
  ],
  language: ["English", "Ελληνικά"],
  logIn: ["Είσοδος", "Log in"],
  logOut: ["Έξοδος", "Log out"],
  name: ["Όνομα", "Name"],
  orToken: [
    "ή με διακριτικό από «kafeneio token ΟΝΟΜΑ»",
    "or with a token of “kafeneio token NAME”",
  ],
  token: ["Διακριτικό", "Token"],
  noToken: [
    "Το σπίτι δεν δίνει διακριτικά εδώ. Επικόλλησε ένα.",
    "The house gives no tokens here. Paste one.",
  ],
  badToken: ["Αυτό δεν είναι διακριτικό.", "That is no token."],
  lobby: ["Το καφενείο", "The coffee house"],
  chooseGame: ["Τι θα παίξουμε;", "What shall we play?"],
  target: ["Πόντοι ως τη νίκη", "Points to win"],
  usual: ["συνήθως", "usual"],
  stake: ["Ποντάρισμα (EUR)", "Stake (EUR)"],
  noStake: ["χωρίς", "none"],
  partner: ["Συμπαίκτης (προαιρετικά)", "Partner (optional)"],
  houseRules: ["Κανόνες του τραπεζιού", "House rules"],
  playHouse: ["Με τον υπολογιστή", "Play the computer"],
  findPlayers: ["Βρες μου παίκτες", "Find me players"],
  openTable: ["Άνοιξε τραπέζι", "Open a table"],
  privateTable: ["μόνο με πρόσκληση", "by invitation only"],
  computersFill: ["υπολογιστές στις άδειες θέσεις", "computers in the free seats"],
  tables: ["Ανοιχτά τραπέζια", "Open tables"],
  noTables: ["Κανένα τώρα. Άνοιξε ένα!", "None now. Open one!"],
  table: ["Τραπέζι", "Table"],
  sitDown: ["Κάθισε", "Sit down"],
  standUp: ["Σήκω", "Stand up"],
  ready: ["Έτοιμος", "Ready"],
  notReady: ["Όχι ακόμα", "Not yet"],
  freeSeat: ["ελεύθερη θέση", "free seat"],
  invitation: ["Πρόσκληση", "Invitation"],
  byInvitation: ["Έχεις πρόσκληση;", "Have you an invitation?"],
  tableClosed: ["Το τραπέζι έκλεισε: ", "The table is closed: "],
  putOut: ["Σηκώθηκε: ", "Put out: "],
  readRules: ["Οι κανόνες", "The rules"],
  badStake: ["Αυτό δεν είναι ποσό.", "That is no amount."],
  waitingForPlayers: ["Περιμένουμε παίκτες…", "Waiting for players…"],
  waitingForPartner: ["Περιμένουμε τον συμπαίκτη…", "Waiting for your partner…"],
  settingTable: ["Στρώνεται το τραπέζι…", "The table is being set…"],
  cancel: ["Άκυρο", "Cancel"],
  close: ["Κλείσιμο", "Close"],
  ticketEnded: ["Δεν έγινε παιχνίδι: ", "There is no game: "],
  yourGames: ["Τα παιχνίδια σου", "Your games"],
  otherGames: ["Παίζονται τώρα", "Being played now"],
  noGames: ["Κανένα τώρα.", "None now."],
  goOn: ["Συνέχισε", "Go on"],
  watch: ["Δες", "Watch"],
  look: ["Δες το", "Look"],
  wallet: ["Το πορτοφόλι σου", "Your wallet"],
  noWallet: ["Άδειο.", "Empty."],
  topUp: ["Βάλε 100 € για δοκιμή", "Put in 100 € to try"],
  noMoneyHere: ["Το σπίτι δεν δίνει χρήματα εδώ.", "The house gives no money here."],
  loading: ["Μια στιγμή…", "One moment…"],
  offline: ["Χάθηκε η σύνδεση· ξαναπροσπαθώ…", "The connection is lost; trying again…"],
  takenOver: [
    "Παίζεις από άλλη συσκευή. Εδώ μόνο βλέπεις.",
    "You play on another device. Here you only watch.",
  ],
  takeBack: ["Παίξε εδώ", "Play here"],
  waitingSeats: ["Περιμένουμε να καθίσουν όλοι.", "Waiting for everybody to sit down."],
  yourTurn: ["Η σειρά σου", "Your turn"],
  turnOf: ["Παίζει: ", "To play: "],
  spectator: ["Παρακολουθείς.", "You are watching."],
  score: ["Σκορ", "Score"],
  round: ["Παρτίδα", "Round"],
  upTo: ["ως τους", "up to"],
  computer: ["υπολογιστής", "computer"],
  you: ["εσύ", "you"],
  attached: ["συνδεδεμένος", "connected"],
  expected: ["αναμένεται", "expected"],
  unknown: ["επανασυνδέεται", "reconnecting"],
  lost: ["χάθηκε", "away"],
  forfeited: ["εκτός παιχνιδιού", "out of the game"],
  timeouts: ["χρεώσεις χρόνου", "timeouts"],
  comesBack: ["γυρίζει σε", "back within"],
  paused: ["Το παιχνίδι είναι σε παύση.", "The game is paused."],
  leave: ["Φεύγω", "Leave"],
  leaveSure: [
    "Φεύγεις για πάντα και χάνεις το παιχνίδι. Σίγουρα;",
    "You leave for good and lose the game. Are you sure?",
  ],
  resign: ["Παραιτούμαι από την παρτίδα", "Resign the round"],
  resignSure: ["Δίνεις την παρτίδα. Σίγουρα;", "You give this round up. Are you sure?"],
  yes: ["Ναι", "Yes"],
  no: ["Όχι", "No"],
  undo: ["Πίσω", "Undo"],
  play: ["Παίξε", "Play"],
  happened: ["Τι έγινε", "What happened"],
  chance: ["Η τύχη", "Chance"],
  house: ["Το σπίτι", "The house"],
  whyNot: ["Γιατί όχι; ", "Why not? "],
  refused: ["Το σπίτι αρνήθηκε: ", "The house refused: "],
  rule: ["Κανόνας", "Rule"],
  won: ["Κέρδισες!", "You have won!"],
  lostGame: ["Έχασες.", "You have lost."],
  winners: ["Νικητές: ", "Winners: "],
  void: ["Το παιχνίδι είναι άκυρο: ", "The game is void: "],
  cancelled: ["Το παιχνίδι ακυρώθηκε.", "The game was cancelled."],
  settlement: ["Πληρωμή", "Settlement"],
  settling: ["Πληρώνεται…", "Being settled…"],
  fee: ["Προμήθεια του σπιτιού", "Fee of the house"],
  noMoney: ["Παίχτηκε χωρίς ποντάρισμα.", "It was played for nothing."],
  verify: ["Έλεγξε τα ζάρια και τα χαρτιά", "Verify the chance"],
  saveRecord: ["Αποθήκευσε το πρακτικό", "Save the record"],
  verifyCommitted: [
    "Το μυστικό είναι αυτό που δεσμεύτηκε πριν από το παιχνίδι.",
    "The secret is the one that was committed to before the game.",
  ],
  verifyOutcomes: [
    "ζαριές και μοιράσματα, ξαναϋπολογισμένα εδώ",
    "throws and deals, recomputed here",
  ],
  verifyWord: [
    "Η λέξη της θέσης σου είναι αυτή που έδωσες.",
    "Your seat's word is the one you gave.",
  ],
  verifyHouse: [
    "Το σπίτι ξανάπαιξε το πρακτικό: κάθε κίνηση νόμιμη.",
    "The house has played the record through: every move is legal.",
  ],
  verifyBad: ["Το πρακτικό ΔΕΝ στέκει: ", "The record is BAD: "],
  backToLobby: ["Στο καφενείο", "To the coffee house"],
  lastRound: ["Η προηγούμενη παρτίδα", "The last round"],
  bar: ["μπάρα", "bar"],
  off: ["μαζεμένα", "borne off"],
  point: ["θέση", "point"],
  checkers: ["πούλια", "checkers"],
  board: ["Το τάβλι", "The board"],
  received: ["πήρες", "received"],
  pass: ["Πάσο", "Pass"],
  contra: ["Κόντρα", "Contra"],
  recontra: ["Ρεκόντρα", "Recontra"],
  take: ["Παίρνω", "Take"],
  capot: ["Καπό", "Capot"],
  exchange: ["Αλλάζω το εφτάρι", "Exchange the seven"],
  declare: ["Δηλώνω", "Declare"],
  declared: ["Δηλώθηκαν", "Declared"],
  noTrumps: ["χωρίς ατού", "no trumps"],
  contract: ["Αγορά", "Contract"],
  tricks: ["μπάζες", "tricks"],
  points: ["πόντοι", "points"],
  declarations: ["δηλώσεις", "declarations"],
  belote: ["μπελότ", "belote"],
  total: ["σύνολο", "total"],
  marked: ["γράφονται", "marked"],
  turned: ["γυρισμένο", "turned"],
  notScored: ["δεν μετρά", "does not count"],
  stock: ["Τράβα", "Draw"],
  stockPile: ["στοίβα", "stock"],
  discardPile: ["πεταμένα", "discards"],
  takeDiscard: ["Πάρε", "Take"],
  discard: ["Πέτα", "Discard"],
  goOut: ["Βγες", "Go out"],
  meld: ["Κατέβασε", "Meld"],
  layOff: ["Πρόσθεσε στο", "Lay off on"],
  swapJoker: ["Πάρε τον μπαλαντέρ από το", "Take the joker from"],
  low: ["χαμηλά", "low"],
  high: ["ψηλά", "high"],
  wild: ["μπαλαντέρ", "wild"],
  joker: ["μπαλαντέρ", "joker"],
  hand: ["Τα χαρτιά σου", "Your hand"],
  cards: ["χαρτιά", "cards"],
  melds: ["Κατεβασμένα", "Melds on the table"],
  possible: ["Γίνονται:", "Possible:"],
  deadwood: ["στο χέρι", "in hand"],
  dealer: ["μοίρασε", "dealer"],
  seat: ["Θέση", "Seat"],
} as const satisfies Record<string, readonly [string, string]>;

export type TextKey = keyof typeof TEXTS;

/** The text of a key. */
export function textOf(language: Language, key: TextKey): string {
  return TEXTS[key][language === "el" ? 0 : 1];
}

export const LanguageContext = createContext<Language>("el");

/** The texts in the language of the page. */
export function useTexts(): { language: Language; t: (key: TextKey) => string } {
  const language = useContext(LanguageContext);
  return { language, t: (key) => textOf(language, key) };
}

const LANGUAGE_KEY = "kafeneio.language";

/** The language that was chosen here before, else the browser's. */
export function savedLanguage(): Language {
  const saved = localStorage.getItem(LANGUAGE_KEY) ?? navigator.language;
  return saved.startsWith("el") ? "el" : "en";
}

export function saveLanguage(language: Language): void {
  localStorage.setItem(LANGUAGE_KEY, language);
}
