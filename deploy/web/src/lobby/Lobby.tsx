/** The coffee house: choose a game, find players, go on with a game, look at one. */
import { useEffect, useState } from "preact/hooks";
import { useHouse } from "../hooks/useHouse.js";
import type { Session } from "../session.js";
import { useTexts } from "../texts.js";
import { Games } from "./Games.js";
import { Tables } from "./Tables.js";
import { TermsForm } from "./TermsForm.js";
import { Variants } from "./Variants.js";
import { Waiting } from "./Waiting.js";
import { Wallet } from "./Wallet.js";

const TICKET_KEY = "kafeneio.ticket";

export function Lobby({ session }: { session: Session }) {
  const { language, t } = useTexts();
  const [chosen, setChosen] = useState("");
  // The ticket outlives a reload of the page.
  const [ticketId, setTicketId] = useState(sessionStorage.getItem(TICKET_KEY) ?? "");
  const book = useHouse(() => session.house.rulebook.listVariants({}), [session]);
  const variants = book.value?.variants ?? [];
  const variant = variants.find((one) => one.variant === chosen);

  useEffect(() => sessionStorage.setItem(TICKET_KEY, ticketId), [ticketId]);

  return (
    <div class="lobby">
      {ticketId && (
        <Waiting session={session} ticketId={ticketId} onClose={() => setTicketId("")} />
      )}
      <section>
        <h1>{t("chooseGame")}</h1>
        {book.error && <p role="alert">{book.error.text(language)}</p>}
        <Variants variants={variants} chosen={chosen} onChoose={setChosen} />
      </section>
      {variant && (
        <TermsForm
          key={variant.variant}
          session={session}
          variant={variant}
          onTicket={(ticket) => setTicketId(ticket?.ticketId ?? "")}
        />
      )}
      <Tables session={session} variants={variants} />
      <Games session={session} variants={variants} />
      <Wallet session={session} />
    </div>
  );
}
