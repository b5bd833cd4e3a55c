import type { Client } from "../api/client";
import { Rejection } from "../api/rejection";
import type * as api from "../api/types";
import * as words from "../words";

/** A copy of a model to this Mac. */
export interface Copy {
  /** The Mac that has it; absent = Hugging Face. */
  from?: api.NodeID | undefined;
  /** Ends it. What has arrived is kept. */
  cancel?: (() => void) | undefined;
  progress?: api.ModelProgress | undefined;
  /** When the first bytes came and how many those were, and when the last: what its pace is reckoned from. */
  first?: { at: number; bytes: number } | undefined;
  at: number;
  error?: Rejection | undefined;
  done: boolean;
}

/** What a model is called among copies. */
export function nameOf(model: Pick<api.Model, "model" | "revision">): string {
  return `${model.model} ${model.revision ?? ""}`;
}

/** Bytes a second of a copy, and the seconds left; absent before a second has passed. */
export function paceOf(copy: Copy): { bytesPerS: number; leftS: number } | undefined {
  const { first, progress, at } = copy;
  if (first === undefined || progress === undefined || at - first.at < 1000 || progress.done_bytes <= first.bytes) return undefined;
  const bytesPerS = ((progress.done_bytes - first.bytes) * 1000) / (at - first.at);
  return { bytesPerS, leftS: (progress.total_bytes - progress.done_bytes) / bytesPerS };
}

/** By which paths a copy goes, in words; nothing where none is known. */
export function overWords(kinds: readonly api.LinkKind[]): string {
  if (kinds.length === 0) return "";
  const names = [...new Set(kinds.map(words.linkKindShort))].join(", ");
  const what = kinds.some((kind) => kind === "wifi" || kind === "vpn" || kind === "unknown") ? "paths" : "cables";
  return kinds.length === 1 ? ` over ${names}` : ` over ${kinds.length} ${what} (${names})`;
}

/** The copies to this Mac: those that the page began, which go on while it is open, on whichever of its pages, and those of others. */
export class Copies {
  #own = $state.raw<ReadonlyMap<string, Copy>>(new Map());
  #others = $state.raw<readonly api.ModelCopying[]>([]);
  /** Counts those that have ended: of its own well, of others somehow. */
  ended = $state(0);
  readonly all = $derived.by<ReadonlyMap<string, Copy>>(() => {
    const all = new Map(this.#own);
    for (const one of this.#others) {
      if (all.get(nameOf(one))?.done !== false) all.set(nameOf(one), { from: one.from, progress: one.progress, at: 0, done: false });
    }
    return all;
  });
  readonly #client: Client;
  readonly #now: () => number;

  constructor(client: Client, now: () => number) {
    this.#client = client;
    this.#now = now;
  }

  /** Follows what is copied to this Mac, by whomever begun; to be called once. */
  start(): void {
    this.#client.watch("model.watch", {}, { begin: () => this.take([]), change: ({ copies }) => this.take(copies) });
  }

  /** What is copied now. */
  take(copies: readonly api.ModelCopying[]): void {
    const names = new Set(copies.map(nameOf));
    if (this.#others.some((one) => !names.has(nameOf(one)) && !this.#own.has(nameOf(one)))) this.ended++;
    this.#others = copies;
  }

  /** Begins a copy from a Mac, or from Hugging Face. */
  begin(model: Pick<api.Model, "model" | "revision">, from?: api.NodeID): void {
    const name = nameOf(model);
    const set = (change: Partial<Copy>) => {
      const before: Copy = this.#own.get(name) ?? { from, at: 0, done: false };
      this.#own = new Map(this.#own).set(name, { ...before, ...change, at: this.#now() });
      if (change.done && change.error === undefined) this.ended++;
    };
    set({ from, progress: undefined, first: undefined, error: undefined, done: false });
    const stop = this.#client.watch("model.copy", { model: model.model, ...(from === undefined ? {} : { node: from }), ...(model.revision === undefined ? {} : { revision: model.revision }) }, {
      begin: () => set({ first: undefined }),
      change: ({ progress, terminal }) => {
        const copy = this.#own.get(name);
        set({ progress, first: copy?.first ?? { at: this.#now(), bytes: progress.done_bytes } });
        if (!terminal) return;
        stop();
        set(progress.error ? { error: new Rejection(progress.error), done: true } : { done: true });
      },
      failed: (error) => {
        stop();
        set({ error, done: true });
      },
    });
    const cancel = () => {
      stop();
      const own = new Map(this.#own);
      own.delete(name);
      this.#own = own;
    };
    if (this.#own.get(name)?.done === false) set({ cancel });
  }
}
