/** The clock of a game: attended by who plays, looked at by who watches. */
import { Attendance, type AttendanceEnd, type House, timestampMs } from "@kafeneio/client";
import type { Clock } from "@kafeneio/client/clock";
import { useEffect, useState } from "preact/hooks";

const LOOK_MS = 3_000;

export interface Time {
  clock?: Clock;
  /** The server's time now, in milliseconds since 1970. */
  now: () => number;
  /** With this timeout a seat is out; known to who attends. */
  timeouts?: number | undefined;
  /** Why the player attends no more. */
  end?: AttendanceEnd;
}

/** `attending`: whether the caller plays in a game that runs; `again` counts his wishes to come back. */
export function useAttendance(
  house: House,
  gameId: string,
  running: boolean,
  attending: boolean,
  again: number,
): Time {
  const [time, setTime] = useState<Time>({ now: Date.now });

  useEffect(() => {
    if (!running) {
      return undefined;
    }
    const controller = new AbortController();
    const { signal } = controller;
    setTime(({ clock, now }) => (clock ? { clock, now } : { now }));
    if (attending) {
      const following = { signal, patienceMs: Number.POSITIVE_INFINITY };
      const attendance = new Attendance(
        house,
        gameId,
        (clock) =>
          setTime({
            clock,
            now: () => attendance.serverNow(),
            timeouts: attendance.attached?.timeouts,
          }),
        following,
      );
      attendance.done.then(
        (end) => signal.aborted || setTime((before) => ({ ...before, end })),
        () => {}, // what ended it ends the game's own stream, too, which is shown
      );
    } else {
      void look(house, gameId, signal, setTime);
    }
    return () => controller.abort();
  }, [house, gameId, running, attending, again]);

  return time;
}

/** A spectator asks now and then. */
async function look(
  house: House,
  gameId: string,
  signal: AbortSignal,
  show: (time: Time) => void,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const { clock } = await house.clock.getClock({ gameId }, { signal });
      if (clock?.at && !signal.aborted) {
        const ahead = timestampMs(clock.at) - Date.now();
        show({ clock, now: () => Date.now() + ahead });
      }
    } catch {
      // A spectator can do without: the next look may succeed.
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}
