/** What is to be made, and how far it is. */
import { Suit, type TrickView } from "@kafeneio/client/rules";
import { suitLetter, suitSign } from "../cards/names.js";
import { useTexts } from "../texts.js";

export function ContractLine({ view, names }: { view: TrickView; names: string[] }) {
  const { t } = useTexts();
  const { contract } = view;
  if (!contract) {
    return null;
  }
  const letter = suitLetter(contract.trump);
  const value = contract.capot ? t("capot") : contract.value || "";
  return (
    <p class="contract">
      {t("contract")}: {value}{" "}
      {contract.trump === Suit.UNSPECIFIED ? (
        <b>{t("noTrumps")}</b>
      ) : (
        <b class={`suit ${letter}`}>{suitSign(letter)}</b>
      )}
      {contract.multiplier > 1 && ` ×${contract.multiplier}`} · {names[contract.seat]}
      <span class="dim">
        {" "}
        {t("tricks")} {view.tricks.join(" : ")} · {t("points")} {view.points.join(" : ")}
      </span>
    </p>
  );
}
