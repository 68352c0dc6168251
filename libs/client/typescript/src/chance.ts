/**
 * Recomputes every throw and deal of a finished game from its secret, its seats' words and a
 * counter (rule R4), with nothing but the browser's SHA-256 and HMAC. It knows no rule of any game:
 * whether the moves were legal, VerifyRecord tells.
 */
import type { Record as GameRecord } from "./generated/kafeneio/rules/v1/game_pb.js";

type Bytes = Uint8Array<ArrayBuffer>;

const LABEL = new TextEncoder().encode("kafeneio/chance/1");
const BLOCK_BYTES = 32;

/** What is shown of a secret before the game. */
export async function commitmentOf(secret: Uint8Array): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", Uint8Array.from(secret)));
}

/** What binds the stream to one game and to the words of its seats. */
export async function contextOf(gameId: string, words: readonly Uint8Array[]): Promise<Bytes> {
  const id = gameId.replaceAll("-", "").match(/../g) ?? [];
  const lengthened = words.flatMap((word) => [word.length, ...word]);
  const bytes = [...LABEL, ...id.map((pair) => Number.parseInt(pair, 16)), ...lengthened];
  return new Uint8Array(await crypto.subtle.digest("SHA-256", Uint8Array.from(bytes)));
}

/** The stream of numbers of one game: HMAC-SHA-256(secret, context || block number). */
export class ProvableDraw {
  private block: Bytes = new Uint8Array();
  private position = 0;

  private constructor(
    private readonly key: CryptoKey,
    private readonly context: Bytes,
  ) {}

  static async of(secret: Uint8Array, context: Bytes): Promise<ProvableDraw> {
    const algorithm = { name: "HMAC", hash: "SHA-256" };
    const raw = Uint8Array.from(secret);
    return new ProvableDraw(
      await crypto.subtle.importKey("raw", raw, algorithm, false, ["sign"]),
      context,
    );
  }

  /** A whole number from 0 to n - 1, each equally likely; 1 <= n <= 256. */
  async below(n: number): Promise<number> {
    const limit = 256 - (256 % n);
    for (;;) {
      const byte = await this.byte();
      if (byte < limit) {
        return byte % n;
      }
    }
  }

  /** Fisher-Yates, from the last card to the second. */
  async shuffled<T>(cards: readonly T[]): Promise<T[]> {
    const order = [...cards];
    for (let i = order.length - 1; i > 0; i--) {
      const j = await this.below(i + 1);
      [order[i], order[j]] = [order[j] as T, order[i] as T];
    }
    return order;
  }

  private async byte(): Promise<number> {
    const offset = this.position % BLOCK_BYTES;
    if (offset === 0) {
      const message = new Uint8Array(this.context.length + 8);
      message.set(this.context);
      const counter = BigInt(this.position / BLOCK_BYTES);
      new DataView(message.buffer).setBigUint64(this.context.length, counter);
      this.block = new Uint8Array(await crypto.subtle.sign("HMAC", this.key, message));
    }
    this.position++;
    return this.block[offset] as number;
  }
}

/** An outcome of chance in a record that is not the one that follows from the secret. */
export interface ChanceFinding {
  version: number;
  found: string;
  due: string;
}

/** What a recomputation has shown. */
export interface ChanceReport {
  /** Whether the secret is the one that was committed to. */
  committed: boolean;
  /** How many outcomes were recomputed. */
  checked: number;
  /** Those that are wrong. */
  findings: ChanceFinding[];
}

/** Recompute every outcome of chance in a record. */
export async function verifyChance(record: GameRecord): Promise<ChanceReport> {
  const commitment = await commitmentOf(record.secret);
  const draw = await ProvableDraw.of(record.secret, await contextOf(record.gameId, record.words));
  const report: ChanceReport = {
    committed: same(commitment, record.commitment),
    checked: 0,
    findings: [],
  };
  const table = new Table(record.words.length);
  for (const row of record.rows) {
    for (const entry of row.entries) {
      const [, seat, text = ""] = /^(-?\d+) (.*)$/.exec(entry) ?? [];
      if (seat === "-1") {
        const due = await table.due(text, draw);
        report.checked++;
        if (due !== text) {
          report.findings.push({ version: row.version, found: text, due });
        }
      }
      table.hear(text);
    }
  }
  return report;
}

function same(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, place) => byte === other[place]);
}

const RANKS = "23456789TJQKA";
const SUITS = "SHDC";
const FULL_PACK = [...SUITS].flatMap((suit) => [...RANKS].map((rank) => rank + suit));
const SHORT_PACK = FULL_PACK.filter((card) => !"23456".includes(card.charAt(0)));
const DOUBLE_PACK = [...FULL_PACK, ...FULL_PACK, "*", "*", "*", "*"];

/** What lies on the table as far as chance needs it: how many are dealt, and the discards. */
class Table {
  private stock = 0;
  private turned = "";
  private discards: string[] = [];

  constructor(private readonly seats: number) {}

  /** What the draw makes of an entry of this kind. */
  async due(text: string, draw: ProvableDraw): Promise<string> {
    const die = async () => 1 + (await draw.below(6));
    const [word = "", rest = ""] = text.split(" ");
    switch (word) {
      case "opening":
        return `opening ${await die()}${await die()}`;
      case "dealer":
        return `dealer ${await draw.below(this.seats)}`;
      case "deal": {
        const cards = read(rest.replaceAll("/", ""));
        const pack = cards.length === SHORT_PACK.length ? SHORT_PACK : DOUBLE_PACK;
        const shuffled = await draw.shuffled(pack);
        const cut = rest.split("/").map((group) => shuffled.splice(0, read(group).length).join(""));
        return `deal ${cut.join("/")}`;
      }
      case "put-back":
        return `put-back ${await draw.below(this.stock)}`;
      case "reshuffle": {
        // All discards but the top one; the turned card is at the bottom where it began the pile.
        const pile = [this.turned, ...this.discards].slice(-read(rest).length - 1, -1);
        return `reshuffle ${(await draw.shuffled(pile)).join("")}`;
      }
      default:
        return `${await die()}${await die()}`;
    }
  }

  hear(text: string): void {
    const [word = "", card = ""] = text.split(" ");
    if (word === "deal") {
      const [rest = "", turned = ""] = card.split("/").reverse();
      [this.stock, this.turned, this.discards] = [read(rest).length, turned, []];
    } else if (word === "discard") {
      this.discards.push(card);
    } else if (word === "take") {
      this.discards.pop();
    } else if (word === "reshuffle") {
      this.discards = this.discards.slice(-1);
    }
  }
}

/** "KSKD*" as cards. */
function read(text: string): string[] {
  return text.match(/\*|../g) ?? [];
}
