import { defineConfig } from "vitest/config";

export default defineConfig({
  test: { include: ["src/**/*.test.ts"], environment: "node", pool: "threads", isolate: false, testTimeout: 60_000 },
});
