/** Four people play pilotta; one closes the page, and a computer takes the seat. */
import { expect, type Page, test } from "@playwright/test";
import { findGame, PICTURES, person, playUntil } from "./people.js";

const NAMES = ["eleni", "nikos", "maria", "petros"];

test("four pages play a hand of pilotta, and go on without one of them", async ({ browser }) => {
  test.setTimeout(600_000);
  const pages: Page[] = [];
  for (const name of NAMES) {
    pages.push(await person(browser, name));
  }
  await findGame(pages, "pilotta");
  const [first, , , last] = pages as [Page, Page, Page, Page];

  await bidSomething(pages);
  await playUntil(pages, () => first.locator(".last-round").isVisible());
  await expect(first.locator(".sheet")).toContainText("marked");
  await first.screenshot({ path: `${PICTURES}/pilotta-sheet.png` });

  const leaver = (await last.locator(".me").textContent()) ?? "";
  await last.context().close();
  const left = pages.slice(0, 3);
  const seat = first.locator(".seat", { hasText: leaver });
  await expect(seat).toHaveAttribute("data-presence", "LOST");
  await playUntil(left, async () => (await seat.locator(".computer").count()) > 0);
  await expect(seat).toContainText("⚙");
  const played = Number(await first.locator(".table").getAttribute("data-version"));
  await playUntil(left, async () => {
    const version = await first.locator(".table").getAttribute("data-version");
    return Number(version) > played + 12;
  });
});

/** Somebody bids, so that there is a hand to play: the first who may. */
async function bidSomething(pages: readonly Page[]): Promise<void> {
  const bids = pages.map((page) => page.locator(".controls [data-action=bid]").first());
  const asked = async () => (await Promise.all(bids.map((bid) => bid.count()))).indexOf(1);
  await expect.poll(asked).toBeGreaterThanOrEqual(0);
  await bids[await asked()]?.click();
}
