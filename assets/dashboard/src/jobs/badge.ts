/**
 * How a job fares, in the one or two words of a badge, the same on every page.
 *
 * @module
 */

import type * as api from "../api/types";
import * as words from "../words";

/** What is said of a job, and how good that is. */
export interface JobBadge {
  text: string;
  tone: "good" | "warn" | "bad" | "accent" | "plain";
}

const tones: Readonly<Record<string, JobBadge["tone"]>> = { running: "accent", succeeded: "good", backoff: "warn", failed: "bad", home_lost: "bad" };

/** What runs may be stalled, or not answer yet; who joins says how many have. */
export function badgeOf(job: Pick<api.JobSummary, "phase" | "reason" | "joined" | "ranks">): JobBadge {
  const { phase, reason } = job;
  if (phase === "running" && reason === "stalled") return { text: "Stalled", tone: "warn" };
  if (phase === "running" && reason === "not_ready") return { text: "Not ready", tone: "warn" };
  const count = phase === "handshake" && job.ranks !== undefined ? ` ${job.joined ?? 0} of ${job.ranks}` : "";
  return { text: words.phase(phase) + count, tone: tones[phase] ?? "plain" };
}
