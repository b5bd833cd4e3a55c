import type * as api from "../api/types";
import type { ModelLink, ModelNode, ModelRow } from "../model";
import { compare } from "../state/documents";
import { cableKey, rowKey } from "../state/graph";
import { known, worstOf, type Sources } from "./build";

type Nodes = ReadonlyMap<api.NodeID, ModelNode>;

/** The lines of the drawing: every cable, and every other kind of path between two nodes. */
export function linksOf(from: Sources, nodes: Nodes): ModelLink[] {
  const links: ModelLink[] = [];
  const taken = new Set<api.LinkRow>();
  for (const cable of from.cables) {
    const link = cableLink(cable, from, nodes, taken);
    if (link) links.push(link);
  }
  links.push(...networkLinks(from, nodes, taken));
  return numbered(links);
}

/** A cable's rows are those that name it. */
function cableLink(cable: api.Cable, from: Sources, nodes: Nodes, taken: Set<api.LinkRow>): ModelLink | undefined {
  const [first, second] = cable.ends.map((end) => endOf(end.end));
  if (first === undefined || !nodes.has(first.node)) return undefined;
  const rows = cable.link === undefined ? [] : from.rows.filter((row) => row.link === cable.link);
  for (const row of rows) taken.add(row);
  const id = cableKey(cable);
  const muted = cable.muted ?? false;
  const about = from.conditions.filter((c) => !c.muted && isAbout(c.subject, cable));
  const worst = worstOf(about, () => true);
  const trouble = muted ? [] : about.filter((c) => c.severity !== "info");
  return withRows(rows, nodes, first.node, known<Omit<ModelLink, keyof FromRows>>({
    id,
    cable: cable.link,
    a: first.node,
    b: second && nodes.has(second.node) ? second.node : undefined,
    peerName: second && nodes.has(second.node) ? undefined : cable.peer_name || "Unknown computer",
    receptacleA: first.receptacle,
    receptacleB: second?.receptacle,
    placeA: cable.ends[0]?.place,
    placeB: cable.ends[1]?.place,
    type: cable.rdma === "ready" ? "rdma" : cable.kind,
    kind: cable.kind,
    rdma: cable.rdma,
    hubs: cable.hubs ?? [],
    negotiatedForwardBitsPerS: cable.forward_bits_per_s,
    negotiatedBackwardBitsPerS: cable.backward_bits_per_s,
    verdict: raised(cable.verdict, trouble),
    reasons: [...new Set([...(cable.reasons ?? []), ...trouble.map((c) => c.code)])],
    message: worst?.text,
    muted,
    stale: cable.stale ?? false,
    simulated: cable.simulated ?? rows.some((row) => row.simulated),
    index: 0,
    parallel: 1,
  }));
}

/** What is not a cable that is plugged: one line a pair and kind, such as their Wi-Fi. */
function networkLinks(from: Sources, nodes: Nodes, taken: ReadonlySet<api.LinkRow>): ModelLink[] {
  const groups = new Map<string, api.LinkRow[]>();
  for (const row of from.rows) {
    if (taken.has(row) || row.kind === "loopback" || row.from === row.to || !nodes.has(row.from) || !nodes.has(row.to)) continue;
    // A row of a cable that was pulled: its numbers are of no line that is there.
    if (row.link !== undefined || row.transport === "rdma") continue;
    const [a, b] = row.from < row.to ? [row.from, row.to] : [row.to, row.from];
    const id = `${a}~${b}/${row.kind}`;
    groups.set(id, [...(groups.get(id) ?? []), row]);
  }
  return [...groups].map(([id, rows]) => {
    const first = rows[0]!;
    const [a, b] = first.from < first.to ? [first.from, first.to] : [first.to, first.from];
    const worst = [...rows].sort((x, y) => badness(y.verdict) - badness(x.verdict))[0]!;
    return withRows(rows, nodes, a, {
      id, a, b, type: first.kind, kind: first.kind, hubs: [], verdict: worst.verdict, reasons: worst.reasons ?? [], muted: false,
      stale: !nodes.get(a)!.reached || !nodes.get(b)!.reached, simulated: rows.some((row) => row.simulated), index: 0, parallel: 1,
    });
  });
}

