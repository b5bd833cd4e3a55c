import type * as api from "../api/types";
import type { ModelLink, ModelNode, ModelRow } from "../model";
import { compare } from "../state/documents";
import { cableKey, rowKey } from "../state/graph";
import { known, type Sources } from "./build";

type Nodes = ReadonlyMap<api.NodeID, ModelNode>;

/** The lines of the drawing, as the daemon says them: every cable, and every other kind of path between two nodes. */
export function linksOf(from: Sources, nodes: Nodes): ModelLink[] {
  const over = new Map<string, api.LinkRow[]>();
  for (const row of from.rows) {
    // A row of a cable that was pulled is of no line that is there.
    const id = row.link ?? (row.transport === "rdma" ? "" : networkId(row.from < row.to ? row.from : row.to, row.from < row.to ? row.to : row.from, row.kind));
    over.set(id, [...(over.get(id) ?? []), row]);
  }
  const rowsOf = (id: string | undefined) =>
    (over.get(id ?? "") ?? []).map((row) => rowOf(row, nodes)).sort((x, y) => compare(x.transport, y.transport) || compare(x.key, y.key));
  const links = from.cables.map((cable) => cableLink(cable, nodes, cable.link === undefined ? [] : rowsOf(cable.link))).filter((link) => link !== undefined);
  for (const line of from.networks) {
    const id = networkId(line.low, line.high, line.kind);
    if (nodes.has(line.low) && nodes.has(line.high)) {
      links.push(known<ModelLink>({ ...drawnAs(line), id, a: line.low, b: line.high, type: line.kind, kind: line.kind, hubs: [], muted: false, rows: rowsOf(id) }));
    }
  }
  return numbered(links);
}

/** The id of a line that is no cable. */
export function networkId(low: api.NodeID, high: api.NodeID, kind: api.LinkKind): string {
  return `${low}~${high}/${kind}`;
}

function cableLink(cable: api.Cable, nodes: Nodes, rows: ModelRow[]): ModelLink | undefined {
  const [first, second] = cable.ends.map((end) => endOf(end.end));
  if (first === undefined || !nodes.has(first.node)) return undefined;
  return known<ModelLink>({
    ...drawnAs(cable),
    id: cableKey(cable),
    cable: cable.link,
    a: first.node,
    b: second && nodes.has(second.node) ? second.node : undefined,
    peerName: second && nodes.has(second.node) ? undefined : cable.peer_name || "Unknown computer",
    receptacleA: first.receptacle,
    receptacleB: second?.receptacle,
    placeA: cable.ends[0]?.place,
    placeB: cable.ends[1]?.place,
    type: cable.style,
    kind: cable.kind,
    rdma: cable.rdma,
    hubs: cable.hubs ?? [],
    negotiatedForwardBitsPerS: cable.forward_bits_per_s,
    negotiatedBackwardBitsPerS: cable.backward_bits_per_s,
    muted: cable.muted ?? false,
    rows,
  });
}

/** What cables and networks alike are drawn as. */
function drawnAs(line: api.Cable | api.NetworkLine) {
  return {
    forwardBitsPerS: line.measured_forward_bits_per_s,
    backwardBitsPerS: line.measured_backward_bits_per_s,
    latencyUs: half(line.rtt_us),
    verdict: line.verdict,
    reasons: line.reasons ?? [],
    text: line.text,
    stale: line.stale ?? false,
    simulated: line.simulated ?? false,
    index: 0,
    parallel: 1,
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
    together: row.together,
    measuredAt: row.measured_at,
    old: row.old ?? false,
    verdict: row.verdict,
    reasons: row.reasons ?? [],
    simulated: row.simulated ?? false,
  });
}

function half(value: number | undefined): number | undefined {
  return value === undefined ? undefined : value / 2;
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
