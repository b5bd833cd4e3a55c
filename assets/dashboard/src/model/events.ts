import type * as api from "../api/types";
import * as words from "../words";
import type { Model } from "../model";
import { compare } from "../state/documents";

/** Something that happened while the page was open. */
export interface Happening {
  /** Unique. */
  key: number;
  /** When the page heard of it, ms. */
  at: number;
  text: string;
  tone: "good" | "warn" | "bad" | "plain";
  /** Where on the page it leads. */
  path?: string;
}

/** What is compared. */
export interface Moment {
  model: Model;
  conditions: readonly api.NodeCondition[];
  jobs: readonly api.JobSummary[];
}

/** What of a job or condition tells it apart. */
function conditionKey(condition: api.NodeCondition): string {
  return [condition.node, condition.code, condition.subject ?? ""].join(" ");
}

/** What happened between two moments, in words. */
export function happenings(before: Moment, after: Moment): Omit<Happening, "key" | "at">[] {
  return [...ofNodes(before.model, after.model), ...ofCables(before.model, after.model), ...ofConditions(before, after), ...ofJobs(before, after)];
}

function ofNodes(before: Model, after: Model): Omit<Happening, "key" | "at">[] {
  const out: Omit<Happening, "key" | "at">[] = [];
  const old = new Map(before.nodes.map((node) => [node.id, node]));
  for (const node of after.nodes) {
    const was = old.get(node.id);
    old.delete(node.id);
    const path = `/node/${node.id}`;
    if (was === undefined) out.push({ text: `${node.name} has joined`, tone: "good", path });
    else if (was.liveness !== node.liveness && was.reached !== node.reached) {
      out.push({ text: node.reached ? `${node.name} is back` : `${node.name}: ${words.liveness(node.liveness).toLowerCase()}`, tone: node.reached ? "good" : "bad", path });
    }
  }
  for (const node of old.values()) out.push({ text: `${node.name} is no member any more`, tone: "plain" });
  return out;
}

function ofCables(before: Model, after: Model): Omit<Happening, "key" | "at">[] {
  const out: Omit<Happening, "key" | "at">[] = [];
  const name = (model: Model, id: api.NodeID) => model.nodes.find((node) => node.id === id)?.name ?? id;
  const say = (model: Model, link: Model["links"][number]) => {
    const ends = [`${name(model, link.a)}:${link.receptacleA}`];
    ends.push(link.b === undefined ? (link.peerName ?? "?") : `${name(model, link.b)}:${link.receptacleB}`);
    return ends.sort(compare).join(" to ");
  };
  const old = new Map(before.links.filter((link) => link.receptacleA !== undefined).map((link) => [link.id, link]));
  for (const link of after.links) {
    if (link.receptacleA === undefined) continue;
    const was = old.get(link.id);
    old.delete(link.id);
    const path = `/link/${encodeURIComponent(link.id)}`;
    if (was === undefined) out.push({ text: `Cable plugged: ${say(after, link)}`, tone: "good", path });
    else if (was.verdict !== link.verdict) out.push({ text: `Cable ${say(after, link)}: ${words.verdict(link.verdict).toLowerCase()}`, tone: link.verdict === "good" ? "good" : link.verdict === "unknown" ? "plain" : "warn", path });
    else if (was.rdma !== link.rdma && link.rdma !== undefined) out.push({ text: `RDMA on ${say(after, link)}: ${words.rdmaVerdict(link.rdma).toLowerCase()}`, tone: link.rdma === "ready" ? "good" : "plain", path });
  }
  for (const link of old.values()) out.push({ text: `Cable pulled: ${say(before, link)}`, tone: "warn" });
  return out;
}

function ofConditions(before: Moment, after: Moment): Omit<Happening, "key" | "at">[] {
  const was = new Set(before.conditions.map(conditionKey));
  const is = new Set(after.conditions.map(conditionKey));
  return [
    ...after.conditions.filter((c) => !was.has(conditionKey(c))).map((c) => ({ text: c.text, tone: c.severity === "error" ? ("bad" as const) : ("warn" as const), path: "/conditions" })),
    ...before.conditions.filter((c) => !is.has(conditionKey(c))).map((c) => ({ text: `Over: ${c.text}`, tone: "plain" as const })),
  ];
}

function ofJobs(before: Moment, after: Moment): Omit<Happening, "key" | "at">[] {
  const was = new Map(before.jobs.map((job) => [job.job, job]));
  return after.jobs
    .filter((job) => was.get(job.job)?.phase !== job.phase)
    .map((job) => ({
      text: `${job.name}: ${words.phase(job.phase).toLowerCase()}${job.message ? `. ${job.message}` : ""}`,
      tone: job.phase === "failed" || job.phase === "home_lost" ? ("bad" as const) : job.phase === "succeeded" ? ("good" as const) : ("plain" as const),
      path: `/job/${job.job}`,
    }));
}
