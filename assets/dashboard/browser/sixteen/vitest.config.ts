import { defineConfig } from "vitest/config";

/** The page of a cluster of sixteen real daemons. */
export default defineConfig({
  test: { include: ["browser/sixteen/*.sixteen.ts"], environment: "node", fileParallelism: false, testTimeout: 120_000, hookTimeout: 120_000 },
});
