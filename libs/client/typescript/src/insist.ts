import { Unreachable } from "./errors.js";
import { newId } from "./ids.js";
import { sleep } from "./sleep.js";

const PAUSE_MS = 1_000;

/**
 * Make a call that changes something until the house has answered it, with one request id: what a
 * player has done on a bad line is done once. Throws `Refused`, and `Unreachable` once the signal
 * is given.
 */
export async function insist<T>(
  call: (requestId: string) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const requestId = newId();
  for (;;) {
    try {
      return await call(requestId);
    } catch (error) {
      if (!(error instanceof Unreachable) || signal?.aborted) {
        throw error;
      }
      await sleep(PAUSE_MS, signal);
    }
  }
}
