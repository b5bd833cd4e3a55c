/**
 * Where the Macs stand. A place is a part of the drawing's width and height, 0
 * to 1, so that it means the same in a larger window. The same graph gives the
 * same places; who has a place keeps it, whatever comes or goes.
 *
 * @module
 */

import { distance, overlaps, type Point, type Size } from "./geometry";
import { between, groupsOf, memberPlaces } from "./groups";
import { ringOrder, type Pair } from "./order";

/** Where nodes stand, by id. */
export type Places = ReadonlyMap<string, Point>;

/** What is to be arranged. */
export interface Arrangement {
  /** The nodes, in the order in which people read them. */
  nodes: readonly string[];
  /** The pairs that a cable joins. */
  joined: readonly Pair[];
  /** The places that are taken. */
  kept: Places;
  /** The room for the middles of nodes. */
  room: Size;
  /** The box of a node. */
  node: Size;
}

/** More than this many may be drawn in groups. */
const groupedFrom = 8;

/** The widest that a ring is drawn, as a part of its height, and the tallest. */
const widest = 1.9;
const tallest = 1.7;

/** Gives every node a place. */
export function arrange(a: Arrangement): Map<string, Point> {
  const fresh = a.nodes.filter((n) => !a.kept.has(n));
  const places = new Map<string, Point>();
  if (fresh.length === a.nodes.length) {
    return arrangeAll(a);
  }
  for (const n of a.nodes) {
    const kept = a.kept.get(n);
    if (kept) {
      places.set(n, kept);
    }
  }
  for (const n of fresh) {
    places.set(n, findPlace(n, places, a));
  }
  return places;
}

/** The nodes that no cable joins to another, where others are joined. */
function loners(a: Arrangement): string[] {
  const joined = new Set(a.joined.flat());
  const alone = a.nodes.filter((n) => !joined.has(n));
  return joined.size < 2 || alone.length > 6 ? [] : alone;
}

/** The middle of a star: all cables end at it, and there are two or more. Empty where there is none. */
function middleOf(joined: readonly Pair[]): string {
  const ends = new Set(joined.flat());
  for (const hub of ends) {
    if (ends.size >= 3 && joined.every(([a, b]) => a === hub || b === hub)) {
      return hub;
    }
  }
  return "";
}

/** Places for all, as if none had one. */
function arrangeAll(a: Arrangement): Map<string, Point> {
  const wide = a.room.width >= a.room.height;
  const alone = loners(a);
  const joined = a.nodes.filter((n) => !alone.includes(n));
  const places = new Map<string, Point>();
  // Who has no cable stands aside: at the right, or below where the window is tall.
  const along = wide ? a.room.width : a.room.height;
  const aside = alone.length === 0 ? 0 : Math.min(0.4, ((wide ? a.node.width : a.node.height) + 90) / along);
  const room = wide
    ? { width: a.room.width * (1 - aside), height: a.room.height }
    : { width: a.room.width, height: a.room.height * (1 - aside) };
  alone.forEach((n, i) => {
    const step = (i + 1) / (alone.length + 1);
    places.set(n, wide ? { x: 1, y: step } : { x: step, y: 1 });
  });

  // Three in a row need room for their numbers; a corner has more.
  const row = joined.length > 3 || (wide ? room.width / 2 - a.node.width : room.height / 2 - a.node.height) >= 160;
  const middle = row ? middleOf(a.joined) : "";
  const around = joined.filter((n) => n !== middle);
  const grouped = middle === "" && around.length > groupedFrom ? inGroups(around, a, room) : undefined;
  if (grouped) {
    grouped.forEach((p, n) => places.set(n, shrink(p, room, a.room)));
    return places;
  }
  const shape = middle === "" ? ringOrder(around, a.joined) : around;
  const ring = onRing(shape.length, room);
  shape.forEach((n, i) => places.set(n, shrink(ring[i]!, room, a.room)));
  if (middle !== "") {
    places.set(middle, shrink({ x: 0.5, y: 0.5 }, room, a.room));
  }
  return places;
}

/** Places of groups on a ring and of their members around them; undefined where there are no groups, or no room for them. */
function inGroups(nodes: readonly string[], a: Arrangement, room: Size): Map<string, Point> | undefined {
  const groups = groupsOf(nodes, a.joined);
  if (groups.length === 0) {
    return undefined;
  }
  const largest = memberPlaces(Math.max(...groups.map((g) => g.length)), a.node);
  const extent = {
    width: 2 * Math.max(...largest.map((p) => Math.abs(p.x))),
    height: 2 * Math.max(...largest.map((p) => Math.abs(p.y))),
  };
  const free = { width: room.width - extent.width, height: room.height - extent.height };
  if (free.width < 1 || free.height < 1) {
    return undefined;
  }
  const order = ringOrder(groups.map((_, i) => String(i)), between(groups, a.joined));
  const ring = onRing(groups.length, free);
  const places = new Map<string, Point>();
  order.forEach((group, i) => {
    const members = groups[Number(group)]!;
    memberPlaces(members.length, a.node).forEach((p, k) => {
      const x = extent.width / 2 + ring[i]!.x * free.width + p.x;
      const y = extent.height / 2 + ring[i]!.y * free.height + p.y;
      places.set(members[k]!, { x: x / room.width, y: y / room.height });
    });
  });
  const boxes = [...places.values()].map((p) => ({ x: p.x * room.width, y: p.y * room.height, ...a.node }));
  const crowded = boxes.some((b, i) => boxes.slice(i + 1).some((c) => overlaps(b, c, 8)));
  return crowded ? undefined : places;
}

