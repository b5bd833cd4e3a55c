import { Client, type ConnectionState, type Wire } from "../api/client";
import { Rejection } from "../api/rejection";
import { Session } from "../api/session";
import type * as api from "../api/types";
import type { Model } from "../model";
import { modelOf } from "../model/build";
import { keepSame } from "../model/same";
import { Trend } from "../panels/series";
import { Again } from "./again";
import { Copies } from "./copies.svelte";
import { Documents } from "./documents";
import { Graph } from "./graph";
import { Nodes } from "./nodes";

/** Kinds that move by themselves. */
const factKinds: api.Kind[] = ["identity", "network", "thunderbolt", "rdma", "sharing", "gpu-profile", "node-state", "condition", "rdma-change", "pending", "grant", "job", "rank"];
/** Kinds that move only while somebody watches them. */
const metricKinds: api.Kind[] = ["memory", "system"];
/** Between two drawings, ms: a change is seen well within a second, and sixteen Macs keep nobody busy. */
const pace = 400;

function after(ms: number, call: () => void): () => void {
  const timer = setTimeout(call, ms);
  return () => clearTimeout(timer);
}

/** Asks the daemon itself: one that is stopped answers everything with that. */
async function whyNot(): Promise<api.Reason | undefined> {
  try {
    const response = await fetch("/schema", { cache: "no-store" });
    return response.ok ? undefined : ((await response.json()) as api.Error).data.reason;
  } catch {
    return undefined;
  }
}

/**
 * Everything that the page shows of the cluster, kept by subscriptions of one
 * connection. Its fields are replaced as a whole, at most once in a pace.
 */
export class Live {
  connection = $state.raw<ConnectionState>({ is: "connecting" });
  /** Absent before the first answer. */
  info = $state.raw<api.DaemonInfoResult>();
  nodes = $state.raw<readonly api.NodeView[]>([]);
  totals = $state.raw<api.Totals>();
  cables = $state.raw<readonly api.Cable[]>([]);
  conditions = $state.raw<readonly api.NodeCondition[]>([]);
  /** Absent before it was asked for. */
  headline = $state.raw<api.Headline>();
  jobs = $state.raw<readonly api.JobSummary[]>([]);
  /** Trips to Macs that only a person can make. */
  errands = $state.raw<readonly api.RDMAUserAction[]>([]);
  model = $state.raw<Model>({ nodes: [], links: [], simulated: false });
  /** Counts the drawings; who reads facts or metrics reads it too, to be told of changes. */
  version = $state(0);
  /** Moves every ten seconds, for ages. */
  now = $state(Date.now());
  /** Says that the first state of nodes and links is there. */
  ready = $state(false);

  readonly client: Client;
  readonly copies: Copies;
  readonly #trends = new Map<api.NodeID, Trend>();
  readonly #facts = new Documents();
  readonly #metrics = new Documents();
  readonly #nodes = new Nodes();
  readonly #graph = new Graph();
  readonly #askConditions = new Again(() => this.#conditionsAgain(), after);
  readonly #askJobs = new Again(() => this.#jobsAgain(), after);
  readonly #askErrands = new Again(() => this.#errandsAgain(), after);
  #began = { nodes: false, links: false };
  #stopMetrics: (() => void) | undefined;
  #drawDue = false;
  #drawnAt = 0;

  constructor(open: () => Wire, session: Session) {
    this.client = new Client({ open, after, now: () => Date.now(), why: whyNot }, session, (state) => this.#connected(state));
    this.copies = new Copies(this.client, () => Date.now());
  }

  /** Begins to follow; to be called once. */
  start(): void {
    this.client.start();
    this.copies.start();
    this.client.watch("node.watch", {}, {
      begin: (result) => {
        this.#nodes.begin(result);
        this.#began.nodes = true;
        this.#draw();
      },
      change: (change) => {
        this.#nodes.change(change);
        if (change.put?.length || change.del?.length) this.#askConditions.wake();
        this.#draw();
      },
    });
    this.client.watch("link.watch", {}, {
      begin: (result) => {
        this.#graph.begin(result);
        this.#began.links = true;
        this.#draw();
      },
      change: (change) => {
        this.#graph.change(change);
        if (change.cables?.length || change.gone_cables?.length || change.loops) {
          this.#askConditions.wake();
          this.#askErrands.wake();
        }
        this.#draw();
      },
    });
    this.client.watch("state.watch", { kinds: factKinds }, {
      begin: (result) => {
        this.#facts.begin(result);
        this.#askConditions.wake();
        this.#askJobs.wake();
        this.#askErrands.wake();
        this.#draw();
      },
      change: (change) => {
        this.#facts.change(change);
        const touched = new Set([...(change.put ?? []), ...(change.del ?? [])].map((key) => key.kind));
        if (touched.has("condition")) this.#askConditions.wake();
        if (touched.has("job") || touched.has("rank")) this.#askJobs.wake();
        if (touched.has("rdma") || touched.has("identity") || touched.has("node-state")) this.#askErrands.wake();
        this.#draw();
      },
    });
    this.look(!document.hidden);
    document.addEventListener("visibilitychange", () => this.look(!document.hidden));
    setInterval(() => (this.now = Date.now()), 10_000);
    setInterval(() => this.#point(), 1_000);
  }

  /** Somebody looks at the page, or nobody does: then nothing is measured for it. */
  look(looking: boolean): void {
    if (looking && this.#stopMetrics === undefined) {
      this.client.hurry();
      this.#stopMetrics = this.client.watch("state.watch", { kinds: metricKinds }, {
        begin: (result) => {
          this.#metrics.begin(result);
          this.#draw();
        },
        change: (change) => {
          this.#metrics.change(change);
          this.#draw();
        },
      });
    } else if (!looking && this.#stopMetrics !== undefined) {
      this.#stopMetrics();
      this.#stopMetrics = undefined;
      this.#metrics.clear();
    }
  }

