import { expect, it } from "vitest";

import type * as api from "../api/types";
import { shown } from "./conditions";

const condition = (node: string, more: Partial<api.NodeCondition>): api.NodeCondition => ({ node, code: "link_below_ports", severity: "warning", text: "a:5 to b:5 is slow.", since: "", ...more });

it("tells what a person muted from the rest, each with all who say it", () => {
  const all = [condition("a", { others: ["b"] }), condition("c", { muted: true })];
  expect(shown(all).map((c) => c.nodes)).toEqual([["a", "b"]]);
  expect(shown(all, true).map((c) => c.nodes)).toEqual([["c"]]);
});
