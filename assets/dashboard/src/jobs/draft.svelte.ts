import type * as api from "../api/types";
import { duration, ports, variables } from "./fields";
import { words } from "./shell";

/** The times that a job may have, and what they bound. */
export const limits = [
  ["placing_s", "Finding a place"],
  ["preparing_s", "Preparing"],
  ["starting_s", "Starting"],
  ["handshake_s", "Joining"],
  ["run_s", "Running"],
  ["silence_s", "Without output"],
  ["grace_s", "Grace at the end"],
] as const satisfies readonly (readonly [keyof api.DeadlinesParams, string])[];

/** The form of a new job, as a person has filled it in so far. */
export class Draft {
  command = $state("");
  name = $state("");
  directory = $state("");
  environment = $state("");
  backend = $state<api.Backend>("auto");
  /** One on each Mac; absent until it is known how many one job can use. */
  ranks = $state<number | null>();
  /** Whether a person has said how many. */
  isChosen = $state(false);
  /** With shares of a whole: more where so many do not hold it. */
  minimum = $state(false);
  memoryGB = $state<number>();
  gpu = $state<api.GPUShare>("exclusive");
  retries = $state(0);
  /** Higher ones are placed first; 0 is every job's. */
  priority = $state<number | null>(0);
  /** Names or ids of jobs that have to succeed first, with commas between. */
  after = $state("");
  preemptible = $state(false);
  /** Whether it is started again whatever ends it. */
  kept = $state(false);
  keepAwake = $state<api.KeepAwake>("used");
  sync = $state(false);
  /** Whether each rank is given its share of the whole, by its Mac's memory and speed. */
  shares = $state(false);
  /** One a line, NAME=VALUE. */
  variables = $state("");
  /** Of rank 0, such as 8080 or lan:8000. */
  ports = $state("");
  /** Lengths of time such as 90s; empty where the daemon's own counts. */
  deadlines = $state<Record<(typeof limits)[number][0], string>>({ placing_s: "", preparing_s: "", starting_s: "", handshake_s: "", run_s: "", silence_s: "", grace_s: "" });
  picked = $state<Record<api.NodeID, "required" | "excluded">>({});

  /** A click on a node: any, then required, then excluded, then any again. */
  pick(id: api.NodeID): void {
    const next = { ...this.picked };
    if (next[id] === undefined) next[id] = "required";
    else if (next[id] === "required") next[id] = "excluded";
    else delete next[id];
    this.picked = next;
  }

  /** What is written so that it cannot be read, in words; empty where all can. */
  problem(): string {
    if (words(this.command) === undefined) return "A quotation mark in the command is not closed.";
    if (variables(this.variables) === undefined) return "Write each environment variable on a line of its own, as NAME=VALUE.";
    if (ports(this.ports) === undefined) return "Write ports as 8080, or as lan:8080 for the network.";
    const unread = limits.find(([key]) => duration(this.deadlines[key]) === undefined);
    return unread === undefined ? "" : `“${unread[1]}” must be a length of time such as 90s, 10m or 1h.`;
  }

  /** The values of environment variables, which are no part of the request. */
  values(): Record<string, string> {
    return variables(this.variables) ?? {};
  }

  /** Whether the ranks have to hold something together, for which alone more Macs than asked for are ever taken. */
  sharesMemory(): boolean {
    return this.shares && Boolean(this.memoryGB);
  }

  /** Where it may run, which does not depend on the program. */
  placement(): api.PlacementParams {
    const placement: api.PlacementParams = { backend: this.backend, gpu: this.gpu };
    if (this.minimum && this.sharesMemory()) placement.min_nodes = this.ranks ?? 1;
    else placement.ranks = this.ranks ?? 1;
    const of = (how: string) => Object.keys(this.picked).filter((id) => this.picked[id] === how).sort();
    const [required, excluded] = [of("required"), of("excluded")];
    if (required.length > 0) placement.nodes = required;
    if (excluded.length > 0) placement.excluded_nodes = excluded;
    if (this.memoryGB) placement.memory_bytes = Math.round(this.memoryGB * 2 ** 30);
    if (this.shares) placement.per_node = "memory";
    return placement;
  }

  /** What is asked for; undefined while there is no command, or something cannot be read. */
  request(): api.JobRequest | undefined {
    const command = words(this.command);
    if (command === undefined || command.length === 0 || this.problem() !== "") return undefined;
    const program: api.ProgramParams = { command, stdin: "none" };
    const names = Object.keys(this.values());
    if (names.length > 0) program.variables = names;
    if (this.directory) program.directory = this.directory;
    if (this.environment) program.environment = this.environment;
    if (this.sync) program.sync = true;
    const request: api.JobRequest = { program, placement: this.placement(), retries: this.retries, detached: true };
    if (this.name) request.name = this.name;
    if (this.priority) request.priority = this.priority;
    const after = this.after.split(",").map((name) => name.trim());
    if (after.some(Boolean)) request.after = after.filter(Boolean);
    if (this.preemptible) request.preemptible = true;
    if (this.kept) [request.kept, request.keep_awake] = [true, this.keepAwake];
    const publish = ports(this.ports);
    if (publish?.length) request.publish = publish;
    const bounds: api.DeadlinesParams = {};
    for (const [key] of limits) {
      const length = duration(this.deadlines[key]);
      if (typeof length === "number") bounds[key] = length;
    }
    if (Object.keys(bounds).length > 0) request.deadlines = bounds;
    return request;
  }
}
