/**
 * Groups inside a large cluster: Macs that are cabled with one another more than
 * with the rest, such as meshes that are joined in a ring.
 *
 * @module
 */

import type { Point, Size } from "./geometry";
import type { Pair } from "./order";

/** The fewest members of a group that is drawn as one. */
const fewest = 3;

/**
 * The groups of a cluster, each with its members in the order that they come in:
 * those between whom a cable has two ends with a neighbour in common. Empty where
 * there are fewer than two, or where somebody is in none.
 */
export function groupsOf(nodes: readonly string[], joined: readonly Pair[]): string[][] {
  const near = new Map(nodes.map((n) => [n, new Set<string>()]));
  for (const [a, b] of joined) {
    if (a !== b) {
      near.get(a)?.add(b);
      near.get(b)?.add(a);
    }
  }
  const group = new Map(nodes.map((n) => [n, n]));
  const find = (n: string): string => {
    const above = group.get(n) ?? n;
    return above === n ? n : find(above);
  };
  for (const [a, b] of joined) {
    const friends = near.get(a);
    if (friends && [...(near.get(b) ?? [])].some((n) => friends.has(n))) {
      group.set(find(a), find(b));
    }
  }
  const members = new Map<string, string[]>();
  for (const n of nodes) {
    const id = find(n);
    members.set(id, [...(members.get(id) ?? []), n]);
  }
  const groups = [...members.values()];
  return groups.length < 2 || groups.some((g) => g.length < fewest) ? [] : groups;
}

/** The cables between groups, as pairs of the groups' places in the list. */
export function between(groups: readonly (readonly string[])[], joined: readonly Pair[]): Pair[] {
  const of = new Map(groups.flatMap((g, i) => g.map((n): [string, string] => [n, String(i)])));
  return joined.flatMap(([a, b]): Pair[] => {
    const [one, two] = [of.get(a), of.get(b)];
    return one !== undefined && two !== undefined && one !== two ? [[one, two]] : [];
  });
}

/**
 * Where a group's members stand around its middle. Like members of like groups
 * stand alike, so that their cables are parallel; the ring is turned a little, so
 * that a cable from one group to the next passes between the members, not over them.
 */
export function memberPlaces(count: number, node: Size): Point[] {
  const grow = Math.max(1, count / 4);
  const turn = -Math.PI * 0.65;
  return Array.from({ length: count }, (_, i) => {
    const angle = turn + (2 * Math.PI * i) / count;
    return { x: Math.cos(angle) * node.width * 1.36 * grow, y: Math.sin(angle) * node.height * 1.46 * grow };
  });
}
