import { describe, expect, it } from "vitest";

import { crosses, distance, overlaps, pieces, pointAt, touches, type Box, type Size } from "./geometry";
import { outward } from "./labels";
import type { Scene } from "./scene";
import { cable, macs, pairsOf, sceneFor, type Cabling } from "./testgraph";

const windows: readonly Size[] = [
  { width: 1280, height: 720 },
  { width: 900, height: 620 },
  { width: 1728, height: 900 },
];

/** All boxes of a drawing that may not touch, each with what it is. */
function boxesOf(scene: Scene): { what: string; box: Box }[] {
  const boxes = [...scene.boxes].map(([id, box]) => ({ what: `node ${id}`, box }));
  for (const edge of scene.edges) {
    edge.headBoxes.forEach((box, i) => boxes.push({ what: `head ${i} of ${edge.id}`, box }));
    for (const [role, box] of Object.entries(edge.labels)) {
      boxes.push({ what: `${role} of ${edge.id}`, box });
    }
  }
  return boxes;
}

/** The pairs of boxes that overlap, but for heads, which meet at sockets that are close. */
function collisions(scene: Scene): string[] {
  const boxes = boxesOf(scene);
  const found: string[] = [];
  boxes.forEach((x, i) => {
    for (const y of boxes.slice(i + 1)) {
      if (overlaps(x.box, y.box) && !(x.what.startsWith("head") && y.what.startsWith("head"))) {
        found.push(`${x.what} / ${y.what}`);
      }
    }
  });
  return found;
}

const cablings: readonly Cabling[] = ["ring", "mesh", "star", "chain"];
const cases = cablings.flatMap((cabling) =>
  [2, 3, 4, 5, 6, 7, 8].flatMap((count) => windows.map((window) => ({ cabling, count, window }))),
);

describe("two to eight Macs", () => {
  it.each(cases)("$count in a $cabling in $window.width x $window.height", ({ cabling, count, window }) => {
    const names = macs(count);
    const pairs = pairsOf(cabling, names);
    const scene = sceneFor(names, pairs.map(([a, b]) => cable(a, b)), window);
    expect(scene.edges).toHaveLength(pairs.length);
    expect(collisions(scene)).toEqual([]);
    expect(scene.dropped).toBe(0);
    for (const edge of scene.edges) {
      const { forward, backward, latency } = edge.labels;
      const c = edge.curve;
      // Each speed is beside the head of its own arrow, and the delay nearer to the middle.
      expect(distance(forward!, c.to)).toBeLessThan(distance(forward!, c.from));
      expect(distance(backward!, c.from)).toBeLessThan(distance(backward!, c.to));
      expect(distance(latency!, pointAt(c, 0.5))).toBeLessThan(Math.min(distance(latency!, c.from), distance(latency!, c.to)));
      // No label covers its own edge, and all stay in the drawing.
      const line = pieces(c);
      for (const box of [forward!, backward!, latency!]) {
        expect(line.some((p, i) => i > 0 && touches(line[i - 1]!, p, box))).toBe(false);
        expect(box.x - box.width / 2).toBeGreaterThanOrEqual(0);
        expect(box.y + box.height / 2).toBeLessThanOrEqual(scene.world.height);
      }
    }
  });

  it.each([1, 2, 3])("have what is wrong with %i cables led to over no other cable", (bad) => {
    for (const { cabling, count, window } of cases) {
      const names = macs(count);
      const scene = sceneFor(names, pairsOf(cabling, names).map(([a, b], i) => cable(a, b, i < bad ? { verdict: "bad" } : {})), window);
      for (const edge of scene.edges) {
        const [sign, callout] = [edge.signs[0], edge.labels.callout];
        if (sign === undefined || callout === undefined) continue;
        const crossed = scene.edges.filter((other) => other !== edge && pieces(other.curve).some((p, k, all) => k > 0 && crosses(all[k - 1]!, p, sign, callout)));
        expect(crossed.map((other) => other.id), `${count} ${cabling} ${window.width}`).toEqual([]);
      }
    }
  });

  it("stay readable: the drawing is made smaller by a third at most, or 40 % where the window is small", () => {
    for (const { cabling, count, window } of cases) {
      const names = macs(count);
      const scene = sceneFor(names, pairsOf(cabling, names).map(([a, b]) => cable(a, b)), window);
      expect(window.width / scene.world.width, `${count} ${cabling} ${window.width}`).toBeGreaterThan(window.width < 1000 ? 0.6 : 0.67);
    }
  });
});

