/**
 * The words of the API as people say them. A word that this version does not
 * know is shown as it came, with its underscores as spaces.
 *
 * @module
 */

import type * as api from "./api/types";

function plain(word: string): string {
  const text = word.replaceAll("_", " ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function from(words: Readonly<Record<string, string>>): (word: string) => string {
  return (word) => (Object.hasOwn(words, word) ? words[word]! : plain(word));
}

/** What a link is made of. */
export const linkKind: (kind: api.LinkKind) => string = from({
  wifi: "Wi-Fi",
  ethernet: "Ethernet",
  tb3: "Thunderbolt 3",
  tb4: "Thunderbolt 4",
  tb5: "Thunderbolt 5",
  rdma: "RDMA",
  vpn: "VPN",
  loopback: "This Mac itself",
  unknown: "Unknown",
});

/** The same for places with little room. */
export const linkKindShort: (kind: api.LinkKind) => string = from({
  wifi: "Wi-Fi",
  ethernet: "Ethernet",
  tb3: "TB3",
  tb4: "TB4",
  tb5: "TB5",
  rdma: "RDMA",
  vpn: "VPN",
});

/** The memory in which a Mac's GPU computes. */
export const gpuMemory: (kind: api.GPUMemory | "") => string = from({
  unified: "unified memory",
  dedicated: "GPU memory",
  none: "RAM",
  "": "memory (kind unknown)",
});

export const liveness: (state: api.Liveness) => string = from({
  alive: "Connected",
  suspect: "Just stopped answering",
  unreachable: "Not reached",
  restarting: "Restarting",
  asleep: "Asleep",
  left: "Has left",
  removed: "Removed",
});

/** How good that is: what comes back by itself is no more than a warning. */
export function livenessTone(state: api.Liveness): "good" | "warn" | "bad" | "plain" {
  if (state === "alive") return "good";
  return state === "unreachable" ? "bad" : state === "left" || state === "removed" ? "plain" : "warn";
}

export const verdict: (verdict: api.LinkVerdict) => string = from({
  good: "Good",
  slow: "Slow",
  bad: "Bad",
  down: "Down",
  unknown: "Not measured",
});

export const rdmaVerdict: (verdict: api.RDMAVerdict) => string = from({
  ready: "Ready",
  can_enable: "Can be enabled",
  needs_person: "Needs you",
  cannot: "Not possible",
  unknown: "Unknown",
});

export const phase: (phase: api.JobPhase | api.RankPhase) => string = from({
  queued: "Queued",
  placing: "Looking for Macs",
  starting: "Starting",
  handshake: "Joining",
  running: "Running",
  ending: "Ending",
  backoff: "Waits for the next attempt",
  home_lost: "Its Mac is lost",
  succeeded: "Succeeded",
  failed: "Failed",
  stopped: "Stopped",
});

export const severity: (severity: api.Severity) => string = from({ info: "Note", warning: "Warning", error: "Problem" });

/** A reason's key where no sentence came with it. */
export const reason: (reason: api.Reason) => string = from({
  link_too_slow: "Slower than its ports",
  link_below_ports: "Slower than its ports",
  link_below_history: "Slower than it was",
  not_measured: "Not measured yet",
  not_yet_read: "Not read yet",
  not_in_scenario: "The simulated scenario does not say",
  node_unreachable: "Not reached",
  not_supported_by_platform: "Fulmen cannot learn it on this platform",
  not_supported_by_os: "This version of the system does not report it",
});

/** Whether a phase is an end. */
export function ended(phase: api.JobPhase): boolean {
  return phase === "succeeded" || phase === "failed" || phase === "stopped";
}
