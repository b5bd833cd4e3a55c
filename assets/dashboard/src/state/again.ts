/**
 * Asks for something again whenever it may have changed, one call at a time: what
 * changes while a call is under way is asked for once after it, and no sooner
 * than a pause later.
 */
export class Again {
  readonly #ask: () => Promise<void>;
  readonly #after: (ms: number, call: () => void) => unknown;
  readonly #pause: number;
  #busy = false;
  #wanted = false;

  constructor(ask: () => Promise<void>, after: (ms: number, call: () => void) => unknown, pause = 250) {
    this.#ask = ask;
    this.#after = after;
    this.#pause = pause;
  }

  /** It may have changed. */
  wake(): void {
    if (this.#busy) {
      this.#wanted = true;
      return;
    }
    this.#busy = true;
    void this.#ask().finally(() =>
      this.#after(this.#pause, () => {
        this.#busy = false;
        if (!this.#wanted) return;
        this.#wanted = false;
        this.wake();
      }),
    );
  }
}
