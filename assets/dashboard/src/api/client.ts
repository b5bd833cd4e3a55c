import { Backoff } from "./backoff";
import { Rejection } from "./rejection";
import type { Session } from "./session";
import type * as api from "./types";

/** The part of the browser's WebSocket that is used. */
export type Wire = Pick<WebSocket, "send" | "close" | "onopen" | "onmessage" | "onclose">;

/** How the connection is. */
export type ConnectionState =
  | { is: "connecting" }
  | { is: "open" }
  /** It was lost, or there never was one; the next attempt is under way or due. */
  | { is: "lost"; since: number; stopped: boolean }
  /** The page may not come in; it is opened anew from the menu or the command line. */
  | { is: "denied"; message: string };

/** What a client needs of the world. */
export interface World {
  open(): Wire;
  after(ms: number, call: () => void): () => void;
  now(): number;
  /**
   * Why nobody lets the page in, as far as that can be told: a browser tells of a
   * connection that was refused only that it failed.
   */
  why(): Promise<api.Reason | undefined>;
}

/** A method that a subscription follows. */
export type WatchMethod = { [M in api.MethodName]: api.Methods[M]["notifies"] extends never ? never : M }[api.MethodName];

/** What comes of a subscription. */
export interface Follow<M extends WatchMethod> {
  /** The answer: the state as it is now. It comes again after each new connection, and replaces what came before. */
  begin(result: api.Result<M>): void;
  /** A change. */
  change(params: api.Notifications[api.Methods[M]["notifies"]]): void;
  /** It cannot be followed; it is tried again after the next connection only. */
  failed?(rejection: Rejection): void;
}

interface Stream {
  method: WatchMethod;
  params: unknown;
  follow: Follow<WatchMethod>;
  sub?: string;
  over: boolean;
}

type Answer = { resolve(result: unknown): void; reject(error: Rejection): void };

/**
 * The client of the daemon's API over one WebSocket. It connects again by itself,
 * and begins every subscription anew then, with a new snapshot; one that lagged
 * begins anew at once.
 */
export class Client {
  readonly #world: World;
  readonly #session: Session;
  readonly #changed: (state: ConnectionState) => void;
  readonly #backoff = new Backoff();
  readonly #streams = new Set<Stream>();
  #answers = new Map<number, Answer>();
  #bySub = new Map<string, Stream>();
  #wire: Wire | undefined;
  #last = 0;
  #state: ConnectionState = { is: "connecting" };
  #cancelRetry: (() => void) | undefined;

  constructor(world: World, session: Session, changed: (state: ConnectionState) => void) {
    this.#world = world;
    this.#session = session;
    this.#changed = changed;
  }

  get state(): ConnectionState {
    return this.#state;
  }

  /** Begins to connect; to be called once. */
  start(): void {
    this.#changed(this.#state);
    this.#connect();
  }

