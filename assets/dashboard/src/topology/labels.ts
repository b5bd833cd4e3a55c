/**
 * Where the numbers of the edges stand: on the side away from the middle of the
 * drawing, each speed beside the head of its own arrow and the delay half way,
 * with the one speed above it where that is all; what is wrong stands half way on
 * the other side, or away from the edge's fellows. Where such a place is taken, the label moves along its edge,
 * then to the edge's other side; what finds no place is left out and shown on
 * demand. The same drawing gives the same places.
 *
 * @module
 */

import {
  crosses,
  direction,
  lengthOf,
  overlaps,
  pieces,
  pointAt,
  reach,
  tangentAt,
  touches,
  type Box,
  type Curve,
  type Point,
  type Size,
} from "./geometry";

/** What a label says: what is wrong with its edge, a speed towards b or towards a, the delay, or the speed of both ways and the delay. */
export type Role = "callout" | "forward" | "backward" | "latency" | "both";

/** A label that wants a place. */
export interface Wanted extends Size {
  /** Unique among all. */
  key: string;
  /** The edge that it belongs to: its place among the curves. */
  edge: number;
  role: Role;
}

/** All that takes room. */
export interface Crowd {
  /** The curves of all edges, from a to b. */
  curves: readonly Curve[];
  /** The directions away from which the edges' fellows lie, of those that have some between the same Macs. */
  away?: readonly (Point | undefined)[];
  /** Boxes that nothing may cover: Macs, and signs on edges. */
  fixed: readonly Box[];
  /** The middle of the drawing. */
  centre: Point;
  /** The room, around its own middle. */
  bounds: Box;
}

/** The air between labels, and between a label and its edge; a callout leaves room for the sign on the edge. */
const gap = 2;
const beside: Readonly<Record<Role, number>> = { callout: 16, forward: 6, backward: 6, latency: 6, both: 6 };

/** The length of an arrow's head, which stands at the very end of an edge. */
export const headLength = 11;

/** What a place costs: on another side of its edge, over another edge, over its own, away from its edge, out of the room, on top of something. */
const otherSide = 5;
const overLine: Readonly<Record<Role, number>> = { callout: 30, forward: 2.5, backward: 2.5, latency: 2.5, both: 2.5 };
const overOwn = 40;
/** Where another edge crosses half way, what stands there might be taken for that one's: it stands here then. */
const aside = 0.34;
const crossing = 30;
/** How much further a callout may stand from its edge: a line leads to it. */
const further: readonly number[] = [0, 26, 52, 90];
const lastResort = 150;
const outOfRoom = 400;
const onTop = 1000;

/** Rounds of search. A mesh of eight is settled within a few. */
const rounds = 24;

interface Candidate {
  box: Box;
  cost: number;
}

/** The order in which labels choose. */
const turn: Readonly<Record<Role, number>> = { callout: 0, latency: 1, both: 1, forward: 2, backward: 2 };

/** Gives every label a place, or none. */
export function placeLabels(wanted: readonly Wanted[], crowd: Crowd): Map<string, Box> {
  const lines = crowd.curves.map(pieces);
  const order = wanted
    .map((w, i) => ({ w, i, choices: candidates(w, crowd, lines) }))
    .filter((x) => x.choices.length > 0)
    .sort((x, y) => turn[x.w.role] - turn[y.w.role] || x.i - y.i);
  const chosen: (Candidate | undefined)[] = order.map(() => undefined);

  for (let round = 0; round < rounds; round++) {
    let moved = false;
    for (const [i, { w, choices }] of order.entries()) {
      let best: Candidate | undefined;
      let least = Infinity;
      for (const choice of choices) {
        if (choice.cost >= least) {
          continue;
        }
        let cost = choice.cost;
        for (const [j, other] of chosen.entries()) {
          // A number gives way to what is wrong, and not the other way round.
          if (j !== i && other && (w.role !== "callout" || order[j]!.w.role === "callout") && overlaps(choice.box, other.box, gap)) {
            // The first rounds push the others away; later ones give way more and more.
            cost += onTop / 20 + (round * onTop) / rounds;
            if (cost >= least) {
              break;
            }
          }
        }
        if (cost < least) {
          least = cost;
          best = choice;
        }
      }
      if (best !== chosen[i]) {
        chosen[i] = best;
        moved = true;
      }
    }
    if (!moved) {
      break;
    }
  }

  const placed = new Map<string, Box>();
  const boxes: Box[] = [];
  for (const [i, { w }] of order.entries()) {
    const choice = chosen[i];
    if (choice && choice.cost < outOfRoom && !boxes.some((box) => overlaps(choice.box, box, gap / 2))) {
      placed.set(w.key, choice.box);
      boxes.push(choice.box);
    }
  }
  return placed;
}

