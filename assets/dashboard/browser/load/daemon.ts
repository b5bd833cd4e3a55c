/**
 * A daemon of sixteen Macs that are all joined to all, which moves every number
 * as often as a real one does. It speaks the API over the browser's WebSocket,
 * inside the test: a page under load shares the machine with nobody.
 *
 * @module
 */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import type { BrowserContext, WebSocketRoute } from "playwright-core";

import type * as api from "../../src/api/types";

/** An address that nobody has. */
export const origin = "http://dashboard.test";

/** How many Macs there are. */
export const size = 16;

/** After so many turns of churn all is as before. */
export const cycle = 240;

const at = "2026-11-22T00:00:00.000Z";
const ids = Array.from({ length: size }, (_, i) => `mac${String(i + 1).padStart(2, "0")}00000000000`);
const gigabyte = 2 ** 30;

const types: Readonly<Record<string, string>> = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };

/** The kinds of documents that a watcher of metrics asks for. */
const metrics: readonly api.Kind[] = ["memory", "system"];

/** One page's connection, and what it follows. */
interface Follower {
  wire: WebSocketRoute;
  subs: Map<string, { method: string; kinds: readonly string[]; n: number }>;
}

/** The daemon. */
export class Daemon {
  /** Counts the moments: every number follows from it. */
  #moment = 0;
  #seq = 0;
  #next = 0;
  #pulled = new Set<string>();
  #away = new Set<string>();
  readonly #followers = new Set<Follower>();
  #timers: NodeJS.Timeout[] = [];

