/** The guide's code runs as it stands there, against the house of the tests. */
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { promisify } from "node:util";
import { expect, test } from "@playwright/test";

const GUIDE = "../../deploy/docs/first-table.md";
/** Below node_modules, so that it finds the client. */
const FOLDER = "node_modules/.guide";

test("the guide plays a whole game, and verifies it", async ({ baseURL }) => {
  test.setTimeout(600_000);
  const blocks = readFileSync(GUIDE, "utf-8").matchAll(/```js\n(.*?)```/gs);
  const code = [...blocks].map(([, block]) => block).join("\n");
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(`${FOLDER}/first-table.mjs`, code);
  const run = promisify(execFile);
  const environment = { ...process.env, KAFENEIO_URL: baseURL ?? "" };
  const { stdout } = await run("node", [`${FOLDER}/first-table.mjs`], { env: environment });
  expect(stdout).toMatch(/^over: true, won by seat [01]$/m);
  expect(stdout).toMatch(/^secret committed to: true; \d+ throws, 0 wrong$/m);
  expect(stdout).toMatch(/^attended until the game was over$/m);
  expect(stdout).toMatch(/^valid: true$/m);
  expect(stdout).not.toMatch(/timeouts charged: [1-9]/);
});
