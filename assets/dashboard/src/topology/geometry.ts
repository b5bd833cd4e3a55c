/**
 * Points, boxes and curves of the drawing, in units of its world.
 *
 * @module
 */

/** A place, or a direction from one. y grows downwards, as on screens. */
export interface Point {
  x: number;
  y: number;
}

/** A width and a height. */
export interface Size {
  width: number;
  height: number;
}

/** A box around its centre. */
export interface Box extends Point, Size {}

/** A quadratic curve; straight where the control point lies between the ends. */
export interface Curve {
  from: Point;
  control: Point;
  to: Point;
}

/** Reports whether two boxes come closer than a gap. */
export function overlaps(a: Box, b: Box, gap = 0): boolean {
  return (
    Math.abs(a.x - b.x) * 2 < a.width + b.width + 2 * gap && Math.abs(a.y - b.y) * 2 < a.height + b.height + 2 * gap
  );
}

/** Reports whether a point is in a box that is made larger by a gap on each side. */
export function inside(p: Point, box: Box, gap = 0): boolean {
  return Math.abs(p.x - box.x) <= box.width / 2 + gap && Math.abs(p.y - box.y) <= box.height / 2 + gap;
}

/** The distance of two points. */
export function distance(a: Point, b: Point): number {
  return Math.hypot(a.x - b.x, a.y - b.y);
}

/** The direction from one point to another, of length 1; to the right where they are the same. */
export function direction(from: Point, to: Point): Point {
  const length = distance(from, to);
  return length < 1e-9 ? { x: 1, y: 0 } : { x: (to.x - from.x) / length, y: (to.y - from.y) / length };
}

/** The point of a curve at t, from 0 to 1. */
export function pointAt(c: Curve, t: number): Point {
  const u = 1 - t;
  return {
    x: u * u * c.from.x + 2 * u * t * c.control.x + t * t * c.to.x,
    y: u * u * c.from.y + 2 * u * t * c.control.y + t * t * c.to.y,
  };
}

/** The direction of a curve at t, of length 1. */
export function tangentAt(c: Curve, t: number): Point {
  const u = 1 - t;
  const d = {
    x: u * (c.control.x - c.from.x) + t * (c.to.x - c.control.x),
    y: u * (c.control.y - c.from.y) + t * (c.to.y - c.control.y),
  };
  return Math.hypot(d.x, d.y) < 1e-9 ? direction(c.from, c.to) : direction({ x: 0, y: 0 }, d);
}

/** The part of a curve between two values of t. */
export function part(c: Curve, start: number, end: number): Curve {
  const from = pointAt(c, start);
  const to = pointAt(c, end);
  // The blossom of the curve at both values is the control point of the part.
  const mix = (a: number, b: number, d: number): number =>
    (1 - start) * (1 - end) * a + ((1 - start) * end + start * (1 - end)) * b + start * end * d;
  return {
    from,
    control: { x: mix(c.from.x, c.control.x, c.to.x), y: mix(c.from.y, c.control.y, c.to.y) },
    to,
  };
}

/** How far a curve bows away from the straight line between its ends. */
export function bow(c: Curve): number {
  const middle = pointAt(c, 0.5);
  return distance(middle, { x: (c.from.x + c.to.x) / 2, y: (c.from.y + c.to.y) / 2 });
}

/** Straight pieces that follow a curve; one piece where it is straight. */
export function pieces(c: Curve): Point[] {
  const count = bow(c) < 1 ? 1 : 10;
  const points: Point[] = [];
  for (let i = 0; i <= count; i++) {
    points.push(pointAt(c, i / count));
  }
  return points;
}

/** The length of a curve, to a percent or so. */
export function lengthOf(c: Curve): number {
  const points = pieces(c);
  let sum = 0;
  for (let i = 1; i < points.length; i++) {
    sum += distance(points[i - 1]!, points[i]!);
  }
  return sum;
}

/** Reports whether the straight line between two points touches a box made larger by a gap. */
export function touches(a: Point, b: Point, box: Box, gap = 0): boolean {
  const hw = box.width / 2 + gap;
  const hh = box.height / 2 + gap;
  let low = 0;
  let high = 1;
  const clip = (start: number, delta: number, half: number): boolean => {
    if (Math.abs(delta) < 1e-9) {
      return Math.abs(start) <= half;
    }
    const one = (-half - start) / delta;
    const two = (half - start) / delta;
    low = Math.max(low, Math.min(one, two));
    high = Math.min(high, Math.max(one, two));
    return low <= high;
  };
  return clip(a.x - box.x, b.x - a.x, hw) && clip(a.y - box.y, b.y - a.y, hh);
}

/** Reports whether two straight lines cross, each between two points. */
export function crosses(a: Point, b: Point, c: Point, d: Point): boolean {
  const side = (p: Point, q: Point, r: Point): number => (q.x - p.x) * (r.y - p.y) - (q.y - p.y) * (r.x - p.x);
  return side(a, b, c) * side(a, b, d) < 0 && side(c, d, a) * side(c, d, b) < 0;
}

/** How far a box of a size reaches from its centre in a direction. */
export function reach(size: Size, along: Point): number {
  return (Math.abs(along.x) * size.width + Math.abs(along.y) * size.height) / 2;
}

/** The middle of points; the origin where there are none. */
export function centroid(points: readonly Point[]): Point {
  const sum = { x: 0, y: 0 };
  for (const p of points) {
    sum.x += p.x;
    sum.y += p.y;
  }
  const count = Math.max(1, points.length);
  return { x: sum.x / count, y: sum.y / count };
}
