import { describe, expect, it } from "vitest";

import { cable, drawnOf, network } from "./testgraph";
import { visibleOf } from "./visible";

const ids = (links: Parameters<typeof drawnOf>[0], networks = false): string[] =>
  visibleOf(drawnOf(links), networks).drawn.map((d) => d.link.id);

describe("visibleOf", () => {
  const triangle = [cable("a", "b"), cable("b", "c"), network("a", "b", "wifi"), network("b", "c", "wifi"), network("a", "c", "wifi")];

  it("hides the network of Macs that cables join", () => {
    expect(ids(triangle)).toEqual(["a:1~b:1", "b:1~c:1"]);
    expect(visibleOf(drawnOf(triangle), false).hidden).toBe(3);
  });

  it("shows all when asked", () => {
    expect(ids(triangle, true)).toHaveLength(5);
    expect(visibleOf(drawnOf(triangle), true).hidden).toBe(0);
  });

  it("shows how a Mac without a cable is reached, once a pair, by the best", () => {
    const links = [cable("a", "b"), network("a", "d", "wifi"), network("a", "d", "ethernet"), network("b", "d", "vpn")];
    expect(ids(links)).toEqual(["a:1~b:1", "a~d/ethernet", "b~d/vpn"]);
  });

  it("prefers a network that carries something", () => {
    expect(ids([network("a", "b", "ethernet", { verdict: "down" }), network("a", "b", "wifi")])).toEqual(["a~b/wifi"]);
  });

  it("shows the network where there is no cable at all", () => {
    expect(ids([network("a", "b", "wifi"), network("b", "c", "wifi")])).toHaveLength(2);
  });

  it("counts no cable to a stranger as a way into the cluster", () => {
    const stranger = cable("a", "", { id: "a:2?Book", peerName: "Book" });
    delete stranger.b;
    expect(ids([stranger, network("a", "b", "wifi")])).toEqual(["a:2?Book", "a~b/wifi"]);
  });
});
