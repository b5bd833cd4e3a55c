import { describe, expect, it } from "vitest";

import { forgetPositions, keepPositions, positionsKey, readPositions, type Keeper } from "./positions";

/** A browser's storage, in memory. */
function storage(first?: string): Keeper & { text(): string | null } {
  const kept = new Map<string, string>(first === undefined ? [] : [[positionsKey, first]]);
  return {
    getItem: (k) => kept.get(k) ?? null,
    setItem: (k, v) => void kept.set(k, v),
    removeItem: (k) => void kept.delete(k),
    text: () => kept.get(positionsKey) ?? null,
  };
}

const one = new Map([["a", { x: 0.25, y: 0.5 }]]);

describe("positions", () => {
  it("come back, for each shape of window its own", () => {
    const s = storage();
    keepPositions(s, "wide", one);
    keepPositions(s, "tall", new Map([["a", { x: 0.1, y: 0.2 }]]));
    expect(readPositions(s, "wide")).toEqual(one);
    expect(readPositions(s, "tall").get("a")).toEqual({ x: 0.1, y: 0.2 });
  });

  it("stay for who is away", () => {
    const s = storage();
    keepPositions(s, "wide", one);
    keepPositions(s, "wide", new Map([["b", { x: 1, y: 0 }]]));
    expect([...readPositions(s, "wide").keys()].sort()).toEqual(["a", "b"]);
  });

  it("do not grow for ever", () => {
    const s = storage();
    for (let i = 0; i < 200; i++) {
      keepPositions(s, "wide", new Map([[`mac-${i}`, { x: 0.5, y: 0.5 }]]));
    }
    const kept = readPositions(s, "wide");
    expect(kept.size).toBe(64);
    expect(kept.has("mac-199")).toBe(true);
  });

  it("are forgotten when asked", () => {
    const s = storage();
    keepPositions(s, "wide", one);
    forgetPositions(s);
    expect(s.text()).toBeNull();
    expect(readPositions(s, "wide").size).toBe(0);
  });

  it.each([
    "", "{", "null", "[]", "7", '"x"', '{"wide":7}', '{"wide":{"a":7}}', '{"wide":{"a":[1]}}', '{"wide":{"a":["0",0]}}',
    '{"wide":{"a":[2,0]}}', '{"wide":{"a":[null,null]}}', '{"wide":null}',
  ])("survive what somebody else wrote: %s", (text) => {
    const s = storage(text);
    expect(readPositions(s, "wide").size).toBe(0);
    keepPositions(s, "wide", one);
    expect(readPositions(s, "wide").get("a")).toEqual({ x: 0.25, y: 0.5 });
  });

  it("survive a browser that keeps nothing", () => {
    const refuses: Keeper = {
      getItem: () => { throw new Error("denied"); },
      setItem: () => { throw new Error("denied"); },
      removeItem: () => { throw new Error("denied"); },
    };
    for (const k of [refuses, undefined]) {
      keepPositions(k, "wide", one);
      forgetPositions(k);
      expect(readPositions(k, "wide").size).toBe(0);
    }
  });
});
