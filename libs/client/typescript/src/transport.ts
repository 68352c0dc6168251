import {
  create,
  type DescMessage,
  type DescMethodUnary,
  type MessageInitShape,
  type MessageShape,
} from "@bufbuild/protobuf";
import { Code, type StreamResponse, type Transport, type UnaryResponse } from "@connectrpc/connect";
import { type KafeneioError, Refused, toKafeneioError } from "./errors.js";
import { newId } from "./ids.js";
import { sleep } from "./sleep.js";

/** How long a unary call may take unless the caller says otherwise. */
export const DEADLINE_MS = 10_000;

const ATTEMPTS = 4;
const BACKOFF_FIRST_MS = 100;
const BACKOFF_MAX_MS = 2_000;

/**
 * Wraps a transport with what every call to the house needs:
 *
 * - the token, asked for anew at each call, and the game's id, by which a proxy finds the replica;
 * - a deadline for unary calls; streams have none;
 * - a request id, made once for each intent: where `requestId` is empty it is filled into the
 *   message, so a message that is sent again, here or by the caller, is the same call;
 * - another attempt where nobody answered, or the house asked to wait: safe, for the id is the same;
 * - typed errors, see `KafeneioError`.
 */
export function houseTransport(inner: Transport, token: () => string): Transport {
  function headers(given: HeadersInit | undefined, message: object): Headers {
    const header = new Headers(given);
    const bearer = token();
    if (bearer) {
      header.set("authorization", `Bearer ${bearer}`);
    }
    if ("gameId" in message && typeof message.gameId === "string" && message.gameId) {
      header.set("x-game-id", message.gameId);
    }
    return header;
  }

  return {
    async unary<I extends DescMessage, O extends DescMessage>(
      method: DescMethodUnary<I, O>,
      signal: AbortSignal | undefined,
      timeoutMs: number | undefined,
      header: HeadersInit | undefined,
      input: MessageInitShape<I>,
    ): Promise<UnaryResponse<I, O>> {
      const message = create(method.input, input);
      const requestId = withRequestId(message);
      for (let attempt = 1; ; attempt++) {
        try {
          const timeout = timeoutMs ?? DEADLINE_MS;
          const filled = message as MessageInitShape<I>;
          return await inner.unary(method, signal, timeout, headers(header, message), filled);
        } catch (thrown) {
          const error = toKafeneioError(thrown, requestId);
          const pause = pauseBefore(attempt, error);
          if (pause === undefined || signal?.aborted) {
            throw error;
          }
          await sleep(pause, signal);
        }
      }
    },

    async stream(method, signal, _timeoutMs, header, input) {
      try {
        const { value: first } = await input[Symbol.asyncIterator]().next();
        const message = create(method.input, first);
        const given = headers(header, message);
        const sent = once(message as MessageInitShape<typeof method.input>);
        const response = await inner.stream(method, signal, 0, given, sent);
        return withTypedErrors(response);
      } catch (thrown) {
        throw toKafeneioError(thrown);
      }
    },
  };
}

/** The message's request id, made where it has the field and none in it; "" where it has no such field. */
function withRequestId(message: MessageShape<DescMessage>): string {
  const fields = message as { requestId?: string };
  if (fields.requestId === "") {
    fields.requestId = newId();
  }
  return fields.requestId ?? "";
}

/** How long to wait before the next attempt; undefined where there is none. */
function pauseBefore(attempt: number, error: KafeneioError): number | undefined {
  const backoff = jittered(Math.min(BACKOFF_FIRST_MS * 3 ** (attempt - 1), BACKOFF_MAX_MS));
  if (attempt >= ATTEMPTS) {
    return undefined;
  }
  if (error instanceof Refused) {
    return error.retryAfterMs === undefined ? undefined : Math.max(error.retryAfterMs, backoff);
  }
  const late = error.code === Code.DeadlineExceeded || error.code === Code.Canceled;
  return late ? undefined : backoff;
}

/** Between half of it and all, so that a thousand clients do not come back at once. */
export function jittered(ms: number): number {
  return ms * (0.5 + Math.random() / 2);
}

async function* once<T>(message: T): AsyncGenerator<T> {
  yield message;
}

function withTypedErrors<I extends DescMessage, O extends DescMessage>(
  response: StreamResponse<I, O>,
): StreamResponse<I, O> {
  async function* messages(): AsyncGenerator<MessageShape<O>> {
    try {
      yield* response.message;
    } catch (thrown) {
      throw toKafeneioError(thrown);
    }
  }
  return { ...response, message: messages() };
}
