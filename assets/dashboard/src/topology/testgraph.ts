/**
 * Clusters for tests: Macs by name and the cables between them.
 *
 * @module
 */

import type { ModelLink, ModelNode } from "../model";
import { densityOf } from "./density";
import type { Size } from "./geometry";
import { arrange, type Places } from "./layout";
import type { Pair } from "./order";
import { roomOf, sceneOf, worldOf, type Scene } from "./scene";
import { settle, type Drawn } from "./steady";
import { sceneLines, sceneNodes } from "./wants";

/** The shapes in which people cable Macs. */
export type Cabling = "ring" | "mesh" | "star" | "chain";

/** Names of a number of Macs. */
export function macs(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `mac-${i + 1}`);
}

/** The pairs that a shape joins. */
export function pairsOf(cabling: Cabling, names: readonly string[]): Pair[] {
  const pairs: Pair[] = [];
  names.forEach((a, i) => {
    names.forEach((b, j) => {
      const next = j === i + 1 || (cabling === "ring" && names.length > 2 && i === 0 && j === names.length - 1);
      if (i < j && (cabling === "mesh" || (cabling === "star" ? i === 0 : next))) {
        pairs.push([a, b]);
      }
    });
  });
  return pairs;
}

/** A measured cable that is well. */
export function cable(a: string, b: string, more: Partial<ModelLink> = {}): ModelLink {
  const socket = more.receptacleA ?? 1;
  return {
    id: `${a}:${socket}~${b}:${socket}`,
    a,
    b,
    receptacleA: socket,
    receptacleB: socket,
    type: "tb5",
    kind: "tb5",
    hubs: [],
    forwardBitsPerS: 60.7e9,
    backwardBitsPerS: 52.6e9,
    latencyUs: 170,
    verdict: "good",
    reasons: [],
    muted: false,
    stale: false,
    simulated: true,
    index: 0,
    parallel: 1,
    rows: [],
    ...more,
  };
}

/** A network between two Macs. */
export function network(a: string, b: string, type: "wifi" | "ethernet" | "vpn", more: Partial<ModelLink> = {}): ModelLink {
  const link = cable(a, b, { type, kind: type, ...more, id: `${a}~${b}/${type}` });
  delete link.receptacleA;
  delete link.receptacleB;
  return link;
}

/** A Mac that is well. */
export function mac(id: string, more: Partial<ModelNode> = {}): ModelNode {
  return {
    id,
    name: id,
    title: id,
    self: false,
    simulated: true,
    silhouette: "studio",
    liveness: "alive",
    reached: true,
    jobs: [],
    ...more,
  };
}

/** The links as they are drawn when they are seen for the first time. */
export function drawnOf(links: readonly ModelLink[]): Drawn[] {
  const ends = new Set(links.flatMap((l) => (l.b === undefined ? [l.a] : [l.a, l.b])));
  return [...settle(new Map(), links, ends, 0).drawn.values()];
}

/** The drawing of a cluster in a window. */
export function sceneFor(names: readonly string[], links: readonly ModelLink[], window: Size, kept: Places = new Map()): Scene {
  const drawn = drawnOf(links);
  const density = densityOf(names.length, window);
  const nodes = sceneNodes(names, drawn);
  const lines = sceneLines(drawn, density, new Set());
  const world = worldOf(window, names.length, density);
  const places = arrange({
    nodes: nodes.map((n) => n.id),
    joined: lines.filter((l) => l.a !== l.b).map((l): Pair => [l.a, l.b]),
    kept,
    room: roomOf(world, density),
    node: density.node,
  });
  return sceneOf({ nodes, lines, places, window, density });
}
