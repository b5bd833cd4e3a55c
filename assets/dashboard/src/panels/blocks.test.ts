import { describe, expect, it } from "vitest";

import type { ModelRow } from "../model";
import { cable, network } from "../topology/testgraph";
import { blocksOf, noteOf, whyNotMeasured } from "./blocks";

const row = (from: string, to: string, more: Partial<ModelRow> = {}): ModelRow => ({
  key: `${from} ${to} ${more.transport ?? "socket"} ${more.measuredAt ?? ""}`, from, to, fromName: from, toName: to, transport: "socket", type: "tb5",
  upBitsPerS: 60e9, downBitsPerS: 50e9, latencyUs: 170, measuredAt: "2026-11-22T01:50:00Z", old: false, verdict: "good", reasons: [], simulated: true, ...more,
});

describe("the blocks of a link", () => {
  it("are one for RDMA and one for TCP, each from the first end to the second", () => {
    const rows = [row("a", "b", { transport: "rdma", upBitsPerS: 74e9, downBitsPerS: 73e9 }), row("b", "a")];
    expect(blocksOf(cable("a", "b", { rows })).map((b) => [b.title, b.thereBitsPerS, b.backBitsPerS])).toEqual([
      ["RDMA", 74e9, 73e9],
      ["TCP over Thunderbolt 5", 50e9, 60e9],
    ]);
  });

  it("say what the picture says, else the newest", () => {
    const rows = [row("a", "b", { measuredAt: "2026-11-22T01:00:00Z" }), row("b", "a", { upBitsPerS: 49e9, downBitsPerS: 59e9 })];
    const there = (forwardBitsPerS: number, backwardBitsPerS: number) => blocksOf(cable("a", "b", { rows, forwardBitsPerS, backwardBitsPerS }))[0]?.thereBitsPerS;
    expect([there(60e9, 50e9), there(59e9, 49e9), there(1, 1)]).toEqual([60e9, 59e9, 59e9]);
  });

  it("are none of what was not measured", () => {
    const { measuredAt: _, ...never } = row("a", "b");
    expect(blocksOf(network("a", "b", "wifi", { rows: [never] }))).toEqual([]);
  });

  it("note what is wrong, and the jitter", () => {
    const [block] = blocksOf(cable("a", "b", { rows: [row("a", "b", { verdict: "slow", reasons: ["link_below_history"], jitterUs: 20 })] }));
    expect(noteOf(block!)).toBe("Slow: Slower than it was. Jitter of the delay: 20.0 µs");
  });
});

describe("a link that cannot be measured", () => {
  it("says by name why not", () => {
    const stranger = cable("a", "", { peerName: "Book" });
    delete stranger.b;
    expect(whyNotMeasured(stranger, [])).toBe("Book runs no Fulmen, which a measurement needs at both ends.");
    expect(whyNotMeasured(cable("a", "a"), [])).toMatch(/one Mac/);
    expect(whyNotMeasured(network("a", "b", "vpn"), ["mini"])).toBe("Not reached now: mini.");
    expect(whyNotMeasured(network("a", "b", "wifi"), [])).toBe("");
  });
});
