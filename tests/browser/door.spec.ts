/** What is given away for development is given to this machine's own page only. */
import { expect, test } from "@playwright/test";

const TOKEN = "/dev/token?name=eleni";

test("the page of another site gets neither token nor money", async ({ request }) => {
  const foreign = { "sec-fetch-site": "cross-site" };
  expect((await request.get(TOKEN, { headers: foreign })).status()).toBe(403);
  expect((await request.post("/dev/deposit?name=eleni", { headers: foreign })).status()).toBe(403);
});

test("a foreign name for this machine gets nothing", async ({ request }) => {
  const headers = { host: "elsewhere.example:8080" };
  expect((await request.get(TOKEN, { headers })).status()).toBe(403);
});

test("a token is for a name", async ({ request }) => {
  expect((await request.get("/dev/token")).status()).toBe(400);
  const given = await request.get(TOKEN);
  expect(given.status()).toBe(200);
  expect((await given.text()).split(".")).toHaveLength(3);
});
