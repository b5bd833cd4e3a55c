/**
 * Small clusters for tests.
 *
 * @module
 */

import type * as api from "../api/types";
import { Documents } from "../state/documents";
import type { Sources } from "./build";

const at = "2026-11-22T12:00:00.000Z";

export function view(node: string, more: Partial<api.NodeView> = {}): api.NodeView {
  return { node, short_name: `mac-${node}`, liveness: "alive", since: at, ...more };
}

export function cable(link: string, more: Partial<api.Cable> = {}): api.Cable {
  return { link, ends: link.split("~").map((end) => ({ end })), kind: "tb5", style: "tb5", rdma: "can_enable", verdict: "good", ...more };
}

export function row(from: string, to: string, more: Partial<api.LinkRow> = {}): api.LinkRow {
  return { from, to, transport: "socket", name: `${to}/10.0.0.1`, kind: "tb5", verdict: "good", ...more };
}

export function network(low: string, high: string, kind: api.LinkKind, more: Partial<api.NetworkLine> = {}): api.NetworkLine {
  return { low, high, kind, verdict: "good", ...more };
}

export function doc<K extends api.Kind>(node: string, kind: K, value: api.KindValues[K]): api.Document {
  return { node, kind, name: "", inc: 1, seq: 1, at, value } as api.DocumentOf<K> as api.Document;
}

export function documents(...docs: api.Document[]): Documents {
  const all = new Documents();
  all.begin({ sub: "s", docs });
  return all;
}

export function sources(more: Partial<Sources> = {}): Sources {
  return { nodes: [], cables: [], rows: [], networks: [], facts: documents(), metrics: documents(), conditions: [], jobs: [], simulated: false, ...more };
}