type FromRows = Pick<ModelLink, "forwardBitsPerS" | "backwardBitsPerS" | "latencyUs" | "rows">;

function withRows(rows: readonly api.LinkRow[], nodes: Nodes, a: api.NodeID, link: Omit<ModelLink, keyof FromRows>): ModelLink {
  // What RDMA gave is no speed of a cable over which nobody can use it now.
  const usable = rows.filter((row) => row.transport !== "rdma" || link.rdma === "ready");
  const forward = usable.map((row) => (row.from === a ? row.up_bits_per_s : row.down_bits_per_s));
  const backward = usable.map((row) => (row.from === a ? row.down_bits_per_s : row.up_bits_per_s));
  return {
    ...link,
    ...known<FromRows>({
      forwardBitsPerS: best(forward, Math.max),
      backwardBitsPerS: best(backward, Math.max),
      latencyUs: half(best(usable.map((row) => row.rtt_us), Math.min)),
      rows: rows.map((row) => rowOf(row, nodes)).sort((x, y) => compare(x.transport, y.transport) || compare(x.key, y.key)),
    }),
  };
}

function rowOf(row: api.LinkRow, nodes: Nodes): ModelRow {
  const name = (id: api.NodeID) => nodes.get(id)?.name ?? id.slice(0, 4);
  return known<ModelRow>({
    key: rowKey(row),
    from: row.from,
    to: row.to,
    fromName: name(row.from),
    toName: name(row.to),
    transport: row.transport,
    type: row.kind,
    upBitsPerS: row.up_bits_per_s,
    downBitsPerS: row.down_bits_per_s,
    latencyUs: half(row.rtt_us),
    jitterUs: half(row.jitter_us),
    measuredAt: row.measured_at,
    old: row.old ?? false,
    verdict: row.verdict,
    reasons: row.reasons ?? [],
    simulated: row.simulated ?? false,
  });
}

function best(values: readonly (number | undefined)[], of: (...values: number[]) => number): number | undefined {
  const there = values.filter((value) => value !== undefined);
  return there.length === 0 ? undefined : of(...there);
}

function half(value: number | undefined): number | undefined {
  return value === undefined ? undefined : value / 2;
}

/** What is wrong by somebody's condition is not good, whatever was measured. */
function raised(verdict: api.LinkVerdict, trouble: readonly api.NodeCondition[]): api.LinkVerdict {
  if (trouble.length === 0) return verdict;
  const least: api.LinkVerdict = trouble.some((c) => c.severity === "error") ? "bad" : "slow";
  return badness(verdict) < badness(least) ? least : verdict;
}

function badness(verdict: api.LinkVerdict): number {
  return { good: 0, unknown: 1, slow: 2, bad: 3, down: 4 }[verdict] ?? 1;
}

/** Whether the subject of a condition is a cable: by its id, or by one of the sockets that it is in. */
export function isAbout(subject: string | undefined, cable: Pick<api.Cable, "link" | "ends">): boolean {
  return subject !== undefined && (subject === cable.link || cable.ends.some((end) => end.end === subject));
}

/** The two parts of `ID:1`. */
export function endOf(end: api.LinkEnd): { node: api.NodeID; receptacle: number } {
  const at = end.lastIndexOf(":");
  return { node: end.slice(0, at), receptacle: Number(end.slice(at + 1)) };
}

/** Orders the links, and counts those of each pair: cables by their sockets, then networks. */
function numbered(links: ModelLink[]): ModelLink[] {
  const pairs = new Map<string, ModelLink[]>();
  for (const link of links) {
    const pair = link.b === undefined ? link.id : `${link.a}~${link.b}`;
    pairs.set(pair, [...(pairs.get(pair) ?? []), link]);
  }
  for (const of of pairs.values()) {
    of.sort((x, y) => Number(x.cable === undefined) - Number(y.cable === undefined) || (x.receptacleA ?? 0) - (y.receptacleA ?? 0) || compare(x.id, y.id));
    of.forEach((link, index) => Object.assign(link, { index, parallel: of.length }));
  }
  return links.sort((x, y) => compare(x.id, y.id));
}
