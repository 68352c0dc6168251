/** What the house promised before a game, and the player's word: kept here to be compared afterwards. */

export interface Promised {
  /** The commitment that was shown before the game. */
  commitment: Uint8Array;
  /** The word that the player brought. */
  word: Uint8Array;
  seat: number;
}

const key = (gameId: string) => `kafeneio.promise.${gameId}`;

export function rememberPromise(gameId: string, { commitment, word, seat }: Promised): void {
  const kept = { commitment: [...commitment], word: [...word], seat };
  sessionStorage.setItem(key(gameId), JSON.stringify(kept));
}

export function promiseOf(gameId: string): Promised | undefined {
  const text = sessionStorage.getItem(key(gameId));
  if (text === null) {
    return undefined;
  }
  const { commitment, word, seat } = JSON.parse(text);
  return { commitment: Uint8Array.from(commitment), word: Uint8Array.from(word), seat };
}
