import { expect, it } from "vitest";

import type * as api from "../api/types";
import { silenceOf } from "./silence";

const rank = (silent_since?: string, phase: api.RankPhase = "running") => ({ phase, silent_since }) as api.Rank;
const now = Date.parse("2026-01-01T01:00:00Z");

it("says for how long a group has been silent, as long as its last rank", () => {
  expect(silenceOf([{ rank: rank("2026-01-01T00:00:00Z") }, { rank: rank("2026-01-01T00:40:00Z") }], now)).toBe("Its cables have been silent for 20 min.");
});

it("says nothing of a group of which one sends, or runs no more", () => {
  expect(silenceOf([], now)).toBeUndefined();
  expect(silenceOf([{ rank: rank("2026-01-01T00:00:00Z") }, { rank: rank() }], now)).toBeUndefined();
  expect(silenceOf([{ rank: rank("2026-01-01T00:00:00Z") }, { rank: rank("2026-01-01T00:00:00Z", "exited") }], now)).toBeUndefined();
});

it.each<[api.Reason, string]>([
  ["not_supported_by_platform", "Fulmen cannot learn it on this platform"],
  ["not_supported_by_os", "This version of the system does not report it"],
])("says why that is unknown: %s", (why, words) => {
  expect(silenceOf([{ rank: rank(), why }], now)).toBe(`How long its cables have been silent is unknown: ${words}.`);
});
