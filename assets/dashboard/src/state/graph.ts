import type * as api from "../api/types";
import { compare } from "./documents";

/** A cable's own name on this page: its id, or, with a stranger at its end, its socket and what that calls itself. */
export function cableKey(cable: api.Cable): string {
  return cable.link ?? `${cable.ends[0]?.end ?? ""}?${cable.peer_name ?? ""}`;
}

/** A row's own name on this page. */
export function rowKey(row: api.LinkRowKey): string {
  return [row.from, row.to, row.transport, row.name].join(" ");
}

function networkKey(line: api.NetworkLineKey): string {
  return [line.low, line.high, line.kind].join(" ");
}

/** The cables, networks and measured paths, kept by link.watch. */
export class Graph {
  #cables = new Map<string, api.Cable>();
  #rows = new Map<string, api.LinkRow>();
  #networks = new Map<string, api.NetworkLine>();

  begin(result: api.LinkListResult): void {
    this.#cables = new Map(result.cables.map((cable) => [cableKey(cable), cable]));
    this.#rows = new Map(result.rows.map((row) => [rowKey(row), row]));
    this.#networks = new Map((result.networks ?? []).map((line) => [networkKey(line), line]));
  }

  change(change: api.LinkChanged): void {
    for (const end of change.gone_cables ?? []) {
      for (const [key, cable] of this.#cables) {
        if (cable.ends[0]?.end === end) this.#cables.delete(key);
      }
    }
    for (const cable of change.cables ?? []) this.#cables.set(cableKey(cable), cable);
    for (const key of change.gone_rows ?? []) this.#rows.delete(rowKey(key));
    for (const row of change.rows ?? []) this.#rows.set(rowKey(row), row);
    for (const key of change.gone_networks ?? []) this.#networks.delete(networkKey(key));
    for (const line of change.networks ?? []) this.#networks.set(networkKey(line), line);
  }

  /** Ordered by their names. */
  get cables(): api.Cable[] {
    return [...this.#cables.entries()].sort(([a], [b]) => compare(a, b)).map(([, cable]) => cable);
  }

  /** Ordered by their names. */
  get rows(): api.LinkRow[] {
    return [...this.#rows.entries()].sort(([a], [b]) => compare(a, b)).map(([, row]) => row);
  }

  get networks(): api.NetworkLine[] {
    return [...this.#networks.values()];
  }
}
