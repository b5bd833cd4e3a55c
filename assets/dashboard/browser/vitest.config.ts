import { defineConfig } from "vitest/config";

/** The tests in a browser share one cluster: one file after the other, in one order. */
export default defineConfig({
  test: {
    include: ["browser/**/*.browser.ts"],
    environment: "node",
    fileParallelism: false,
    isolate: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    bail: 0,
  },
});
