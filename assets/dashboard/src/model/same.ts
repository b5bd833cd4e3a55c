/**
 * Keeps what did not change: who compares by identity then sees at once that
 * there is nothing to draw.
 *
 * @module
 */

import type { Model } from "../model";

/** The new model, with every node and the list of links of the old one that are equal. */
export function keepSame(old: Model, fresh: Model): Model {
  const nodes = new Map(old.nodes.map((node) => [node.id, node]));
  const links = new Map(old.links.map((link) => [link.id, link]));
  const kept = (list: Model["links"], was: Model["links"]) => (list.length === was.length && list.every((link, i) => link === was[i]) ? was : list);
  return {
    nodes: fresh.nodes.map((node) => same(nodes.get(node.id), node)),
    links: kept(fresh.links.map((link) => same(links.get(link.id), link)), old.links),
    simulated: fresh.simulated,
  };
}

function same<T>(old: T | undefined, fresh: T): T {
  return old !== undefined && equal(old, fresh) ? old : fresh;
}

/** Whether two plain values are equal, whatever the order of their fields. */
export function equal(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((value, i) => equal(value, b[i]));
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && equal((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key]));
}
