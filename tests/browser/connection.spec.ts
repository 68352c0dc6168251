/** A page that is reloaded, a network that goes and comes back, a second device. */
import { expect, type Page, test } from "@playwright/test";
import {
  againstComputer,
  click,
  comeIn,
  isAsked,
  person,
  playUntil,
  unique,
  version,
} from "./people.js";

/** Put a whole turn of tavli together, and do not send it. */
async function prepareTurn(page: Page): Promise<void> {
  const whole = page.locator(".controls .go");
  while ((await whole.count()) === 0) {
    await expect.poll(() => isAsked(page)).toBe(true);
    if ((await whole.count()) === 0) {
      await click(page);
    }
  }
}

test("a page that is reloaded in mid-game goes on where it was", async ({ browser }) => {
  const page = await person(browser, "eleni");
  const game = await againstComputer(page, "portes");
  await playUntil([page], async () => (await version(page)) >= 4 && (await isAsked(page)));
  const before = await version(page);
  await page.reload();
  await expect(page).toHaveURL(new RegExp(game));
  await expect.poll(() => isAsked(page)).toBe(true);
  expect(await version(page)).toBe(before);
  await expect(page.locator(".presence.attached")).toBeVisible();
  await playUntil([page], async () => (await version(page)) > before);
});

test("what was played without a network is played once when it is back", async ({ browser }) => {
  const page = await person(browser, "eleni");
  await againstComputer(page, "portes");
  await prepareTurn(page);
  const before = await version(page);
  await page.context().setOffline(true);
  await expect(page.locator(".banner")).toContainText("The connection is lost");
  await page.locator(".controls .go").click();
  await page.context().setOffline(false);
  await expect(page.locator(".banner")).toHaveCount(0);
  await expect.poll(() => version(page)).toBeGreaterThan(before);
  await page.locator(".log summary").click();
  await expect(page.locator(".log li").first()).toBeVisible();
  await playUntil([page], async () => (await version(page)) > before + 2);
});

test("a player who was away comes back in time and plays on", async ({ browser }) => {
  const page = await person(browser, "eleni");
  const watcher = await person(browser, "maria");
  const game = await againstComputer(page, "portes");
  await watcher.goto(`/#/game/${game}`);
  const seat = watcher.locator(".seat", {
    hasText: (await page.locator(".me").textContent()) ?? "",
  });
  await expect(seat).toHaveAttribute("data-presence", "ATTACHED");
  await page.context().setOffline(true);
  await expect(seat).toHaveAttribute("data-presence", "LOST");
  await expect(seat.locator(".window")).toContainText("back within");
  await page.context().setOffline(false);
  await expect(seat).toHaveAttribute("data-presence", "ATTACHED");
  await expect.poll(() => isAsked(page)).toBe(true);
  expect(await click(page)).toBe(true);
});

test("a newer device takes the seat over, and gives it back", async ({ browser }) => {
  const name = unique("eleni");
  const context = await browser.newContext();
  const [old, newer] = [await context.newPage(), await context.newPage()];
  await comeIn(old, name);
  const game = await againstComputer(old, "portes");
  await comeIn(newer, name);
  await newer.goto(`/#/game/${game}`);
  await expect.poll(() => isAsked(newer)).toBe(true);
  await expect(old.locator(".banner")).toContainText("You play on another device");
  expect(await isAsked(old)).toBe(false);
  await old.getByRole("button", { name: "Play here" }).click();
  await expect.poll(() => isAsked(old)).toBe(true);
  await expect(newer.locator(".banner")).toContainText("You play on another device");
});
