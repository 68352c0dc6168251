import { defineConfig } from "vite";

export default defineConfig({
  build: { target: "es2022", sourcemap: true },
  // `npx vite` while the house of `make web` is open: the page from here, the rest from there.
  server: { proxy: { "/kafeneio.": "http://127.0.0.1:8080", "/dev/": "http://127.0.0.1:8080" } },
});
