import { describe, expect, it } from "vitest";

import headlines from "../../../../daemon/internal/health/testdata/headlines.json";
import type * as api from "../api/types";
import { modelOf } from "./build";
import { heroOf, titleOf } from "./headline";
import { runningOf, usedLinks } from "./running";
import { cable, doc, documents, network, row, sources, view } from "./sample";
import { silhouetteOf } from "./silhouette";
import { tilesOf } from "./tiles";

const identity = (more: Partial<api.Identity>): api.Identity => ({
  public_key: "", name: "Studio 1", short_name: "studio-1", platform: "darwin", architecture: "arm64", fulmen_version: "0", protocol: 1, ...more,
});

describe("nodes of the drawing", () => {
  it("shows what is known and leaves out what is not", () => {
    const [node] = modelOf(sources({
      nodes: [view("a", { self: true })],
      facts: documents(doc("a", "identity", identity({ model_name: "Mac Studio (2025)", chip: "Apple M3 Ultra" }))),
      metrics: documents(doc("a", "memory", { used_bytes: 4, total_bytes: 16 }), doc("a", "system", { gpu_use_ratio: 0.5, package_power_watts: 90 })),
    })).nodes;
    expect(node).toEqual({
      id: "a", name: "mac-a", title: "Studio 1", self: true, simulated: false, silhouette: "studio", modelName: "Mac Studio (2025)", chip: "Apple M3 Ultra",
      liveness: "alive", reached: true, memoryUsedRatio: 0.25, memoryUsedBytes: 4, memoryTotalBytes: 16, gpuUseRatio: 0.5, powerWatts: 90, jobs: [],
    });
  });

  it("does not say what a node does that is not reached", () => {
    const [node] = modelOf(sources({
      nodes: [view("a", { liveness: "unreachable", message: "No path." })],
      metrics: documents(doc("a", "memory", { used_bytes: 4, total_bytes: 16 }), doc("a", "system", { gpu_use_ratio: 0.5 })),
    })).nodes;
    expect(node).toMatchObject({ reached: false, message: "No path." });
    expect(node).not.toHaveProperty("gpuUseRatio");
    expect(node).not.toHaveProperty("memoryUsedRatio");
  });

  it("draws no node that has left, and orders by id whatever the order was", () => {
    const model = modelOf(sources({ nodes: [view("c"), view("b", { liveness: "left" }), view("a")] }));
    expect(model.nodes.map((node) => node.id)).toEqual(["a", "c"]);
  });

  it("says in words that a Mac is too hot, short of memory or almost without power", () => {
    const of = (brief: string | undefined, node = "a"): api.NodeCondition => ({ node, ...(brief ? { brief } : {}), code: "thermal_critical", severity: "warning", text: "", since: "" });
    const strain = (...conditions: api.NodeCondition[]) => modelOf(sources({ nodes: [view("a"), view("b")], conditions })).nodes[0]!.strain;
    expect(strain(of("dangerously hot"), of(undefined), of("battery low"), of("short of memory", "b"))).toBe("dangerously hot, battery low");
    expect(strain(of("too hot", "b"))).toBeUndefined();
  });

  it("takes the worst condition about it that is not muted", () => {
    const condition = (severity: api.Severity, more: Partial<api.NodeCondition> = {}): api.NodeCondition => ({ node: "a", code: "low_power_mode", severity, text: severity, since: "", ...more });
    const worst = (...conditions: api.NodeCondition[]) => modelOf(sources({ nodes: [view("a")], conditions })).nodes[0]!.severity;
    expect(worst(condition("warning"), condition("error"), condition("info"))).toBe("error");
    expect(worst(condition("error", { muted: true }), condition("info"))).toBe("info");
    expect(worst(condition("error", { subject: "a:1~b:1" }))).toBeUndefined();
    expect(worst(condition("error", { node: "b", subject: "a" }))).toBe("error");
  });

  it.each<[Partial<api.Identity>, string]>([
    [{ model_name: "MacBook Pro" }, "laptop"], [{ model_name: "Mac mini" }, "mini"], [{ model_name: "Mac Pro" }, "tower"],
    [{ model: "Macmini9,1" }, "mini"], [{ platform: "linux" }, "server"], [{ model: "Mac15,14" }, "generic"],
  ])("knows the case of %o", (more, want) => expect(silhouetteOf(identity(more))).toBe(want));
});

