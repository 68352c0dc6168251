/** Calls to the house whose answers a component shows. */
import { type KafeneioError, toKafeneioError } from "@kafeneio/client";
import { useEffect, useState } from "preact/hooks";

export interface Answer<T> {
  value?: T;
  error?: KafeneioError;
}

/** The answer of a call, made when the component appears, when `inputs` change, and every `everyMs`. */
export function useHouse<T>(
  call: () => Promise<T>,
  inputs: unknown[],
  everyMs?: number,
): Answer<T> {
  const [answer, setAnswer] = useState<Answer<T>>({});
  useEffect(() => {
    let shown = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    async function ask() {
      try {
        const value = await call();
        if (shown) {
          setAnswer({ value });
        }
      } catch (thrown) {
        if (shown) {
          setAnswer((before) => ({ ...before, error: toKafeneioError(thrown) }));
        }
      }
      if (shown && everyMs !== undefined) {
        timer = setTimeout(ask, everyMs);
      }
    }
    void ask();
    return () => {
      shown = false;
      clearTimeout(timer);
    };
  }, inputs);
  return answer;
}