  /** Somebody looks again, or the network is back: does not wait for the pause to end. */
  hurry(): void {
    if (this.#cancelRetry === undefined) return;
    this.#cancelRetry();
    this.#cancelRetry = undefined;
    this.#connect();
  }

  /** Calls a method. It rejects with a Rejection. */
  call<M extends api.MethodName>(method: M, params: api.Params<M>): Promise<api.Result<M>> {
    if (this.#state.is !== "open") return Promise.reject(Rejection.lost());
    return new Promise((resolve, reject) => this.#send(method, params, { resolve: resolve as Answer["resolve"], reject }));
  }

  /** Follows a subscription until the function that it gives is called. */
  watch<M extends WatchMethod>(method: M, params: api.Params<M>, follow: Follow<M>): () => void {
    const stream: Stream = { method, params, follow: follow as unknown as Follow<WatchMethod>, over: false };
    this.#streams.add(stream);
    if (this.#state.is === "open") this.#subscribe(stream);
    return () => {
      stream.over = true;
      this.#streams.delete(stream);
      this.#drop(stream);
    };
  }

  #connect(): void {
    const opening = this.#session.opening();
    if (opening === undefined) {
      this.#become({ is: "denied", message: "This page was opened without a key." });
      return;
    }
    const wire = this.#world.open();
    this.#wire = wire;
    wire.onopen = () => {
      this.#send(opening.method, opening.params, {
        resolve: (result) => {
          this.#session.accepted((result as Partial<api.DaemonCreateTokenResult>).token);
          this.#backoff.reset();
          this.#become({ is: "open" });
          for (const stream of [...this.#streams]) this.#subscribe(stream);
        },
        reject: (rejection) => {
          if (rejection.code === unauthenticated) this.#refused("The key with which this page was opened is no longer valid.");
          else if (rejection.code === denied) this.#refused(`${rejection.message} ${rejection.remedy ?? ""}`.trim());
          wire.close();
        },
      });
    };
    wire.onmessage = (event) => this.#receive(String(event.data));
    wire.onclose = (event) => this.#closed(wire, event.reason);
  }

  /** A secret that was used up, or is another account's, leaves the token that this tab may have from before. */
  #refused(message: string): void {
    this.#session.refused();
    if (this.#session.opening() === undefined) {
      this.#become({ is: "denied", message });
    }
  }

  #closed(wire: Wire, reason: string): void {
    if (wire !== this.#wire) return;
    this.#wire = undefined;
    const answers = this.#answers;
    this.#answers = new Map();
    this.#bySub = new Map();
    for (const stream of this.#streams) delete stream.sub;
    for (const answer of answers.values()) answer.reject(Rejection.lost());
    if (this.#state.is === "denied") return;
    const since = this.#state.is === "lost" ? this.#state.since : this.#world.now();
    const wasOpen = this.#state.is === "open";
    this.#become({ is: "lost", since, stopped: reason === "stopped" });
    if (wasOpen) this.#retry();
    else void this.#world.why().then((why) => this.#failed(since, why));
  }

  /** A stopped daemon says so to whoever asks, and is woken by being asked: it is not asked often. */
  #failed(since: number, why: api.Reason | undefined): void {
    if (why === "stopped") {
      this.#backoff.slow();
      this.#become({ is: "lost", since, stopped: true });
    }
    this.#retry();
  }

  #retry(): void {
    this.#cancelRetry = this.#world.after(this.#backoff.pause(), () => {
      this.#cancelRetry = undefined;
      this.#connect();
    });
  }

  #become(state: ConnectionState): void {
    this.#state = state;
    this.#changed(state);
  }

  #send(method: string, params: unknown, answer: Answer): void {
    const id = ++this.#last;
    this.#answers.set(id, answer);
    this.#wire?.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
  }

  #receive(text: string): void {
    const message = JSON.parse(text) as { id?: number; method?: string; params?: { sub: string }; result?: unknown; error?: api.ResponseError };
    if (message.method !== undefined) {
      this.#notified(message.params as { sub: string; lagged?: boolean; terminal?: boolean });
      return;
    }
    const answer = this.#answers.get(message.id ?? 0);
    this.#answers.delete(message.id ?? 0);
    if (message.error) answer?.reject(new Rejection(message.error));
    else answer?.resolve(message.result);
  }

  #notified(params: { sub: string; lagged?: boolean; terminal?: boolean }): void {
    const stream = this.#bySub.get(params.sub);
    if (stream === undefined) return; // of a subscription that was just ended
    if (params.lagged) {
      this.#bySub.delete(params.sub);
      delete stream.sub;
      this.#subscribe(stream);
      return;
    }
    if (params.terminal) {
      this.#bySub.delete(params.sub);
      delete stream.sub;
      this.#streams.delete(stream);
    }
    stream.follow.change(params as never);
  }

  /** The answer is taken in the same turn in which it comes: what follows it is already of the subscription. */
  #subscribe(stream: Stream): void {
    this.#send(stream.method, stream.params, {
      resolve: (result) => {
        const sub = (result as { sub?: string }).sub;
        if (sub !== undefined) {
          stream.sub = sub;
          this.#bySub.set(sub, stream);
        }
        if (stream.over) this.#drop(stream);
        else stream.follow.begin(result as never);
      },
      reject: (rejection) => {
        if (!stream.over && this.#state.is === "open") stream.follow.failed?.(rejection);
      },
    });
  }

  #drop(stream: Stream): void {
    if (stream.sub === undefined) return;
    const sub = stream.sub;
    this.#bySub.delete(sub);
    delete stream.sub;
    if (this.#state.is === "open") this.#send("state.unwatch", { sub }, { resolve() {}, reject() {} });
  }
}

const denied = 4;
const unauthenticated = 5;