describe("links of the drawing", () => {
  const nodes = [view("a"), view("b"), view("c")];

  it("says of a cable what the daemon says, whatever its rows and the conditions about it are", () => {
    const conditions: api.NodeCondition[] = [{ node: "a", code: "rdma_one_sided", severity: "error", text: "It is off here.", subject: "a:1", since: "" }];
    const [link] = modelOf(sources({
      nodes, conditions, rows: [row("a", "b", { link: "a:1~b:3", up_bits_per_s: 10, down_bits_per_s: 40, rtt_us: 30, verdict: "down" })],
      cables: [cable("a:1~b:3", { style: "rdma", measured_forward_bits_per_s: 74, measured_backward_bits_per_s: 75, rtt_us: 18, verdict: "slow", reasons: ["hub_between"], text: "A hub." })],
    })).links;
    expect(link).toMatchObject({
      a: "a", b: "b", receptacleA: 1, receptacleB: 3, type: "rdma", kind: "tb5", forwardBitsPerS: 74, backwardBitsPerS: 75, latencyUs: 9,
      verdict: "slow", reasons: ["hub_between"], text: "A hub.",
    });
    expect(link!.rows.length).toBe(1);
  });

  it("knows nothing of a cable that was not measured", () => {
    const [link] = modelOf(sources({ nodes, cables: [cable("a:1~b:3")] })).links;
    expect(link).not.toHaveProperty("forwardBitsPerS");
    expect(link).not.toHaveProperty("latencyUs");
  });

  it("tells cables of one pair apart, and puts networks after them", () => {
    const rows = [row("b", "a", { kind: "wifi" }), row("a", "b", { kind: "wifi" })];
    const links = modelOf(sources({ nodes, cables: [cable("a:2~b:1"), cable("a:1~b:2")], rows, networks: [network("a", "b", "wifi"), network("a", "d", "wifi")] })).links;
    expect(links.map((link) => [link.id, link.index, link.parallel])).toEqual([["a:1~b:2", 0, 3], ["a:2~b:1", 1, 3], ["a~b/wifi", 2, 3]]);
    expect(links[2]!.rows.length).toBe(2);
  });

  it("draws a stranger's cable as a stub", () => {
    const [link] = modelOf(sources({ nodes, cables: [{ ends: [{ end: "a:2" }], peer_name: "Ada's Mac", kind: "tb4", style: "tb4", rdma: "unknown", verdict: "unknown" }] })).links;
    expect(link).toMatchObject({ id: "a:2?Ada's Mac", a: "a", peerName: "Ada's Mac" });
    expect(link).not.toHaveProperty("b");
  });

  it("draws no line for numbers of a cable that was pulled", () => {
    expect(modelOf(sources({ nodes, rows: [row("a", "b", { link: "a:1~b:1" }), row("a", "b", { transport: "rdma", kind: "rdma", name: "a:1~b:1" })] })).links).toEqual([]);
  });
});

