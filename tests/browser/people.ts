/** What people do on the page: come in, ask for a game, play the first thing that is legal. */
import { expect, type Locator, type Page } from "@playwright/test";

/** Where the screenshots of a run are kept. */
export const PICTURES = "../../build/browser/pictures";

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
export async function click(page: Page, offers: readonly string[] = OFFERS): Promise<boolean> {
  for (const offer of offers) {
    const found = page.locator(offer).first();
    if ((await found.count()) > 0) {
      // What was there may be gone: the game goes on by itself.
      await found.click({ timeout: 2_000 }).catch(() => undefined);
      return true;
    }
  }
  return false;
}
