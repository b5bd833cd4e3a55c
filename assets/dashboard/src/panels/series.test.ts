import { expect, it } from "vitest";

import { Series } from "./series";

it("keeps the last points, with gaps where nothing is known", () => {
  const series = new Series(3);
  expect(series.known).toBe(false);
  series.add(1, undefined);
  series.add(2, 5);
  series.add(2, 6);
  series.add(1, 9);
  series.add(3, undefined);
  series.add(4, 7);
  expect(series.x).toEqual([2, 3, 4]);
  expect(series.y).toEqual([6, null, 7]);
  expect(series.known).toBe(true);
});
