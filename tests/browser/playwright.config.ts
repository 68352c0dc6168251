/** A house of its own for the tests, with Envoy and the page before it, and Debian's Chromium. */
import { defineConfig } from "@playwright/test";
import { freePort } from "./ports.js";

const ROOT = "../..";
const ARTEFACTS = `${ROOT}/build/browser`;

// Where this names the port of a house that is open already, that one is used.
const reused = process.env.KAFENEIO_BROWSER_PORT !== undefined;
// The workers load this file, too, and inherit what the first one has set.
process.env.KAFENEIO_BROWSER_PORT ??= String(await freePort());
const address = `http://127.0.0.1:${process.env.KAFENEIO_BROWSER_PORT}`;

const free = Object.fromEntries(
  ["RULES", "CLOCK", "SETTLEMENT", "MATCHMAKING", "METRICS"].map((name) => [
    `KAFENEIO_${name}_PORT`,
    "0",
  ]),
);

export default defineConfig({
  testDir: ".",
  outputDir: `${ARTEFACTS}/failures`,
  workers: 1,
  retries: 0,
  forbidOnly: true,
  timeout: 240_000,
  expect: { timeout: 20_000 },
  reporter: [["list"]],
  use: {
    baseURL: address,
    actionTimeout: 20_000,
    locale: "en",
    screenshot: "only-on-failure",
    launchOptions: {
      executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
      args: [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
      ],
    },
  },
  webServer: {
    command: `${ROOT}/.venv/bin/python ${ROOT}/deploy/web/serve.py --fresh --port ${process.env.KAFENEIO_BROWSER_PORT}`,
    url: address,
    reuseExistingServer: reused,
    timeout: 120_000,
    gracefulShutdown: { signal: "SIGTERM", timeout: 40_000 },
    env: {
      ...free,
      KAFENEIO_LOG_LEVEL: "warning",
      // Long enough that nobody is late on a busy machine, short enough to wait for who has left.
      KAFENEIO_CLOCK_MOVE_SECONDS: "20",
      KAFENEIO_CLOCK_SILENT_SECONDS: "6",
      KAFENEIO_RATE_LIMIT_PER_SECOND: "1000",
      KAFENEIO_RATE_LIMIT_BURST: "2000",
    },
  },
});
