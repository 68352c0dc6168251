/** Who sits where: name, time, timeouts, presence. */
import { durationMs, timestampMs } from "@kafeneio/client";
import { type Clock, Presence, type SeatClock } from "@kafeneio/client/clock";
import type { Time } from "../hooks/useAttendance.js";
import type { Seen } from "../hooks/useGame.js";
import { type TextKey, useTexts } from "../texts.js";
import { useTick } from "./useTick.js";

const PRESENCE: Readonly<Partial<Record<Presence, TextKey>>> = {
  [Presence.EXPECTED]: "expected",
  [Presence.ATTACHED]: "attached",
  [Presence.UNKNOWN]: "unknown",
  [Presence.LOST]: "lost",
  [Presence.FORFEITED]: "forfeited",
};
/** What X3 says unless the house tells otherwise, which it does to who attends. */
const TIMEOUTS = 5;

interface Properties {
  seen: Seen;
  time: Time;
  /** The player's own seat. */
  own: number | undefined;
}

export function Seats({ seen, time, own }: Properties) {
  useTick(250);
  return (
    <ul class="seats">
      {seen.game.seats.map(({ seat }) => (
        <Seat key={seat} seen={seen} time={time} seat={seat} own={own} />
      ))}
    </ul>
  );
}

function Seat({ seen, time, seat, own }: Properties & { seat: number }) {
  const { t } = useTexts();
  const { game, position } = seen;
  const timeouts = time.timeouts ?? TIMEOUTS;
  const info = game.seats[seat];
  const clock = time.clock?.seats.find((one) => one.seat === seat);
  const onTurn = position.turn?.seat === seat;
  const computer = isComputer(seen, seat);
  const left = leftMs(time, seat);
  const state = clock?.presence ?? Presence.UNSPECIFIED;
  const side = sideOf(seen, seat);
  return (
    <li
      class={`seat side-${side}${onTurn ? " on-turn" : ""}`}
      data-seat={seat}
      data-presence={Presence[state]}
    >
      <span class="seat-name">
        {computer && <span title={t("computer")}>⚙ </span>}
        {info?.playerId}
        {seat === own && <small> ({t("you")})</small>}
        {computer && <small class="computer"> {t("computer")}</small>}
      </span>
      {!computer && state !== Presence.UNSPECIFIED && (
        <span class={`presence ${Presence[state].toLowerCase()}`}>
          {t(PRESENCE[state] ?? "loading")}
        </span>
      )}
      {state === Presence.LOST && clock?.window && (
        <span class="window">
          {t("comesBack")} {seconds(windowMs(time, clock, onTurn))}
        </span>
      )}
      <span
        class="timeouts"
        role="img"
        aria-label={`${t("timeouts")}: ${clock?.charged ?? 0} / ${timeouts}`}
      >
        {!computer &&
          Array.from({ length: timeouts }, (_, number) => (
            <i key={number} class={number < (clock?.charged ?? 0) ? "charged" : ""} />
          ))}
      </span>
      <span class="time" role="timer">
        {onTurn && left !== undefined ? seconds(left) : ""}
      </span>
    </li>
  );
}

/** Whether a computer plays for a seat, from the start or since it was forfeited. */
export function isComputer({ game, position }: Seen, seat: number): boolean {
  const taken = position.forfeits.some((forfeit) => forfeit.seat === seat && forfeit.computer);
  return taken || (game.seats[seat]?.computer ?? false);
}

/** Partners have the same colour: of four players seats 0 and 2, and 1 and 3. */
function sideOf({ game, position }: Seen, seat: number): number {
  const sides = position.score.length || game.seats.length;
  return seat % sides;
}

/** What the seat on turn has left before the next timeout, by the server's clock. */
function leftMs({ clock, now }: Time, seat: number): number | undefined {
  const turn = clock?.turn;
  if (!turn || turn.seat !== seat || !turn.moveLeft) {
    return undefined;
  }
  return turn.deadline ? timestampMs(turn.deadline) - now() : durationMs(turn.moveLeft);
}

/** The time to come back runs only while the player is on turn. */
function windowMs(
  { clock, now }: { clock?: Clock; now: () => number },
  seat: SeatClock,
  runs: boolean,
): number {
  const whole = seat.window ? durationMs(seat.window) : 0;
  return runs && clock?.at ? whole - (now() - timestampMs(clock.at)) : whole;
}

function seconds(ms: number): string {
  return `${Math.max(0, Math.ceil(ms / 1000))}″`;
}
