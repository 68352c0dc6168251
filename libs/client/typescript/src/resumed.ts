import { Code } from "@connectrpc/connect";
import { type KafeneioError, Refused, toKafeneioError, Unreachable } from "./errors.js";
import { sleep } from "./sleep.js";
import { jittered } from "./transport.js";

/** A heartbeat comes every 10 s: a stream that is silent for so long is dead. */
export const SILENCE_MS = 25_000;
/** How long to try, without one message heard, before giving the house up. */
export const PATIENCE_MS = 60_000;

const BACKOFF_FIRST_MS = 100;
const BACKOFF_MAX_MS = 2_000;
/** How a connection that broke in the midst of a stream shows, where no reason comes with it. */
const BROKEN = new Set([Code.Internal, Code.Unknown, Code.DataLoss]);
/** A browser's word that the network is another one: what was open is dead, whether it shows or not. */
const NETWORK_CHANGES = ["online", "offline"];

/** How a stream is followed. */
export interface Following {
  /** Ends it, quietly. */
  signal?: AbortSignal;
  /** How long to try without the house; `Infinity` for a page that stays open. */
  patienceMs?: number;
  /** Hears whether the stream is open, whenever that changes. */
  onConnection?: (connected: boolean) => void;
}

/** A message of a stream of the house. */
export interface StreamMessage {
  message: { case: string | undefined };
}

/** One kind of stream: how it is opened, and what of its messages is new. */
export interface Source<M extends StreamMessage, T> {
  /** The stream of everything after what was taken. */
  open(signal: AbortSignal): AsyncIterable<M>;
  /** What is new in a message; undefined where it is a heartbeat, or was seen before. */
  take(message: M): T | undefined;
  /** Whether nothing more can come after what was taken. */
  finished(): boolean;
  /** A stream has ended without a word: find out whether it is finished. */
  ended?(): Promise<void>;
}

/**
 * Everything that is new in a source, once and in order, until it is finished.
 *
 * A broken, silent or draining stream is opened again where it ended, and at once when the browser
 * says that the network has changed. Throws `Refused` where the house does not want to show it, `Unreachable` after
 * `patienceMs` without the house.
 */
export async function* resumed<M extends StreamMessage, T>(
  source: Source<M, T>,
  following: Following = {},
  cut: EventTarget = new EventTarget(),
): AsyncGenerator<T> {
  const { signal, patienceMs = PATIENCE_MS } = following;
  let heardAt = Date.now();
  let backoff = BACKOFF_FIRST_MS;
  let connected: boolean | undefined;
  const tell = (now: boolean) => {
    if (connected !== now) {
      connected = now;
      following.onConnection?.(now);
    }
  };

  while (!signal?.aborted) {
    const connection = new Connection(signal, cut);
    let trouble: KafeneioError | undefined;
    try {
      let draining = false;
      for await (const message of connection.read(source.open(connection.signal))) {
        heardAt = Date.now();
        backoff = BACKOFF_FIRST_MS;
        tell(true);
        draining = message.message.case === "draining";
        if (draining) {
          break;
        }
        const taken = source.take(message);
        if (taken !== undefined) {
          yield taken;
        }
        if (source.finished()) {
          return;
        }
      }
      if (!draining) {
        await source.ended?.();
      }
    } catch (thrown) {
      trouble = toKafeneioError(thrown);
    } finally {
      connection.close();
    }
    if (signal?.aborted || source.finished()) {
      return;
    }
    const pause = pauseAfter(trouble, jittered(backoff));
    if (pause === undefined || Date.now() - heardAt + pause > patienceMs) {
      throw (
        trouble ??
        new Unreachable("the stream ends again and again", Code.Unavailable, "", undefined)
      );
    }
    if (trouble) {
      tell(false);
    }
    backoff = Math.min(2 * backoff, BACKOFF_MAX_MS);
    await sleep(pause, signal);
  }
}

/** How long to wait before the stream is opened again; undefined where no attempt can mend it. */
function pauseAfter(trouble: KafeneioError | undefined, backoff: number): number | undefined {
  if (!(trouble instanceof Refused)) {
    return backoff;
  }
  if (trouble.retryAfterMs !== undefined) {
    return Math.max(trouble.retryAfterMs, backoff);
  }
  return trouble.reason === 0 && BROKEN.has(trouble.code) ? backoff : undefined;
}

/** One opening of a stream, which ends when it is silent for too long. */
class Connection {
  private readonly controller = new AbortController();
  readonly signal = this.controller.signal;

  constructor(
    private readonly outer: AbortSignal | undefined,
    private readonly cut: EventTarget,
  ) {
    outer?.addEventListener("abort", this.close);
    cut.addEventListener("cut", this.close);
    for (const change of NETWORK_CHANGES) {
      globalThis.addEventListener?.(change, this.close);
    }
  }

  readonly close = (): void => {
    this.controller.abort();
    this.outer?.removeEventListener("abort", this.close);
    this.cut.removeEventListener("cut", this.close);
    for (const change of NETWORK_CHANGES) {
      globalThis.removeEventListener?.(change, this.close);
    }
  };

  async *read<M>(messages: AsyncIterable<M>): AsyncGenerator<M> {
    const iterator = messages[Symbol.asyncIterator]();
    for (;;) {
      const timer = setTimeout(this.close, SILENCE_MS);
      const next = await iterator.next().finally(() => clearTimeout(timer));
      if (next.done) {
        return;
      }
      yield next.value;
    }
  }
}
