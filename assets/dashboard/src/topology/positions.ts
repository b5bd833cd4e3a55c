/**
 * The places of the Macs from one visit to the next, kept by the browser.
 *
 * @module
 */

import type { Point } from "./geometry";
import type { Places } from "./layout";

/** The name under which the browser keeps them. */
export const positionsKey = "fulmen.positions";

/** The most places that are kept: Macs that left come back to theirs, but not for ever. */
const most = 64;

/** What of the browser's storage is needed. */
export interface Keeper {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

/** Tall windows, such as a phone's, have places of their own. */
export type Shape = "wide" | "tall";

type Kept = Partial<Record<Shape, Record<string, [number, number]>>>;

function readAll(keeper: Keeper | undefined): Kept {
  try {
    const value: unknown = JSON.parse(keeper?.getItem(positionsKey) ?? "{}");
    return typeof value === "object" && value !== null ? (value as Kept) : {};
  } catch {
    return {}; // somebody else's words, or a browser that keeps nothing
  }
}

/** The places that were kept; what makes no sense is left out. */
export function readPositions(keeper: Keeper | undefined, shape: Shape): Map<string, Point> {
  const places = new Map<string, Point>();
  const kept: unknown = readAll(keeper)[shape];
  if (typeof kept !== "object" || kept === null) {
    return places;
  }
  for (const [id, value] of Object.entries(kept)) {
    const pair: unknown[] = Array.isArray(value) ? value : [];
    const [x, y] = pair;
    if (typeof x === "number" && typeof y === "number" && x >= 0 && x <= 1 && y >= 0 && y <= 1) {
      places.set(id, { x, y });
    }
  }
  return places;
}

/** Keeps places, those of nodes that are not there now included, the ones named first before others. */
export function keepPositions(keeper: Keeper | undefined, shape: Shape, places: Places): void {
  const all = readAll(keeper);
  const before = readPositions(keeper, shape);
  const next: Record<string, [number, number]> = {};
  let count = 0;
  for (const [id, p] of [...places, ...before]) {
    if (!(id in next) && count < most) {
      next[id] = [Math.round(p.x * 1e4) / 1e4, Math.round(p.y * 1e4) / 1e4];
      count++;
    }
  }
  try {
    keeper?.setItem(positionsKey, JSON.stringify({ ...all, [shape]: next }));
  } catch {
    // A browser that keeps nothing, or has no room: the next visit arranges anew.
  }
}

/** Forgets all places. */
export function forgetPositions(keeper: Keeper | undefined): void {
  try {
    keeper?.removeItem(positionsKey);
  } catch {
    // Nothing was kept.
  }
}
