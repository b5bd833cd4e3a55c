import type * as api from "../api/types";
import { plural } from "../format";
import { toneOf } from "../parts/conditions";

/** The first line of the page. */
export interface Hero {
  /** The daemon's words, which menu and command line have too. */
  text: string;
  tone: "good" | "warn" | "bad" | "plain";
  /** What the text is about; absent where all is well. */
  worst: api.NodeCondition | undefined;
  /** How many problems there are besides, in words; empty where there are none. */
  more: string;
}

/** The first line of the page, by the daemon's headline; undefined before that is known. */
export function heroOf(headline: api.Headline | undefined): Hero {
  const worst = headline?.worst;
  const rest = (headline?.problems ?? 0) - 1;
  return {
    text: headline?.text || "Looking at the cluster…",
    tone: worst ? toneOf(worst.severity) : headline?.text ? "good" : "plain",
    worst,
    more: rest > 0 ? plural(rest, "more problem") : "",
  };
}

/** The title of the document: how many problems there are, and that nothing of it is real. */
export function titleOf(page: string, problems: number, simulated: boolean): string {
  return `${problems > 0 ? `(${problems}) ` : ""}${simulated ? "SIMULATED – " : ""}${page} – Fulmen`;
}
