/** What people do on the page: come in, ask for a game, play the first thing that is legal. */
import { type Browser, expect, type Locator, type Page } from "@playwright/test";

/** Where the screenshots of a run are kept. */
export const PICTURES = "../../build/browser/pictures";

/** Longer than who has left may take to come back: five times the time for a move. */
const PATIENCE_MS = 180_000;

/** A name that nobody has had in this house. */
export function unique(name: string): string {
  return `${name}-${Math.random().toString(36).slice(2, 7)}`;
}

export async function comeIn(page: Page, name: string): Promise<void> {
  await page.goto("/");
  await page.getByLabel("Name", { exact: true }).fill(name);
  await page.getByRole("button", { name: "Log in" }).first().click();
  await expect(page.locator(".me")).toHaveText(name);
}

/** Open the terms of a variant. */
export async function choose(page: Page, variant: string): Promise<Locator> {
  await page.locator(`[data-variant="${variant}"]`).click();
  return page.locator(".terms");
}

/** Wait until the game has come, and its table is drawn. */
export async function seated(page: Page): Promise<string> {
  await page.waitForURL(/#\/game\//);
  await expect(page.locator(".table[data-status=RUNNING]")).toBeVisible();
  return page.url().split("/").at(-1) ?? "";
}

export function table(page: Page): Locator {
  return page.locator(".table");
}

export async function isOver(page: Page): Promise<boolean> {
  return (await table(page).getAttribute("data-status")) !== "RUNNING";
}

/** The version of the game that the page shows. */
export async function version(page: Page): Promise<number> {
  return Number(await table(page).getAttribute("data-version"));
}

/** Whatever can be clicked to go on: a target, a start, a whole turn, a card, a call. */
const OFFERS = [
  ".controls .go",
  "g.spot.target",
  "g.spot.start:not(.selected)",
  ".pile.legal",
  ".controls [data-action=goOut]",
  ".controls [data-action=layMeld]",
  ".controls [data-action=layOff]",
  ".controls [data-action=passTurn]",
  ".controls [data-action=discard]",
  ".hand-card.legal",
  ".controls .choices button",
];

/** Whether the player is asked for something. */
export async function isAsked(page: Page): Promise<boolean> {
  return (await page.locator(OFFERS.join(", ")).count()) > 0;
}

/** One click on the first thing that is legal; whether there was one. */
export async function click(page: Page): Promise<boolean> {
  for (const offer of OFFERS) {
    const found = page.locator(offer).first();
    if ((await found.count()) > 0) {
      // What was there may be gone when it is clicked: the game goes on by itself.
      await found.click({ timeout: 2_000 }).catch(() => undefined);
      return true;
    }
  }
  return false;
}

/** Everybody clicks on what is legal, as it comes, until something is so. */
export async function playUntil(
  pages: readonly Page[],
  done: () => Promise<boolean>,
): Promise<void> {
  const asked = async () => {
    const all = await Promise.all(pages.map(isAsked));
    return all.includes(true) || (await done());
  };
  for (;;) {
    await expect.poll(asked, { intervals: [50], timeout: PATIENCE_MS }).toBe(true);
    if (await done()) {
      return;
    }
    await Promise.all(pages.map(click));
  }
}

/** Somebody of his own, on a screen of his own. */
export async function person(browser: Browser, name: string): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1100, height: 800 } });
  const page = await context.newPage();
  await comeIn(page, unique(name));
  return page;
}

/** A table against the computer, and the player's turn at it: the game's id. */
export async function againstComputer(page: Page, variant: string): Promise<string> {
  const terms = await choose(page, variant);
  await terms.getByRole("button", { name: "Play the computer" }).click();
  const id = await seated(page);
  await expect.poll(() => isAsked(page)).toBe(true);
  return id;
}

/** Queue for a game with whoever wants the same, and wait for it: its id. */
export async function findGame(
  pages: readonly Page[],
  variant: string,
  stake = "",
): Promise<string> {
  for (const page of pages) {
    const terms = await choose(page, variant);
    await terms.getByLabel("Stake").fill(stake);
    await terms.getByRole("button", { name: "Find me players" }).click();
  }
  const ids = await Promise.all(pages.map(seated));
  expect(new Set(ids).size).toBe(1);
  return ids[0] ?? "";
}
