import { describe, expect, it } from "vitest";

import { nameOf, paceOf, type Copy } from "./copies.svelte";

const copy = (done: number, at: number): Copy => ({ from: "a", progress: { done_bytes: done, total_bytes: 1000, verified: 0 }, first: { at: 1000, bytes: 100 }, at, done: false });

describe("copies of models", () => {
  it("are paced by what came since the first bytes", () => {
    expect(paceOf(copy(300, 3000))).toEqual({ bytesPerS: 100, leftS: 7 });
  });

  it.each<[string, Copy]>([
    ["within a second", copy(300, 1900)],
    ["of which nothing has come since", copy(100, 9000)],
    ["that have not begun", { from: "a", at: 9000, done: false }],
  ])("%s have no pace yet", (_, one) => {
    expect(paceOf(one)).toBeUndefined();
  });

  it("of two revisions are two", () => {
    const model = { model: "org/name", source: "huggingface", path: "/x", file_count: 1, size_bytes: 1 } as const;
    expect(nameOf({ ...model, revision: "a" })).not.toBe(nameOf({ ...model, revision: "b" }));
  });
});
