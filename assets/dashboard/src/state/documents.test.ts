import { describe, expect, it } from "vitest";

import type * as api from "../api/types";
import { Documents } from "./documents";

function doc(node: string, name: string, used: number, more: Partial<api.DocumentOf<"memory">> = {}): api.Document {
  return { node, kind: "memory", name, inc: 1, seq: 1, at: "2026-11-22T00:00:00Z", value: { used_bytes: used }, ...more };
}

describe("documents", () => {
  it("puts, replaces and drops by node, kind and name", () => {
    const docs = new Documents();
    docs.begin({ sub: "s1", docs: [doc("a", "", 1), doc("b", "", 2)] });
    docs.change({ sub: "s1", n: 1, put: [doc("a", "", 3), doc("a", "x", 4)], del: [{ node: "b", kind: "memory", name: "" }] });
    expect(docs.value("a", "memory")).toEqual({ used_bytes: 3 });
    expect(docs.value("a", "memory", "x")).toEqual({ used_bytes: 4 });
    expect(docs.value("b", "memory")).toBeUndefined();
    expect(docs.value("a", "system")).toBeUndefined();
  });

  it("puts what was deleted and written again in one change", () => {
    const docs = new Documents();
    docs.begin({ sub: "s1", docs: [doc("a", "", 1)] });
    docs.change({ sub: "s1", n: 1, put: [doc("a", "", 2)], del: [{ node: "a", kind: "memory", name: "" }] });
    expect(docs.value("a", "memory")).toEqual({ used_bytes: 2 });
  });

  it("drops a tombstone", () => {
    const docs = new Documents();
    docs.begin({ sub: "s1", docs: [doc("a", "", 1)] });
    docs.change({ sub: "s1", n: 1, put: [doc("a", "", 0, { deleted: true })] });
    expect(docs.size).toBe(0);
  });

  it("shows what was known until a snapshot in parts is whole, and then nothing of before", () => {
    const docs = new Documents();
    docs.begin({ sub: "s1", docs: [doc("a", "", 1), doc("gone", "", 9)] });
    docs.begin({ sub: "s2", docs: [doc("a", "", 2)], more: true });
    expect(docs.value("a", "memory")).toEqual({ used_bytes: 1 });
    docs.change({ sub: "s2", n: 1, put: [doc("b", "", 3)], more: true });
    expect(docs.value("b", "memory")).toBeUndefined();
    docs.change({ sub: "s2", n: 2, put: [doc("c", "", 4)] });
    expect(docs.all("memory").map((d) => d.node)).toEqual(["a", "b", "c"]);
  });

  it("keeps who is stale until that changes", () => {
    const docs = new Documents();
    docs.begin({ sub: "s1", docs: [], stale: ["a"] });
    docs.change({ sub: "s1", n: 1 });
    expect(docs.isStale("a")).toBe(true);
    docs.change({ sub: "s1", n: 2, stale: [] });
    expect(docs.isStale("a")).toBe(false);
  });

  it("orders by node and name", () => {
    const docs = new Documents();
    docs.begin({ sub: "s1", docs: [doc("b", "1", 1), doc("a", "2", 1), doc("a", "10", 1)] });
    expect(docs.all("memory").map((d) => d.node + d.name)).toEqual(["a10", "a2", "b1"]);
    expect(docs.all("memory", "a").length).toBe(2);
  });
});
