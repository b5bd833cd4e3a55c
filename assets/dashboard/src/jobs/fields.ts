/**
 * What a person writes into the fields of a new job, as the API has it. What
 * cannot be read is undefined.
 *
 * @module
 */

import type * as api from "../api/types";

/** Environment variables, one a line as NAME=VALUE. */
export function variables(text: string): Record<string, string> | undefined {
  const out: Record<string, string> = {};
  for (const line of text.split("\n")) {
    if (line.trim() === "") continue;
    const [, name, value] = /^\s*([A-Za-z_][A-Za-z0-9_]*)=(.*)$/.exec(line) ?? [];
    if (name === undefined || value === undefined) return undefined;
    out[name] = value;
  }
  return out;
}

/** Ports of rank 0, as the command line has them: 8080, lan:8000. */
export function ports(text: string): api.PublishParams[] | undefined {
  const out: api.PublishParams[] = [];
  for (const word of text.split(/[\s,]+/).filter((w) => w !== "")) {
    const [, lan, digits] = /^(lan:)?(\d{1,5})$/.exec(word) ?? [];
    const port = Number(digits);
    if (!(port >= 1 && port <= 65535)) return undefined;
    out.push(lan === undefined ? { port } : { port, lan: true });
  }
  return out;
}

const seconds: Readonly<Record<string, number>> = { h: 3600, m: 60, s: 1 };

/** A length of time such as 90s, 10m or 1h30m, in seconds; a number alone counts seconds. Null where there is none. */
export function duration(text: string): number | null | undefined {
  const trimmed = text.trim();
  if (trimmed === "") return null;
  if (/^\d+(\.\d+)?$/.test(trimmed)) return Number(trimmed);
  if (!/^(\d+(\.\d+)?[hms])+$/.test(trimmed)) return undefined;
  return [...trimmed.matchAll(/(\d+(?:\.\d+)?)([hms])/g)].reduce((sum, [, n, unit]) => sum + Number(n) * seconds[unit!]!, 0);
}

/** How long, in ms, before it is planned again what has no place: what a Mac lacked may have come. */
export const lookAgain = 2000;

/** How many Macs one job can use, of so many that are there. */
export async function mostRanks(there: number, hasPlace: (ranks: number) => Promise<boolean>): Promise<number> {
  for (let ranks = there; ranks > 1; ranks--) {
    if (await hasPlace(ranks)) return ranks;
  }
  return 1;
}