/** A place in a part of the room that begins at its top left corner, as a place in all of it. */
function shrink(p: Point, room: Size, all: Size): Point {
  return { x: (p.x * room.width) / Math.max(1, all.width), y: (p.y * room.height) / Math.max(1, all.height) };
}

/** Places on a ring, from the top left clockwise; flat at the top where the number is even. */
function onRing(count: number, room: Size): Point[] {
  if (count === 1) {
    return [{ x: 0.5, y: 0.5 }];
  }
  const wide = room.width >= room.height;
  const points: Point[] = [];
  for (let i = 0; i < count; i++) {
    const turn = count % 2 === 0 ? i - 0.5 : i;
    const angle = -Math.PI / 2 + (turn * 2 * Math.PI) / count;
    points.push({ x: Math.cos(angle), y: Math.sin(angle) });
  }
  if (count === 2) {
    return wide
      ? [centred(-1, 0, room), centred(1, 0, room)]
      : [centred(0, -1, room), centred(0, 1, room)];
  }
  // Stretched to fill its box: a triangle's is not as high as its circle.
  const xs = points.map((p) => p.x);
  const ys = points.map((p) => p.y);
  const spread = (v: number, all: number[]): number => {
    const low = Math.min(...all);
    const high = Math.max(...all);
    return ((v - low) / (high - low)) * 2 - 1;
  };
  return points.map((p) => centred(spread(p.x, xs), spread(p.y, ys), room));
}

/** A place in the largest box of a pleasant shape in the middle of the room; x and y from -1 to 1. */
function centred(x: number, y: number, room: Size): Point {
  const width = Math.min(1, (widest * Math.max(1, room.height)) / Math.max(1, room.width));
  const height = Math.min(1, (tallest * Math.max(1, room.width)) / Math.max(1, room.height));
  return { x: 0.5 + (x * width) / 2, y: 0.5 + (y * height) / 2 };
}

/** A place for one more, so that nobody has to move: free, near those it is joined to, and behind no cable. */
function findPlace(node: string, taken: ReadonlyMap<string, Point>, a: Arrangement): Point {
  const friends = new Set<string>();
  for (const [one, two] of a.joined) {
    if (one === node) {
      friends.add(two);
    } else if (two === node) {
      friends.add(one);
    }
  }
  const real = (p: Point): Point => ({ x: p.x * a.room.width, y: p.y * a.room.height });
  const others = [...taken].map(([id, p]) => ({ id, at: real(p) }));
  const lines = a.joined
    .filter(([one, two]) => taken.has(one) && taken.has(two))
    .map(([one, two]) => [real(taken.get(one)!), real(taken.get(two)!)] as const);
  const ease = 1.6 * Math.max(a.node.width, a.node.height);
  let best: Point = { x: 0.5, y: 0.5 };
  let least = Infinity;
  for (let row = 0; row <= 8; row++) {
    for (let column = 0; column <= 12; column++) {
      const p = { x: column / 12, y: row / 8 };
      const at = real(p);
      let cost = 0;
      for (const o of others) {
        const d = distance(at, o.at);
        const close = Math.max(0, 1 - d / ease);
        cost += 8 * close + (d < ease / 2 ? 100 : 0) + (friends.has(o.id) ? d / 400 : 0);
        if (friends.has(o.id)) {
          cost += others.filter((x) => x !== o && fromLine(x.at, at, o.at) < a.node.height * 0.7).length * 4;
        }
      }
      cost += lines.filter(([one, two]) => fromLine(at, one, two) < a.node.height * 0.8).length * 6;
      cost += distance(p, { x: 0.5, y: 0.5 }) * 0.2;
      if (cost < least - 1e-9) {
        least = cost;
        best = p;
      }
    }
  }
  return best;
}

/** The distance of a point from the line between two others. */
function fromLine(p: Point, a: Point, b: Point): number {
  const length = distance(a, b);
  if (length < 1e-9) {
    return distance(p, a);
  }
  const t = Math.min(1, Math.max(0, ((p.x - a.x) * (b.x - a.x) + (p.y - a.y) * (b.y - a.y)) / (length * length)));
  return distance(p, { x: a.x + t * (b.x - a.x), y: a.y + t * (b.y - a.y) });
}