  /** The value of a document of the facts or metrics; told again at each drawing. */
  value<K extends api.Kind>(node: api.NodeID, kind: K, name = ""): api.KindValues[K] | undefined {
    void this.version;
    return this.#of(kind).value(node, kind, name);
  }

  /** The document itself, for what it says of unknown fields. */
  doc<K extends api.Kind>(node: api.NodeID, kind: K, name = ""): api.DocumentOf<K> | undefined {
    void this.version;
    return this.#of(kind).get(node, kind, name);
  }

  /** All documents of a kind. */
  all<K extends api.Kind>(kind: K, node?: api.NodeID): api.DocumentOf<K>[] {
    void this.version;
    return this.#of(kind).all(kind, node);
  }

  /** The name by which people know a node. */
  name(id: api.NodeID): string {
    return this.nodes.find((node) => node.node === id)?.short_name ?? id.slice(0, 4);
  }

  /** A person as people know them: their account and the name of its Mac. */
  person(principal: api.Principal): string {
    const at = principal.lastIndexOf("@");
    return at < 0 ? principal : `${principal.slice(0, at)}@${this.name(principal.slice(at + 1))}`;
  }

  /** A Mac's port as people write it, such as studio-1:2. */
  port(node: api.NodeID, receptacle: number | undefined): string {
    return receptacle === undefined ? this.name(node) : `${this.name(node)}:${receptacle}`;
  }

  /** What a Mac did in the last minutes; moves by itself once a second. */
  trend(node: api.NodeID): Trend {
    const trend = this.#trends.get(node) ?? new Trend();
    this.#trends.set(node, trend);
    return trend;
  }

  /** What does not change is not told again, and its line goes on all the same. */
  #point(): void {
    if (document.hidden) return;
    const at = Math.floor(Date.now() / 1000);
    for (const { node, liveness } of this.nodes) {
      const of = <K extends "memory" | "system">(kind: K) => (liveness === "alive" ? this.#metrics.value(node, kind) : undefined);
      this.trend(node).add(at, of("memory"), of("system"));
    }
  }

  #of(kind: api.Kind): Documents {
    return metricKinds.includes(kind) ? this.#metrics : this.#facts;
  }

  #connected(state: ConnectionState): void {
    this.connection = state;
    if (state.is !== "open") return;
    this.client.call("daemon.info", {}).then(
      (info) => (this.info = info),
      () => {}, // the connection tells
    );
    this.#askJobs.wake();
  }

  async #conditionsAgain(): Promise<void> {
    try {
      ({ conditions: this.conditions, headline: this.headline } = await this.client.call("node.conditions", { muted: true }));
      this.#draw();
    } catch (error) {
      this.#tell(error);
    }
  }

  async #jobsAgain(): Promise<void> {
    try {
      this.jobs = (await this.client.call("job.list", { ended: true })).jobs;
      this.#draw();
    } catch (error) {
      this.#tell(error);
    }
  }

  async #errandsAgain(): Promise<void> {
    try {
      this.errands = (await this.client.call("rdma.list", {})).errands ?? [];
    } catch (error) {
      this.#tell(error);
    }
  }

  /** What fails while the connection is lost is asked for again with the next one. */
  #tell(error: unknown): void {
    const rejection = Rejection.of(error);
    if (rejection.code !== unreachable) console.warn(rejection.message);
  }

  /** Draws once in a pace, the first time at once. */
  #draw(): void {
    if (this.#drawDue) return;
    this.#drawDue = true;
    after(Math.max(0, this.#drawnAt + pace - Date.now()), () => {
      this.#drawDue = false;
      this.#drawnAt = Date.now();
      this.#drawNow();
    });
  }

  #drawNow(): void {
    this.nodes = this.#nodes.all;
    this.totals = this.#nodes.totals;
    this.cables = this.#graph.cables;
    this.model = keepSame(this.model, modelOf({
      nodes: this.nodes, cables: this.cables, rows: this.#graph.rows, networks: this.#graph.networks, facts: this.#facts, metrics: this.#metrics,
      conditions: this.conditions, jobs: this.jobs, simulated: this.info?.scenario !== undefined || (this.totals?.simulated ?? false),
    }));
    this.version++;
    this.ready = this.#began.nodes && this.#began.links;
  }
}

const unreachable = 6;
