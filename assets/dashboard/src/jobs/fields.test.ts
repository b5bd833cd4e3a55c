import { expect, it, vi } from "vitest";

import { duration, mostRanks, ports, variables } from "./fields";

it.each<[string, Record<string, string> | undefined]>([
  ["", {}],
  ["A=1\n\n B_2=x y=z \nEMPTY=", { A: "1", B_2: "x y=z ", EMPTY: "" }],
  ["A", undefined],
  ["1A=x", undefined],
  ["A B=x", undefined],
])("variables %j", (text, want) => expect(variables(text)).toEqual(want));

it.each<[string, object[] | undefined]>([
  [" ", []],
  ["8080, lan:8000", [{ port: 8080 }, { port: 8000, lan: true }]],
  ["0", undefined],
  ["65536", undefined],
  ["wan:80", undefined],
])("ports %j", (text, want) => expect(ports(text)).toEqual(want));

it.each<[string, number | null | undefined]>([
  ["", null],
  ["90", 90],
  ["90s", 90],
  ["1h30m", 5400],
  ["0.5m", 30],
  ["0s", 0],
  ["1d", undefined],
  ["-1s", undefined],
  ["m", undefined],
])("a length of time %j", (text, want) => expect(duration(text)).toBe(want));

it.each<[number, number[], number]>([
  [4, [2, 4], 4],
  [4, [2, 3], 3],
  [4, [], 1],
  [1, [1], 1],
  [0, [], 1],
])("of %d Macs, of which sets of %j have a place, one job can use %d", async (there, places, want) => {
  expect(await mostRanks(there, async (ranks) => places.includes(ranks))).toBe(want);
});

it("asks for more Macs than it says only where they hold something together", async () => {
  vi.stubGlobal("$state", <T>(value: T) => value); // as it is before Svelte compiles it
  const { Draft } = await import("./draft.svelte");
  const draft = new Draft();
  expect(draft.placement().ranks).toBe(1); // until it is known how many one job can use
  Object.assign(draft, { ranks: 3, minimum: true, memoryGB: 8 });
  expect(draft.placement()).toMatchObject({ ranks: 3, memory_bytes: 2 ** 33 });
  draft.shares = true;
  expect(draft.placement()).toMatchObject({ min_nodes: 3, per_node: "memory" });
  expect(draft.placement().ranks).toBeUndefined();
});
