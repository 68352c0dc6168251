/** People who choose with whom they play: they open a table, sit down, and are ready. */
import { expect, test } from "@playwright/test";
import { choose, PICTURES, person, playUntil, seated, version } from "./people.js";

test("a public table fills up, and its game begins when all are ready", async ({ browser }) => {
  const host = await person(browser, "eleni");
  const guest = await person(browser, "nikos");
  const terms = await choose(host, "plakoto");
  await terms.getByRole("button", { name: "Open a table" }).click();
  await expect(host.locator(".one-table")).toContainText("free seat");

  const name = (await host.locator(".me").textContent()) ?? "";
  const row = guest.locator(".games li", { hasText: name });
  await row.getByRole("link", { name: "Look" }).click();
  await guest.getByRole("button", { name: "Sit down" }).click();
  await guest.getByRole("button", { name: "Ready" }).click();
  await expect(host.locator(".one-table")).toContainText("✓");
  await host.screenshot({ path: `${PICTURES}/table.png` });
  await host.getByRole("button", { name: "Ready" }).click();
  expect(await seated(host)).toBe(await seated(guest));
  await playUntil([host, guest], async () => (await version(host)) > 3);
});

test("a private table is joined by its invitation, and computers take the free seats", async ({
  browser,
}) => {
  const host = await person(browser, "eleni");
  const guest = await person(browser, "nikos");
  const terms = await choose(host, "pilotta");
  await terms.getByLabel("by invitation only").check();
  await terms.getByLabel("computers in the free seats").check();
  await terms.getByRole("button", { name: "Open a table" }).click();
  const code = (await host.locator(".invitation").textContent()) ?? "";
  await expect(guest.locator(".lobby")).not.toContainText(
    (await host.locator(".me").textContent()) ?? "",
  );
  await guest.getByLabel("Have you an invitation?").fill(code);
  await guest.getByRole("button", { name: "Sit down" }).click();
  // Ready is who has seen with whom he plays.
  const name = (await guest.locator(".me").textContent()) ?? "";
  await expect(host.locator(".one-table")).toContainText(name);
  for (const page of [host, guest]) {
    await page.getByRole("button", { name: "Ready" }).click();
  }
  expect(await seated(host)).toBe(await seated(guest));
  await expect(host.locator(".seat", { hasText: "⚙" })).toHaveCount(2);
});
