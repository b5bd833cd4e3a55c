import { describe, expect, it } from "vitest";

import { openingOf, pathOf, routeOf, type Route } from "./route";

const link = "0123456789abcdef:1~fedcba9876543210:3";

describe("the page's address", () => {
  it.each<[string, Route]>([
    ["/", { page: "cluster" }],
    ["/node/0123456789abcdef", { page: "node", id: "0123456789abcdef" }],
    [`/link/${link}`, { page: "link", id: link }],
    ["/job/j4k2m9xq7", { page: "job", id: "j4k2m9xq7" }],
    ["/run", { page: "run" }],
    ["/models", { page: "models" }],
    ["/instances", { page: "instances" }],
    ["/conditions", { page: "conditions" }],
    ["/sharing", { page: "settings", section: "sharing" }],
    ["/pairing", { page: "pairing" }],
  ])("%s is read and written", (path, route) => {
    expect(routeOf(path)).toEqual(route);
    expect(pathOf(route)).toBe(path);
  });

  it("keeps the id of a cable with a stranger at its end", () => {
    const route: Route = { page: "link", id: "0123456789abcdef:1?Ada's Mac / 100 %" };
    expect(routeOf(pathOf(route))).toEqual(route);
  });

  it.each(["/nowhere", "/node", "/node/", "x", "", "/node/%", "//"])("%s is the cluster", (path) => {
    expect(routeOf(path)).toEqual({ page: "cluster" });
  });

  it("takes the secret and the page of the menu", () => {
    expect(openingOf("#secret=s3cret")).toEqual({ secret: "s3cret", route: { page: "cluster" } });
    expect(openingOf(`#secret=s3cret&page=/link/${link}`)).toEqual({ secret: "s3cret", route: { page: "link", id: link } });
    expect(openingOf("#secret=")).toEqual({ route: { page: "cluster" } });
    expect(openingOf("#/jobs")).toEqual({ route: { page: "jobs" } });
    expect(openingOf("")).toEqual({ route: { page: "cluster" } });
  });
});
