import type * as api from "../api/types";
import type { Model, ModelNode } from "../model";
import { compare, type Documents } from "../state/documents";
import { linksOf } from "./links";
import { silhouetteOf } from "./silhouette";

/** What the drawing is made of. */
export interface Sources {
  nodes: readonly api.NodeView[];
  cables: readonly api.Cable[];
  rows: readonly api.LinkRow[];
  networks: readonly api.NetworkLine[];
  /** Of the kinds identity and gpu-profile. */
  facts: Documents;
  /** Of the kinds memory and system; empty while nobody watches them. */
  metrics: Documents;
  conditions: readonly api.NodeCondition[];
  jobs: readonly api.JobSummary[];
  /** Says that the daemon plays a scenario. */
  simulated: boolean;
}

/** Liveness of a node that is not drawn: it is no part of the cluster any more. */
const gone: ReadonlySet<api.Liveness> = new Set<api.Liveness>(["left", "removed"]);

const ranks: Readonly<Record<string, number>> = { info: 1, warning: 2, error: 3 };

/** Makes the model of the drawing. The same sources give the same model. */
export function modelOf(from: Sources): Model {
  const nodes = from.nodes
    .filter((node) => !gone.has(node.liveness))
    .map((node) => nodeOf(node, from))
    .sort((a, b) => compare(a.id, b.id));
  const links = linksOf(from, new Map(nodes.map((node) => [node.id, node])));
  const simulated = from.simulated || nodes.some((node) => node.simulated) || links.some((link) => link.simulated);
  return { nodes, links, simulated };
}

/** A copy without the fields that are not known. */
export function known<T extends object>(values: { [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as T;
}

/** The worst condition about something that is not muted. */
export function worstOf(conditions: readonly api.NodeCondition[], isAbout: (condition: api.NodeCondition) => boolean): api.NodeCondition | undefined {
  let worst: api.NodeCondition | undefined;
  for (const condition of conditions) {
    if (condition.muted || !isAbout(condition)) continue;
    if (worst === undefined || (ranks[condition.severity] ?? 0) > (ranks[worst.severity] ?? 0)) worst = condition;
  }
  return worst;
}

function nodeOf(view: api.NodeView, from: Sources): ModelNode {
  const identity = from.facts.value(view.node, "identity");
  const profile = from.facts.value(view.node, "gpu-profile");
  const memory = from.metrics.value(view.node, "memory");
  const system = from.metrics.value(view.node, "system");
  const name = view.short_name || view.node.slice(0, 4);
  const reached = view.liveness === "alive";
  const worst = worstOf(from.conditions, (c) => (c.subject ? c.subject === view.node : c.node === view.node));
  return known<ModelNode>({
    id: view.node,
    name,
    title: identity?.name ?? name,
    self: view.self ?? false,
    simulated: view.simulated ?? false,
    silhouette: silhouetteOf(identity),
    modelName: identity?.model_name,
    chip: identity?.chip,
    liveness: view.liveness,
    reached,
    message: view.message,
    memoryTotalBytes: memory?.total_bytes,
    gpuMemory: identity?.gpu_memory,
    gpuWorkingSetBytes: memory?.gpu_working_set_bytes,
    // Of a node that is not reached, what it does now is not known.
    memoryUsedRatio: reached ? ratio(memory?.used_bytes, memory?.total_bytes) : undefined,
    memoryUsedBytes: reached ? memory?.used_bytes : undefined,
    pressure: reached ? memory?.pressure : undefined,
    gpuUseRatio: reached ? system?.gpu_use_ratio : undefined,
    powerWatts: reached ? (system?.system_power_watts ?? system?.package_power_watts) : undefined,
    temperatureCelsius: reached ? (system?.gpu_temperature_celsius ?? system?.cpu_temperature_celsius) : undefined,
    fp16Tflops: profile?.fp16_tflops,
    memoryBytesPerS: profile?.memory_bytes_per_s,
    strain: from.conditions.filter((c) => c.node === view.node).map((c) => c.brief).filter(Boolean).join(", ") || undefined,
    severity: worst?.severity,
    jobs: from.jobs.filter((job) => job.ended_at === undefined && job.nodes?.includes(view.node)).map((job) => job.name),
  });
}

function ratio(part: number | undefined, whole: number | undefined): number | undefined {
  return part === undefined || whole === undefined || whole <= 0 ? undefined : Math.min(1, part / whole);
}
