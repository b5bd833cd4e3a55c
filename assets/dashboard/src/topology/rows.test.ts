import { describe, expect, it } from "vitest";

import type { ModelRow } from "../model";
import { rowTexts } from "./rows";

const row: ModelRow = {
  key: "a b 10.0.1.2",
  from: "a",
  to: "b",
  fromName: "studio",
  toName: "mini",
  transport: "socket",
  type: "tb5",
  upBitsPerS: 50e9,
  downBitsPerS: 51e9,
  latencyUs: 20,
  jitterUs: 2,
  measuredAt: "2026-01-01T00:00:00Z",
  old: false,
  verdict: "good",
  reasons: [],
  simulated: false,
};
const now = Date.parse("2026-01-01T00:01:00Z");

describe("rowTexts", () => {
  it("are one row of a path that was measured alone", () => {
    expect(rowTexts(row, now)).toMatchObject([{ key: row.key, type: "Thunderbolt 5", up: "50.0 Gb/s" }]);
  });
  it("say what several cables gave at once, without delays that nobody measured", () => {
    const together = { sources: ["10.0.1.1", "10.0.2.1"], sinks: ["10.0.1.2", "10.0.2.2"], up_bits_per_s: 88e9, down_bits_per_s: 99e9 };
    const [alone, both] = rowTexts({ ...row, together }, now);
    expect(alone).toMatchObject({ up: "50.0 Gb/s", verdict: "Good" });
    expect(both).toMatchObject({ direction: alone?.direction, type: "2 TB5 together", up: "88.0 Gb/s", down: "99.0 Gb/s", latency: "–", jitter: "–", age: alone?.age, verdict: "–" });
    expect(both?.key).not.toBe(row.key);
  });
  it("say why several cables were not measured at once", () => {
    const [, both] = rowTexts({ ...row, together: { sources: [], sinks: ["10.0.1.2", "10.0.2.2"], reason: "protocol_too_old" } }, now);
    expect(both).toMatchObject({ up: "–", down: "–" });
    expect(both?.verdict).not.toBe("–");
  });
});
