import { durationMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import {
  BadRequestSchema,
  ErrorInfoSchema,
  LocalizedMessageSchema,
  RetryInfoSchema,
} from "./generated/google/rpc/error_details_pb.js";
import { ErrorReason } from "./generated/kafeneio/common/v1/errors_pb.js";

const DOMAIN = "kafeneio";
const LIMITED_MS = 1_000;
/** Without details of the house these come from the connection, not from a decision of anybody. */
const CONNECTION_CODES = new Set([Code.Unavailable, Code.DeadlineExceeded, Code.Canceled]);

/** A call that did not succeed: the house has `Refused` it, or was `Unreachable`. */
export abstract class KafeneioError extends Error {
  constructor(
    message: string,
    /** The gRPC code. */
    readonly code: Code,
    /** With which the call was sent, "" where it has none. Send it again with the same one. */
    readonly requestId: string,
    cause: unknown,
  ) {
    super(message, { cause });
    this.name = new.target.name;
  }

  /** The same for a Greek reader; undefined where nobody has said it in Greek. */
  protected abstract readonly greek: string | undefined;

  /** What to show to a person: a Greek sentence for "el" where there is one, else the message. */
  text(language: string): string {
    return (language === "el" && this.greek) || this.message;
  }
}

/** Nobody answered, or not in time: whether the call had its effect is unknown. */
export class Unreachable extends KafeneioError {
  protected readonly greek = "Δεν ήρθε απάντηση από το σπίτι.";
}

/** The house said no, and nothing has changed. */
export class Refused extends KafeneioError {
  /** Why; UNSPECIFIED where the house gave no reason, or one that this client does not know yet. */
  readonly reason: ErrorReason;
  /** What the reason needs to be acted on, see each in `ErrorReason`. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Which fields can't be read, and what is wrong with each. */
  readonly violations: readonly { field: string; description: string }[];
  /** When the same call may succeed; undefined where waiting does not help. */
  readonly retryAfterMs: number | undefined;
  protected readonly greek: string | undefined;

  constructor(error: ConnectError, requestId: string) {
    super(error.rawMessage, error.code, requestId, error);
    const info = infoOf(error);
    const delay = error.findDetails(RetryInfoSchema)[0]?.retryDelay;
    this.reason = ErrorReason[info?.reason as keyof typeof ErrorReason] ?? ErrorReason.UNSPECIFIED;
    this.metadata = info?.metadata ?? {};
    this.violations = error.findDetails(BadRequestSchema).flatMap((bad) => bad.fieldViolations);
    this.greek = error
      .findDetails(LocalizedMessageSchema)
      .find((one) => one.locale === "el")?.message;
    this.retryAfterMs = delay ? durationMs(delay) : waitAsked(error);
  }

  /** The name of the reason, e.g. "ILLEGAL_ACTION". */
  get reasonName(): string {
    return ErrorReason[this.reason];
  }

  /** The rule that forbids the action ("V2.3"), which GetRules explains; "" for other reasons. */
  get rule(): string {
    return this.metadata.rule ?? "";
  }

  /** The version that the game is at, where the house told it. */
  get version(): number | undefined {
    const text = this.metadata.version;
    return text === undefined ? undefined : Number(text);
  }
}

/** Whether an error is a refusal for one of these reasons. */
export function isRefused(error: unknown, ...reasons: ErrorReason[]): error is Refused {
  return error instanceof Refused && (reasons.length === 0 || reasons.includes(error.reason));
}

/** The typed error of whatever a call has thrown. */
export function toKafeneioError(thrown: unknown, requestId = ""): KafeneioError {
  if (thrown instanceof KafeneioError) {
    return thrown;
  }
  const error = ConnectError.from(thrown);
  // A cause is the browser's own failure, e.g. of fetch: no server has said anything.
  const ofConnection = CONNECTION_CODES.has(error.code) || error.cause !== undefined;
  return !infoOf(error) && ofConnection
    ? new Unreachable(error.rawMessage, error.code, requestId, error)
    : new Refused(error, requestId);
}

/** A proxy that lets nobody make so many calls says so in a header, and not when to come back. */
function waitAsked(error: ConnectError): number | undefined {
  return error.metadata.has("x-envoy-ratelimited") ? LIMITED_MS : undefined;
}

function infoOf(error: ConnectError) {
  return error.findDetails(ErrorInfoSchema).find((info) => info.domain === DOMAIN);
}
