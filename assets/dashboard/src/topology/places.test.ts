import { describe, expect, it } from "vitest";

import type { Point } from "./geometry";
import { nothingKept, placesOf, settled, type Kept, type Situation } from "./places";
import { macs, pairsOf } from "./testgraph";

/** A ring in a room of a size, without the first of its cables. */
function ring(count: number, width: number, height: number, missing = 0): Situation {
  return { nodes: macs(count), joined: pairsOf("ring", macs(count)).slice(missing), room: { width, height }, node: { width: 172, height: 136 } };
}
const wide = (count: number, missing = 0) => ring(count, 1200, 500, missing);

/** A page that sees one situation after another, each for a while. */
class Page {
  kept: Kept = nothingKept;

  after(...all: Situation[]): [string, Point][] {
    const places = all.map((s) => {
      const now = placesOf(this.kept, s);
      this.kept = settled(this.kept, s, now);
      return [...now];
    });
    return places.at(-1)!;
  }
}

describe("the places", () => {
  it("follow from the cluster and the size, whatever the window was before", () => {
    const fresh = new Page().after(wide(5));
    expect(new Page().after(wide(5), ring(5, 700, 640), ring(5, 500, 900), wide(5))).toEqual(fresh);
    expect(new Page().after(ring(5, 700, 640), wide(5))).toEqual(fresh);
  });

  it("are kept while a cable is pulled, and while another Mac is there, which keeps its own", () => {
    const page = new Page();
    const five = page.after(wide(5));
    expect(page.after(wide(5, 3))).toEqual(five);
    const six = page.after(wide(6));
    expect(six.slice(0, 5)).toEqual(five);
    expect(page.after(wide(6, 6))).toEqual(six);
    expect(page.after(wide(5))).toEqual(five);
    expect(page.after(wide(6))).toEqual(six);
  });

  it("of one Mac alone are no two Macs'", () => {
    const page = new Page();
    page.after(wide(1));
    expect(page.after(wide(2))).toEqual(new Page().after(wide(2)));
  });

  it("are where somebody put them, and nobody else's change", () => {
    const page = new Page();
    const before = page.after(wide(4));
    const at = { x: 0.25, y: 0.75 };
    page.kept = { ...page.kept, moved: new Map([["mac-2", at]]) };
    expect(page.after(wide(4))).toEqual(before.map(([id, p]) => [id, id === "mac-2" ? at : p]));
  });
});
