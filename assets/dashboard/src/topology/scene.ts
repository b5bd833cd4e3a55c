/**
 * The drawing as numbers: from Macs, edges and places to boxes, curves, heads
 * and labels. Nothing here depends on what moves twice a second.
 *
 * @module
 */

import { curveOf, pathOf, round, sideOf, type Line } from "./curves";
import { easeOf, type Density } from "./density";
import {
  centroid,
  lengthOf,
  part,
  pointAt,
  tangentAt,
  type Box,
  type Curve,
  type Point,
  type Size,
} from "./geometry";
import { headLength, placeLabels, type Role, type Wanted } from "./labels";
import type { Places } from "./layout";

/** A Mac, or the unknown end of a cable. */
export interface SceneNode {
  id: string;
  /** Says that it does not belong to the cluster: a stranger at the end of a cable. */
  guest: boolean;
}

/** An edge with what it wants to show. */
export interface SceneLine extends Line {
  /** The sizes of its labels. */
  labels: Partial<Record<Role, Size>>;
  /** The sizes of the most that it may come to have: the drawing's size goes by these, so that no number moves a Mac. */
  reserve: Partial<Record<Role, Size>>;
  /** How many signs stand on it: one for trouble, one for each hub. */
  signs: number;
  /** The width of its line, which the heads go by. */
  stroke: number;
}

/** What a scene is made of. */
export interface SceneInput {
  nodes: readonly SceneNode[];
  lines: readonly SceneLine[];
  places: Places;
  /** The size of the window. */
  window: Size;
  density: Density;
}

/** An edge as it is drawn. */
export interface SceneEdge {
  id: string;
  curve: Curve;
  /** The line between the heads, and the whole one that is pointed at. */
  path: string;
  whole: string;
  /** The heads at b and at a, as the points of polygons. */
  heads: readonly [string, string];
  /** The boxes of the heads. */
  headBoxes: readonly [Box, Box];
  /** Where the signs stand. */
  signs: readonly Point[];
  /** Where the labels stand, those that found a place. */
  labels: Partial<Record<Role, Box>>;
}

/** The drawing. */
export interface Scene {
  /** Its size, in its own units. */
  world: Size;
  /** The boxes of the nodes, by id. */
  boxes: ReadonlyMap<string, Box>;
  edges: readonly SceneEdge[];
  /** How many labels found no place. */
  dropped: number;
}

/** The box of a stranger. */
export const guestSize: Size = { width: 112, height: 44 };

/** The size of a sign on an edge, and the distance of two. */
export const signSize = 22;
const signStep = 30;

/** The room left free at the rim: labels stand there too, also beside the outer one of two edges. */
const rim = { width: 36, height: 18 };
const rimOfPhone = 10;

/** How small the drawing gets so that all labels find their places. */
const growth: readonly number[] = [1, 1.1, 1.22, 1.36, 1.52, 1.7];
const leastScale = 0.6;
/** On a phone, a label that finds no place is shown on demand sooner than all of them get too small. */
const leastTerse = 0.76;

/** The size of the drawing for a window: as large as the Macs take at ease, of the window's shape. */
export function worldOf(window: Size, nodes: number, density: Density): Size {
  const ease = easeOf(nodes, density);
  const by = Math.sqrt((window.width * window.height) / (ease.width * ease.height));
  const scale = Math.min(1.4, Math.max(density.terse ? 0.85 : 0.72, by));
  return { width: window.width / scale, height: window.height / scale };
}

/** The room that the middles of Macs have in a world. */
export function roomOf(world: Size, density: Density): Size {
  return {
    width: Math.max(1, world.width - density.node.width - 2 * (density.terse ? rimOfPhone : rim.width)),
    height: Math.max(1, world.height - density.node.height - 2 * rim.height),
  };
}

/** A place as a point of the drawing, and back. */
export function placed(p: Point, world: Size, density: Density): Point {
  const room = roomOf(world, density);
  return { x: (world.width - room.width) / 2 + p.x * room.width, y: (world.height - room.height) / 2 + p.y * room.height };
}

/** The place of a point of the drawing; the rim holds it. */
export function placeOf(at: Point, world: Size, density: Density): Point {
  const room = roomOf(world, density);
  const hold = (v: number): number => Math.min(1, Math.max(0, v));
  return {
    x: hold((at.x - (world.width - room.width) / 2) / room.width),
    y: hold((at.y - (world.height - room.height) / 2) / room.height),
  };
}

