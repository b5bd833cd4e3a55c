/**
 * The shapes of Macs, drawn for this page: outlines by which people know theirs,
 * in a box of 96 by 64.
 *
 * @module
 */

import type { Silhouette } from "../model";

/** A shape. */
export interface Shape {
  /** The part that fills with memory. */
  tank: string;
  /** The top and the bottom of that part. */
  top: number;
  bottom: number;
  /** The rest of the case, filled with the case's colour. */
  case: string;
  /** Lines on top: ports, lights, seams. */
  details: string;
}

/** A rounded rectangle as a path. */
function slab(x: number, y: number, width: number, height: number, r: number): string {
  return (
    `M${x + r} ${y}h${width - 2 * r}a${r} ${r} 0 0 1 ${r} ${r}v${height - 2 * r}a${r} ${r} 0 0 1 ${-r} ${r}` +
    `h${-(width - 2 * r)}a${r} ${r} 0 0 1 ${-r} ${-r}v${-(height - 2 * r)}a${r} ${r} 0 0 1 ${r} ${-r}z`
  );
}

/** A dot as a path. */
function dot(x: number, y: number, r: number): string {
  return `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`;
}

const studio: Shape = {
  tank: slab(20, 9, 56, 44, 9),
  top: 9,
  bottom: 53,
  case: "M28 53h40v3a2 2 0 0 1-2 2h-36a2 2 0 0 1-2-2z",
  details: `M29 44v-6M35 44v-6M46 41h13${dot(68, 41, 0.9)}`,
};

const mini: Shape = {
  tank: slab(19, 22, 58, 28, 8),
  top: 22,
  bottom: 50,
  case: "M31 50h34v3a2 2 0 0 1-2 2h-30a2 2 0 0 1-2-2z",
  details: `M30 44v-5M36 44v-5${dot(58, 41.5, 2.2)}${dot(68, 41.5, 0.9)}`,
};

const laptop: Shape = {
  tank: slab(17, 5, 62, 42, 4),
  top: 5,
  bottom: 47,
  case: "M6 49h84v2.5c0 3.5-3 6.5-7 6.5h-70c-4 0-7-3-7-6.5z",
  details: "M43 5v2.2a1.8 1.8 0 0 0 1.8 1.8h6.4a1.8 1.8 0 0 0 1.8-1.8v-2.2M40 49c0 2 1.5 3 3 3h10c1.5 0 3-1 3-3",
};

const air: Shape = {
  tank: slab(17, 7, 62, 40, 4),
  top: 7,
  bottom: 47,
  case: "M6 49h84c-1 3.5-8 6-18 6h-48c-10 0-17-2.5-18-6z",
  details: "M41 49c0 1.5 1 2.2 2.5 2.2h9c1.5 0 2.5-.7 2.5-2.2",
};

const imac: Shape = {
  tank: slab(13, 3, 70, 36, 3.5),
  top: 3,
  bottom: 39,
  case: "M13 39h70v4.5a3.5 3.5 0 0 1-3.5 3.5h-63a3.5 3.5 0 0 1-3.5-3.5zM40 47h16l2 10h8a1.5 1.5 0 0 1 0 3h-36a1.5 1.5 0 0 1 0-3h8z",
  details: "M13 39h70",
};

const tower: Shape = {
  tank: slab(28, 9, 40, 48, 3),
  top: 9,
  bottom: 57,
  case: "M31 9v-3a3 3 0 0 1 3-3h28a3 3 0 0 1 3 3v3h-3v-2a1.5 1.5 0 0 0-1.5-1.5h-25a1.5 1.5 0 0 0-1.5 1.5v2zM31 57h5v4h-5zM60 57h5v4h-5z",
  details: [17, 25, 33, 41, 49]
    .map((y) => [34, 41, 48, 55, 62].map((x) => dot(x, y, 1.7)).join(""))
    .join(""),
};

const server: Shape = {
  tank: slab(12, 16, 72, 32, 3),
  top: 16,
  bottom: 48,
  case: "M8 16h4v32h-4zM84 16h4v32h-4z",
  details: `M12 32h72${dot(20, 24, 1.6)}${dot(20, 40, 1.6)}M30 24h38M30 40h38`,
};

const generic: Shape = {
  tank: slab(24, 8, 48, 48, 8),
  top: 8,
  bottom: 56,
  case: "",
  details: "M24 20h-5M24 32h-5M24 44h-5M72 20h5M72 32h5M72 44h5M36 20h24v24h-24z",
};

const shapes: Readonly<Record<Silhouette, Shape>> = { studio, mini, laptop, imac, tower, server, generic };

/** The names of all shapes. */
export const shapeNames: readonly string[] = [...Object.keys(shapes), "air"];

/** The name of a Mac's shape. */
export function shapeNameOf(silhouette: Silhouette, modelName: string | undefined): string {
  if (silhouette === "laptop" && modelName?.includes("Air")) {
    return "air";
  }
  return Object.hasOwn(shapes, silhouette) ? silhouette : "generic";
}

/** A shape by its name. */
export function shapeOf(name: string): Shape {
  return name === "air" ? air : Object.hasOwn(shapes, name) ? shapes[name as Silhouette] : generic;
}

/** The size of the box that all shapes are drawn in. */
export const shapeBox = { width: 96, height: 64 } as const;

/** How much of a shape's height is filled by a part of 1, and where that begins. */
export function fillOf(shape: Shape, ratio: number): { y: number; height: number } {
  const part = Math.min(1, Math.max(0, ratio));
  const height = Math.round((shape.bottom - shape.top) * part * 10) / 10;
  return { y: shape.bottom - height, height };
}
