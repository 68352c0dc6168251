/** A hand of rummy: piles, melds, one's own cards. Pick cards up, then say what to do with them. */
import { create } from "@kafeneio/client";
import { type Action, ActionSchema, type RummyView } from "@kafeneio/client/rules";
import { useState } from "preact/hooks";
import { Card } from "../cards/Card.js";
import { Hand, keyed } from "../cards/Hand.js";
import { Choices } from "../table/Choices.js";
import { placeOfSeat, type TableProperties } from "../table/properties.js";
import { useTexts } from "../texts.js";
import { HandEnds } from "./HandEnds.js";
import { Melds } from "./Melds.js";
import { Opponent } from "./Opponent.js";
import { actionsWith, cardsOf } from "./selection.js";

/** How many melds are suggested while nothing is picked up. */
const SUGGESTED = 8;

export function RummyTable({ view, seen, seat, turn }: TableProperties<RummyView>) {
  const { t } = useTexts();
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set());
  const lower = seat ?? 0;
  const hand = keyed(view.hand);
  const selected = hand.filter((card) => picked.has(card.key)).map((card) => card.code);
  const ofHand = turn.legal.filter((action) => cardsOf(action).length > 0);
  const draw = turn.legal.find((one) => one.action.case === "drawStock");
  const take = turn.legal.find((one) => one.action.case === "takeDiscard");
  const offered =
    selected.length > 0
      ? actionsWith(ofHand, selected)
      : ofHand.filter((one) => one.action.case === "layMeld" || one.action.case === "layOff");

  function choose(action: Action) {
    setPicked(new Set());
    turn.choose(action);
  }

  function pick(key: string) {
    const changed = new Set(picked);
    if (!changed.delete(key)) {
      changed.add(key);
    }
    setPicked(changed);
  }

  function askWhy() {
    const [card] = selected;
    if (card && selected.length === 1) {
      turn.askWhy(create(ActionSchema, { action: { case: "discard", value: { card } } }));
    }
  }

  return (
    <div class="rummy">
      <div class="felt">
        <div class="opponents">
          {view.counts.map(
            (count, one) =>
              (one !== lower || seat === undefined) && (
                <Opponent
                  key={one}
                  view={view}
                  seen={seen}
                  seat={one}
                  count={count}
                  place={placeOfSeat(one, lower, view.counts.length)}
                />
              ),
          )}
        </div>
        <div class="piles">
          <Pile
            label={`${t("stockPile")}: ${view.stockLeft}`}
            action={draw}
            onClick={choose}
            caption={draw ? t("stock") : String(view.stockLeft)}
            code={view.stockLeft > 0 ? "?" : ""}
          />
          <Pile
            label={t("discardPile")}
            action={take}
            onClick={choose}
            caption={take ? t("takeDiscard") : String(view.discardCount)}
            code={view.discardTop}
          />
          {view.turned && (
            <Pile label={t("turned")} caption={t("turned")} code={view.turned} onClick={choose} />
          )}
          {view.wildRanks.length > 0 && (
            <span class="wild">
              {t("wild")}: {view.wildRanks.join(" ")}
            </span>
          )}
        </div>
        <Melds
          view={view}
          names={seen.game.seats.map((one) => one.playerId)}
          offered={selected.length > 0 ? offered : []}
          onChoose={choose}
        />
        {view.ends.length > 0 && (
          <HandEnds ends={view.ends} names={seen.game.seats.map((one) => one.playerId)} />
        )}
      </div>
      <div class="controls">
        {selected.length === 0 && offered.length > 0 && <span class="dim">{t("possible")}</span>}
        <Choices
          actions={selected.length > 0 ? offered : offered.slice(0, SUGGESTED)}
          onChoose={choose}
          class={selected.length > 0 ? "" : "small"}
        />
        {selected.length === 1 && offered.length === 0 && ofHand.length > 0 && (
          <button type="button" class="quiet" onClick={askWhy}>
            {t("whyNot")}
          </button>
        )}
      </div>
      {hand.length > 0 && (
        <Hand
          picking
          cards={hand.map((card) => ({
            ...card,
            legal: ofHand.length > 0,
            selected: picked.has(card.key),
          }))}
          onClick={(card) => pick(card.key)}
        />
      )}
    </div>
  );
}

interface PileProperties {
  label: string;
  caption: string;
  /** The card on top; "" where there is none. */
  code: string;
  action?: Action | undefined;
  onClick: (action: Action) => void;
}

function Pile({ label, caption, code, action, onClick }: PileProperties) {
  return (
    <button
      type="button"
      class={action ? "pile legal" : "pile"}
      aria-label={action ? `${caption} (${label})` : label}
      disabled={!action}
      data-action={action?.action.case}
      onClick={() => action && onClick(action)}
    >
      {code ? <Card code={code} /> : <span class="empty-pile" />}
      <span>{caption}</span>
    </button>
  );
}
