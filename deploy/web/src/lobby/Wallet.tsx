/** What the player has. */
import { formatMoney, isRefused } from "@kafeneio/client";
import { ErrorReason } from "@kafeneio/client/common";
import { useState } from "preact/hooks";
import { useHouse } from "../hooks/useHouse.js";
import { developmentMoney, type Session } from "../session.js";
import { type TextKey, useTexts } from "../texts.js";

const EVERY_MS = 10_000;

export function Wallet({ session }: { session: Session }) {
  const { language, t } = useTexts();
  const [paid, setPaid] = useState(0);
  const [problem, setProblem] = useState<TextKey>();
  const asked = () => session.house.wallet.getWallet({});
  const { value, error } = useHouse(asked, [session, paid], EVERY_MS);
  const accounts = value?.wallet?.accounts ?? [];

  async function topUp() {
    if (await developmentMoney(session.player)) {
      setPaid(paid + 1);
    } else {
      setProblem("noMoneyHere");
    }
  }

  return (
    <section class="wallet">
      <h2>{t("wallet")}</h2>
      {accounts.map(
        ({ balance }) =>
          balance && (
            <p key={balance.currencyCode} class="amount">
              {formatMoney(balance.minorUnits, balance.currencyCode, language)}
            </p>
          ),
      )}
      {accounts.length === 0 && isRefused(error, ErrorReason.WALLET_UNKNOWN) && (
        <p class="dim">{t("noWallet")}</p>
      )}
      <button type="button" class="quiet" onClick={() => void topUp()}>
        {t("topUp")}
      </button>
      {problem && <p role="alert">{t(problem)}</p>}
    </section>
  );
}