describe("sides", () => {
  it("puts speeds and delay outside a ring, and what is wrong inside", () => {
    const names = macs(5);
    const scene = sceneFor(names, pairsOf("ring", names).map(([a, b]) => cable(a, b, { verdict: "bad" })), windows[0]!);
    const centre = { x: scene.world.width / 2, y: scene.world.height / 2 };
    for (const edge of scene.edges) {
      const middle = pointAt(edge.curve, 0.5);
      const out = outward(edge.curve, centre);
      const side = (box: Box): number => (box.x - middle.x) * out.x + (box.y - middle.y) * out.y;
      expect(side(edge.labels.latency!)).toBeGreaterThan(0);
      expect(side(edge.labels.callout!)).toBeLessThan(0);
      expect(side(edge.labels.forward!)).toBeGreaterThan(0);
      expect(side(edge.labels.backward!)).toBeGreaterThan(0);
    }
  });

  it("fixes the side by the direction where the edge's middle is the drawing's", () => {
    const level = { from: { x: 0, y: 50 }, control: { x: 50, y: 50 }, to: { x: 100, y: 50 } };
    const turned = { from: level.to, control: level.control, to: level.from };
    const upright = { from: { x: 50, y: 0 }, control: { x: 50, y: 50 }, to: { x: 50, y: 100 } };
    expect(outward(level, { x: 50, y: 50 }).y).toBe(-1);
    expect(outward(turned, { x: 50, y: 50 }).y).toBe(-1);
    expect(outward(upright, { x: 50, y: 50 }).x).toBe(1);
  });
});

describe("more of everything", () => {
  it("draws two cables a pair side by side, each with its numbers", () => {
    const names = macs(4);
    const links = pairsOf("ring", names).flatMap(([a, b]) => [cable(a, b), cable(a, b, { receptacleA: 2 })]);
    const scene = sceneFor(names, links, windows[0]!);
    expect(collisions(scene)).toEqual([]);
    expect(scene.dropped).toBe(0);
    const byPair = new Map<string, typeof scene.edges>();
    for (const edge of scene.edges) {
      const pair = edge.id.replaceAll(/:\d/g, "");
      byPair.set(pair, [...(byPair.get(pair) ?? []), edge]);
    }
    for (const [pair, edges] of byPair) {
      const [one, two] = edges;
      expect(distance(pointAt(one!.curve, 0.5), pointAt(two!.curve, 0.5)), pair).toBeGreaterThan(30);
    }
  });

  it("finds room for callouts and hubs in a mesh of eight", () => {
    const names = macs(8);
    const links = pairsOf("mesh", names).map(([a, b], i) =>
      cable(a, b, i === 5 ? { verdict: "slow", reasons: ["link_below_ports"], negotiatedForwardBitsPerS: 40e9 } : i === 9 ? { hubs: ["Hub"] } : {}),
    );
    const scene = sceneFor(names, links, windows[0]!);
    expect(collisions(scene)).toEqual([]);
    expect(scene.dropped).toBe(0);
    expect(scene.edges.filter((e) => e.labels.callout)).toHaveLength(1);
    expect(scene.edges.filter((e) => e.signs.length === 1)).toHaveLength(2);
  });

  it("shows no numbers above eight, but trouble", () => {
    const names = macs(16);
    const links = pairsOf("mesh", names).map(([a, b], i) => cable(a, b, i === 7 ? { verdict: "down" } : {}));
    const scene = sceneFor(names, links, windows[0]!);
    expect(scene.edges).toHaveLength(120);
    expect(collisions(scene)).toEqual([]);
    expect(scene.edges.flatMap((e) => Object.keys(e.labels))).toEqual(["callout"]);
  });

  it("draws a cable whose other end is a stranger, and one from a Mac to itself", () => {
    const stranger = cable("mac-1", "", { id: "mac-1:2?Book", peerName: "Book" });
    delete stranger.b;
    const scene = sceneFor(macs(2), [cable("mac-1", "mac-2"), stranger, cable("mac-2", "mac-2", { receptacleA: 3 })], windows[0]!);
    expect(scene.edges).toHaveLength(3);
    expect(collisions(scene)).toEqual([]);
  });

  it("keeps room for numbers that are not there yet", () => {
    const names = macs(4);
    const measured = pairsOf("ring", names).map(([a, b]) => cable(a, b));
    const later = measured.map((link) => {
      const { forwardBitsPerS: _f, backwardBitsPerS: _b, ...rest } = link;
      return rest;
    });
    const [before, after] = [sceneFor(names, later, windows[0]!), sceneFor(names, measured, windows[0]!)];
    expect(after).toEqual(before);
  });

  it("draws the same for the same cluster, whatever the numbers", () => {
    const names = macs(6);
    const pairs = pairsOf("mesh", names);
    const one = sceneFor(names, pairs.map(([a, b]) => cable(a, b)), windows[0]!);
    const two = sceneFor(names, pairs.map(([a, b]) => cable(a, b, { forwardBitsPerS: 9.1e9, latencyUs: 8 })), windows[0]!);
    expect(two).toEqual(one);
  });

  it("moves no Mac where both ways are even, and says one speed", () => {
    const names = macs(8);
    const pairs = pairsOf("mesh", names);
    const [uneven, even] = [52.6e9, 60e9].map((backwardBitsPerS) => sceneFor(names, pairs.map(([a, b]) => cable(a, b, { backwardBitsPerS })), windows[1]!));
    expect([even!.world, even!.boxes]).toEqual([uneven!.world, uneven!.boxes]);
    expect(even!.edges.map((e) => Object.keys(e.labels))).toEqual(pairs.map(() => ["both"]));
  });
});
