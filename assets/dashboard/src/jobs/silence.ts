/**
 * For how long the ranks of a job have sent nothing over RDMA.
 *
 * @module
 */

import type * as api from "../api/types";
import { duration } from "../format";
import * as words from "../words";

/** A running rank, and why it does not tell since when it is silent. */
export interface Silent {
  rank: api.Rank;
  why?: api.Reason | undefined;
}

/**
 * The silence of all ranks in a sentence, which one that sent something ends for all;
 * nothing of a group that is not over RDMA, or not silent.
 */
export function silenceOf(ranks: readonly Silent[], now: number): string | undefined {
  let last = 0;
  for (const { rank, why } of ranks) {
    if (rank.phase !== "running") return undefined;
    if (why) return `How long its cables have been silent is unknown: ${words.reason(why)}.`;
    if (!rank.silent_since) return undefined;
    last = Math.max(last, Date.parse(rank.silent_since));
  }
  return last === 0 ? undefined : `Its cables have been silent for ${duration((now - last) / 1000)}.`;
}
