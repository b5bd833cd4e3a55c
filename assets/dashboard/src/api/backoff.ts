/** The pauses between attempts to connect: half a second, then twice as long each time, up to ten seconds. */
export class Backoff {
  #next = first;

  /** The pause before the next attempt, in ms. */
  pause(): number {
    const pause = this.#next;
    this.#next = Math.max(first, Math.min(2 * pause, longest));
    return pause;
  }

  /** Nothing is to be expected soon, and each attempt costs the other side something. */
  slow(): void {
    this.#next = slowest;
  }

  /** An attempt has succeeded. */
  reset(): void {
    this.#next = first;
  }
}

const first = 500;
const longest = 10_000;
const slowest = 30_000;
