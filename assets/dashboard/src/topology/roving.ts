/**
 * Where the arrow keys lead: one stop of the Tab key holds all Macs, another all
 * cables, and arrows move inside.
 *
 * @module
 */

import type { Point } from "./geometry";

/** The direction of an arrow key; undefined of other keys. */
export function arrowOf(key: string): Point | undefined {
  switch (key) {
    case "ArrowLeft":
      return { x: -1, y: 0 };
    case "ArrowRight":
      return { x: 1, y: 0 };
    case "ArrowUp":
      return { x: 0, y: -1 };
    case "ArrowDown":
      return { x: 0, y: 1 };
    default:
      return undefined;
  }
}

/** The nearest of others in a direction, what lies off it counting as farther; undefined where there is none. */
export function nearest(from: string, points: ReadonlyMap<string, Point>, towards: Point): string | undefined {
  const here = points.get(from);
  let best: string | undefined;
  let least = Infinity;
  for (const [id, p] of points) {
    if (!here || id === from) {
      continue;
    }
    const ahead = (p.x - here.x) * towards.x + (p.y - here.y) * towards.y;
    const off = Math.abs((p.x - here.x) * towards.y) + Math.abs((p.y - here.y) * towards.x);
    const cost = ahead + 2.5 * off;
    if (ahead > 4 && cost < least) {
      least = cost;
      best = id;
    }
  }
  return best;
}

/** The next of a list by a key: arrows go round, Home and End to the ends; undefined of other keys. */
export function nextOf(ids: readonly string[], from: string, key: string): string | undefined {
  const at = ids.indexOf(from);
  const towards = arrowOf(key);
  if (ids.length === 0) {
    return undefined;
  }
  if (key === "Home") {
    return ids[0];
  }
  if (key === "End") {
    return ids[ids.length - 1];
  }
  if (!towards) {
    return undefined;
  }
  const step = towards.x + towards.y;
  return ids[(Math.max(0, at) + step + ids.length) % ids.length];
}
