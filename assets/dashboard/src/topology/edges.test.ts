import { describe, expect, it } from "vitest";

import type { ModelLink } from "../model";
import { alarmOf, calloutOf, colourOf, legendOrder, sentenceOf, strokeOf, textsOf } from "./edges";
import { settle } from "./steady";
import { cable, drawnOf, network } from "./testgraph";

const drawn = (link: ModelLink) => drawnOf([link])[0]!;
const name = (id: string): string => id.toUpperCase();

describe("strokeOf", () => {
  it("gives each kind a line of its own, without its colour", () => {
    const lines = legendOrder.map((k) => JSON.stringify(strokeOf(k)));
    expect(new Set(lines).size).toBe(legendOrder.length);
    for (const word of ["something_new", "toString"] as string[] as "tb5"[]) {
      expect(strokeOf(word)).toEqual(strokeOf("unknown"));
      expect(colourOf(word)).toBe("var(--kind-unknown)");
    }
    expect(colourOf("rdma")).toBe("var(--kind-rdma)");
  });
});

describe("trouble", () => {
  it.each<[Partial<ModelLink>, string, string, string]>([
    [{ verdict: "slow", reasons: ["link_below_ports"], negotiatedForwardBitsPerS: 40e9, negotiatedBackwardBitsPerS: 20e9 }, "trouble", "Slow cable", "20.0 Gb/s, its ports can do more"],
    [{ verdict: "slow", reasons: ["link_below_ports"] }, "trouble", "Slow cable", "its ports can do more"],
    [{ verdict: "slow", reasons: ["link_below_history"] }, "trouble", "Slow cable", "slower than it was"],
    [{ verdict: "bad", reasons: ["link_flapping", "link_below_ports"] }, "trouble", "Bad cable", "keeps dropping out"],
    [{ verdict: "bad", reasons: ["bridge_loop"] }, "trouble", "Bridge loop", "floods the network"],
    [{ verdict: "bad", reasons: [] }, "trouble", "Bad cable", ""],
    [{ verdict: "down", reasons: ["link_down"] }, "trouble", "Cable down", "carries nothing now"],
    [{ verdict: "slow", reasons: ["hub_between"] }, "note", "", ""],
    [{ verdict: "slow", reasons: ["link_below_ports"], muted: true }, "note", "", ""],
    [{ verdict: "good" }, "none", "", ""],
    [{ verdict: "unknown", reasons: ["not_measured"] }, "none", "", ""],
    [{ verdict: "odd" as "bad" }, "note", "", ""],
  ])("%j", (more, alarm, title, detail) => {
    const d = drawn(cable("a", "b", more));
    expect(alarmOf(d)).toBe(alarm);
    expect(calloutOf(d)).toEqual(title === "" ? undefined : { title, detail });
  });

  it("is not what a network has: nobody can swap it", () => {
    expect(alarmOf(drawn(network("a", "b", "wifi", { verdict: "down" })))).toBe("note");
  });

  it("is a pulled cable", () => {
    const link = cable("a", "b");
    const both = new Set(["a", "b"]);
    const gone = settle(settle(new Map(), [link], both, 0).drawn, [], both, 1).drawn.get(link.id)!;
    expect(calloutOf(gone)).toEqual({ title: "Cable pulled", detail: "" });
    expect(textsOf(gone)).toEqual({});
  });
});

describe("textsOf", () => {
  it("says what is known and nothing else", () => {
    expect(textsOf(drawn(cable("a", "b")))).toEqual({ forward: "60.7 Gb/s", backward: "52.6 Gb/s", latency: "170 µs" });
    expect(textsOf(drawn(cable("a", "b", { backwardBitsPerS: 59.6e9 })))).toEqual({ both: "59.6 Gb/s", latency: "170 µs" });
    const half = cable("a", "b");
    delete half.backwardBitsPerS;
    delete half.latencyUs;
    expect(textsOf(drawn(half))).toEqual({ forward: "60.7 Gb/s" });
    delete half.forwardBitsPerS;
    expect(textsOf(drawn(half))).toEqual({ latency: "not measured" });
    const wifi = network("a", "b", "wifi");
    delete wifi.forwardBitsPerS;
    delete wifi.backwardBitsPerS;
    delete wifi.latencyUs;
    expect(textsOf(drawn(wifi))).toEqual({});
  });
});

describe("sentenceOf", () => {
  it("says all that the picture shows", () => {
    expect(sentenceOf(drawn(cable("a", "b", { hubs: ["Dock"] })), name)).toBe(
      "TB5, A to B; good; 60.7 Gb/s there, 52.6 Gb/s back; 170 µs one way; through Dock.",
    );
    const bad = cable("a", "b", { verdict: "slow", reasons: ["link_below_history"] });
    delete bad.backwardBitsPerS;
    delete bad.latencyUs;
    expect(sentenceOf(drawn(bad), name)).toBe("TB5, A to B; Slow cable: slower than it was; 60.7 Gb/s there, not known back.");
  });
});
