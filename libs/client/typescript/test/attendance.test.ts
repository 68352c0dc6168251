import { Code, ConnectError } from "@connectrpc/connect";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Attendance } from "../src/attendance.js";
import { Refused } from "../src/errors.js";
import { type Clock, ClockService, Presence } from "../src/generated/kafeneio/clock/v1/clock_pb.js";
import { fakeHouse, GAME, open, refusal, thrownBy } from "./fake.js";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const attached = (epoch: bigint) => ({
  message: {
    case: "attached" as const,
    value: { epoch, seat: 1, silent: { seconds: 12n, nanos: 0 } },
  },
});
const clock = (version: bigint, closed = false, presence = Presence.ATTACHED) => ({
  message: {
    case: "clock" as const,
    value: { version, closed, seats: [{ seat: 1, presence }] },
  },
});

/** Attends a house whose n-th stream is `streams[n]`; answers to heartbeats come from `beat`. */
function attending(
  streams: ((signal: AbortSignal) => AsyncIterable<ReturnType<typeof clock | typeof attached>>)[],
  beat: (epoch: bigint) => void = () => {},
) {
  const beats: bigint[] = [];
  const clocks: Clock[] = [];
  let opened = 0;
  const house = fakeHouse(({ service }) =>
    service(ClockService, {
      attend: (_, { signal }) => {
        const stream = streams[opened++];
        if (!stream) {
          throw refusal(Code.FailedPrecondition, "GAME_OVER");
        }
        return stream(signal);
      },
      heartbeat: ({ epoch }) => {
        beats.push(epoch);
        beat(epoch);
        return {};
      },
      getClock: () => ({ clock: clock(99n, true).message.value }),
    }),
  );
  const attendance = new Attendance(house, GAME, (told) => clocks.push(told));
  return { attendance, beats, clocks };
}

test("it beats every five seconds with the epoch of its stream, until the game is over", async () => {
  let over = () => {};
  const { attendance, beats, clocks } = attending([
    async function* () {
      yield attached(7n);
      yield clock(1n);
      await new Promise<void>((resolve) => {
        over = resolve;
      });
      yield clock(2n, true);
    },
  ]);
  await vi.advanceTimersByTimeAsync(16_000);
  expect(beats).toEqual([7n, 7n, 7n]);
  over();
  expect(await attendance.done).toBe("over");
  await vi.advanceTimersByTimeAsync(20_000);
  expect(beats).toHaveLength(3);
  expect(clocks.map((one) => one.version)).toEqual([1n, 2n]);
});

test("a broken stream is opened again, and beats with the new epoch", async () => {
  const { attendance, beats } = attending([
    async function* () {
      yield attached(1n);
      throw new ConnectError("reset", Code.Internal);
    },
    async function* (signal) {
      yield attached(2n);
      yield clock(1n);
      await open(signal);
    },
  ]);
  await vi.advanceTimersByTimeAsync(6_000);
  expect(beats).toEqual([2n]);
  expect(attendance.attached?.epoch).toBe(2n);
});

test("a newer device has the seat", async () => {
  const { attendance } = attending([
    async function* () {
      yield attached(1n);
      yield { message: { case: "takenOver" as const, value: {} } } as never;
    },
  ]);
  await vi.advanceTimersByTimeAsync(0);
  expect(await attendance.done).toBe("taken-over");
});

test("a beat can be the first to tell that a newer device has the seat", async () => {
  const { attendance } = attending(
    [
      async function* (signal) {
        yield attached(1n);
        await open(signal);
      },
    ],
    () => {
      throw refusal(Code.Aborted, "STALE_EPOCH", { epoch: "2" });
    },
  );
  await vi.advanceTimersByTimeAsync(6_000);
  expect(await attendance.done).toBe("taken-over");
});

test("a beat that finds the stream gone opens it again", async () => {
  let first = true;
  const { attendance, beats } = attending(
    [
      async function* (signal) {
        yield attached(1n);
        await open(signal);
      },
      async function* (signal) {
        yield attached(2n);
        await open(signal);
      },
    ],
    () => {
      if (first) {
        first = false;
        throw refusal(Code.FailedPrecondition, "NOT_ATTENDING");
      }
    },
  );
  await vi.advanceTimersByTimeAsync(12_000);
  expect(beats).toEqual([1n, 2n]);
  expect(attendance.attached?.epoch).toBe(2n);
});

test("a seat that is out is told", async () => {
  const { attendance } = attending([
    async function* () {
      yield attached(1n);
      yield clock(1n, false, Presence.FORFEITED);
    },
  ]);
  await vi.advanceTimersByTimeAsync(0);
  expect(await attendance.done).toBe("out");
});

test("a game that ended while nobody was connected is over", async () => {
  const { attendance, clocks } = attending([
    async function* () {
      yield attached(1n);
      yield clock(1n);
      throw new ConnectError("reset", Code.Internal);
    },
  ]);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(await attendance.done).toBe("over");
  expect(clocks.at(-1)?.version).toBe(99n);
});

test("a seat that can't be taken is refused", async () => {
  const { attendance } = attending([]);
  expect(await thrownBy(attendance.done)).toBeInstanceOf(Refused);
});

test("it tells the server's time, whatever the own clock says", async () => {
  vi.setSystemTime(1_000_000);
  const { attendance } = attending([
    async function* (signal) {
      yield attached(1n);
      const at = { seconds: 5_000n, nanos: 0 };
      yield { message: { case: "clock" as const, value: { version: 1n, at } } } as never;
      await open(signal);
    },
  ]);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(attendance.serverNow()).toBe(5_002_000);
});
