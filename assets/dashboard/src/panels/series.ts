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

  get x(): number[] {
    return [...this.#x];
  }

  get y(): (number | null)[] {
    return [...this.#y];
  }

  /** Whether anything was ever known. */
  get known(): boolean {
    return this.#y.some((value) => value !== null);
  }
}
