import type * as api from "../api/types";

/** A condition with all the nodes that say so. */
export type Shown = api.NodeCondition & { nodes: api.NodeID[] };

/**
 * The conditions that a person should see, the worst first: not muted, not
 * explained by another of the same subject, and what both ends of a cable say
 * once.
 */
export function shown(conditions: readonly api.NodeCondition[]): Shown[] {
  return merged(conditions.filter((c) => !c.muted && !conditions.some((other) => other !== c && other.node === c.node && other.subject === c.subject && c.depends_on?.includes(other.code))));
}

/** What several nodes say in the same words about something that they share is one condition. */
export function merged(conditions: readonly api.NodeCondition[]): Shown[] {
  const out = new Map<string, Shown>();
  for (const condition of conditions) {
    const key = condition.subject ? `${condition.code} ${condition.text}` : `${condition.code} ${condition.node}`;
    const same = out.get(key);
    const nodes = [condition.node, ...(condition.others ?? [])];
    if (same) same.nodes.push(...nodes);
    else out.set(key, { ...condition, nodes });
  }
  return [...out.values()];
}

/** The tone of a severity. */
export function toneOf(severity: api.Severity): "bad" | "warn" | "plain" {
  return severity === "error" ? "bad" : severity === "warning" ? "warn" : "plain";
}
