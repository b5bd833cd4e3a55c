/**
 * What was measured over a link, as a panel says it: once over RDMA and once over
 * TCP, from the link's first end to its second.
 *
 * @module
 */

import { bits, latency } from "../format";
import type { ModelLink, ModelRow } from "../model";
import * as words from "../words";

/** One of them. */
export interface Block {
  row: ModelRow;
  title: string;
  thereBitsPerS: number | undefined;
  backBitsPerS: number | undefined;
}

/** The measurements of a link that count: what the picture says of it, else the newest. */
export function blocksOf(link: ModelLink): Block[] {
  const found = new Map<string, Block>();
  const drawn = (b: Block): number =>
    Number(b.thereBitsPerS === link.forwardBitsPerS && b.backBitsPerS === link.backwardBitsPerS && b.row.latencyUs === link.latencyUs);
  const time = (b: Block): number => Date.parse(b.row.measuredAt ?? "") || 0;
  for (const row of link.rows) {
    const [there, back] = row.from === link.a ? [row.upBitsPerS, row.downBitsPerS] : [row.downBitsPerS, row.upBitsPerS];
    const title = row.transport === "rdma" ? "RDMA" : `TCP over ${words.linkKind(row.type)}`;
    const block: Block = { row, title, thereBitsPerS: there, backBitsPerS: back };
    const old = found.get(row.transport);
    if (old === undefined || (drawn(block) - drawn(old) || time(block) - time(old)) > 0) found.set(row.transport, block);
  }
  return [...found.values()].filter((b) => b.row.measuredAt !== undefined);
}

/** What else there is to say of one, in a line. */
export function noteOf({ row }: Block): string {
  const notes: string[] = [];
  if (row.verdict !== "good") notes.push([words.verdict(row.verdict), ...row.reasons.map(words.reason)].join(": "));
  if (row.jitterUs !== undefined) notes.push(`Jitter of the delay: ${latency(row.jitterUs)}`);
  const t = row.together;
  if (t !== undefined) {
    notes.push(t.reason === undefined ? `${t.sinks.length} of its kind at once: ${bits(t.up_bits_per_s)} up, ${bits(t.down_bits_per_s)} down` : words.reason(t.reason));
  }
  return notes.join(". ");
}

/** Why a link cannot be measured now; empty where it can. */
export function whyNotMeasured(link: ModelLink, unreached: readonly string[]): string {
  if (link.b === undefined) return `${link.peerName ?? "The other computer"} runs no Fulmen, which a measurement needs at both ends.`;
  if (link.b === link.a) return "Both ends are in one Mac: a measurement needs two.";
  return unreached.length === 0 ? "" : `Not reached now: ${unreached.join(", ")}.`;
}
