import { describe, expect, it } from "vitest";

import { age, bandwidth, bits, bytes, duration, latency, memoryOf, percent, tflops, used } from "./format";

describe("numbers as people read them", () => {
  it.each([
    [bits(undefined), "–"],
    [bits(0), "0 b/s"],
    [bits(73.14e9), "73.1 Gb/s"],
    [bits(999.7e6), "1 Gb/s"],
    [bits(120e9), "120 Gb/s"],
    [bits(5.05e9), "5.05 Gb/s"],
    [bytes(512 * 2 ** 30), "512 GB"],
    [bytes(1536 * 2 ** 30), "1.5 TB"],
    [used(612 * 2 ** 30, 1536 * 2 ** 30), "612 of 1536 GB"],
    [used(undefined, 64 * 2 ** 30), "64 GB"],
    [used(undefined, undefined), "–"],
    [memoryOf("unified", 2 ** 33, 2 ** 36, 2 ** 35), "8 of 64 GB"],
    [memoryOf("dedicated", 2 ** 33, 2 ** 36, 3 * 2 ** 33), "24 GB GPU memory, 8 of 64 GB RAM"],
    [memoryOf("dedicated", undefined, 2 ** 36, undefined), "64 GB RAM"],
    [memoryOf("none", 2 ** 33, 2 ** 36, 2 ** 36), "8 of 64 GB RAM"],
    [memoryOf("none", undefined, undefined, undefined), "–"],
    [memoryOf(undefined, 2 ** 33, 2 ** 36, 2 ** 35), "8 of 64 GB"],
    [bandwidth(661e9), "661 GB/s"],
    [latency(9.25), "9.25 µs"],
    [latency(1500), "1.5 ms"],
    [tflops(23.62), "23.6 TFLOPS"],
    [percent(0.984), "98 %"],
    [duration(8040), "2 h 14 min"],
    [duration(59.4), "59 s"],
  ])("%s", (got, want) => expect(got).toBe(want));

  it("tells ages in one unit, and a clock that is ahead as now", () => {
    const now = Date.parse("2026-11-22T12:00:00Z");
    expect(age("2026-11-22T12:00:09Z", now)).toBe("now");
    expect(age("2026-11-22T11:48:00Z", now)).toBe("12 min");
    expect(age("2026-11-20T11:00:00Z", now)).toBe("2 d");
    expect(age(undefined, now)).toBe("–");
    expect(age("yesterday", now)).toBe("–");
  });
});
