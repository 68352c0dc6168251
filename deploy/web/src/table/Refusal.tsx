/** Why the house refused, with the rule's own words where it named one. */
import { type KafeneioError, Refused } from "@kafeneio/client";
import { useTexts } from "../texts.js";

interface Properties {
  error: KafeneioError;
  rules: ReadonlyMap<string, string> | undefined;
  onClose: () => void;
}

export function Refusal({ error, rules, onClose }: Properties) {
  const { language, t } = useTexts();
  const rule = error instanceof Refused ? error.rule : "";
  const text = rules?.get(rule);
  return (
    <div class="refusal" role="alert">
      <p>
        {text ? (
          <>
            <b>
              {t("whyNot")}
              {t("rule")} {rule}.
            </b>{" "}
            {text}
          </>
        ) : (
          (error instanceof Refused ? t("refused") : "") + error.text(language)
        )}
      </p>
      <button type="button" class="quiet" onClick={onClose}>
        {t("close")}
      </button>
    </div>
  );
}
