import { expect, it } from "vitest";

import type * as api from "../api/types";
import { historyOf } from "./history";

const at = (s: number) => `2026-11-22T12:00:${String(s).padStart(2, "0")}.000Z`;

it("merges phases, attempts and the request to stop, the newest first", () => {
  const plan = { ranks: [{ rank: 0, node: "a" }, { rank: 1, node: "b" }] };
  const job = {
    phases: [{ phase: "placing", at: at(1) }, { phase: "starting", at: at(2), attempt: 1 }, { phase: "running", at: at(4), attempt: 1 }, { phase: "backoff", at: at(6) }, { phase: "starting", at: at(7), attempt: 2 }, { phase: "stopped", at: at(9) }],
    attempts: [
      { attempt: 1, plan, started_at: at(2), ready_at: at(5), ended_at: at(6), message: "Rank 1 failed.", uncounted: true },
      { attempt: 2, started_at: at(7), ended_at: at(9), exit_code: 3 },
    ],
    stop_requested: { by: "ann@a", at: at(8) },
  } as unknown as api.Job;
  expect(historyOf(job, (node) => node.toUpperCase(), () => "ann").map((m) => `${m.at.slice(17, 19)} ${m.text}${m.note ? ` (${m.note})` : ""}`)).toEqual([
    "09 Attempt 2 ended: exit code 3", "09 Stopped", "08 ann asked to stop it", "07 Attempt 2 starts on no Mac", "06 Attempt 1 ended: Rank 1 failed. (does not count)", "06 Waits for the next attempt",
    "05 Ready", "04 Running", "02 Attempt 1 starts on A, B", "01 Looking for Macs",
  ]);
  const replaced = { stop_requested: { by: "ann@a", at: at(1), reason: "replaced" } } as unknown as api.Job;
  expect(historyOf(replaced, String, () => "ann")).toEqual([{ at: at(1), text: "ann asked to stop it", note: "Replaced" }]);
  expect(historyOf({} as api.Job, String, String)).toEqual([]);
});
