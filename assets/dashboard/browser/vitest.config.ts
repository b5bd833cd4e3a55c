import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** By name: the order in which files are run is not that of how long they took last time. */
class ByName extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return [...files].sort((a, b) => (a.moduleId < b.moduleId ? -1 : 1));
  }
}

/** The tests in a browser share one cluster: one file after the other, each leaving the desk as it was. */
export default defineConfig({
  test: {
    include: ["browser/**/*.browser.ts"],
    environment: "node",
    fileParallelism: false,
    isolate: false,
    sequence: { sequencer: ByName },
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
});
