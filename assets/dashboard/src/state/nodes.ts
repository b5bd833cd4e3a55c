import type * as api from "../api/types";
import { compare } from "./documents";

/** The nodes and the totals, kept by node.watch. */
export class Nodes {
  #nodes = new Map<api.NodeID, api.NodeView>();
  #totals: api.Totals | undefined;

  begin(result: api.NodeListResult): void {
    this.#nodes = new Map(result.nodes.map((node) => [node.node, node]));
    this.#totals = result.totals;
  }

  change(change: api.NodeChanged): void {
    for (const id of change.del ?? []) this.#nodes.delete(id);
    for (const node of change.put ?? []) this.#nodes.set(node.node, node);
    if (change.totals !== undefined) this.#totals = change.totals;
  }

  /** This node first, then by short name. */
  get all(): api.NodeView[] {
    return [...this.#nodes.values()].sort((a, b) => Number(b.self ?? false) - Number(a.self ?? false) || compare(a.short_name, b.short_name) || compare(a.node, b.node));
  }

  get(id: api.NodeID): api.NodeView | undefined {
    return this.#nodes.get(id);
  }

  get self(): api.NodeView | undefined {
    return [...this.#nodes.values()].find((node) => node.self);
  }

  /** Absent before the first answer. */
  get totals(): api.Totals | undefined {
    return this.#totals;
  }
}
