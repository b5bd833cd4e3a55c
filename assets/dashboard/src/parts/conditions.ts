import type * as api from "../api/types";

/** A condition with all the nodes that say so. */
export type Shown = api.NodeCondition & { nodes: api.NodeID[] };

/** The conditions that a person should see, in the daemon's order; or those that a person muted. */
export function shown(conditions: readonly api.NodeCondition[], muted = false): Shown[] {
  return conditions.filter((c) => (c.muted ?? false) === muted).map((c) => ({ ...c, nodes: [c.node, ...(c.others ?? [])] }));
}

/** The tone of a severity. */
export function toneOf(severity: api.Severity): "bad" | "warn" | "plain" {
  return severity === "error" ? "bad" : severity === "warning" ? "warn" : "plain";
}
