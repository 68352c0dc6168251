/** A hand of pilotta or belote: the trick in the middle, who says what, one's own cards. */
import { create } from "@kafeneio/client";
import { ActionSchema, type TrickCard, type TrickView } from "@kafeneio/client/rules";
import { Card } from "../cards/Card.js";
import { Hand, keyed } from "../cards/Hand.js";
import { Choices } from "../table/Choices.js";
import { placeOfSeat, type TableProperties } from "../table/properties.js";
import { useTexts } from "../texts.js";
import { Bids } from "./Bids.js";
import { ContractLine } from "./ContractLine.js";
import { Declarations } from "./Declarations.js";
import { Player } from "./Player.js";

export function TrickTable({ view, seen, seat, turn }: TableProperties<TrickView>) {
  const { t } = useTexts();
  const lower = seat ?? 0;
  const seats = view.counts.length;
  const place = (one: number) => placeOfSeat(one, lower, seats);
  const playable = new Map(
    turn.legal.flatMap((one) =>
      one.action.case === "playCard" ? [[one.action.value.card, one]] : [],
    ),
  );
  const bids = turn.legal.filter((one) => one.action.case === "bid");
  const others = turn.legal.filter(
    ({ action }) => action.case !== "playCard" && action.case !== "bid",
  );
  const between = view.trick.length === 0 && view.lastTrick.length > 0;

  function play(card: string) {
    const action = playable.get(card);
    if (action) {
      turn.choose(action);
    } else if (turn.legal.length > 0) {
      turn.askWhy(create(ActionSchema, { action: { case: "playCard", value: { card } } }));
    }
  }

  return (
    <div class="tricks">
      <div class="felt" data-seats={seats}>
        <ContractLine view={view} names={seen.game.seats.map((one) => one.playerId)} />
        {view.counts.map((count, one) => (
          <Player key={one} view={view} seen={seen} seat={one} count={count} place={place(one)} />
        ))}
        <Trick cards={between ? view.lastTrick : view.trick} place={place} faint={between} />
        {view.turned && (
          <figure class="turned">
            <Card code={view.turned} />
            <figcaption>{t("turned")}</figcaption>
          </figure>
        )}
        <Declarations view={view} place={place} />
      </div>
      <div class="controls">
        {turn.chosen.length > 0 && (
          <button type="button" class="quiet" onClick={turn.undo}>
            ↶ {t("undo")}
          </button>
        )}
        <Bids actions={bids} onChoose={turn.choose} />
        <Choices actions={others} onChoose={turn.choose} />
      </div>
      {view.hand.length > 0 && (
        <Hand
          cards={keyed(view.hand).map((card) => ({ ...card, legal: playable.has(card.code) }))}
          onClick={(card) => play(card.code)}
        />
      )}
    </div>
  );
}

interface TrickProperties {
  cards: TrickCard[];
  place: (seat: number) => string;
  /** Whether it is the trick before, which lies there until the next card. */
  faint: boolean;
}

function Trick({ cards, place, faint }: TrickProperties) {
  return (
    <div class={faint ? "trick faint" : "trick"} data-cards={cards.length}>
      {cards.map(({ seat, card }) => (
        <Card key={card} code={card} class={`played ${place(seat)}`} />
      ))}
    </div>
  );
}
