import type * as api from "../api/types";
import { networkId } from "./links";

/** What has not ended: one's own first, then by when it was submitted. */
export function runningOf(jobs: readonly api.JobSummary[]): api.JobSummary[] {
  return jobs
    .filter((job) => job.ended_at === undefined)
    .sort((a, b) => Number(b.mine ?? false) - Number(a.mine ?? false) || Date.parse(a.submitted_at) - Date.parse(b.submitted_at));
}

/** The lines of the picture over which ranks talk now: those of the plan of each job's attempt. */
export function usedLinks(jobs: readonly api.Job[]): ReadonlySet<string> {
  const used = new Set<string>();
  for (const job of jobs) {
    const plan = job.ended_at === undefined ? job.attempts?.find((one) => one.attempt === job.attempt && one.ended_at === undefined)?.plan : undefined;
    for (const link of plan?.links ?? []) {
      const [a, b] = [plan?.ranks[link.from]?.node, plan?.ranks[link.to]?.node];
      if (link.link !== undefined) used.add(link.link);
      else if (a !== undefined && b !== undefined && a !== b) used.add(a < b ? networkId(a, b, link.kind) : networkId(b, a, link.kind));
    }
  }
  return used;
}