  /** Makes a context answer for the dashboard and its daemon. */
  async serve(context: BrowserContext): Promise<void> {
    const dist = join(import.meta.dirname, "../../dist");
    const files = new Map(
      readdirSync(dist, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name))
        .map((file): [string, Buffer] => [file.slice(dist.length), readFileSync(file)]),
    );
    await context.addInitScript(() => sessionStorage.setItem("fulmen.token", "a token"));
    await context.route(`${origin}/**`, async (route) => {
      const path = new URL(route.request().url()).pathname;
      const name = path === "/" ? "/index.html" : path;
      const body = files.get(name);
      const type = types[name.slice(name.lastIndexOf("."))] ?? "text/plain";
      await (body ? route.fulfill({ body, contentType: type }) : route.fulfill({ status: 404, body: "" }));
    });
    await context.routeWebSocket(/\/v1$/, (wire) => {
      const follower: Follower = { wire, subs: new Map() };
      this.#followers.add(follower);
      wire.onMessage((text) => this.#asked(follower, JSON.parse(String(text)) as { id: number; method: string; params: Record<string, unknown> }));
      wire.onClose(() => this.#followers.delete(follower));
    });
  }

  /** Moves all metrics: memory twice a second, the rest once, each Mac in a message of its own, as they come. */
  live(): void {
    for (const [i, id] of ids.entries()) {
      const move = (kind: api.Kind, ms: number): NodeJS.Timeout => setInterval(() => this.#put([this.#metric(id, kind, ++this.#moment)]), ms + i);
      this.#timers.push(move("memory", 500), move("system", 1000));
    }
  }

  /** Pulls or plugs a cable, takes a Mac away or brings it back, and measures a path anew, by turns. */
  churn(turn: number): void {
    this.pullOrPlug(turn);
    const id = ids[1 + (turn % (size - 1))]!;
    if (!this.#away.delete(id)) this.#away.add(id);
    this.#tell("node.watch", "node.changed", { put: [this.#node(id)], totals: this.#totals() });
    const rows = this.#rows();
    this.#tell("link.watch", "link.changed", { rows: [{ ...rows[(turn * 31) % rows.length]!, up_bits_per_s: 60e9 + turn * 1e6 }] });
  }

  /** Pulls a cable, or plugs it again, and gives its link. */
  pullOrPlug(turn: number): string {
    const cables = this.#cables(true);
    const cable = cables[(turn * 7) % cables.length]!;
    const link = cable.link!;
    if (this.#pulled.delete(link)) {
      this.#tell("link.watch", "link.changed", { cables: [cable] });
    } else {
      this.#pulled.add(link);
      const [end] = cable.ends;
      this.#tell("link.watch", "link.changed", { gone_cables: [end!.end], cables: this.#cables().filter((c) => c.ends[0]!.end === end!.end) });
    }
    return link;
  }

  /** Ends every connection, as a daemon that is upgraded does. */
  async cut(): Promise<void> {
    await Promise.all([...this.#followers].map((f) => f.wire.close()));
  }

  close(): void {
    this.#timers.forEach(clearInterval);
    this.#timers = [];
  }

  #asked(follower: Follower, { id, method, params }: { id: number; method: string; params: Record<string, unknown> }): void {
    const sub = `s${++this.#next}`;
    const answers: Record<string, () => unknown> = {
      "node.watch": () => ({ sub, nodes: ids.map((n) => this.#node(n)), totals: this.#totals() }),
      "link.watch": () => ({ sub, cables: this.#cables(), rows: this.#rows(), networks: this.#networks() }),
      "state.watch": () => ({ sub, docs: this.#docs(params["kinds"] as api.Kind[]) }),
      "node.conditions": () => ({ conditions: [], headline: { text: "Healthy: 16 Macs", problems: 0 } }),
      "job.list": () => ({ jobs: [] }),
      "daemon.info": () => ({ node: ids[0], cluster: "0", version: "0.0.0-load", platform: "darwin", mode: "user", scenario: "load", features: [], class: "user", user: "test" }),
    };
    const kinds = (params["kinds"] as string[] | undefined) ?? [];
    if (method.endsWith(".watch")) follower.subs.set(sub, { method, kinds, n: 0 });
    follower.wire.send(JSON.stringify({ jsonrpc: "2.0", id, result: answers[method]?.() ?? {} }));
  }

  #tell(watch: string, notification: string, params: object, kind?: string): void {
    for (const follower of this.#followers) {
      for (const [sub, s] of follower.subs) {
        if (s.method === watch && (kind === undefined || s.kinds.includes(kind))) {
          follower.wire.send(JSON.stringify({ jsonrpc: "2.0", method: notification, params: { sub, n: ++s.n, ...params } }));
        }
      }
    }
  }

  #put(docs: api.Document[]): void {
    this.#tell("state.watch", "state.changed", { put: docs }, docs[0]!.kind);
  }

  #doc(node: string, kind: api.Kind, value: object): api.Document {
    return { node, kind, name: "", inc: 1, seq: ++this.#seq, at, value, simulated: true } as unknown as api.Document;
  }

  #metric(id: string, kind: api.Kind, moment: number): api.Document {
    const swing = (1 + Math.sin(moment * 0.7 + ids.indexOf(id))) / 2;
    return kind === "memory"
      ? this.#doc(id, kind, { total_bytes: 512 * gigabyte, used_bytes: Math.round(512 * gigabyte * (0.1 + 0.8 * swing)), pressure: "normal" })
      : this.#doc(id, kind, { gpu_use_ratio: swing, system_power_watts: 60 + 200 * swing, gpu_temperature_celsius: 40 + 45 * swing, cpu_use_ratio: swing / 2, thermal_state: "nominal", fans: [] });
  }

  #docs(kinds: readonly api.Kind[]): api.Document[] {
    return ids.flatMap((id, i) => [
      ...metrics.filter((k) => kinds.includes(k)).map((k) => this.#metric(id, k, 0)),
      ...(kinds.includes("identity")
        ? [
            this.#doc(id, "identity", { public_key: "", name: `Mac Studio ${i + 1}`, short_name: `mac-studio-${i + 1}`, platform: "darwin", architecture: "arm64", model: "Mac15,14", model_name: "Mac Studio (2025)", chip: "Apple M3 Ultra", fulmen_version: "0", protocol: 1 }),
            this.#doc(id, "gpu-profile", { measured_at: at, fp16_tflops: 23.6, memory_bytes_per_s: 661e9, conditions: {} }),
          ]
        : []),
    ]);
  }

  #node(id: string): api.NodeView {
    return { node: id, short_name: `mac-studio-${ids.indexOf(id) + 1}`, self: id === ids[0], simulated: true, liveness: this.#away.has(id) ? "unreachable" : "alive", since: at };
  }

  #totals(): api.Totals {
    const nodes = size - this.#away.size;
    return { nodes, members: size, fp16_tflops: 23.6 * nodes, memory_bytes_per_s: 661e9 * nodes, measured_nodes: nodes, memory_total_bytes: 512 * gigabyte * nodes, memory_used_bytes: 100 * gigabyte * nodes, power_watts: 160 * nodes, power_nodes: nodes, simulated: true };
  }

  #cables(whole = false): api.Cable[] {
    const all = ids.flatMap((a, i) =>
      ids.slice(i + 1).map((b, k): api.Cable => {
        const [low, high] = [`${a}:${i + k + 1}`, `${b}:${i + 1}`];
        return { link: `${low}~${high}`, ends: [{ end: low }, { end: high }], kind: "tb5", forward_bits_per_s: 80e9, backward_bits_per_s: 80e9, rdma: "ready", style: "rdma", verdict: "good", measured_forward_bits_per_s: 74.8e9, measured_backward_bits_per_s: 74.8e9, rtt_us: 18, simulated: true };
      }),
    );
    return whole ? all : all.filter((c) => !this.#pulled.has(c.link!));
  }

  #networks(): api.NetworkLine[] {
    return ids.flatMap((low, i) => ids.slice(i + 1).map((high): api.NetworkLine => (
      { low, high, kind: "ethernet", verdict: "good", measured_forward_bits_per_s: 9.4e9, measured_backward_bits_per_s: 9.3e9, rtt_us: 420, simulated: true })));
  }

  #rows(): api.LinkRow[] {
    return this.#cables().flatMap((cable) => {
      const [a, b] = cable.ends.map((e) => e.end.slice(0, 16)) as [string, string];
      return ([[a, b], [b, a]] as const).flatMap(([from, to]): api.LinkRow[] => [
        { from, to, transport: "rdma", name: cable.link!, kind: "rdma", link: cable.link!, up_bits_per_s: 74.8e9, down_bits_per_s: 74.8e9, rtt_us: 18, jitter_us: 2, measured_at: at, verdict: "good", simulated: true },
        { from, to, transport: "socket", name: `${to}/169.254.1.1`, kind: "tb5", link: cable.link!, up_bits_per_s: 60.7e9, down_bits_per_s: 52.6e9, rtt_us: 340, jitter_us: 20, measured_at: at, verdict: "good", simulated: true },
        { from, to, transport: "socket", name: `${to}/192.168.1.1`, kind: "ethernet", up_bits_per_s: 9.4e9, down_bits_per_s: 9.3e9, rtt_us: 420, jitter_us: 30, measured_at: at, verdict: "good", simulated: true },
      ]);
    });
  }
}
