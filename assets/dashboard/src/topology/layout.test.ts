import { describe, expect, it } from "vitest";

import { distance, overlaps, type Point } from "./geometry";
import { groupsOf } from "./groups";
import { arrange } from "./layout";
import { ringOrder, type Pair } from "./order";
import { macs, pairsOf, type Cabling } from "./testgraph";

const room = { width: 1000, height: 520 };
const node = { width: 172, height: 136 };

function arranged(names: readonly string[], joined: readonly Pair[], kept: ReadonlyMap<string, Point> = new Map()): Map<string, Point> {
  return arrange({ nodes: names, joined, kept, room, node });
}

function boxes(places: ReadonlyMap<string, Point>): { x: number; y: number; width: number; height: number }[] {
  return [...places.values()].map((p) => ({ x: p.x * room.width, y: p.y * room.height, ...node }));
}

describe("ringOrder", () => {
  it.each([4, 5, 6, 7, 8, 9, 12, 16])("finds the ring of %i in any order of its nodes", (count) => {
    const ring = macs(count);
    const joined = pairsOf("ring", ring);
    // The names come in an order that has nothing to do with the ring.
    const names = [...ring].sort((a, b) => Number(a.slice(4)) * 7 % count - Number(b.slice(4)) * 7 % count);
    const order = ringOrder(names, joined);
    expect([...order].sort()).toEqual([...names].sort());
    const next = new Set(order.flatMap((a, i) => [`${a} ${order[(i + 1) % count]}`, `${order[(i + 1) % count]} ${a}`]));
    expect(joined.filter(([a, b]) => !next.has(`${a} ${b}`))).toEqual([]);
  });

  it("keeps groups together", () => {
    const names = macs(12);
    // Three meshes of four, their members dealt out like cards.
    const joined = names.flatMap((a, i) => names.flatMap((b, j): Pair[] => (i < j && i % 3 === j % 3 ? [[a, b]] : [])));
    const groups = ringOrder(names, joined).map((n) => (Number(n.slice(4)) - 1) % 3);
    const changes = groups.filter((g, i) => g !== groups[(i + 1) % groups.length]).length;
    expect(changes).toBe(3);
  });

  it("leaves the order alone where cables do not tell", () => {
    expect(ringOrder(macs(6), pairsOf("mesh", macs(6)))).toEqual(macs(6));
    expect(ringOrder(macs(6), [])).toEqual(macs(6));
  });
});

describe("groups", () => {
  /** Four meshes of four in a ring, the members of each joined to their likes in the next, dealt out like cards. */
  const names = macs(16);
  const joined = names.flatMap((a, i) =>
    names.flatMap((b, j): Pair[] => {
      const [group, other] = [i % 4, j % 4];
      const like = Math.floor(i / 4) === Math.floor(j / 4);
      const next = Math.abs(group - other) === 1 || Math.abs(group - other) === 3;
      return i < j && (group === other || (like && next)) ? [[a, b]] : [];
    }),
  );
  const small = { width: 96, height: 62 };

  it("are found, and not where there are none", () => {
    expect(groupsOf(names, joined).map((g) => g.map((n) => (Number(n.slice(4)) - 1) % 4))).toEqual([0, 1, 2, 3].map((g) => [g, g, g, g]));
    expect(groupsOf(names, pairsOf("ring", names))).toEqual([]);
    expect(groupsOf(names, pairsOf("mesh", names))).toEqual([]);
    expect(groupsOf(names, [])).toEqual([]);
  });

  it("stand together, and nobody on anybody", () => {
    const places = arrange({ nodes: names, joined, kept: new Map(), room: { width: 1100, height: 560 }, node: small });
    const of = (n: string): number => (Number(n.slice(4)) - 1) % 4;
    const real = (n: string): Point => ({ x: places.get(n)!.x * 1100, y: places.get(n)!.y * 560 });
    for (const a of names) {
      const others = names.filter((b) => b !== a).sort((b, c) => distance(real(a), real(b)) - distance(real(a), real(c)));
      expect(of(others[0]!)).toBe(of(a));
      expect(names.some((b) => b > a && overlaps({ ...real(a), ...small }, { ...real(b), ...small }, 6))).toBe(false);
      expect(places.get(a)!.x >= 0 && places.get(a)!.x <= 1 && places.get(a)!.y >= 0 && places.get(a)!.y <= 1).toBe(true);
    }
  });

  it("are a ring where there is no room for them", () => {
    const places = arrange({ nodes: names, joined, kept: new Map(), room: { width: 300, height: 300 }, node: small });
    expect(places.size).toBe(16);
  });
});

describe("arrange", () => {
  const cablings: readonly Cabling[] = ["ring", "mesh", "star", "chain"];
  it.each(cablings.flatMap((cabling) => [1, 2, 3, 4, 5, 6, 7, 8].map((count) => ({ cabling, count }))))(
    "gives $count in a $cabling room, the same each time",
    ({ cabling, count }) => {
      const names = macs(count);
      const places = arranged(names, pairsOf(cabling, names));
      expect([...places.keys()].sort()).toEqual([...names].sort());
      for (const p of places.values()) {
        expect(p.x >= 0 && p.x <= 1 && p.y >= 0 && p.y <= 1).toBe(true);
      }
      const all = boxes(places);
      all.forEach((a, i) => all.slice(i + 1).forEach((b) => expect(overlaps(a, b, 10)).toBe(false)));
      expect(arranged(names, [...pairsOf(cabling, names)].reverse())).toEqual(places);
    },
  );

  it("puts the middle of a star in the middle", () => {
    const places = arranged(macs(5), pairsOf("star", macs(5)));
    expect(places.get("mac-1")).toEqual({ x: 0.5, y: 0.5 });
  });

  it("puts who has no cable aside", () => {
    const places = arranged(macs(4), pairsOf("mesh", macs(3)));
    const others = macs(3).map((n) => places.get(n)!.x);
    expect(places.get("mac-4")!.x).toBeGreaterThan(Math.max(...others) + 0.1);
  });

  it.each([2, 3, 4, 5, 6, 7])("moves nobody when another joins %i", (count) => {
    const names = macs(count);
    const before = arranged(names, pairsOf("mesh", names));
    const more = macs(count + 1);
    const after = arranged(more, pairsOf("mesh", more), before);
    for (const n of names) {
      expect(after.get(n)).toEqual(before.get(n));
    }
    const newcomer = boxes(after).at(-1)!;
    boxes(before).forEach((b) => expect(overlaps(b, newcomer, 4)).toBe(false));
  });

  it("keeps the place of who was away", () => {
    const kept = new Map([
      ["mac-1", { x: 0.1, y: 0.9 }],
      ["mac-2", { x: 0.8, y: 0.2 }],
      ["away", { x: 0.5, y: 0.5 }],
    ]);
    const places = arranged(macs(2), pairsOf("mesh", macs(2)), kept);
    expect(places.get("mac-1")).toEqual({ x: 0.1, y: 0.9 });
    expect(places.has("away")).toBe(false);
  });

  it("is upright in an upright window", () => {
    const places = arrange({ nodes: macs(2), joined: [["mac-1", "mac-2"]], kept: new Map(), room: { width: 200, height: 500 }, node });
    const [a, b] = [...places.values()] as [Point, Point];
    expect(a.x).toBe(b.x);
    expect(distance(a, b)).toBeGreaterThan(0.5);
  });
});
