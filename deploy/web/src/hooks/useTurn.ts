/** A turn as it is put together: what is legal, what was chosen, and how it is sent. */
import { act, insist, isRefused, listLegal, toKafeneioError } from "@kafeneio/client";
import { ErrorReason } from "@kafeneio/client/common";
import type { Action, Position } from "@kafeneio/client/rules";
import { useEffect, useState } from "preact/hooks";
import type { Session } from "../session.js";

/** Sent at once, and the turn goes on: a drawn card must be seen first, and what lies on the table lies. */
const SENT_AT_ONCE = new Set(["drawStock", "takeDiscard", "layMeld", "layOff", "swapJoker"]);
/** The game moved on between looking and acting: the watch brings what has happened instead. */
const MOVED_ON = [
  ErrorReason.STALE_VERSION,
  ErrorReason.NOT_YOUR_TURN,
  ErrorReason.GAME_OVER,
  ErrorReason.TURN_PASSED,
];

export interface Turn {
  /** What may be done now, after what was chosen; empty while another seat is to act. */
  legal: Action[];
  /** Steps of this turn that were chosen and not sent. */
  chosen: Action[];
  /** Whether they are a whole turn. */
  complete: boolean;
  /** Whether something is on its way to the house. */
  busy: boolean;
  choose: (action: Action) => void;
  undo: () => void;
  send: () => void;
  /** Ask the house why an action is not legal; it answers with a refusal, and nothing happens. */
  askWhy: (action: Action) => void;
}

interface Draft {
  version: number;
  chosen: Action[];
  legal: Action[];
  complete: boolean;
}

interface Wanted {
  session: Session;
  gameId: string;
  position: Position;
  /** The player's seat; undefined for who only watches. */
  seat: number | undefined;
  /** Whether a whole turn waits for `send`, so that it can be undone; else it is sent at once. */
  confirming: boolean;
  onError: (error: unknown) => void;
}

const EMPTY = { chosen: [], legal: [], complete: false };

export function useTurn({ session, gameId, position, seat, confirming, onError }: Wanted): Turn {
  const { house } = session;
  const { version } = position;
  const mine = seat !== undefined && position.toAct.includes(seat);
  const [draft, setDraft] = useState<Draft>({ version, ...EMPTY });
  const [busy, setBusy] = useState(false);
  const current = draft.version === version ? draft : { version, ...EMPTY };

  useEffect(() => {
    setBusy(false);
    if (!mine) {
      return undefined;
    }
    const controller = new AbortController();
    void look([], controller.signal);
    return () => controller.abort();
  }, [house, gameId, version, mine]);

  /** What is legal after these steps; a whole turn is sent where nobody is asked again. */
  async function look(chosen: Action[], signal?: AbortSignal) {
    try {
      const { actions, complete } = await insist(
        () => listLegal(house, gameId, chosen, signal),
        signal,
      );
      if (signal?.aborted) {
        return;
      }
      if (complete && !confirming) {
        await send(chosen);
      } else {
        const draft = { version, chosen, legal: actions, complete };
        setDraft((before) => (before.version > version ? before : draft));
        setBusy(false);
      }
    } catch (error) {
      if (!signal?.aborted) {
        setBusy(false);
        failed(error);
      }
    }
  }

  async function send(steps: Action[]) {
    setBusy(true);
    // A contra carries the bid that it answers, and is judged on whatever has come in between.
    const seenVersion = steps.some((step) => step.action.case === "contra") ? 0 : version;
    try {
      await insist((requestId) => act(house, gameId, seenVersion, steps, requestId));
    } catch (error) {
      setBusy(false);
      failed(error);
    }
  }

  function failed(error: unknown) {
    if (!isRefused(error, ...MOVED_ON)) {
      onError(toKafeneioError(error));
    }
  }

  return {
    ...current,
    legal: mine && !busy ? current.legal : [],
    busy,
    choose(action) {
      const steps = [...current.chosen, action];
      setBusy(true); // nothing is chosen twice
      if (SENT_AT_ONCE.has(action.action.case ?? "")) {
        void send(steps);
      } else {
        void look(steps);
      }
    },
    undo: () => void look(current.chosen.slice(0, -1)),
    send: () => void send(current.chosen),
    askWhy: (action) =>
      void house.games
        .listLegalActions({ gameId, after: [...current.chosen, action] })
        .catch(failed),
  };
}
