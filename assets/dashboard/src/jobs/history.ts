/**
 * What has happened to a job: its phases, attempts and ends in one list.
 *
 * @module
 */

import type * as api from "../api/types";
import * as words from "../words";

/** One thing that happened. */
export interface Moment {
  at: string;
  text: string;
  note?: string;
}

/** All that happened, the newest first. Names are those of Macs and people. */
export function historyOf(job: api.Job, nameOf: (node: api.NodeID) => string, personOf: (principal: api.Principal) => string): Moment[] {
  const all: Moment[] = [];
  for (const { phase, at } of job.phases ?? []) {
    if (phase !== "starting") all.push({ at, text: words.phase(phase) }); // an attempt says where
  }
  for (const attempt of job.attempts ?? []) {
    const on = attempt.plan?.ranks.map((rank) => nameOf(rank.node)).join(", ") ?? "no Mac";
    if (attempt.started_at) all.push({ at: attempt.started_at, text: `Attempt ${attempt.attempt} starts on ${on}` });
    if (attempt.ready_at) all.push({ at: attempt.ready_at, text: "Ready" });
    if (!attempt.ended_at) continue;
    const how = attempt.message ?? (attempt.reason ? words.reason(attempt.reason) : `exit code ${attempt.exit_code ?? 0}`);
    const note = attempt.replanned ? "nothing was started; planned again at once" : attempt.uncounted ? "does not count" : undefined;
    all.push({ at: attempt.ended_at, text: `Attempt ${attempt.attempt} ended: ${how}`, ...(note && { note }) });
  }
  const stop = job.stop_requested;
  if (stop) all.push({ at: stop.at, text: `${personOf(stop.by)} asked to stop it`, ...(stop.reason && { note: words.reason(stop.reason) }) });
  return all.reverse().sort((a, b) => Date.parse(b.at) - Date.parse(a.at));
}
