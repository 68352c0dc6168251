/** What a player can do at a table, and what he is told. */
import { expect, type Page, test } from "@playwright/test";
import { againstComputer, click, isAsked, PICTURES, person, playUntil, version } from "./people.js";

test("a turn can be played with the keyboard alone, and undone before it is sent", async ({
  browser,
}) => {
  const page = await person(browser, "eleni");
  await againstComputer(page, "portes");
  const before = await version(page);
  const start = page.locator("g.spot.start").first();
  await start.focus();
  await page.keyboard.press("Enter");
  await page.locator("g.spot.target").first().focus();
  await page.keyboard.press(" ");
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(page.getByRole("button", { name: "Undo" })).toHaveCount(0);
  await expect(start).toBeVisible();
  const send = page.locator(".controls .go");
  while ((await send.count()) === 0) {
    const next = page.locator("g.spot.target, g.spot.start:not(.selected), .controls .go").first();
    await next.waitFor();
    const target = page.locator(".controls .go, g.spot.target").first();
    await ((await target.count()) > 0 ? target : next).focus();
    if ((await send.count()) === 0) {
      await page.keyboard.press("Enter");
    }
  }
  expect(await version(page)).toBe(before);
  await send.focus();
  await page.keyboard.press("Enter");
  await expect.poll(() => version(page)).toBeGreaterThan(before);
});

test("who asks why a card may not be played is told the rule, in both languages", async ({
  browser,
}) => {
  const page = await person(browser, "eleni");
  await againstComputer(page, "belote");
  const forbidden = page.locator(".hand:has(.legal) .hand-card:not(.legal)").first();
  await playUntil([page], async () => (await forbidden.count()) > 0 && (await isAsked(page)));
  const before = await version(page);
  await forbidden.click();
  const refusal = page.locator(".refusal");
  await expect(refusal).toContainText(/Why not\? Rule [A-Z]+\d+/);
  await page.screenshot({ path: `${PICTURES}/refusal.png` });
  await page.getByRole("button", { name: "Ελληνικά" }).click();
  await expect(refusal).toContainText(/Γιατί όχι; Κανόνας [A-Z]+\d+/);
  expect(await version(page)).toBe(before);
});

test("a spectator sees the table and no hand", async ({ browser }) => {
  const player = await person(browser, "eleni");
  const watcher = await person(browser, "maria");
  const game = await againstComputer(player, "pilotta");
  await watcher.goto(`/#/game/${game}`);
  await expect(watcher.getByText("You are watching.")).toBeVisible();
  await expect(watcher.locator(".backs").first()).toBeVisible();
  await expect(watcher.locator(".hand")).toHaveCount(0);
  expect(await isAsked(watcher)).toBe(false);
  const seen = await version(watcher);
  expect(await click(player)).toBe(true);
  await expect.poll(() => version(watcher)).toBeGreaterThan(seen);
});

test("a round can be resigned, and a game left", async ({ browser }) => {
  const page = await person(browser, "eleni");
  await againstComputer(page, "tavli");
  await page.getByRole("button", { name: "Resign the round" }).click();
  await page.getByRole("button", { name: "Yes" }).click();
  await expect(page.locator(".last-round")).toContainText("resigned");
  await giveUp(page);
  await expect(page.locator(".ending h2")).toHaveText("You have lost.");
});

test("a hand of rummy is played with what can be melded, and counted", async ({ browser }) => {
  test.setTimeout(600_000);
  const page = await person(browser, "eleni");
  await againstComputer(page, "koumkan");
  const melds = page.locator(".melds .meld");
  const ending = page.locator(".ending");
  await playUntil([page], async () => (await melds.count()) > 0 || (await ending.count()) > 0);
  await page.screenshot({ path: `${PICTURES}/melds.png` });
  const counted = page.locator(".last-round, .ending");
  await playUntil([page], async () => (await counted.count()) > 0);
  await expect(page.locator(".ends li").first()).toContainText("in hand");
});

async function giveUp(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Leave" }).click();
  await page.getByRole("button", { name: "No" }).click();
  await page.getByRole("button", { name: "Leave" }).click();
  await page.getByRole("button", { name: "Yes" }).click();
}
