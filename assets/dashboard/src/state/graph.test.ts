import { describe, expect, it } from "vitest";

import type * as api from "../api/types";
import { Again } from "./again";
import { Graph } from "./graph";
import { Nodes } from "./nodes";

const cable = (link: string, more: Partial<api.Cable> = {}): api.Cable => ({
  link, ends: link.split("~").map((end) => ({ end })), kind: "tb5", style: "tb5", rdma: "unknown", verdict: "good", ...more,
});
const row = (from: string, to: string, up: number): api.LinkRow => ({
  from, to, transport: "socket", name: `${to}/1`, kind: "tb5", up_bits_per_s: up, verdict: "good",
});

describe("the graph", () => {
  it("replaces cables and rows, and drops what is gone", () => {
    const graph = new Graph();
    graph.begin({ cables: [cable("a:1~b:1"), cable("a:2~c:1")], rows: [row("a", "b", 1), row("b", "a", 2)] });
    graph.change({
      sub: "s", n: 1, cables: [cable("a:2~c:1", { verdict: "bad" })], gone_cables: ["a:1"], rows: [row("a", "b", 3)],
      gone_rows: [{ from: "b", to: "a", transport: "socket", name: "a/1" }],
    });
    expect(graph.cables.map((c) => [c.link, c.verdict])).toEqual([["a:2~c:1", "bad"]]);
    expect(graph.rows.map((r) => r.up_bits_per_s)).toEqual([3]);
  });

  it("replaces networks, and drops what is gone", () => {
    const graph = new Graph();
    const line = (kind: api.LinkKind, verdict: api.LinkVerdict): api.NetworkLine => ({ low: "a", high: "b", kind, verdict });
    graph.begin({ cables: [], rows: [], networks: [line("wifi", "good"), line("vpn", "good")] });
    graph.change({ sub: "s", n: 1, networks: [line("wifi", "slow")], gone_networks: [{ low: "a", high: "b", kind: "vpn" }] });
    expect(graph.networks).toEqual([line("wifi", "slow")]);
  });

  it("keeps a cable that was moved to another socket at its far end, in one change", () => {
    const graph = new Graph();
    graph.begin({ cables: [cable("a:1~b:1")], rows: [] });
    graph.change({ sub: "s", n: 1, cables: [cable("a:1~b:2")], gone_cables: ["a:1"] });
    expect(graph.cables.map((c) => c.link)).toEqual(["a:1~b:2"]);
  });

  it("tells a stranger's cables apart by socket and name", () => {
    const stranger = (name: string): api.Cable => ({ ends: [{ end: "a:1" }], peer_name: name, kind: "tb4", style: "tb4", rdma: "unknown", verdict: "unknown" });
    const graph = new Graph();
    graph.begin({ cables: [stranger("x")], rows: [] });
    graph.change({ sub: "s", n: 1, cables: [stranger("x"), stranger("y")] });
    expect(graph.cables.length).toBe(2);
  });
});

describe("the nodes", () => {
  it("puts this node first and keeps totals that did not change", () => {
    const nodes = new Nodes();
    const view = (node: string, self = false): api.NodeView => ({ node, short_name: node, self, liveness: "alive", since: "2026-11-22T00:00:00Z" });
    nodes.begin({ nodes: [view("b", true), view("a")], totals: { nodes: 2, members: 2, measured_nodes: 0, power_nodes: 0 } });
    nodes.change({ sub: "s", n: 1, put: [view("c")], del: ["a"] });
    expect(nodes.all.map((n) => n.node)).toEqual(["b", "c"]);
    expect(nodes.totals?.nodes).toBe(2);
    expect(nodes.self?.node).toBe("b");
  });
});

describe("asking again", () => {
  it("asks once for all that changed meanwhile", async () => {
    let asked = 0;
    const due: (() => void)[] = [];
    const again = new Again(async () => void asked++, (_, call) => due.push(call));
    again.wake();
    again.wake();
    again.wake();
    expect(asked).toBe(1);
    await Promise.resolve().then(() => {}).then(() => {});
    due.shift()!();
    expect(asked).toBe(2);
    await Promise.resolve().then(() => {}).then(() => {});
    due.shift()!();
    expect(asked).toBe(2);
  });
});
