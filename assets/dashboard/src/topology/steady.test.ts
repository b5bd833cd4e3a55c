import { describe, expect, it } from "vitest";

import type { ModelLink } from "../model";
import { betterHold, goneHold, settle, silentHold, typeHold, type Drawn, type Settled } from "./steady";
import { cable, network } from "./testgraph";

const nodes = new Set(["a", "b", "c"]);
const good = cable("a", "b");
const slow = cable("a", "b", { verdict: "slow", reasons: ["link_below_ports"] });
const down = cable("a", "b", { verdict: "down", reasons: ["link_down"] });

/** Plays what is told at which time, and returns what is drawn of the first cable after each. */
function play(...told: (readonly [number, readonly ModelLink[]])[]): (Drawn | undefined)[] {
  let before: ReadonlyMap<string, Drawn> = new Map();
  return told.map(([at, links]) => {
    before = settle(before, links, nodes, at).drawn;
    return before.get(good.id);
  });
}

const verdicts = (drawn: (Drawn | undefined)[]): (string | undefined)[] => drawn.map((d) => d?.verdict);

describe("settle", () => {
  it("shows every lasting change at once", () => {
    const rdma = cable("a", "b", { type: "rdma", forwardBitsPerS: 74.8e9 });
    const drawn = play([0, [slow]], [5_000, [good]], [5_001, [rdma]], [9_000, [slow]], [60_000, [good]]);
    expect(drawn.map((d) => [d?.verdict, d?.type, d?.numbers.forwardBitsPerS])).toEqual([
      ["slow", "tb5", 60.7e9], ["good", "tb5", 60.7e9], ["good", "rdma", 74.8e9], ["slow", "tb5", 60.7e9], ["good", "tb5", 60.7e9],
    ]);
  });

  it("shows trouble at once, and its end not sooner than a person can see it", () => {
    expect(verdicts(play([0, [good]], [10, [slow]], [20, [good]], [10 + betterHold - 1, [good]], [10 + betterHold, [good]]))).toEqual([
      "good", "slow", "slow", "slow", "good",
    ]);
  });

  it("shows a cable that comes and goes as one in trouble, all the time", () => {
    const told = Array.from({ length: 40 }, (_, i): readonly [number, ModelLink[]] => [1000 + i * 400, [i % 2 === 0 ? down : good]]);
    expect(new Set(verdicts(play([0, [good]], ...told)).slice(1))).toEqual(new Set(["down"]));
  });

  it("does not begin to count anew while it is better, though not the same", () => {
    expect(verdicts(play([0, [good]], [50, [down]], [100, [slow]], [2000, [good]], [50 + betterHold, [good]]))).toEqual(["good", "down", "down", "down", "good"]);
  });

  it("takes a measurement at once, and forgets one late", () => {
    const unmeasured = cable("a", "b", { verdict: "unknown" });
    expect(verdicts(play([0, [unmeasured]], [1, [good]], [2, [unmeasured]], [2 + betterHold, [unmeasured]]))).toEqual([
      "unknown", "good", "good", "unknown",
    ]);
  });

  it("says one speed of two that are within two percent, and does not waver", () => {
    const back = (bits: number) => [cable("a", "b", { forwardBitsPerS: 100e9, backwardBitsPerS: bits })];
    expect(play([0, back(97.5e9)], [1, back(98.5e9)], [2, back(97.5e9)], [3, back(96.5e9)], [4, back(97.5e9)]).map((d) => d?.even)).toEqual([
      false, true, true, false, false,
    ]);
  });

  it("holds a type that goes to and fro, and its numbers with it", () => {
    const rdma = cable("a", "b", { type: "rdma", forwardBitsPerS: 74.8e9 });
    const drawn = play([0, [good]], [5, [rdma]], [6, [good]], [7, [rdma]], [8, [good]], [7 + typeHold - 1, [good]], [7 + typeHold, [good]]);
    expect(drawn.map((d) => d?.type)).toEqual(["tb5", "rdma", "rdma", "rdma", "rdma", "rdma", "tb5"]);
    expect(drawn.map((d) => d?.numbers.forwardBitsPerS)).toEqual([60.7e9, 74.8e9, 74.8e9, 74.8e9, 74.8e9, 74.8e9, 60.7e9]);
  });

  it("keeps a type of which nobody tells any more, for a while", () => {
    const silent = cable("a", "b", { type: "unknown" });
    const types = play([0, [silent]], [1, [good]], [2, [silent]], [1 + silentHold, [silent]], [2 + silentHold, [silent]]).map((d) => d?.type);
    expect(types).toEqual(["unknown", "tb5", "tb5", "tb5", "unknown"]);
  });

  it("shows a pulled cable as pulled, then no more", () => {
    const drawn = play([0, [good]], [100, []], [100 + goneHold - 1, []], [100 + goneHold, []]);
    expect(verdicts(drawn)).toEqual(["good", "gone", "gone", undefined]);
  });

  it("shows one that is plugged in again as well when it has stayed", () => {
    expect(verdicts(play([0, [good]], [100, []], [500, [good]], [600, []], [900, [good]], [900 + betterHold, [good]]))).toEqual([
      "good", "gone", "gone", "gone", "gone", "good",
    ]);
  });

  it("drops a network at once, and the cables of a Mac that is no member any more", () => {
    const first = settle(new Map(), [good, network("a", "b", "wifi")], nodes, 0);
    expect([...settle(first.drawn, [good], nodes, 1).drawn.keys()]).toEqual([good.id]);
    expect(settle(first.drawn, [], new Set(["a"]), 1).drawn.size).toBe(0);
  });

  it("keeps the reasons of the verdict that is drawn", () => {
    expect(play([0, [good]], [1, [slow]], [2, [good]])[2]?.because.reasons).toEqual(["link_below_ports"]);
  });

  it("says when to ask again, and then changes", () => {
    let s: Settled = settle(settle(new Map(), [good], nodes, 0).drawn, [slow], nodes, 40);
    expect(s.due).toBeUndefined();
    s = settle(s.drawn, [good], nodes, 50);
    expect(s.due).toBe(40 + betterHold);
    s = settle(s.drawn, [good], nodes, s.due!);
    expect(s.drawn.get(good.id)?.verdict).toBe("good");
    expect(s.due).toBeUndefined();
    s = settle(s.drawn, [], nodes, 9000);
    expect(s.due).toBe(9000 + goneHold);
    expect(settle(s.drawn, [], nodes, s.due!).drawn.size).toBe(0);
  });
});
