/**
 * How a link is drawn by what it is: each kind has a line of its own besides its
 * colour, and trouble has signs and words.
 *
 * @module
 */

import { bits, latency, unknown } from "../format";
import { linkKindShort } from "../words";
import type * as api from "../api/types";
import type { ModelLink } from "../model";
import type { Drawn, DrawnVerdict } from "./steady";

/** The line of a kind. */
export interface Stroke {
  /** In units of the drawing. */
  width: number;
  /** The pattern of an SVG's line; empty where it is not broken. */
  dash: string;
  /** Round ends, which make dots of short dashes. */
  round: boolean;
  /** A bright line in the middle, which makes two of one. */
  double: boolean;
}

const strokes: Readonly<Record<string, Stroke>> = {
  rdma: { width: 5.5, dash: "", round: false, double: true },
  tb5: { width: 4, dash: "", round: false, double: false },
  tb4: { width: 2, dash: "", round: false, double: false },
  tb3: { width: 2, dash: "14 3", round: false, double: false },
  ethernet: { width: 2, dash: "7 5", round: false, double: false },
  wifi: { width: 2.6, dash: "0.1 6.5", round: true, double: false },
  vpn: { width: 2, dash: "10 4 2 4", round: false, double: false },
};

/** The line of a kind; a thin one with wide gaps where the kind is not known. */
export function strokeOf(type: api.LinkKind): Stroke {
  return (Object.hasOwn(strokes, type) ? strokes[type] : undefined) ?? { width: 1.5, dash: "3 8", round: false, double: false };
}

/** The colour of a kind, as a value of CSS. */
export function colourOf(type: api.LinkKind): string {
  return `var(--kind-${Object.hasOwn(strokes, type) ? type : "unknown"})`;
}

/** The kinds in the order in which the legend has them. */
export const legendOrder: readonly api.LinkKind[] = ["rdma", "tb5", "tb4", "tb3", "ethernet", "wifi", "vpn", "unknown"];

/** How much a link stands out: trouble is what a person should see first, a note what they may. */
export type Alarm = "none" | "note" | "trouble";

/** How much a link stands out as it is drawn. */
export function alarmOf(drawn: Drawn): Alarm {
  const link = drawn.because;
  const cable = link.receptacleA !== undefined;
  switch (drawn.verdict) {
    case "gone":
      return "trouble";
    case "slow":
    case "bad":
    case "down":
      // A hub that limits its cable is what somebody chose, and a network is nobody's cable.
      return link.muted || !cable || onlyHub(link) ? "note" : "trouble";
    case "good":
    case "unknown":
      return "none";
    default:
      return "note"; // a newer daemon's word
  }
}

function onlyHub(link: ModelLink): boolean {
  return link.verdict === "slow" && link.reasons[0] === "hub_between";
}

/** What is wrong with a link: a few words, and a few more. */
export interface Callout {
  title: string;
  detail: string;
}

/** What is wrong with a link that stands out; undefined of one that does not. */
export function calloutOf(drawn: Drawn): Callout | undefined {
  const link = drawn.because;
  if (alarmOf(drawn) !== "trouble") {
    return undefined;
  }
  if (drawn.verdict === "gone") {
    return { title: "Cable pulled", detail: "" };
  }
  const title = titles[drawn.verdict] ?? "Bad cable";
  switch (link.reasons[0]) {
    case "link_flapping":
      return { title, detail: "keeps dropping out" };
    case "link_down":
      return { title, detail: "carries nothing now" };
    case "bridge_loop":
      return { title: "Bridge loop", detail: "floods the network" };
    case "link_below_ports": {
      const speed = slower(link.negotiatedForwardBitsPerS, link.negotiatedBackwardBitsPerS);
      return { title, detail: speed === undefined ? "its ports can do more" : `${bits(speed)}, its ports can do more` };
    }
    case "link_below_history":
      return { title, detail: "slower than it was" };
    default:
      return { title, detail: "" };
  }
}

const titles: Readonly<Record<string, string>> = { slow: "Slow cable", down: "Cable down" };

function slower(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined ? b : b === undefined ? a : Math.min(a, b);
}

/** The texts beside an edge; absent where nothing is known, but for the word that says so. */
export interface EdgeTexts {
  /** From a to b. */
  forward?: string;
  /** From b to a. */
  backward?: string;
  /** Both, where they are even. */
  both?: string;
  /** Half of the round trip, or what is the case instead of numbers. */
  latency?: string;
}

/** The texts beside an edge as it is drawn. */
export function textsOf(drawn: Drawn): EdgeTexts {
  const link = drawn.numbers;
  const texts: EdgeTexts = {};
  if (drawn.verdict === "gone" || drawn.verdict === "down") {
    return texts; // what was measured once is in the table; the picture shows what is
  }
  if (drawn.even) {
    texts.both = bits(slower(link.forwardBitsPerS, link.backwardBitsPerS));
  } else {
    if (link.forwardBitsPerS !== undefined) {
      texts.forward = bits(link.forwardBitsPerS);
    }
    if (link.backwardBitsPerS !== undefined) {
      texts.backward = bits(link.backwardBitsPerS);
    }
  }
  if (link.latencyUs !== undefined) {
    texts.latency = latency(link.latencyUs);
  } else if (texts.both === undefined && texts.forward === undefined && texts.backward === undefined && link.receptacleA !== undefined) {
    texts.latency = link.b === undefined ? linkKindShort(link.type) : "not measured";
  }
  return texts;
}

/** An edge in one sentence, for who cannot see it. */
export function sentenceOf(drawn: Drawn, name: (node: string) => string): string {
  const link = drawn.numbers;
  const ends = `${name(link.a)} to ${link.b === undefined ? (link.peerName ?? "a Mac without Fulmen") : name(link.b)}`;
  const parts = [`${linkKindShort(drawn.type)}, ${ends}`];
  const callout = calloutOf(drawn);
  const measured = link.forwardBitsPerS !== undefined || link.backwardBitsPerS !== undefined;
  if (callout) {
    parts.push(callout.detail === "" ? callout.title : `${callout.title}: ${callout.detail}`);
  } else {
    parts.push(measured && drawn.verdict === "unknown" ? "unknown" : wordOf(drawn.verdict));
  }
  if (measured) {
    parts.push(`${said(bits(link.forwardBitsPerS))} there, ${said(bits(link.backwardBitsPerS))} back`);
  }
  if (link.latencyUs !== undefined) {
    parts.push(`${latency(link.latencyUs)} one way`);
  }
  if (link.hubs.length > 0) {
    parts.push(`through ${link.hubs.join(" and ")}`);
  }
  return `${parts.join("; ")}.`;
}

function said(text: string): string {
  return text === unknown ? "not known" : text;
}

/** A verdict in a word. */
export function wordOf(verdict: DrawnVerdict): string {
  const words: Readonly<Record<string, string>> = {
    good: "good",
    slow: "slow",
    bad: "bad",
    down: "down",
    unknown: "not measured",
    gone: "pulled",
  };
  return words[verdict] ?? verdict.replaceAll("_", " ");
}
