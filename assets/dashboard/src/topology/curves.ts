/**
 * The ways of the edges between the Macs: straight where they can be, side by
 * side where there are several, and around a Mac that would be in the way.
 *
 * @module
 */

import {
  bow,
  direction,
  distance,
  inside,
  lengthOf,
  part,
  pieces,
  pointAt,
  touches,
  type Box,
  type Curve,
  type Point,
} from "./geometry";

/** An edge to be drawn. */
export interface Line {
  /** Stable, and unique among all. */
  id: string;
  /** The nodes at its ends; the same twice where a cable joins two sockets of one Mac. */
  a: string;
  b: string;
  /** Which one it is between its two nodes, from 0, and how many there are. */
  index: number;
  parallel: number;
}

/** The air between a Mac's box and the ends of its edges. */
const air = 5;

/** Bends that are tried, in order, to get around a Mac in the way: parts of the edge's length. */
const bends = [0, 0.16, -0.16, 0.28, -0.28, 0.42, -0.42, 0.58, -0.58];

/**
 * The curve of a line from box to box, and undefined where the boxes leave no
 * room for it.
 */
export function curveOf(line: Line, boxes: ReadonlyMap<string, Box>, apart: number): Curve | undefined {
  const from = boxes.get(line.a);
  const to = boxes.get(line.b);
  if (!from || !to) {
    return undefined;
  }
  if (line.a === line.b) {
    return selfCurve(from, line);
  }
  const others = [...boxes].filter(([id]) => id !== line.a && id !== line.b).map(([, box]) => box);
  const offset = (line.index - (line.parallel - 1) / 2) * apart; // see sideOf
  let best: Curve | undefined;
  let least = Infinity;
  for (const [i, bend] of bends.entries()) {
    const curve = bent(from, to, offset, bend * distance(from, to));
    if (!curve) {
      continue;
    }
    const points = pieces(curve);
    const hits = others.filter((box) =>
      points.some((p, at) => at > 0 && touches(points[at - 1]!, p, box, 6)),
    ).length;
    const cost = hits * 100 + i;
    if (cost < least) {
      least = cost;
      best = curve;
    }
    if (hits === 0) {
      break;
    }
  }
  return best;
}

/** The direction in which an edge lies beside the others between its Macs; undefined of the middle one, and of one alone. */
export function sideOf(line: Line, curve: Curve): Point | undefined {
  const place = line.index - (line.parallel - 1) / 2;
  if (place === 0 || line.a === line.b) {
    return undefined;
  }
  const along = direction(curve.from, curve.to);
  return place > 0 ? { x: along.y, y: -along.x } : { x: -along.y, y: along.x };
}

/** A curve between two boxes, so far beside the line between their middles. */
function bent(from: Box, to: Box, offset: number, bend: number): Curve | undefined {
  const along = direction(from, to);
  const normal = { x: along.y, y: -along.x };
  // Parallel edges leave their boxes side by side, as far as the box is wide there.
  const limit = (box: Box): number => 0.34 * Math.min(Math.abs(normal.x) * box.width + Math.abs(normal.y) * box.height, 160);
  const room = Math.min(limit(from), limit(to));
  const side = Math.max(-room, Math.min(room, offset * 0.8));
  const middle = { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 };
  // The middle of a quadratic curve is half way between its control point and the middle of its ends.
  const height = 2 * (offset + bend) - side;
  const whole: Curve = {
    from: { x: from.x + normal.x * side, y: from.y + normal.y * side },
    control: { x: middle.x + normal.x * height, y: middle.y + normal.y * height },
    to: { x: to.x + normal.x * side, y: to.y + normal.y * side },
  };
  return clipped(whole, from, to);
}

/** The part of a curve outside the boxes at its ends. */
function clipped(curve: Curve, from: Box, to: Box): Curve | undefined {
  const leave = lastInside(curve, from, false);
  const arrive = lastInside(curve, to, true);
  if (leave >= arrive) {
    return undefined;
  }
  const visible = part(curve, leave, arrive);
  if (bow(visible) < 1) {
    visible.control = { x: (visible.from.x + visible.to.x) / 2, y: (visible.from.y + visible.to.y) / 2 };
  }
  return lengthOf(visible) < 12 ? undefined : visible;
}

/** The last t at which a curve is still in the box where it begins, or, from behind, where it ends. */
function lastInside(curve: Curve, box: Box, behind: boolean): number {
  const is = (s: number): boolean => inside(pointAt(curve, behind ? 1 - s : s), box, air);
  let low = 0;
  let high = 1;
  // Boxes are convex and curves bow little: a step finds the first point outside, halving sharpens it.
  for (let s = 0.02; s < 1; s += 0.02) {
    if (!is(s)) {
      high = s;
      break;
    }
    low = s;
  }
  for (let i = 0; i < 12; i++) {
    const middle = (low + high) / 2;
    if (is(middle)) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return behind ? 1 - high : high;
}

/** A loop below a Mac that is plugged into itself. */
function selfCurve(box: Box, line: Line): Curve {
  const bottom = box.y + box.height / 2 + air;
  const half = 22 + 12 * line.index;
  return {
    from: { x: box.x - half, y: bottom },
    control: { x: box.x, y: bottom + 70 + 24 * line.index },
    to: { x: box.x + half, y: bottom },
  };
}

/** A curve as the path of an SVG, to a tenth of a unit. */
export function pathOf(c: Curve): string {
  const at = (p: Point): string => `${round(p.x)} ${round(p.y)}`;
  return bow(c) < 1 ? `M${at(c.from)}L${at(c.to)}` : `M${at(c.from)}Q${at(c.control)} ${at(c.to)}`;
}

/** A number to a tenth. */
export function round(value: number): number {
  return Math.round(value * 10) / 10;
}
