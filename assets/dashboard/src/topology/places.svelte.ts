/**
 * What one page keeps of the places of its Macs, and of that its browser: see places.ts.
 *
 * @module
 */

import { untrack } from "svelte";

import type { Point } from "./geometry";
import type { Places } from "./layout";
import { nothingKept, placesOf, settled, type Cluster, type Kept, type Situation } from "./places";
import { forgetPositions, keepPositions, readPositions, type Keeper, type Shape } from "./positions";

/** How long the cluster must be the same until it is what the Macs are arranged for, in ms. */
export const finalAfter = 3_000;

/** The places of one page. */
export class PlaceKeeper {
  #kept = $state.raw<Kept>(nothingKept);
  #shape: Shape | undefined;
  readonly #keeper: Keeper | undefined;

  constructor(keeper: Keeper | undefined) {
    this.#keeper = keeper;
  }

  /** The places of all nodes of a situation. */
  placesOf(s: Situation): Places {
    return placesOf(this.#kept, s);
  }

  /** Takes what was moved in windows of a shape. */
  open(shape: Shape): void {
    if (this.#shape !== shape) {
      this.#shape = shape;
      this.#kept = { ...untrack(() => this.#kept), moved: readPositions(this.#keeper, shape) };
    }
  }

  /** Makes the places of a cluster final. */
  settle(cluster: Cluster, places: Places): void {
    this.#kept = settled(untrack(() => this.#kept), cluster, places);
  }

  /** Moves a node. What is moved is written when it rests: see rest. */
  move(id: string, to: Point): void {
    const kept = untrack(() => this.#kept);
    this.#kept = { ...kept, moved: new Map([...kept.moved, [id, to]]) };
  }

  /** Writes what was moved. */
  rest(): void {
    if (this.#shape !== undefined) {
      keepPositions(this.#keeper, this.#shape, untrack(() => this.#kept.moved));
    }
  }

  /** Arranges all as if nobody had a place. */
  tidy(): void {
    forgetPositions(this.#keeper);
    this.#kept = nothingKept;
  }
}
