import { beforeEach, describe, expect, it } from "vitest";

import { Client, type ConnectionState, type Wire, type World } from "./client";
import { Rejection } from "./rejection";
import { Session, type Keep } from "./session";

/** A daemon's end of a connection that the test plays. */
class FakeWire implements Wire {
  onopen: Wire["onopen"] = null;
  onmessage: Wire["onmessage"] = null;
  onclose: Wire["onclose"] = null;
  sent: { id: number; method: string; params: Record<string, unknown> }[] = [];
  closed = false;

  send(data: string | ArrayBufferLike | Blob | ArrayBufferView): void {
    this.sent.push(JSON.parse(String(data)));
  }
  close(): void {
    this.closed = true;
    this.die();
  }
  die(reason = ""): void {
    (this.onclose as unknown as (event: { reason: string }) => void)({ reason });
  }
  come(): void {
    (this.onopen as unknown as () => void)();
  }
  say(message: object): void {
    (this.onmessage as unknown as (event: { data: string }) => void)({ data: JSON.stringify({ jsonrpc: "2.0", ...message }) });
  }
  /** Answers the last call. */
  answer(result: object = {}): void {
    this.say({ id: this.sent.at(-1)!.id, result });
  }
  refuse(code: number, reason: string): void {
    this.say({ id: this.sent.at(-1)!.id, error: { code, message: "No.", data: { reason } } });
  }
  get lastMethod(): string | undefined {
    return this.sent.at(-1)?.method;
  }
}

class FakeWorld implements World {
  wires: FakeWire[] = [];
  time = 0;
  due: { at: number; call: () => void }[] = [];
  reason: string | undefined;

  open(): Wire {
    const wire = new FakeWire();
    this.wires.push(wire);
    return wire;
  }
  after(ms: number, call: () => void): () => void {
    const entry = { at: this.time + ms, call };
    this.due.push(entry);
    return () => (this.due = this.due.filter((other) => other !== entry));
  }
  now(): number {
    return this.time;
  }
  async why(): Promise<string | undefined> {
    return this.reason;
  }
  pass(ms: number): void {
    this.time += ms;
    const due = this.due.filter((entry) => entry.at <= this.time);
    this.due = this.due.filter((entry) => entry.at > this.time);
    for (const entry of due) entry.call();
  }
  get wire(): FakeWire {
    return this.wires.at(-1)!;
  }
}

function memory(values: Record<string, string> = {}): Keep & { values: Record<string, string> } {
  return {
    values,
    getItem: (key) => values[key] ?? null,
    setItem: (key, value) => void (values[key] = value),
    removeItem: (key) => void delete values[key],
  };
}

const token = "fulmen.token";
let world: FakeWorld;
let states: ConnectionState[];
let keep: ReturnType<typeof memory>;

function client(secret?: string, values: Record<string, string> = {}): Client {
  keep = memory(values);
  return new Client(world, new Session(keep, secret), (state) => states.push(state));
}

/** Lets what promises do be done. */
const settled = () => new Promise((resolve) => setTimeout(resolve, 0));

beforeEach(() => {
  world = new FakeWorld();
  states = [];
});

describe("coming in", () => {
  it("turns the secret into a token, once, and shows the token from then on", () => {
    const c = client("once");
    c.start();
    world.wire.come();
    expect(world.wire.sent).toEqual([{ jsonrpc: "2.0", id: 1, method: "daemon.redeem_secret", params: { secret: "once" } }]);
    world.wire.answer({ token: "t1" });
    expect(c.state).toEqual({ is: "open" });
    expect(keep.values).toEqual({ [token]: "t1" });

    world.wire.die();
    world.pass(500);
    world.wire.come();
    expect(world.wire.sent[0]).toMatchObject({ method: "daemon.authenticate", params: { token: "t1" } });
  });

  it("says that it may not come in where there is neither", () => {
    const c = client();
    c.start();
    expect(c.state.is).toBe("denied");
    expect(world.wires).toEqual([]);
  });

  it("forgets a token that does not count, and tries no further", () => {
    const c = client(undefined, { [token]: "old" });
    c.start();
    world.wire.come();
    world.wire.refuse(5, "bad_token");
    expect(c.state.is).toBe("denied");
    expect(keep.values).toEqual({});
    world.pass(60_000);
    expect(world.wires.length).toBe(1);
  });

  it("says why a secret that is another account's lets nobody in, and tries no further", () => {
    const c = client("theirs");
    c.start();
    world.wire.come();
    world.wire.refuse(4, "other_account");
    expect(c.state).toEqual({ is: "denied", message: "No." });
    world.pass(60_000);
    expect(world.wires.length).toBe(1);
  });

  it("falls back to the tab's token where the secret was used up, as after a reload", async () => {
    const c = client("used", { [token]: "t1" });
    c.start();
    world.wire.come();
    world.wire.refuse(5, "bad_token");
    await settled();
    world.pass(500);
    world.wire.come();
    world.wire.answer();
    expect(c.state.is).toBe("open");
    expect(world.wire.sent[0]).toMatchObject({ params: { token: "t1" } });
  });
});

