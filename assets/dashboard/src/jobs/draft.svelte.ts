import type * as api from "../api/types";
import { words } from "./shell";

/** The form of a new job, as a person has filled it in so far. */
export class Draft {
  command = $state("");
  name = $state("");
  directory = $state("");
  environment = $state("");
  backend = $state<api.Backend>("auto");
  /** Counts the processes; 0 = as said by min. */
  ranks = $state(2);
  minimum = $state(false);
  memoryGB = $state<number>();
  gpu = $state<api.GPUShare>("exclusive");
  retries = $state(0);
  sync = $state(false);
  picked = $state<Record<api.NodeID, "required" | "excluded">>({});

  /** A click on a node: any, then required, then excluded, then any again. */
  pick(id: api.NodeID): void {
    const next = { ...this.picked };
    if (next[id] === undefined) next[id] = "required";
    else if (next[id] === "required") next[id] = "excluded";
    else delete next[id];
    this.picked = next;
  }

  /** What is asked for; undefined while there is no command. */
  request(): api.JobRequest | undefined {
    const command = words(this.command);
    if (command === undefined || command.length === 0) return undefined;
    const program: api.ProgramParams = { command, stdin: "none" };
    if (this.directory) program.directory = this.directory;
    if (this.environment) program.environment = this.environment;
    if (this.sync) program.sync = true;
    const placement: api.PlacementParams = { backend: this.backend, gpu: this.gpu };
    if (this.minimum) placement.min_nodes = this.ranks;
    else placement.ranks = this.ranks;
    const of = (how: string) => Object.keys(this.picked).filter((id) => this.picked[id] === how).sort();
    const [required, excluded] = [of("required"), of("excluded")];
    if (required.length > 0) placement.nodes = required;
    if (excluded.length > 0) placement.excluded_nodes = excluded;
    if (this.memoryGB) placement.memory_bytes = Math.round(this.memoryGB * 2 ** 30);
    const request: api.JobRequest = { program, placement, retries: this.retries, detached: true };
    if (this.name) request.name = this.name;
    return request;
  }
}
