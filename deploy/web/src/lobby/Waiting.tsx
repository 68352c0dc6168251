/** A ticket on its way to a game, and back into the queue where others have not come. */
import { insist, type KafeneioError, toKafeneioError, watchTicket } from "@kafeneio/client";
import { type Ticket, TicketEnd, TicketStatus } from "@kafeneio/client/matchmaking";
import { useEffect, useState } from "preact/hooks";
import { codeText } from "../codes.js";
import type { Session } from "../session.js";
import { type TextKey, useTexts } from "../texts.js";

const SAYS: Partial<Record<TicketStatus, TextKey>> = {
  [TicketStatus.QUEUED]: "waitingForPlayers",
  [TicketStatus.WAITING_FOR_PARTNER]: "waitingForPartner",
  [TicketStatus.PAIRED]: "settingTable",
  [TicketStatus.MATCHED]: "settingTable",
};

interface Properties {
  session: Session;
  ticketId: string;
  onClose: () => void;
}

export function Waiting({ session, ticketId, onClose }: Properties) {
  const { language, t } = useTexts();
  const [ticket, setTicket] = useState<Ticket>();
  const [problem, setProblem] = useState<KafeneioError>();
  const { house } = session;

  useEffect(() => {
    const controller = new AbortController();
    const following = { signal: controller.signal, patienceMs: Number.POSITIVE_INFINITY };
    async function follow() {
      try {
        for await (const changed of watchTicket(house, ticketId, following)) {
          setTicket(changed);
          if (changed.status === TicketStatus.MATCHED) {
            location.hash = `#/game/${changed.gameId}`;
          } else if (changed.status === TicketStatus.STARTED) {
            onClose();
          }
        }
      } catch (thrown) {
        setProblem(toKafeneioError(thrown));
      }
    }
    void follow();
    return () => controller.abort();
  }, [house, ticketId]);

  async function cancel() {
    try {
      await insist((requestId) => house.queue.cancel({ requestId, ticketId }));
    } catch (thrown) {
      setProblem(toKafeneioError(thrown));
    }
  }

  const ended = ticket?.status === TicketStatus.ENDED;
  return (
    <section class="card waiting" aria-live="polite">
      <p>
        {ended
          ? t("ticketEnded") + codeText(TicketEnd[ticket.end], language)
          : t(SAYS[ticket?.status ?? TicketStatus.QUEUED] ?? "loading")}
      </p>
      {problem && <p role="alert">{problem.text(language)}</p>}
      <div class="buttons">
        {ended || problem ? (
          <button type="button" onClick={onClose}>
            {t("close")}
          </button>
        ) : (
          <button type="button" onClick={cancel}>
            {t("cancel")}
          </button>
        )}
      </div>
    </section>
  );
}