/** The direction that points away from the drawing's middle, across an edge; fixed by the edge's direction where its own middle is there. */
export function outward(curve: Curve, centre: Point): Point {
  const middle = pointAt(curve, 0.5);
  const along = tangentAt(curve, 0.5);
  const normal = { x: along.y, y: -along.x };
  const away = (middle.x - centre.x) * normal.x + (middle.y - centre.y) * normal.y;
  if (Math.abs(away) > 8) {
    return away > 0 ? normal : { x: -normal.x, y: -normal.y };
  }
  // Upwards, and to the right of an edge that is upright.
  const up = Math.abs(normal.y) > 0.02 ? normal.y < 0 : normal.x > 0;
  return up ? normal : { x: -normal.x, y: -normal.y };
}

/** The places that a label could take, the best first. */
function candidates(w: Wanted, crowd: Crowd, lines: readonly Point[][]): Candidate[] {
  const curve = crowd.curves[w.edge];
  if (!curve) {
    return [];
  }
  const length = lengthOf(curve);
  const out = crowd.away?.[w.edge] ?? outward(curve, crowd.centre);
  const found: Candidate[] = [];
  const add = (t: number, side: number, cost: number, far = 0): void => {
    const at = pointAt(curve, t);
    const along = tangentAt(curve, t);
    // The side of the whole edge, turned with the curve.
    const turned = { x: along.y, y: -along.x };
    const same = turned.x * out.x + turned.y * out.y >= 0 ? 1 : -1;
    const normal = { x: turned.x * same * side, y: turned.y * same * side };
    const off = reach(w, normal) + beside[w.role] + far;
    const box = { x: at.x + normal.x * off, y: at.y + normal.y * off, width: w.width, height: w.height };
    found.push({ box, cost: cost + costOf(box, w, crowd, lines) });
  };

  if (w.role === "forward" || w.role === "backward") {
    const end = w.role === "forward" ? curve.to : curve.from;
    const other = w.role === "forward" ? curve.from : curve.to;
    const first = headLength * 0.6 + reach(w, direction(other, end)) * 0.7;
    for (let step = 0; step <= 14; step++) {
      const t = Math.min((first + step * 9) / length, 0.47);
      const from = w.role === "forward" ? 1 - t : t;
      add(from, 1, step);
      add(from, -1, step + otherSide);
      if (t === 0.47) {
        break;
      }
    }
  } else {
    // On a phone with many Macs there is no room but in the middle, beside a sign that may be there.
    for (const below of w.role === "callout" ? [0, 1, -1] : []) {
      const box = { x: crowd.centre.x, y: crowd.centre.y + below * (w.height / 2 + 20), width: w.width, height: w.height };
      found.push({ box, cost: lastResort + costOf(box, w, crowd, lines) });
    }
    const half = { ...pointAt(curve, 0.5), width: crossing, height: crossing };
    const crossed = lines.some((points, i) => i !== w.edge && points.some((p, k) => k > 0 && touches(points[k - 1]!, p, half)));
    const begin = crossed && w.role !== "callout" ? aside : 0.5;
    const preferred = w.role === "callout" && !crowd.away?.[w.edge] ? -1 : 1;
    for (let step = 0; step <= 14; step++) {
      const shift = (step * 9) / length;
      if (shift > begin - 0.16) {
        break;
      }
      for (const t of step === 0 ? [begin] : [begin - shift, begin + shift]) {
        for (const far of w.role === "callout" ? further : [0]) {
          add(t, preferred, step + far, far);
          add(t, -preferred, step + far + otherSide, far);
        }
      }
    }
  }
  return found.filter((c) => c.cost < onTop).sort((x, y) => x.cost - y.cost);
}

/** What a place costs by what does not move: the line that leads to a callout counts as the callout does. */
function costOf(box: Box, w: Wanted, crowd: Crowd, lines: readonly Point[][]): number {
  const half = crowd.bounds;
  let cost = 0;
  if (
    Math.abs(box.x - half.x) > (half.width - box.width) / 2 ||
    Math.abs(box.y - half.y) > (half.height - box.height) / 2
  ) {
    cost += outOfRoom;
  }
  if (crowd.fixed.some((f) => overlaps(f, box, gap))) {
    return onTop;
  }
  let over = 0;
  const sign = pointAt(crowd.curves[w.edge]!, 0.5);
  for (const [i, points] of lines.entries()) {
    if (w.role === "callout" && i !== w.edge && points.some((p, k) => k > 0 && crosses(points[k - 1]!, p, sign, box))) over += overLine.callout;
    for (let k = 1; k < points.length; k++) {
      if (touches(points[k - 1]!, points[k]!, box, -0.5)) {
        over += i === w.edge ? overOwn : overLine[w.role];
        break;
      }
    }
  }
  // What is wrong is said even where there is nothing but lines.
  return cost + (w.role === "callout" ? Math.min(over, outOfRoom / 2) : over);
}
