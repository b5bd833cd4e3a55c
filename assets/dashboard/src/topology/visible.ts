/**
 * Which links are lines of the drawing. All cables are. On a desk where
 * everything is on one network, that network would be a second mesh over the
 * cables: it is drawn where there is nothing else, or when somebody asks.
 *
 * @module
 */

import type { Drawn } from "./steady";

/** What is drawn, and how many networks are not. */
export interface Visible {
  drawn: Drawn[];
  hidden: number;
}

/** Networks from the one that people would rather use. */
const rank: Readonly<Record<string, number>> = { ethernet: 0, wifi: 1, vpn: 2 };

function isCable(d: Drawn): boolean {
  return d.link.receptacleA !== undefined;
}

/** The two nodes of a link, in any order. */
export function pairOf(d: Drawn): string {
  return `${d.link.a} ${d.link.b ?? d.link.id}`;
}

/** The links that are drawn, and how many are not. */
export function visibleOf(all: Iterable<Drawn>, networks: boolean): Visible {
  const links = [...all];
  if (networks) {
    return { drawn: links, hidden: 0 };
  }
  const cables = links.filter(isCable);
  const cabled = new Set(cables.filter((d) => d.link.b !== undefined).map(pairOf));
  const joined = new Set(cables.flatMap((d) => (d.link.b === undefined || d.link.b === d.link.a ? [] : [d.link.a, d.link.b])));
  const best = new Map<string, Drawn>();
  for (const d of links) {
    const b = d.link.b;
    if (isCable(d) || b === undefined || cabled.has(pairOf(d)) || (joined.has(d.link.a) && joined.has(b))) {
      continue;
    }
    const other = best.get(pairOf(d));
    if (!other || rankOf(d) < rankOf(other)) {
      best.set(pairOf(d), d);
    }
  }
  const shown = new Set(best.values());
  const drawn = links.filter((d) => isCable(d) || shown.has(d));
  return { drawn, hidden: links.length - drawn.length };
}

/** Carrying nothing ranks last, then what is not known. */
function rankOf(d: Drawn): number {
  return (d.verdict === "down" ? 10 : 0) + (rank[d.type] ?? 5);
}
