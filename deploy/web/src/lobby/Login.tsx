/** Logging in, for development: by a name that the house makes a token for, or with a token. */
import { useState } from "preact/hooks";
import { developmentToken } from "../session.js";
import { type TextKey, useTexts } from "../texts.js";

export function Login({ onToken }: { onToken: (token: string) => void }) {
  const { t } = useTexts();
  const [problem, setProblem] = useState<TextKey>();

  async function byName(event: SubmitEvent) {
    event.preventDefault();
    const name = fieldOf(event, "name");
    const token = await developmentToken(name);
    if (token) {
      onToken(token);
    } else {
      setProblem("noToken");
    }
  }

  function byToken(event: SubmitEvent) {
    event.preventDefault();
    onToken(fieldOf(event, "token"));
    setProblem("badToken");
  }

  return (
    <section class="card login">
      <h1>{t("logIn")}</h1>
      <form onSubmit={byName}>
        <label>
          {t("name")}
          <input name="name" required maxLength={64} autoComplete="username" />
        </label>
        <button type="submit">{t("logIn")}</button>
      </form>
      <p>{t("orToken")}</p>
      <form onSubmit={byToken}>
        <label>
          {t("token")}
          <input name="token" required autoComplete="off" />
        </label>
        <button type="submit" class="quiet">
          {t("logIn")}
        </button>
      </form>
      {problem && <p role="alert">{t(problem)}</p>}
    </section>
  );
}

function fieldOf(event: SubmitEvent, name: string): string {
  const value = new FormData(event.currentTarget as HTMLFormElement).get(name);
  return typeof value === "string" ? value.trim() : "";
}
