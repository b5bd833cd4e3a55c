import { describe, expect, it } from "vitest";

import type { Silhouette } from "../model";
import { cardAt, cardRim } from "./clamp";
import { densityOf } from "./density";
import { distance, part, pointAt, touches } from "./geometry";
import { arrowOf, nearest, nextOf } from "./roving";
import { placeOf, placed } from "./scene";
import { fillOf, shapeNameOf, shapeNames, shapeOf } from "./silhouettes";
import { shorten, textWidth } from "./textwidth";
import { fitted, moved, toWorld, zoomed } from "./view";

describe("cardAt", () => {
  const window = { width: 390, height: 700 };
  it.each([
    [{ x: 0, y: 0 }, { width: 300, height: 200 }],
    [{ x: 390, y: 700 }, { width: 300, height: 200 }],
    [{ x: 200, y: 350 }, { width: 374, height: 684 }],
    [{ x: 380, y: 20 }, { width: 100, height: 600 }],
    [{ x: 10, y: 690 }, { width: 374, height: 100 }],
  ])("keeps a card at %j of %j in the window", (about, card) => {
    const at = cardAt(about, card, window);
    expect(at.x).toBeGreaterThanOrEqual(cardRim);
    expect(at.y).toBeGreaterThanOrEqual(cardRim);
    expect(at.x + card.width).toBeLessThanOrEqual(window.width - cardRim);
    expect(at.y + card.height).toBeLessThanOrEqual(window.height - cardRim);
  });
  it("begins in the corner where the card is too large", () => {
    expect(cardAt({ x: 200, y: 300 }, { width: 900, height: 900 }, window)).toEqual({ x: cardRim, y: cardRim });
  });
  it("does not cover what it is about where there is room", () => {
    expect(cardAt({ x: 200, y: 100 }, { width: 100, height: 100 }, window).y).toBeGreaterThan(100);
    expect(cardAt({ x: 200, y: 650 }, { width: 100, height: 100 }, window).y + 100).toBeLessThan(650);
  });
});

describe("curves", () => {
  const bent = { from: { x: 0, y: 0 }, control: { x: 50, y: 80 }, to: { x: 100, y: 0 } };
  it("have parts that lie on them", () => {
    const p = part(bent, 0.2, 0.7);
    for (const [t, whole] of [[0, 0.2], [0.5, 0.45], [1, 0.7]] as const) {
      expect(distance(pointAt(p, t), pointAt(bent, whole))).toBeLessThan(1e-9);
    }
  });
  it("touch boxes that they pass through", () => {
    const box = { x: 5, y: 5, width: 2, height: 2 };
    expect(touches({ x: 0, y: 0 }, { x: 10, y: 10 }, box)).toBe(true);
    expect(touches({ x: 0, y: 0 }, { x: 3, y: 3 }, box)).toBe(false);
    expect(touches({ x: 0, y: 8 }, { x: 10, y: 8 }, box)).toBe(false);
    expect(touches({ x: 0, y: 8 }, { x: 10, y: 8 }, box, 3)).toBe(true);
    expect(touches({ x: 5, y: 0 }, { x: 5, y: 10 }, box)).toBe(true);
  });
});

describe("keys", () => {
  const at = new Map([["a", { x: 0, y: 0 }], ["b", { x: 100, y: 10 }], ["c", { x: 100, y: 90 }], ["d", { x: 0, y: 100 }]]);
  it.each([["a", "ArrowRight", "b"], ["a", "ArrowDown", "d"], ["d", "ArrowRight", "c"], ["c", "ArrowUp", "b"], ["a", "ArrowLeft", undefined]])(
    "lead from %s by %s to %s", (from, key, to) => {
      expect(nearest(from, at, arrowOf(key)!)).toBe(to);
    },
  );
  it("go round a list", () => {
    expect(nextOf(["a", "b", "c"], "c", "ArrowRight")).toBe("a");
    expect(nextOf(["a", "b", "c"], "a", "ArrowUp")).toBe("c");
    expect(nextOf(["a", "b", "c"], "b", "Home")).toBe("a");
    expect(nextOf(["a", "b", "c"], "b", "End")).toBe("c");
    expect(nextOf(["a", "b"], "b", "x")).toBeUndefined();
    expect(nextOf([], "", "ArrowDown")).toBeUndefined();
  });
});

describe("places", () => {
  it("are the same way back", () => {
    const world = { width: 1000, height: 700 };
    const density = densityOf(4, world);
    for (const p of [{ x: 0, y: 0 }, { x: 1, y: 1 }, { x: 0.3, y: 0.8 }]) {
      expect(distance(placeOf(placed(p, world, density), world, density), p)).toBeLessThan(1e-9);
    }
    expect(placeOf({ x: -50, y: 9000 }, world, density)).toEqual({ x: 0, y: 1 });
  });
});

describe("shapes", () => {
  it("fill from below", () => {
    for (const name of shapeNames) {
      const shape = shapeOf(name);
      expect(fillOf(shape, 0).height).toBe(0);
      expect(fillOf(shape, 1)).toEqual({ y: shape.top, height: shape.bottom - shape.top });
      expect(fillOf(shape, 0.5).y).toBeCloseTo((shape.top + shape.bottom) / 2, 0);
      expect(fillOf(shape, 7)).toEqual(fillOf(shape, 1));
    }
  });
  it("are all different, and any word has one", () => {
    expect(new Set(shapeNames.map((n) => shapeOf(n).tank + shapeOf(n).case)).size).toBe(shapeNames.length);
    expect(shapeNameOf("laptop", "MacBook Air")).toBe("air");
    expect(shapeNameOf("laptop", "MacBook Pro")).toBe("laptop");
    expect(shapeNameOf("toString" as Silhouette, undefined)).toBe("generic");
  });
});

describe("texts", () => {
  it("fit the width they are given", () => {
    const name = "A rather long name of a Mac in the attic";
    const short = shorten(name, 100, 12);
    expect(textWidth(short, 12)).toBeLessThanOrEqual(100);
    expect(short.endsWith("…")).toBe(true);
    expect(shorten("Mac", 100, 12)).toBe("Mac");
  });
});

describe("the view", () => {
  const world = { width: 1000, height: 600 };
  const window = { width: 500, height: 500 };
  it("fits all, in the middle", () => {
    expect(fitted(world, window)).toEqual({ scale: 0.5, x: 0, y: 100 });
  });
  it("keeps what is under the pointer", () => {
    const view = zoomed(zoomed(fitted(world, window), { x: 200, y: 250 }, 3, world, window), { x: 200, y: 250 }, 1.1, world, window);
    expect(view.scale).toBeCloseTo(1.65);
    expect(toWorld(view, { x: 200, y: 250 }).x).toBeCloseTo(400);
    expect(toWorld(view, { x: 200, y: 250 }).y).toBeCloseTo(300);
  });
  it("does not lose the drawing", () => {
    const far = moved(zoomed(fitted(world, window), { x: 0, y: 0 }, 4, world, window), { x: 1e6, y: -1e6 }, world, window);
    const middle = toWorld(far, { x: 250, y: 250 });
    expect(middle.x).toBeGreaterThanOrEqual(0);
    expect(middle.y).toBeLessThanOrEqual(world.height);
    expect(zoomed(far, { x: 0, y: 0 }, 1e9, world, window).scale).toBe(3);
  });
});
