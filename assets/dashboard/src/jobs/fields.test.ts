import { expect, it } from "vitest";

import { duration, ports, variables } from "./fields";

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
