import type * as api from "../api/types";

/** How an event is shown: by its severity, and good news as such. */
export function tone(event: api.Event): "good" | "warn" | "bad" | "plain" {
  if (event.severity === "error") return "bad";
  if (event.severity === "warning") return "warn";
  const good = event.kind === "node_joined" || event.kind === "node_reached" || event.kind === "cable_plugged" || event.phase === "succeeded";
  return good ? "good" : "plain";
}

/** Where on the page an event leads; undefined where what it is about is gone. */
export function pathOf(event: api.Event): string | undefined {
  switch (event.kind) {
    case "cable_pulled":
    case "node_left":
    case "condition_cleared":
      return undefined;
    case "condition_raised":
      return "/conditions";
  }
  if (event.job !== undefined) return `/job/${event.job}`;
  if (event.link !== undefined) return `/link/${encodeURIComponent(event.link)}`;
  return event.node === undefined ? undefined : `/node/${event.node}`;
}

/** What the daemon keeps of what happened, kept by event.watch. */
export class Events {
  /** So many are kept: as many as the daemon does. */
  static readonly most = 500;
  /** The newest first. */
  #all: readonly api.Event[] = [];

  begin(result: api.EventListResult): void {
    this.#all = [...result.events].reverse();
  }

  change(change: api.EventHappened): void {
    this.#all = [...[...(change.events ?? [])].reverse(), ...this.#all].slice(0, Events.most);
  }

  /** The newest first; of a job only what became of it last, and its page has the rest. */
  get all(): readonly api.Event[] {
    const jobs = new Set<string>();
    return this.#all.filter(({ job }) => job === undefined || (!jobs.has(job) && jobs.add(job)));
  }
}
