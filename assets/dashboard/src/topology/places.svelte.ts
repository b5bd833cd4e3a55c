/**
 * The places of the Macs while the page is open: kept ones, moved ones, and new
 * ones, which become final when the cluster has been the same for a moment.
 *
 * @module
 */

import { untrack } from "svelte";

import type { Point, Size } from "./geometry";
import { arrange } from "./layout";
import type { Pair } from "./order";
import { forgetPositions, keepPositions, readPositions, type Keeper, type Shape } from "./positions";

/** How long the cluster must be the same until the places of new Macs are final, in ms. */
export const finalAfter = 3_000;

/** What places depend on. */
export interface Situation {
  nodes: readonly string[];
  joined: readonly Pair[];
  room: Size;
  node: Size;
  shape: Shape;
}

/** The places of one page. */
export class PlaceKeeper {
  /** The places that are final. */
  #kept = $state.raw<ReadonlyMap<string, Point>>(new Map());
  #shape: Shape | undefined;
  readonly #keeper: Keeper | undefined;

  constructor(keeper: Keeper | undefined) {
    this.#keeper = keeper;
  }

  /** The places of all nodes of a situation. */
  placesOf(s: Situation): ReadonlyMap<string, Point> {
    return arrange({ nodes: s.nodes, joined: s.joined, kept: this.#kept, room: s.room, node: s.node });
  }

  /** Takes what was kept for windows of a shape. */
  open(shape: Shape): void {
    if (this.#shape !== shape) {
      this.#shape = shape;
      this.#kept = readPositions(this.#keeper, shape);
    }
  }

  /** Makes the places final. A single Mac's is not: the next one would stand beside it for ever. */
  settle(places: ReadonlyMap<string, Point>): void {
    const kept = untrack(() => this.#kept);
    if (places.size > 1 && [...places].some(([id, p]) => kept.get(id)?.x !== p.x || kept.get(id)?.y !== p.y)) {
      this.#kept = new Map([...kept, ...places]);
      this.#write();
    }
  }

  /** Moves a node. What is moved is written when it rests: see rest. */
  move(id: string, to: Point, all: ReadonlyMap<string, Point>): void {
    this.#kept = new Map([...untrack(() => this.#kept), ...all, [id, to]]);
  }

  /** Writes where the nodes are. */
  rest(): void {
    this.#write();
  }

  /** Arranges all anew. */
  tidy(): void {
    forgetPositions(this.#keeper);
    this.#kept = new Map();
  }

  #write(): void {
    if (this.#shape !== undefined) {
      keepPositions(this.#keeper, this.#shape, untrack(() => this.#kept));
    }
  }
}
