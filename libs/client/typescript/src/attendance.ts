import { durationMs, type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import { isRefused, type KafeneioError, Refused, toKafeneioError } from "./errors.js";
import {
  type Attached,
  type AttendResponse,
  type Clock,
  Presence,
} from "./generated/kafeneio/clock/v1/clock_pb.js";
import { ErrorReason } from "./generated/kafeneio/common/v1/errors_pb.js";
import type { House } from "./house.js";
import { type Following, resumed, type Source } from "./resumed.js";

/** How often a player who attends says that he is there. */
export const BEAT_MS = 5_000;
/** A beat that is not answered by then must not hold up the next one: after 12 s he counts as lost. */
const BEAT_DEADLINE_MS = 4_000;
/** Of the time that a player may be silent; 5 s of the usual 12. */
const BEATS = 5 / 12;

/** Why an attendance has ended. */
export type AttendanceEnd = "over" | "out" | "taken-over" | "stopped";

/**
 * A player at a table, seen from one of his devices.
 *
 * It holds Attend open, again when it breaks or drains, and sends a Heartbeat every 5 s, until the
 * game is over, the seat is out, a newer device of the player takes over, or the signal is given.
 */
export class Attendance {
  /** The clock as it was last told. */
  clock: Clock | undefined;
  /** How the house keeps the time of this game, and where the player sits. */
  attached: Attached | undefined;
  /** Why it has ended; rejects where the house refused the seat, or was away for too long. */
  readonly done: Promise<AttendanceEnd>;

  private epoch = 0n; // of the stream that is open; 0 as long as it is not known
  private end: AttendanceEnd | undefined;
  private aheadMs: number | undefined;
  private readonly cut = new EventTarget();

  constructor(
    private readonly house: House,
    private readonly gameId: string,
    /** Hears the clock as it stands, then whenever it has changed. */
    private readonly onClock: (clock: Clock) => void,
    private readonly following: Following = {},
  ) {
    this.done = this.follow();
  }

  /** The server's time, in milliseconds since 1970, as far as can be told from what it has sent. */
  serverNow(): number {
    return Date.now() + (this.aheadMs ?? 0);
  }

  private async follow(): Promise<AttendanceEnd> {
    const beating = new AbortController();
    try {
      for await (const clock of resumed(this.source(beating.signal), this.following, this.cut)) {
        this.show(clock);
      }
    } catch (error) {
      await this.lost(toKafeneioError(error));
    } finally {
      beating.abort();
    }
    return this.end ?? "stopped";
  }

  private source(beating: AbortSignal): Source<AttendResponse, Clock> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    beating.addEventListener("abort", () => clearTimeout(timer));
    const beatLater = () => {
      clearTimeout(timer);
      timer = setTimeout(
        () => void this.beat().then(() => beating.aborted || beatLater()),
        this.pace(),
      );
    };
    return {
      open: (signal) => {
        this.epoch = 0n;
        return this.house.clock.attend({ gameId: this.gameId }, { signal });
      },
      take: ({ message }) => {
        switch (message.case) {
          case "attached":
            this.attached = message.value;
            this.epoch = message.value.epoch;
            beatLater();
            return undefined;
          case "clock":
            this.heard(message.value.at);
            this.end = this.endIn(message.value);
            return message.value;
          case "heartbeat":
            this.heard(message.value.serverTime);
            return undefined;
          case "takenOver":
            this.end = "taken-over";
            return undefined;
          default:
            return undefined;
        }
      },
      finished: () => this.end !== undefined,
    };
  }

  private pace(): number {
    const silent = this.attached?.silent;
    return silent ? Math.min(BEAT_MS, BEATS * durationMs(silent)) : BEAT_MS;
  }

  private async beat(): Promise<void> {
    const epoch = this.epoch;
    if (epoch === 0n) {
      return; // the stream is being opened again, which says it too
    }
    try {
      const options = { timeoutMs: BEAT_DEADLINE_MS };
      await this.house.clock.heartbeat({ gameId: this.gameId, epoch }, options);
    } catch (error) {
      // The next one may come through; the stream tells if the house is away.
      if (error instanceof Refused && epoch === this.epoch) {
        this.refused(error);
      }
    }
  }

  /** What a refused beat means for the stream that seems to be open still. */
  private refused(error: Refused): void {
    if (error.reason === ErrorReason.STALE_EPOCH) {
      this.end = "taken-over";
    }
    if (isRefused(error, ErrorReason.STALE_EPOCH, ErrorReason.NOT_ATTENDING)) {
      this.cut.dispatchEvent(new Event("cut"));
    }
  }

  /** The stream could not be opened again: perhaps because all was over meanwhile. */
  private async lost(error: KafeneioError): Promise<void> {
    if (!this.clock || !isRefused(error, ErrorReason.GAME_OVER, ErrorReason.SEAT_FORFEITED)) {
      throw error;
    }
    const { clock } = await this.house.clock.getClock({ gameId: this.gameId });
    if (clock) {
      this.show(clock);
      this.end = this.endIn(clock);
    }
  }

  private endIn(clock: Clock): AttendanceEnd | undefined {
    const own = clock.seats.find((one) => one.seat === this.attached?.seat);
    if (own?.presence === Presence.FORFEITED) {
      return "out";
    }
    return clock.closed ? "over" : undefined;
  }

  private show(clock: Clock): void {
    this.clock = clock;
    this.onClock(clock);
  }

  /** What is least late tells best how far the server's clock is ahead. */
  private heard(at: Timestamp | undefined): void {
    if (at) {
      const ahead = timestampMs(at) - Date.now();
      this.aheadMs = Math.max(ahead, this.aheadMs ?? ahead);
    }
  }
}

/** Be at the table of a game that has started. Role: its player. See `Attendance`. */
export function attend(
  house: House,
  gameId: string,
  onClock: (clock: Clock) => void,
  following: Following = {},
): Attendance {
  return new Attendance(house, gameId, onClock, following);
}
