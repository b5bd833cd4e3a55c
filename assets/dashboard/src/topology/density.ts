/**
 * How much of each Mac and cable is drawn: the more there are, and the less room,
 * the less of each.
 *
 * @module
 */

import type { Size } from "./geometry";

/** The levels of detail: everything, everything in small, or a name and a shape with the rest on demand. */
export type Level = "full" | "compact" | "small";

/** The sizes of one level, in units of the drawing. */
export interface Density {
  level: Level;
  /** The box that a Mac takes, its text included. */
  node: Size;
  /** The box of the Mac's shape alone. */
  shape: Size;
  /** Sizes of letters: names, facts, labels of edges. */
  name: number;
  fact: number;
  label: number;
  /** The distance of two cables between the same Macs. */
  apart: number;
  /** The width of lines and the size of their heads, against those of a small cluster. */
  line: number;
  /** Whether a Mac has no room for the words that its numbers can do without. */
  terse: boolean;
  /** Whether all edges have labels, or those alone that are pointed at, selected or in trouble. */
  labelled: boolean;
}

const levels: Readonly<Record<Level, Density>> = {
  full: {
    level: "full",
    node: { width: 172, height: 146 },
    shape: { width: 92, height: 62 },
    name: 14,
    fact: 11,
    label: 12,
    apart: 60,
    line: 1,
    terse: false,
    labelled: true,
  },
  compact: {
    level: "compact",
    node: { width: 148, height: 121 },
    shape: { width: 70, height: 46 },
    name: 12.5,
    fact: 10,
    label: 11,
    apart: 52,
    line: 1,
    terse: false,
    labelled: true,
  },
  small: {
    level: "small",
    node: { width: 96, height: 62 },
    shape: { width: 54, height: 36 },
    name: 11,
    fact: 10,
    label: 11,
    apart: 12,
    line: 0.62,
    terse: true,
    labelled: false,
  },
};

/** Compact Macs where the window is narrow, as a phone's. */
const narrow: Density = { ...levels.compact, node: { width: 134, height: 118 }, fact: 9.5, terse: true };

/** Many Macs in such a window. */
const tiny: Density = { ...levels.small, node: { width: 56, height: 46 }, shape: { width: 34, height: 22 }, name: 9, label: 10 };

/** The most Macs of which every edge carries its numbers. */
export const labelledNodes = 8;

/** A window narrower than this has smaller Macs. */
const narrowWindow = 640;

/** The density for a number of Macs in a room. */
export function densityOf(nodes: number, room: Size): Density {
  if (nodes > labelledNodes) {
    return room.width < narrowWindow ? tiny : levels.small;
  }
  if (room.width < narrowWindow) {
    return narrow;
  }
  return nodes > 4 ? levels.compact : levels.full;
}

/**
 * The room that a number of Macs takes at ease, in units of the drawing: less
 * than this, and the drawing is made smaller than life; more, and it is made
 * larger, up to half as much again.
 */
export function easeOf(nodes: number, density: Density): Size {
  if (density === narrow) {
    return { width: 400, height: 120 + 130 * nodes };
  }
  if (density === tiny) {
    return { width: 400, height: 720 };
  }
  if (density.level === "small") {
    return { width: 1100, height: 660 };
  }
  const steps: readonly Size[] = [
    { width: 420, height: 300 },
    { width: 760, height: 320 },
    { width: 860, height: 520 },
    { width: 920, height: 540 },
    { width: 1040, height: 620 },
    { width: 1080, height: 640 },
    { width: 1120, height: 680 },
    { width: 1160, height: 700 },
  ];
  return steps[Math.min(Math.max(nodes, 1), steps.length) - 1]!;
}
