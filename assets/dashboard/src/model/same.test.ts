import { expect, it } from "vitest";

import { modelOf } from "./build";
import { equal, keepSame } from "./same";
import { cable, doc, documents, sources, view } from "./sample";

it("keeps what did not change, and nothing else", () => {
  const at = (used: number) => modelOf(sources({
    nodes: [view("a"), view("b")], cables: [cable("a:1~b:1")], metrics: documents(doc("a", "memory", { used_bytes: used, total_bytes: 8 })),
  }));
  const old = at(1);
  const fresh = keepSame(old, at(2));
  expect(fresh.links).toBe(old.links);
  expect(fresh.nodes[1]).toBe(old.nodes[1]);
  expect(fresh.nodes[0]!.memoryUsedBytes).toBe(2);
  const gone = keepSame(old, modelOf(sources({ nodes: [view("a")] })));
  expect(gone.links).toEqual([]);
});

it.each([
  [{ a: 1, b: [1, { c: 2 }] }, { b: [1, { c: 2 }], a: 1 }, true],
  [{ a: undefined }, { b: undefined }, false],
  [[1, 2], [1], false],
  [{ a: 1 }, { a: 1, b: 2 }, false],
  [null, {}, false],
])("%o and %o", (a, b, want) => expect(equal(a, b)).toBe(want));
