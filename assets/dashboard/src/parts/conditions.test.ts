import { expect, it } from "vitest";

import type * as api from "../api/types";
import { shown } from "./conditions";

const condition = (node: string, more: Partial<api.NodeCondition>): api.NodeCondition => ({ node, code: "link_below_ports", severity: "warning", text: "a:5 to b:5 is slow.", since: "", ...more });

it("says once what both ends of a cable say", () => {
  const found = shown([condition("a", { subject: "a:5" }), condition("b", { subject: "b:5" }), condition("c", { subject: "c:1", text: "c:1 to d:1 is slow." })]);
  expect(found.map((c) => c.nodes)).toEqual([["a", "b"], ["c"]]);
});

it("keeps apart what nodes say of themselves", () => {
  expect(shown([condition("a", { code: "low_power_mode" }), condition("b", { code: "low_power_mode" })]).length).toBe(2);
});

it("leaves out what is muted, and what another condition of the same subject explains", () => {
  const found = shown([
    condition("a", { subject: "a:1", muted: true }),
    condition("a", { subject: "a:2", code: "link_flapping", text: "It flaps." }),
    condition("a", { subject: "a:2", depends_on: ["link_flapping"] }),
    condition("a", { subject: "a:3", depends_on: ["link_flapping"] }),
  ]);
  expect(found.map((c) => [c.subject, c.code])).toEqual([["a:2", "link_flapping"], ["a:3", "link_below_ports"]]);
});
