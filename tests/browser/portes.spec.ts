/** Two people play Portes for a stake, from the queue to the money, click by click. */
import { expect, type Locator, type Page, test } from "@playwright/test";
import { findGame, isOver, PICTURES, person, playUntil, table } from "./people.js";

test("two pages play Portes to the end, and the winner is paid", async ({ browser }) => {
  test.setTimeout(600_000);
  const pages = [await person(browser, "eleni"), await person(browser, "nikos")];
  for (const page of pages) {
    await page.getByRole("button", { name: "Put in 100 €" }).click();
    await expect(page.locator(".amount")).toHaveText("€100.00");
  }
  await findGame(pages, "portes", "5");
  await playUntil(pages, () => isOver(pages[0] as Page));

  const won = await Promise.all(
    pages.map(async (page) => {
      await expect(table(page)).toHaveAttribute("data-status", "FINISHED");
      await expect(page.locator(".ending h2")).toHaveText(/^You have (won!|lost.)$/);
      return (await page.locator(".ending h2").textContent()) === "You have won!";
    }),
  );
  expect(won.filter(Boolean)).toHaveLength(1);
  await expect(pages[0]?.locator(".final") as Locator).toHaveText(/\((single|double)\)/);
  for (const page of pages) {
    await expect(page.locator(".gain td")).toHaveText("+€5.00");
    await expect(page.locator(".loss td")).toHaveText("-€5.00");
    await verified(page);
  }
  await pages[0]?.screenshot({ path: `${PICTURES}/settled.png` });
  for (const [seat, page] of pages.entries()) {
    await page.getByRole("link", { name: "To the coffee house" }).click();
    await expect(page.locator(".amount")).toHaveText(won[seat] ? "€105.00" : "€95.00");
  }
});

/** The chance is recomputed in the page, the moves by the house, and all of it is right. */
async function verified(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Verify the chance" }).click();
  const findings = page.locator(".verify li");
  await expect(findings).toHaveCount(4);
  await expect(page.locator(".verify li.good")).toHaveCount(4);
  const download = page.getByRole("link", { name: "Save the record" });
  const record = decodeURIComponent((await download.getAttribute("href"))?.split(",")[1] ?? "");
  expect(JSON.parse(record).terms.variant).toBe("portes");
}
