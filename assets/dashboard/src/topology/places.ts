/**
 * Where the Macs stand while a page is open. That follows from the cluster and the
 * size of its window alone, and from what somebody moved; what comes and goes while
 * the page is open moves nobody.
 *
 * @module
 */

import type { Size } from "./geometry";
import { arrange, type Places } from "./layout";
import type { Pair } from "./order";

/** The cluster that places depend on. */
export interface Cluster {
  nodes: readonly string[];
  joined: readonly Pair[];
}

/** What places depend on. */
export interface Situation extends Cluster {
  room: Size;
  node: Size;
}

/** What a page keeps of places. */
export interface Kept {
  /** What somebody moved. */
  moved: Places;
  /** The cluster as the page found it; absent until it has been the same for a moment. */
  first?: Cluster;
  /** The places of those that joined it since. */
  later: Places;
}

/** What is kept where nobody has moved anything. */
export const nothingKept: Kept = { moved: new Map(), later: new Map() };

/** The places of all nodes of a situation. */
export function placesOf(kept: Kept, s: Situation): Places {
  const own = arrange({ ...s, ...kept.first, kept: new Map() });
  return arrange({ ...s, kept: new Map([...own, ...kept.later, ...kept.moved]) });
}

/** What is kept once a cluster has been the same for a moment. A single Mac's place is not final: the next one would stand beside it for ever. */
export function settled(kept: Kept, { nodes, joined }: Cluster, places: Places): Kept {
  if (kept.first === undefined) {
    return nodes.length > 1 ? { ...kept, first: { nodes, joined } } : kept;
  }
  const first = new Set(kept.first.nodes);
  const more = [...places].filter(([id]) => !first.has(id) && !kept.later.has(id));
  return more.length > 0 ? { ...kept, later: new Map([...kept.later, ...more]) } : kept;
}
