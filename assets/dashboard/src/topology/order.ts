/**
 * The order of Macs around a ring, so that cables are short and cross little.
 *
 * @module
 */

/** Two nodes that a cable joins. */
export type Pair = readonly [string, string];

/** Up to this many, all orders are tried. */
const exact = 8;

/** What an order costs: crossings of cables first, then how far round they reach. */
function costOf(order: readonly number[], edges: readonly (readonly [number, number])[]): number {
  const at: number[] = [];
  order.forEach((node, place) => (at[node] = place));
  const count = order.length;
  const chords = edges.map(([a, b]) => {
    const one = at[a]!;
    const two = at[b]!;
    return one < two ? ([one, two] as const) : ([two, one] as const);
  });
  let cost = 0;
  for (let i = 0; i < chords.length; i++) {
    const [a, b] = chords[i]!;
    const span = b - a;
    cost += Math.min(span, count - span);
    for (let j = i + 1; j < chords.length; j++) {
      const [c, d] = chords[j]!;
      if ((a < c && c < b && b < d) || (c < a && a < d && d < b)) {
        cost += 20;
      }
    }
  }
  return cost;
}

/** The best of all orders that begin with the first node. */
function tryAll(count: number, edges: readonly (readonly [number, number])[]): number[] {
  const order = Array.from({ length: count }, (_, i) => i);
  let best = [...order];
  let least = costOf(order, edges);
  const swap = (i: number, j: number): void => {
    const kept = order[i]!;
    order[i] = order[j]!;
    order[j] = kept;
  };
  const from = (place: number): void => {
    if (place === count) {
      const cost = costOf(order, edges);
      if (cost < least) {
        least = cost;
        best = [...order];
      }
      return;
    }
    for (let i = place; i < count; i++) {
      swap(place, i);
      from(place + 1);
      swap(place, i);
    }
  };
  from(1);
  return best;
}

/** A good order of more nodes: one is taken out and put where it is best, and stretches are turned, until neither helps. */
function improve(count: number, edges: readonly (readonly [number, number])[]): number[] {
  let best = follow(count, edges);
  let least = costOf(best, edges);
  for (let again = true; again; ) {
    again = false;
    for (let i = 1; i < count; i++) {
      for (let j = 1; j < count; j++) {
        if (i === j) {
          continue;
        }
        const moved = [...best];
        const [node] = moved.splice(i, 1);
        moved.splice(j, 0, node!);
        const turned =
          i < j ? [...best.slice(0, i), ...best.slice(i, j + 1).reverse(), ...best.slice(j + 1)] : undefined;
        for (const order of turned ? [moved, turned] : [moved]) {
          const cost = costOf(order, edges);
          if (cost < least) {
            least = cost;
            best = order;
            again = true;
          }
        }
      }
    }
  }
  return best;
}

/** The nodes in the order of a walk along the cables, those with the most neighbours seen already first. */
function follow(count: number, edges: readonly (readonly [number, number])[]): number[] {
  const near: Set<number>[] = Array.from({ length: count }, () => new Set<number>());
  for (const [a, b] of edges) {
    near[a]!.add(b);
    near[b]!.add(a);
  }
  const order = [0];
  const seen = new Set(order);
  while (order.length < count) {
    let next = -1;
    let most = -1;
    for (let i = 0; i < count; i++) {
      if (seen.has(i)) {
        continue;
      }
      // The last ones weigh more: a walk stays in its part of the graph.
      const weight = order.reduce((sum, node, place) => sum + (near[i]!.has(node) ? 1 + place / count : 0), 0);
      if (weight > most) {
        most = weight;
        next = i;
      }
    }
    order.push(next);
    seen.add(next);
  }
  return order;
}

/**
 * The order of nodes around a ring. Nodes that the cables do not tell apart keep
 * the order that they come in, so the same graph gives the same ring.
 */
export function ringOrder(nodes: readonly string[], joined: readonly Pair[]): string[] {
  const place = new Map(nodes.map((node, i) => [node, i]));
  const seen = new Set<string>();
  const edges: (readonly [number, number])[] = [];
  for (const [a, b] of joined) {
    const one = place.get(a);
    const two = place.get(b);
    if (one === undefined || two === undefined || one === two) {
      continue;
    }
    const key = one < two ? `${one} ${two}` : `${two} ${one}`;
    if (!seen.has(key)) {
      seen.add(key);
      edges.push([one, two]);
    }
  }
  const count = nodes.length;
  const complete = edges.length === (count * (count - 1)) / 2;
  if (count < 4 || edges.length === 0 || complete) {
    return [...nodes];
  }
  const order = count <= exact ? tryAll(count, edges) : improve(count, edges);
  return order.map((i) => nodes[i]!);
}
