import type * as api from "../api/types";

/** A line of a chart: the last points of a value that moves. What is not known leaves a gap. */
export class Series {
  readonly #keep: number;
  #x: number[] = [];
  #y: (number | null)[] = [];

  constructor(keep: number) {
    this.#keep = keep;
  }

  /** Adds a point at a moment, s of the epoch; one of the same moment as the last replaces it. */
  add(at: number, value: number | undefined): void {
    const last = this.#x.at(-1);
    if (last !== undefined && at < last) return;
    if (at === last) {
      this.#y[this.#y.length - 1] = value ?? null;
      return;
    }
    this.#x.push(at);
    this.#y.push(value ?? null);
    if (this.#x.length > this.#keep) {
      this.#x.shift();
      this.#y.shift();
    }
  }

  /** The points as they are now. */
  get line(): Line {
    return { x: [...this.#x], y: [...this.#y] };
  }
}

/** Points of a chart: x in s of the epoch. */
export interface Line {
  x: number[];
  y: (number | null)[];
}

/** How long charts keep what moves once or twice a second, s. */
export const span = 300;

/** What a Mac did in the last minutes, as long as the page is open. */
export class Trend {
  readonly gpu = new Series(span);
  readonly memory = new Series(span);
  readonly power = new Series(span);

  /** Adds what is known at a moment, s of the epoch. */
  add(at: number, memory: api.Memory | undefined, system: api.System | undefined): void {
    this.gpu.add(at, system?.gpu_use_ratio);
    this.memory.add(at, memory?.used_bytes);
    this.power.add(at, system?.system_power_watts ?? system?.package_power_watts);
  }
}
