/** A house in this process: what its services answer is said by each test. */
import { create, type DescMessage, type MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError, type ConnectRouter, createRouterTransport } from "@connectrpc/connect";
import {
  ErrorInfoSchema,
  LocalizedMessageSchema,
  RetryInfoSchema,
} from "../src/generated/google/rpc/error_details_pb.js";
import { type House, openHouse } from "../src/house.js";

export const GAME = "0190163d-8694-739b-aea5-966c26f8ad91";

export function fakeHouse(routes: (router: ConnectRouter) => void, token = "TOKEN"): House {
  const transport = createRouterTransport(routes);
  return openHouse({ baseUrl: "", token: () => token, transport });
}

/** A refusal as the house sends it, with sentences in these languages. */
export function refusal(
  code: Code,
  reason: string,
  metadata: Record<string, string> = {},
  retrySeconds?: number,
  sentences: Record<string, string> = {},
): ConnectError {
  const info = { desc: ErrorInfoSchema, value: { domain: "kafeneio", reason, metadata } };
  const retry = {
    desc: RetryInfoSchema,
    value: { retryDelay: { seconds: BigInt(retrySeconds ?? 0) } },
  };
  const localized = Object.entries(sentences).map(([locale, message]) => ({
    desc: LocalizedMessageSchema,
    value: { locale, message },
  }));
  const details = [info, ...(retrySeconds === undefined ? [] : [retry]), ...localized];
  return new ConnectError(reason.toLowerCase(), code, undefined, details);
}

export function away(): ConnectError {
  return new ConnectError("nobody there", Code.Unavailable);
}

/** Holds a stream open until its client goes. */
export function open(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve()));
}

export function message<D extends DescMessage>(schema: D, init: MessageInitShape<D>) {
  return create(schema, init);
}

/** What a call has thrown. */
export async function thrownBy(call: Promise<unknown>): Promise<unknown> {
  try {
    await call;
  } catch (error) {
    return error;
  }
  throw new Error("nothing was thrown");
}