describe("tiles", () => {
  const totals: api.Totals = { nodes: 4, members: 4, measured_nodes: 3, power_nodes: 0, fp16_tflops: 96.2, memory_bytes_per_s: 2.6e12, memory_total_bytes: 2 ** 40 };

  it("says on how many Macs a sum rests, and what is not known", () => {
    expect(tilesOf(totals).map((tile) => [tile.value, tile.note])).toEqual([
      ["96.2 TFLOPS", "measured on 3 of 4 Macs"], ["2.6 TB/s", "measured on 3 of 4 Macs"], ["1024 GB", "use not known yet"], ["–", "not known yet"],
    ]);
  });

  it("tells unified and other memory apart", () => {
    const other: api.OtherMemory[] = [{ total_bytes: 2 ** 34, nodes: 1 }, { gpu_memory: "dedicated", total_bytes: 3 * 2 ** 33, nodes: 1 }, { gpu_memory: "none", total_bytes: 3 * 2 ** 36, nodes: 2 }];
    const words = "16 GB memory (kind unknown) of 1 machine, 24 GB GPU memory of 1 machine, 192 GB RAM of 2 machines";
    expect(tilesOf({ ...totals, memory_used_bytes: 2 ** 39, other_memory: other })[2]).toMatchObject({ label: "Unified memory", value: "512 of 1024 GB", note: `in use, ${words}`, ratio: 0.5 });
    expect(tilesOf({ nodes: 4, members: 4, measured_nodes: 0, power_nodes: 0, other_memory: other })[2]).toMatchObject({ value: "–", note: words, known: false });
  });

  it("never shows 0 for what is not known", () => {
    for (const tile of tilesOf(undefined)) expect(tile).toMatchObject({ value: "–", known: false });
  });
});

describe("the first line", () => {
  it.each(headlines as unknown as (api.NodeConditionsResult & { name: string })[])("has the daemon's words: $name", ({ headline }) => {
    const hero = heroOf(headline);
    expect(hero.text).toBe(headline.text);
    expect(hero.worst).toEqual(headline.worst);
    expect(hero.tone).toBe(headline.worst === undefined ? "good" : headline.worst.severity === "error" ? "bad" : "warn");
    expect(hero.more).toBe(headline.problems > 1 ? `${headline.problems - 1} more problem${headline.problems > 2 ? "s" : ""}` : "");
    expect(titleOf("Jobs", headline.problems, false)).toBe(`${headline.problems > 0 ? `(${headline.problems}) ` : ""}Jobs – Fulmen`);
  });

  it("says nothing good before it is known", () => expect(heroOf(undefined)).toEqual({ text: "Looking at the cluster…", tone: "plain", worst: undefined, more: "" }));
});

describe("what runs", () => {
  const job = (id: string, more: Partial<api.JobSummary> = {}): api.JobSummary => ({ job: id, name: id, principal: "ann@a", phase: "running", attempt: 1, submitted_at: "2026-11-22T12:00:00.000Z", ...more });

  it("is one's own first, and nothing that has ended", () => {
    const jobs = [job("theirs", { submitted_at: "2026-11-22T11:00:00.000Z" }), job("late", { mine: true, submitted_at: "2026-11-22T13:00:00.000Z" }), job("mine", { mine: true }), job("over", { ended_at: "2026-11-22T12:00:00.000Z" })];
    expect(runningOf(jobs).map((job) => job.job)).toEqual(["mine", "late", "theirs"]);
  });

  it("lights the lines of the plan of the attempt that runs", () => {
    const plan = { ranks: [{ node: "b" }, { node: "a" }, { node: "a" }], links: [{ from: 0, to: 1, kind: "rdma", link: "a:1~b:1" }, { from: 0, to: 2, kind: "wifi" }, { from: 1, to: 2, kind: "loopback" }] } as unknown as api.Plan;
    const of = (more: object) => usedLinks([{ attempt: 2, attempts: [{ attempt: 1 }, { attempt: 2, plan }], ...more } as api.Job]);
    expect([...of({})]).toEqual(["a:1~b:1", "a~b/wifi"]);
    expect(of({ attempt: 1 }).size + of({ ended_at: "2026-11-22T12:00:00.000Z" }).size + of({ attempts: [{ attempt: 2, ended_at: "2026-11-22T12:00:00.000Z", plan }] }).size).toBe(0);
  });
});
