/** Every variant on a large screen and on a phone, in the midst of a hand. */
import { expect, type Page, test } from "@playwright/test";
import {
  againstComputer,
  choose,
  click,
  comeIn,
  isAsked,
  isOver,
  PICTURES,
  seated,
  unique,
  version,
} from "./people.js";

const LARGE = { width: 1280, height: 860 };
const PHONE = { width: 390, height: 844 };

/** Every variant, and how far it is played before its picture is taken. */
const VARIANTS: readonly [string, number][] = [
  ["portes", 8],
  ["plakoto", 14],
  ["fevga", 12],
  ["gulbara", 12],
  ["tavli", 4],
  ["tavli-greek", 4],
  ["tavli-macedonian", 4],
  ["tavli-bulgarian", 4],
  ["tavli-turkish", 4],
  ["pilotta", 12],
  ["pilotta-classic", 12],
  ["pilotta-classic-2", 10],
  ["belote", 14],
  ["belote-no-trump", 12],
  ["coinche", 14],
  ["koumkan", 20],
  ["thanasis", 20],
  ["dynamitis", 20],
];

for (const [variant, rows] of VARIANTS) {
  test(`${variant} is readable, in English on a screen and in Greek on a phone`, async ({
    page,
  }) => {
    await page.setViewportSize(LARGE);
    await comeIn(page, unique("eleni"));
    const terms = await choose(page, variant);
    await terms.getByRole("button", { name: "Play the computer" }).click();
    await seated(page);
    await playTo(page, rows);
    await page.screenshot({ path: `${PICTURES}/${variant}.png` });
    await page.getByRole("button", { name: "Ελληνικά" }).click();
    await page.setViewportSize(PHONE);
    await page.screenshot({ path: `${PICTURES}/${variant}-phone.png`, fullPage: true });
    expect(await fits(page)).toBe(true);
  });
}

/** Click on until so many rows have been played and the player is asked again. */
async function playTo(page: Page, rows: number): Promise<void> {
  while (!(await isOver(page))) {
    await expect.poll(async () => (await isAsked(page)) || (await isOver(page))).toBe(true);
    if ((await version(page)) >= rows) {
      return;
    }
    await click(page);
  }
}

/** Nothing sticks out sideways. */
async function fits(page: Page): Promise<boolean> {
  return page.evaluate(() => document.documentElement.scrollWidth <= innerWidth + 1);
}

test("however many moves there are, nothing sticks out on a phone", async ({ page }) => {
  await comeIn(page, unique("eleni"));
  await againstComputer(page, "portes");
  await page.setViewportSize(PHONE);
  await page.locator(".choices.small").evaluate((moves) => {
    for (let copies = 0; copies < 30; copies++) {
      moves.append(moves.children[0]?.cloneNode(true) ?? "");
    }
  });
  expect(await fits(page)).toBe(true);
});