describe("connecting again", () => {
  it("waits longer each time, up to ten seconds, and from the start after a success", async () => {
    const c = client(undefined, { [token]: "t" });
    c.start();
    for (const pause of [500, 1000, 2000, 4000, 8000, 10_000, 10_000]) {
      const before = world.wires.length;
      world.wire.die();
      await settled();
      world.pass(pause - 1);
      expect(world.wires.length).toBe(before);
      world.pass(1);
      expect(world.wires.length).toBe(before + 1);
    }
    world.wire.come();
    world.wire.answer();
    world.wire.die();
    world.pass(500);
    world.wire.come();
    world.wire.answer();
    expect(c.state.is).toBe("open");
  });

  it("does not bother a daemon that is stopped, and says so", async () => {
    const c = client(undefined, { [token]: "t" });
    world.reason = "stopped";
    c.start();
    world.wire.die();
    await settled();
    expect(c.state).toMatchObject({ is: "lost", stopped: true });
    world.pass(29_999);
    expect(world.wires.length).toBe(1);
    world.pass(1);
    expect(world.wires.length).toBe(2);
    world.wire.come();
    world.wire.answer();
    world.wire.die();
    expect(c.state).toMatchObject({ is: "lost", stopped: false });
    world.pass(500);
    expect(world.wires.length).toBe(3);
  });

  it("tells since when it is lost, not since the last attempt", async () => {
    const c = client(undefined, { [token]: "t" });
    c.start();
    world.time = 5;
    world.wire.die();
    await settled();
    world.pass(500);
    world.wire.die();
    await settled();
    expect(c.state).toMatchObject({ is: "lost", since: 5 });
  });

  it("does not wait where somebody hurries, and connects once", async () => {
    const c = client(undefined, { [token]: "t" });
    c.start();
    world.wire.die();
    await settled();
    c.hurry();
    c.hurry();
    world.pass(10_000);
    expect(world.wires.length).toBe(2);
  });

  it("rejects what waits for an answer, and what is called meanwhile", async () => {
    const c = client(undefined, { [token]: "t" });
    c.start();
    world.wire.come();
    world.wire.answer();
    const waits = c.call("node.list", {});
    world.wire.die();
    await expect(waits).rejects.toMatchObject({ code: 6, reason: "no_daemon" });
    await expect(c.call("node.list", {})).rejects.toBeInstanceOf(Rejection);
  });
});

describe("subscriptions", () => {
  function opened(): { c: Client; log: unknown[]; stop: () => void } {
    const c = client(undefined, { [token]: "t" });
    c.start();
    world.wire.come();
    world.wire.answer();
    const log: unknown[] = [];
    const stop = c.watch("node.watch", {}, {
      begin: (result) => log.push(["begin", result.sub]),
      change: (change) => log.push(["change", change.n]),
      failed: (rejection) => log.push(["failed", rejection.reason]),
    });
    return { c, log, stop };
  }

  it("takes what follows the answer in the same turn", () => {
    const { log } = opened();
    world.wire.answer({ sub: "s1", nodes: [] });
    world.wire.say({ method: "node.changed", params: { sub: "s1", n: 1 } });
    world.wire.say({ method: "node.changed", params: { sub: "s9", n: 1 } });
    expect(log).toEqual([["begin", "s1"], ["change", 1]]);
  });

  it("begins anew at once where it lagged", () => {
    const { log } = opened();
    world.wire.answer({ sub: "s1", nodes: [] });
    world.wire.say({ method: "node.changed", params: { sub: "s1", lagged: true } });
    expect(world.wire.lastMethod).toBe("node.watch");
    world.wire.answer({ sub: "s2", nodes: [] });
    world.wire.say({ method: "node.changed", params: { sub: "s2", n: 1 } });
    expect(log).toEqual([["begin", "s1"], ["begin", "s2"], ["change", 1]]);
  });

  it("begins anew after the connection was lost", () => {
    const { log } = opened();
    world.wire.answer({ sub: "s1", nodes: [] });
    world.wire.die();
    world.pass(500);
    world.wire.come();
    world.wire.answer();
    expect(world.wire.lastMethod).toBe("node.watch");
    world.wire.answer({ sub: "s1", nodes: [] });
    expect(log).toEqual([["begin", "s1"], ["begin", "s1"]]);
  });

  it("ends at the daemon too, also where it is ended before the answer", () => {
    const { log, stop } = opened();
    const wire = world.wire;
    stop();
    wire.answer({ sub: "s1", nodes: [] });
    expect(log).toEqual([]);
    expect(wire.sent.at(-1)).toMatchObject({ method: "state.unwatch", params: { sub: "s1" } });
  });

  it("is over after the last change of a stream that has one", async () => {
    const { c } = opened();
    const log: unknown[] = [];
    c.watch("job.watch", { job: "j4k2m9xq7" }, { begin: () => log.push("begin"), change: (change) => log.push(change.terminal) });
    world.wire.answer({ sub: "s2", job: {}, ranks: [] });
    world.wire.say({ method: "job.changed", params: { sub: "s2", n: 1, terminal: true } });
    world.wire.die();
    world.pass(500);
    world.wire.come();
    world.wire.answer();
    await settled();
    expect(world.wire.sent.map((message) => message.method)).not.toContain("job.watch");
    expect(log).toEqual(["begin", true]);
  });

  it("says what cannot be followed", () => {
    const { log } = opened();
    world.wire.refuse(4, "not_your_job");
    expect(log).toEqual([["failed", "not_your_job"]]);
  });
});
