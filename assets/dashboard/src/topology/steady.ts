/**
 * What is drawn of a link while what is told of it changes: trouble shows at
 * once, and goes only after it has stayed away; a type changes only when it has
 * stayed changed; a source that falls silent changes nothing for a while. So a
 * cable that comes and goes is drawn as one in trouble, not as a flicker.
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
  verdict: DrawnVerdict;
  /** The link as it was when the verdict was its own: it says why. */
  because: ModelLink;
  /** Another type that is told, and since when, in ms. */
  nextType?: { type: api.LinkKind; since: number };
  /** A better verdict that is told, and since when, in ms. */
  nextVerdict?: { verdict: api.LinkVerdict; since: number };
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

/** How long a better verdict must hold. */
export const betterHold = 3_000;
/** How long another type must hold. */
export const typeHold = 2_000;
/** How long a type stays that nobody tells any more. */
export const silentHold = 10_000;
/** How long a pulled cable is drawn as such. */
export const goneHold = 5_000;

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
    if (next.nextType) {
      due = Math.min(due, next.nextType.since + holdOf(next.nextType.type));
    }
    if (next.nextVerdict) {
      due = Math.min(due, next.nextVerdict.since + betterHold);
    }
  }
  for (const [id, was] of before) {
    const ends = nodes.has(was.link.a) && (was.link.b === undefined || nodes.has(was.link.b));
    if (drawn.has(id) || was.link.receptacleA === undefined || !ends) {
      continue; // a network's line has nobody's cable to show as pulled
    }
    const goneAt = was.goneAt ?? now;
    if (now < goneAt + goneHold) {
      drawn.set(id, { link: was.link, because: was.link, type: was.type, verdict: "gone", goneAt });
      due = Math.min(due, goneAt + goneHold);
    }
  }
  return due === Infinity ? { drawn } : { drawn, due };
}

function holdOf(type: api.LinkKind): number {
  return type === "unknown" ? silentHold : typeHold;
}

function step(was: Drawn | undefined, link: ModelLink, now: number): Drawn {
  if (!was) {
    return { link, because: link, type: link.type, verdict: link.verdict };
  }
  const next: Drawn = { link, because: was.because, type: was.type, verdict: was.verdict };
  if (link.type === was.type) {
    // As it is drawn: nothing waits any more.
  } else if (was.type === "unknown") {
    next.type = link.type;
  } else {
    const waits = was.nextType?.type === link.type ? was.nextType : { type: link.type, since: now };
    if (now - waits.since >= holdOf(link.type)) {
      next.type = link.type;
    } else {
      next.nextType = waits;
    }
  }

  const worse = troubleOf(link.verdict) - troubleOf(was.verdict);
  if (link.verdict === was.verdict || worse > 0 || (was.verdict === "unknown" && worse === 0)) {
    next.verdict = link.verdict;
    next.because = link;
    return next;
  }
  // Better, or no longer measured: as long as it is at all better, the clock runs on.
  const since = was.nextVerdict?.since ?? now;
  if (now - since >= betterHold) {
    next.verdict = link.verdict;
    next.because = link;
  } else {
    next.nextVerdict = { verdict: link.verdict, since };
  }
  return next;
}
