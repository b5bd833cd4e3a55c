/**
 * What is drawn of a link while what is told of it changes: a change shows at
 * once, but for what goes to and fro. What changes back soon is held until it
 * has stayed so, and a source that falls silent changes nothing for a while. So
 * a cable that comes and goes is drawn as one in trouble, not as a flicker.
 *
 * @module
 */

import type { ModelLink } from "../model";
import type * as api from "../api/types";

/** How a link is drawn: as told, or gone where the cable was just pulled. */
export type DrawnVerdict = api.LinkVerdict | "gone";

/** A link as it is drawn. */
export interface Drawn {
  /** The last that was told of it. */
  link: ModelLink;
  type: api.LinkKind;
  /** When it became that type, or was told so again after another, in ms. */
  typeAt: number;
  /** The link as it was when the type was its own: it has the numbers. */
  numbers: ModelLink;
  /** Whether both ways of these are as fast: one speed says both. */
  even: boolean;
  verdict: DrawnVerdict;
  /** When it became so, or was so again after something better, in ms. */
  verdictAt: number;
  /** The link as it was when the verdict was its own: it says why. */
  because: ModelLink;
  /** Another type that is told, and when it counts, in ms. */
  nextType?: { type: api.LinkKind; due: number };
  /** A better verdict that is told, and when it counts, in ms. */
  nextVerdict?: { verdict: api.LinkVerdict; due: number };
  /** When it went away, in ms. */
  goneAt?: number;
}

/** What settle gives. */
export interface Settled {
  /** By id, in the order of the links; those that went are last. */
  drawn: Map<string, Drawn>;
  /** When it must be asked again though nothing new is told, in ms; absent where nothing waits. */
  due?: number;
}

/** How long a better verdict must hold that comes so soon after a worse one. */
export const betterHold = 3_000;
/** How long another type must hold that comes so soon after the one before. */
export const typeHold = 2_000;
/** How long a type stays that nobody tells any more. */
export const silentHold = 10_000;
/** How long a pulled cable is drawn as such. */
export const goneHold = 5_000;

/** By how much of the faster one two ways may differ that count as the same, and that go on counting so. */
const evenWithin = 0.02;
const stillEvenWithin = 0.03;

/** How much a verdict is trouble. What is not measured is none. */
const trouble: Readonly<Record<string, number>> = { good: 0, unknown: 0, slow: 1, bad: 2, down: 3, gone: 3 };

function troubleOf(verdict: DrawnVerdict): number {
  return trouble[verdict] ?? 0;
}

/**
 * The next state of all links: before is the last one, links what is told now,
 * nodes whose links count at all, now any clock in ms that does not go back.
 */
export function settle(
  before: ReadonlyMap<string, Drawn>,
  links: readonly ModelLink[],
  nodes: ReadonlySet<string>,
  now: number,
): Settled {
  const drawn = new Map<string, Drawn>();
  let due = Infinity;
  for (const link of links) {
    const next = step(before.get(link.id), link, now);
    drawn.set(link.id, next);
    due = Math.min(due, next.nextType?.due ?? Infinity, next.nextVerdict?.due ?? Infinity);
  }
  for (const [id, was] of before) {
    const ends = nodes.has(was.link.a) && (was.link.b === undefined || nodes.has(was.link.b));
    if (drawn.has(id) || was.link.receptacleA === undefined || !ends) {
      continue; // a network's line has nobody's cable to show as pulled
    }
    const goneAt = was.goneAt ?? now;
    if (now < goneAt + goneHold) {
      drawn.set(id, { link: was.link, because: was.link, type: was.type, typeAt: was.typeAt, numbers: was.numbers, even: was.even, verdict: "gone", verdictAt: goneAt, goneAt });
      due = Math.min(due, goneAt + goneHold);
    }
  }
  return due === Infinity ? { drawn } : { drawn, due };
}

function isEven(link: ModelLink, was: boolean): boolean {
  const { forwardBitsPerS: there, backwardBitsPerS: back } = link;
  return there !== undefined && back !== undefined && Math.abs(there - back) <= (was ? stillEvenWithin : evenWithin) * Math.max(there, back);
}

function step(was: Drawn | undefined, link: ModelLink, now: number): Drawn {
  if (!was) {
    return { link, because: link, numbers: link, even: isEven(link, false), type: link.type, typeAt: -Infinity, verdict: link.verdict, verdictAt: -Infinity };
  }
  const next: Drawn = { link, because: was.because, numbers: was.numbers, even: was.even, type: was.type, typeAt: was.typeAt, verdict: was.verdict, verdictAt: was.verdictAt };
  const silent = was.nextType?.type === "unknown" ? was.nextType.due : now + silentHold;
  const typeDue = link.type === "unknown" ? silent : was.typeAt + typeHold;
  if (link.type === was.type) {
    next.numbers = link;
    if (was.nextType && was.nextType.type !== "unknown") next.typeAt = now; // it goes to and fro
  } else if (was.type === "unknown" || now >= typeDue) {
    next.type = link.type;
    next.typeAt = now;
    next.numbers = link;
  } else {
    next.nextType = { type: link.type, due: typeDue };
  }
  next.even = isEven(next.numbers, was.even);

  const worse = troubleOf(link.verdict) - troubleOf(was.verdict);
  const verdictDue = link.verdict === "unknown" ? (was.nextVerdict?.due ?? now + betterHold) : was.verdictAt + betterHold;
  if (link.verdict === was.verdict) {
    next.because = link;
    if (was.nextVerdict) next.verdictAt = now;
  } else if (worse > 0 || (was.verdict === "unknown" && worse === 0) || now >= verdictDue) {
    next.verdict = link.verdict;
    next.verdictAt = now;
    next.because = link;
  } else {
    next.nextVerdict = { verdict: link.verdict, due: verdictDue };
  }
  return next;
}
