/** The rules of one variant, as the house tells them. */
import { useRules } from "../hooks/useRules.js";
import type { Session } from "../session.js";
import { useTexts } from "../texts.js";

export function RulesPage({ session, variant }: { session: Session; variant: string }) {
  const { t } = useTexts();
  const rules = useRules(session.house, variant);
  return (
    <section class="card rules">
      <a href="#/">← {t("backToLobby")}</a>
      <h1>{t("readRules")}</h1>
      {!rules && <p>{t("loading")}</p>}
      <dl>
        {[...(rules ?? [])].map(([id, text]) => (
          <div key={id}>
            <dt>{id}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
