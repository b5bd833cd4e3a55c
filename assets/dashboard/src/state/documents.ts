import type * as api from "../api/types";

const separator = "\n"; // in no part of a key

function keyOf(key: api.Key): string {
  return key.node + separator + key.kind + separator + key.name;
}

/**
 * The documents of one subscription, by node, kind and name. A new snapshot
 * replaces all of them when it is whole, so that nothing vanishes for a moment
 * while a long one comes in parts.
 */
export class Documents {
  #docs = new Map<string, api.Document>();
  #coming: Map<string, api.Document> | undefined;
  #stale = new Set<api.NodeID>();

  /** Takes the answer with which a subscription begins. */
  begin(result: api.StateWatchResult): void {
    this.#coming = new Map();
    this.#put(this.#coming, result.docs);
    this.#stale = new Set(result.stale ?? []);
    if (!result.more) this.#whole();
  }

  /** Takes a change. */
  change(change: api.StateChanged): void {
    const into = this.#coming ?? this.#docs;
    for (const key of change.del ?? []) into.delete(keyOf(key));
    this.#put(into, change.put ?? []);
    if (change.stale !== undefined) this.#stale = new Set(change.stale);
    if (this.#coming !== undefined && !change.more) this.#whole();
  }

  /** Forgets everything: nobody watches any more, and old numbers are no numbers. */
  clear(): void {
    this.#docs = new Map();
    this.#coming = undefined;
  }

  /** The value of a document. */
  value<K extends api.Kind>(node: api.NodeID, kind: K, name = ""): api.KindValues[K] | undefined {
    return this.get(node, kind, name)?.value;
  }

  get<K extends api.Kind>(node: api.NodeID, kind: K, name = ""): api.DocumentOf<K> | undefined {
    return this.#docs.get(keyOf({ node, kind, name })) as api.DocumentOf<K> | undefined;
  }

  /** All documents of a kind, of one node or of all, ordered by node and name. */
  all<K extends api.Kind>(kind: K, node?: api.NodeID): api.DocumentOf<K>[] {
    const found: api.DocumentOf<K>[] = [];
    for (const doc of this.#docs.values()) {
      if (doc.kind === kind && (node === undefined || doc.node === node)) found.push(doc as api.DocumentOf<K>);
    }
    return found.sort((a, b) => (a.node === b.node ? compare(a.name, b.name) : compare(a.node, b.node)));
  }

  /** Whether a node cannot be reached now, so that its documents are the last ones known. */
  isStale(node: api.NodeID): boolean {
    return this.#stale.has(node);
  }

  get size(): number {
    return this.#docs.size;
  }

  #put(into: Map<string, api.Document>, docs: readonly api.Document[]): void {
    for (const doc of docs) {
      if (doc.deleted) into.delete(keyOf(doc));
      else into.set(keyOf(doc), doc);
    }
  }

  #whole(): void {
    this.#docs = this.#coming!;
    this.#coming = undefined;
  }
}

/** Orders as the daemon does: by code points, not by anybody's language. */
export function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
