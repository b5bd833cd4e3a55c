import { describe, expect, it } from "vitest";

import type * as api from "../api/types";
import { Events, pathOf, tone } from "./events";

const event = (seq: number, more: Partial<api.Event> = {}): api.Event => ({ seq, at: "2026-11-22T00:00:00.000Z", kind: "node_lost", severity: "info", text: "", ...more });

describe("events", () => {
  it("are the newest first, and no more than the daemon keeps", () => {
    const events = new Events();
    events.begin({ events: [event(1), event(2)], kept_since: "" });
    events.change({ sub: "s", n: 1, events: [event(3), event(4)] });
    expect(events.all.map((e) => e.seq)).toEqual([4, 3, 2, 1]);
    events.change({ sub: "s", n: 2, events: [event(5, { job: "j1" }), event(6), event(7, { job: "j1" })] });
    expect(events.all.map((e) => e.seq)).toEqual([7, 6, 4, 3, 2, 1]); // a job is one line
    events.change({ sub: "s", n: 3, events: Array.from({ length: Events.most }, (_, i) => event(i + 5)) });
    expect([events.all.length, events.all[0]?.seq, events.all.at(-1)?.seq]).toEqual([Events.most, Events.most + 4, 5]);
    events.begin({ events: [event(9)], kept_since: "" }); // after a new connection
    expect(events.all.map((e) => e.seq)).toEqual([9]);
  });

  it.each<[Partial<api.Event>, string, string | undefined]>([
    [{ severity: "error", kind: "node_lost", node: "a" }, "bad", "/node/a"],
    [{ kind: "node_reached", node: "a" }, "good", "/node/a"],
    [{ kind: "cable_plugged", node: "a", link: "a:1~b:1" }, "good", "/link/a%3A1~b%3A1"],
    [{ kind: "cable_pulled", node: "a", link: "a:1~b:1", severity: "warning" }, "warn", undefined],
    [{ kind: "condition_raised", severity: "warning", node: "a" }, "warn", "/conditions"],
    [{ kind: "condition_cleared", node: "a" }, "plain", undefined],
    [{ kind: "job_changed", job: "j1", phase: "succeeded" }, "good", "/job/j1"],
    [{ kind: "job_changed", job: "j1", phase: "running" }, "plain", "/job/j1"],
  ])("%j are shown as what they are, and lead there", (more, shown, path) => {
    expect([tone(event(1, more)), pathOf(event(1, more))]).toEqual([shown, path]);
  });
});
