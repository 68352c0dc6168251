/** Who plays in this tab, and the house that he calls. */
import { type House, openHouse } from "@kafeneio/client";

export interface Session {
  house: House;
  /** The player's id: the token's subject. */
  player: string;
}

const KEY = "kafeneio.token";

/** The session of this tab, where somebody has logged in. A tab is a person: others may sit in others. */
export function currentSession(): Session | undefined {
  const token = sessionStorage.getItem(KEY);
  return token === null ? undefined : sessionOf(token);
}

/** Log in with a token; undefined where it is none. */
export function logIn(token: string): Session | undefined {
  const session = sessionOf(token);
  if (session) {
    sessionStorage.setItem(KEY, token);
  }
  return session;
}

export function logOut(): void {
  sessionStorage.removeItem(KEY);
}

/** A token for a name from a house that is open for development; undefined where it gives none. */
export async function developmentToken(name: string): Promise<string | undefined> {
  const answer = await fetch(`/dev/token?name=${encodeURIComponent(name)}`).catch(() => undefined);
  const text = answer?.ok ? await answer.text() : "";
  return subjectOf(text.trim()) === undefined ? undefined : text.trim();
}

/** Money for a name from a house that is open for development; whether it gave any. */
export async function developmentMoney(name: string): Promise<boolean> {
  const path = `/dev/deposit?name=${encodeURIComponent(name)}`;
  const answer = await fetch(path, { method: "POST" }).catch(() => undefined);
  return answer?.ok ?? false;
}

function sessionOf(token: string): Session | undefined {
  const player = subjectOf(token);
  if (player === undefined) {
    return undefined;
  }
  return { player, house: openHouse({ baseUrl: location.origin, token: () => token }) };
}

/** Whose a token is. Nothing is verified here: that is for the house. */
function subjectOf(token: string): string | undefined {
  try {
    const payload = token.split(".")[1]?.replaceAll("-", "+").replaceAll("_", "/") ?? "";
    const bytes = Uint8Array.from(atob(payload), (letter) => letter.charCodeAt(0));
    const { sub } = JSON.parse(new TextDecoder().decode(bytes));
    return typeof sub === "string" ? sub : undefined;
  } catch {
    return undefined; // not a token at all: the person is asked again
  }
}
