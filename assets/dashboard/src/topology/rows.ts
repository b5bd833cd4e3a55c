/**
 * The tables of links as texts: one row for each measured profile.
 *
 * @module
 */

import { age, bits, latency, unknown } from "../format";
import { linkKind, linkKindShort, reason, verdict } from "../words";
import type { ModelLink, ModelRow } from "../model";

/** The heads of the columns. Both delays are halves of what was measured, and say so. */
export const columns = ["Direction", "Type", "Up", "Down", "RTT/2", "Jitter/2", "Age", "Verdict"] as const;

/** One row. */
export interface RowTexts {
  key: string;
  direction: string;
  type: string;
  up: string;
  down: string;
  latency: string;
  jitter: string;
  age: string;
  verdict: string;
  /** Whether its verdict is trouble. */
  poor: boolean;
}

/** The texts of a path, and of what it gave with others at once; now in ms of the wall clock. */
export function rowTexts(row: ModelRow, now: number): RowTexts[] {
  const alone = pathTexts(row, now);
  const t = row.together;
  if (t === undefined) {
    return [alone];
  }
  return [
    alone,
    {
      ...alone,
      key: `${row.key} together`,
      type: `${t.sinks.length} ${linkKindShort(row.type)} together`,
      up: bits(t.up_bits_per_s),
      down: bits(t.down_bits_per_s),
      latency: unknown,
      jitter: unknown,
      verdict: t.reason === undefined ? unknown : reason(t.reason),
      poor: false,
    },
  ];
}

function pathTexts(row: ModelRow, now: number): RowTexts {
  const why = row.reasons.map(reason).join(", ");
  const judged = verdict(row.verdict);
  return {
    key: row.key,
    direction: `${row.fromName} → ${row.toName}`,
    type: linkKind(row.type),
    up: bits(row.upBitsPerS),
    down: bits(row.downBitsPerS),
    latency: latency(row.latencyUs),
    jitter: latency(row.jitterUs),
    age: row.measuredAt === undefined ? unknown : `${age(row.measuredAt, now)}${row.old ? ", old" : ""}`,
    verdict: why === "" || why.toLowerCase() === judged.toLowerCase() ? judged : `${judged}: ${lower(why)}`,
    poor: row.verdict === "slow" || row.verdict === "bad" || row.verdict === "down",
  };
}

function lower(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

/** The ends of a link as people read them: with its sockets, where it is a cable. */
export function endsOf(link: ModelLink, name: (node: string) => string): string {
  const end = (node: string, socket: number | undefined): string => (socket === undefined ? node : `${node}:${socket}`);
  const far = link.b === undefined ? (link.peerName ?? "a Mac without Fulmen") : end(name(link.b), link.receptacleB);
  return `${end(name(link.a), link.receptacleA)} ↔ ${far}`;
}

/** What else there is to say of a link, in short parts. */
export function notesOf(link: ModelLink): string[] {
  const notes: string[] = [];
  const forward = link.negotiatedForwardBitsPerS;
  const backward = link.negotiatedBackwardBitsPerS;
  if (forward !== undefined || backward !== undefined) {
    notes.push(`negotiated ${forward === backward ? bits(forward) : `${bits(forward)} there, ${bits(backward)} back`}`);
  }
  if (link.hubs.length > 0) {
    notes.push(`through ${link.hubs.join(" and ")}`);
  }
  if (link.muted) {
    notes.push("warnings muted");
  }
  if (link.stale) {
    notes.push("one end cannot be reached: last known values");
  }
  if (link.simulated) {
    notes.push("simulated");
  }
  return notes;
}
