/** The page: who is here, where he is, and in which language. */
import { useEffect, useState } from "preact/hooks";
import { Lobby } from "./lobby/Lobby.js";
import { Login } from "./lobby/Login.js";
import { RulesPage } from "./lobby/RulesPage.js";
import { TablePage } from "./lobby/TablePage.js";
import { currentSession, logIn, logOut } from "./session.js";
import { GamePage } from "./table/GamePage.js";
import { type Language, LanguageContext, savedLanguage, saveLanguage, textOf } from "./texts.js";

/** Where one can be beside the coffee house itself. */
const PLACES = new Set(["game", "rules", "table"]);

export function App() {
  const [session, setSession] = useState(currentSession);
  const [language, setLanguage] = useState<Language>(savedLanguage);
  const path = usePath();
  const t = (key: Parameters<typeof textOf>[1]) => textOf(language, key);

  useEffect(() => {
    document.documentElement.lang = language;
    document.title = textOf(language, "title");
  }, [language]);

  function changeLanguage() {
    const other = language === "el" ? "en" : "el";
    saveLanguage(other);
    setLanguage(other);
  }

  const [place, id] = path;
  return (
    <LanguageContext.Provider value={language}>
      <header class="masthead">
        <a class="brand" href="#/">
          {t("title")}
        </a>
        <span class="grow" />
        {session && <span class="me">{session.player}</span>}
        <button type="button" class="quiet" onClick={changeLanguage}>
          {t("language")}
        </button>
        {session && (
          <button
            type="button"
            class="quiet"
            onClick={() => {
              logOut();
              setSession(undefined);
            }}
          >
            {t("logOut")}
          </button>
        )}
      </header>
      <main>
        {!session && <Login onToken={(token) => setSession(logIn(token))} />}
        {session && place === "game" && id && <GamePage key={id} session={session} gameId={id} />}
        {session && place === "rules" && id && <RulesPage session={session} variant={id} />}
        {session && place === "table" && id && (
          <TablePage key={id} session={session} tableId={id} />
        )}
        {session && !PLACES.has(place ?? "") && <Lobby session={session} />}
      </main>
      <footer>{t("reference")}</footer>
    </LanguageContext.Provider>
  );
}

/** The parts of the address behind the hash, "#/game/ID" as ["game", "ID"]. */
function usePath(): string[] {
  const read = () => location.hash.replace(/^#\/?/, "").split("/").map(decodeURIComponent);
  const [path, setPath] = useState(read);
  useEffect(() => {
    const changed = () => setPath(read());
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  return path;
}
