import { defineConfig } from "vitest/config";

/** Measurements of the page under load: one after the other, in one order. */
export default defineConfig({
  test: { include: ["browser/load/*.load.ts"], environment: "node", fileParallelism: false, testTimeout: 60_000, hookTimeout: 60_000 },
});
