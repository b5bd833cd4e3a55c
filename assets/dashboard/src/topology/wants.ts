/**
 * What the lines of the drawing are made of, and what their labels need: sizes
 * go by what a label can get, not by what it says now, so that nothing moves
 * when a number does.
 *
 * @module
 */

import { bits, latency } from "../format";
import type { Density } from "./density";
import { alarmOf, calloutOf, strokeOf, textsOf } from "./edges";
import type { Size } from "./geometry";
import type { Role } from "./labels";
import type { SceneLine, SceneNode } from "./scene";
import type { Drawn } from "./steady";
import { textWidth } from "./textwidth";
import { pairOf } from "./visible";

/** The widest texts of speeds and delays. */
const widestSpeed = bits(88.8e9);
const widestDelay = latency(88.8);

/** The stranger at the end of a cable, as a node of the drawing. */
export function guestOf(link: string): string {
  return `guest:${link}`;
}

/** The nodes of the drawing: Macs, then strangers. */
export function sceneNodes(nodes: readonly string[], drawn: readonly Drawn[]): SceneNode[] {
  const guests = drawn.filter((d) => d.link.b === undefined).map((d) => guestOf(d.link.id));
  return [...nodes.map((id) => ({ id, guest: false })), ...guests.map((id) => ({ id, guest: true }))];
}

/** The size of a callout: a title, and words below it where there are any. */
export function calloutSize(title: string, detail: string, density: Density): Size {
  const size = density.label;
  const width = Math.max(textWidth(title, size + 1, true), detail === "" ? 0 : textWidth(detail, size));
  return { width: width + 16, height: detail === "" ? size + 12 : 2 * size + 16 };
}

/** The lines of the drawing. asked are the links whose numbers somebody looks at. */
export function sceneLines(drawn: readonly Drawn[], density: Density, asked: ReadonlySet<string>): SceneLine[] {
  const count = new Map<string, number>();
  for (const d of drawn) {
    count.set(pairOf(d), (count.get(pairOf(d)) ?? 0) + 1);
  }
  const next = new Map<string, number>();
  return drawn.map((d) => {
    const pair = pairOf(d);
    const index = next.get(pair) ?? 0;
    next.set(pair, index + 1);
    const trouble = alarmOf(d) === "trouble";
    return {
      id: d.link.id,
      a: d.link.a,
      b: d.link.b ?? guestOf(d.link.id),
      index,
      parallel: count.get(pair) ?? 1,
      ...labelsOf(d, density, density.labelled || asked.has(d.link.id)),
      signs: (trouble ? 1 : 0) + d.link.hubs.length,
      stroke: strokeOf(d.type).width,
    };
  });
}

/** What stands beside an edge, and what has to find room there whatever is measured. */
function labelsOf(d: Drawn, density: Density, numbers: boolean): Pick<SceneLine, "labels" | "reserve"> {
  const labels: Partial<Record<Role, Size>> = {};
  const size = density.label;
  const height = size + 4;
  const callout = calloutOf(d);
  if (callout) {
    labels.callout = calloutSize(callout.title, callout.detail, density);
  }
  if (!numbers) {
    return { labels, reserve: labels };
  }
  const texts = textsOf(d);
  // A cable keeps room for its speeds before they are measured, so that nothing moves when they are.
  const soon = d.link.receptacleA !== undefined && d.link.b !== undefined && d.verdict !== "gone" && d.verdict !== "down";
  const speed = { width: textWidth(widestSpeed, size, true) + 4, height };
  const both: Partial<Record<Role, Size>> = { ...labels, both: { width: speed.width, height: texts.latency === undefined ? height : 2 * size + 6 } };
  if (soon || texts.both !== undefined || texts.forward !== undefined) {
    labels.forward = speed;
  }
  if (soon || texts.both !== undefined || texts.backward !== undefined) {
    labels.backward = speed;
  }
  if (texts.latency !== undefined && !(callout && d.numbers.latencyUs === undefined)) {
    const width = d.numbers.latencyUs === undefined ? textWidth(texts.latency, size) : textWidth(widestDelay, size);
    labels.latency = { width: width + 4, height };
  }
  return { labels: texts.both === undefined ? labels : both, reserve: labels };
}
