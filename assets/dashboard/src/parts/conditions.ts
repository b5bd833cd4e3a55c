import type * as api from "../api/types";

/** The conditions that a person should see, the worst first: not muted, and not explained by another of the same subject. */
export function shown(conditions: readonly api.NodeCondition[]): api.NodeCondition[] {
  return conditions.filter((c) => !c.muted && !conditions.some((other) => other !== c && other.node === c.node && other.subject === c.subject && c.depends_on?.includes(other.code)));
}

/** The tone of a severity. */
export function toneOf(severity: api.Severity): "bad" | "warn" | "plain" {
  return severity === "error" ? "bad" : severity === "warning" ? "warn" : "plain";
}
