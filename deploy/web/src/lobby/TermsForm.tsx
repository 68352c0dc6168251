/** On which terms: points, stake, partner, house rules; then the queue, or the computer. */
import { type KafeneioError, newId, parseMoney, toKafeneioError } from "@kafeneio/client";
import type { Ticket } from "@kafeneio/client/matchmaking";
import type { Option, Variant } from "@kafeneio/client/rules";
import { useState } from "preact/hooks";
import type { Session } from "../session.js";
import { type TextKey, useTexts } from "../texts.js";

const CURRENCY = "EUR";

interface Properties {
  session: Session;
  variant: Variant;
  onTicket: (ticket: Ticket | undefined) => void;
}

export function TermsForm({ session, variant, onTicket }: Properties) {
  const { language, t } = useTexts();
  const [target, setTarget] = useState(variant.targetDefault);
  const [stake, setStake] = useState("");
  const [partner, setPartner] = useState("");
  const [options, setOptions] = useState<Record<string, string>>({});
  const [isPrivate, setPrivate] = useState(false);
  const [computersFill, setComputersFill] = useState(false);
  const [problem, setProblem] = useState<KafeneioError | TextKey>();
  const money = stake.trim() ? parseMoney(stake, CURRENCY) : undefined;

  const terms = { variant: variant.variant, target, options };

  /** What is asked for, with the stake where there is one; undefined where that can't be read. */
  function staked() {
    if (stake.trim() && !money) {
      setProblem("badStake");
      return undefined;
    }
    return money ? { ...terms, stake: money } : terms;
  }

  async function ask(call: () => Promise<void>) {
    setProblem(undefined);
    try {
      await call();
    } catch (thrown) {
      setProblem(toKafeneioError(thrown));
    }
  }

  const playHouse = () =>
    ask(async () => {
      const { ticket } = await session.house.queue.playHouse({ ticketId: newId(), terms });
      onTicket(ticket);
    });
  const enqueue = () =>
    ask(async () => {
      const wanted = staked();
      if (wanted) {
        const request = { ticketId: newId(), terms: wanted, partnerPlayerId: partner.trim() };
        onTicket((await session.house.queue.enqueue(request)).ticket);
      }
    });
  const openTable = () =>
    ask(async () => {
      const wanted = staked();
      if (wanted) {
        const tableId = newId();
        const request = { tableId, terms: wanted, private: isPrivate, computersFill };
        await session.house.tables.createTable(request);
        location.hash = `#/table/${tableId}`;
      }
    });

  return (
    <section class="card terms" aria-label={variant.name?.[language] ?? ""}>
      <h2>{variant.name?.[language]}</h2>
      <div class="fields">
        <label>
          {t("target")}
          <select value={target} onChange={(event) => setTarget(Number(event.currentTarget.value))}>
            {targetsOf(variant).map((points) => (
              <option key={points} value={points}>
                {points}
                {points === variant.targetDefault ? ` (${t("usual")})` : ""}
              </option>
            ))}
          </select>
        </label>
        <label>
          {t("stake")}
          <input
            inputMode="decimal"
            placeholder={t("noStake")}
            value={stake}
            onInput={(event) => setStake(event.currentTarget.value)}
          />
        </label>
        {variant.sides.some((side) => side.seats.length > 1) && (
          <label>
            {t("partner")}
            <input value={partner} onInput={(event) => setPartner(event.currentTarget.value)} />
          </label>
        )}
      </div>
      {variant.options.length > 0 && (
        <details>
          <summary>{t("houseRules")}</summary>
          <div class="fields">
            {variant.options.map((option) => (
              <OptionField
                key={option.name}
                option={option}
                value={options[option.name] ?? option.defaultValue}
                onChange={(value) => setOptions({ ...options, [option.name]: value })}
              />
            ))}
          </div>
        </details>
      )}
      {problem && (
        <p role="alert">{typeof problem === "string" ? t(problem) : problem.text(language)}</p>
      )}
      <div class="buttons">
        <button type="button" onClick={enqueue}>
          {t("findPlayers")}
        </button>
        <button type="button" onClick={playHouse}>
          {t("playHouse")}
        </button>
        <a class="button quiet" href={`#/rules/${variant.variant}`}>
          {t("readRules")}
        </a>
      </div>
      <div class="buttons">
        <button type="button" onClick={openTable}>
          {t("openTable")}
        </button>
        <Check label={t("privateTable")} value={isPrivate} onChange={setPrivate} />
        <Check label={t("computersFill")} value={computersFill} onChange={setComputersFill} />
      </div>
    </section>
  );
}

interface CheckProperties {
  label: string;
  value: boolean;
  onChange: (value: boolean) => void;
}

function Check({ label, value, onChange }: CheckProperties) {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={value}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      {label}
    </label>
  );
}

interface OptionProperties {
  option: Option;
  value: string;
  onChange: (value: string) => void;
}

function OptionField({ option, value, onChange }: OptionProperties) {
  const { language } = useTexts();
  return (
    <label for={option.name}>
      <span>
        {option.name}
        <small>{option.description?.[language]}</small>
      </span>
      {option.many ? (
        <input
          id={option.name}
          value={value}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      ) : (
        <select
          id={option.name}
          value={value}
          onChange={(event) => onChange(event.currentTarget.value)}
        >
          {option.values.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      )}
    </label>
  );
}

/** The numbers of points that can be chosen: those that the house names, or a handful of a long range. */
function targetsOf(variant: Variant): number[] {
  if (variant.targets.length > 0) {
    return variant.targets;
  }
  const { targetMin, targetMax, targetDefault } = variant;
  const step = Math.max(1, Math.ceil((targetMax - targetMin) / 24));
  const all = new Set([targetDefault, targetMax]);
  for (let points = targetMin; points <= targetMax; points += step) {
    all.add(points);
  }
  return [...all].sort((one, other) => one - other);
}