/** Makes the drawing, and makes it smaller until all labels find a place, as far as they stay readable. */
export function sceneOf(input: SceneInput): Scene {
  const base = worldOf(input.window, input.nodes.length, input.density);
  const reserved = { ...input, lines: input.lines.map((line) => ({ ...line, labels: line.reserve })) };
  let best: Scene | undefined;
  for (const factor of growth) {
    const world = { width: base.width * factor, height: base.height * factor };
    if (best && input.window.width / world.width < (input.density.terse ? leastTerse : leastScale)) {
      break;
    }
    const scene = sceneIn(reserved, world);
    if (!best || scene.dropped < best.dropped) {
      best = scene;
    }
    if (scene.dropped === 0 || !input.density.labelled) {
      break;
    }
  }
  return input.lines.every((line) => line.labels === line.reserve) ? best! : sceneIn(input, best!.world);
}

/** Makes the drawing in a world of a size. */
export function sceneIn(input: SceneInput, world: Size): Scene {
  const boxes = new Map<string, Box>();
  for (const node of input.nodes) {
    const place = input.places.get(node.id);
    if (place) {
      const size = node.guest ? guestSize : input.density.node;
      boxes.set(node.id, { ...placed(place, world, input.density), width: size.width, height: size.height });
    }
  }
  const drawn: { line: SceneLine; curve: Curve }[] = [];
  for (const line of input.lines) {
    const curve = curveOf(line, boxes, input.density.apart);
    if (curve) {
      drawn.push({ line, curve });
    }
  }
  const edges = drawn.map(({ line, curve }) => edgeOf(line, curve, input.density.line));

  const wanted: Wanted[] = [];
  drawn.forEach(({ line }, edge) => {
    for (const [role, size] of Object.entries(line.labels) as [Role, Size][]) {
      wanted.push({ key: `${role} ${line.id}`, edge, role, ...size });
    }
  });
  const signs = edges.flatMap((e) => e.signs.map((p) => ({ ...p, width: signSize, height: signSize })));
  const places = placeLabels(wanted, {
    curves: drawn.map((d) => d.curve),
    away: drawn.map((d) => sideOf(d.line, d.curve)),
    fixed: [...boxes.values(), ...signs, ...edges.flatMap((e) => e.headBoxes)],
    centre: centroid([...boxes.values()]),
    bounds: { x: world.width / 2, y: world.height / 2, width: world.width - 4, height: world.height - 4 },
  });
  for (const w of wanted) {
    const box = places.get(w.key);
    if (box) {
      edges[w.edge]!.labels[w.role] = box;
    }
  }
  return { world, boxes, edges, dropped: wanted.length - places.size };
}

/** The parts of an edge. */
function edgeOf(line: SceneLine, curve: Curve, scale: number): SceneEdge {
  const length = lengthOf(curve);
  const reaches = headLength * scale;
  const cut = Math.min(0.4, (reaches - 2 * scale) / length);
  const half = (4 + line.stroke * 0.55) * scale;
  const head = (t: number, sense: number): string => {
    const tip = pointAt(curve, t);
    const along = tangentAt(curve, t);
    const back = { x: tip.x - along.x * reaches * sense, y: tip.y - along.y * reaches * sense };
    const corner = (side: number): string =>
      `${round(back.x + along.y * half * side)},${round(back.y - along.x * half * side)}`;
    return `${round(tip.x)},${round(tip.y)} ${corner(1)} ${corner(-1)}`;
  };
  const headBox = (t: number): Box => ({ ...pointAt(curve, t), width: 8 * scale, height: 8 * scale });
  const middle = Math.min(0.4, reaches / 2 / length);
  const signs: Point[] = [];
  for (let i = 0; i < line.signs; i++) {
    const shift = ((i - (line.signs - 1) / 2) * signStep) / length;
    signs.push(pointAt(curve, Math.min(0.85, Math.max(0.15, 0.5 + shift))));
  }
  return {
    id: line.id,
    curve,
    path: pathOf(part(curve, cut, 1 - cut)),
    whole: pathOf(curve),
    heads: [head(1, 1), head(0, -1)],
    headBoxes: [headBox(1 - middle), headBox(middle)],
    signs,
    labels: {},
  };
}
