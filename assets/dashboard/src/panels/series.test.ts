import { expect, it } from "vitest";

import { Series, span, Trend } from "./series";

it("keeps the last points, with gaps where nothing is known", () => {
  const series = new Series(3);
  series.add(1, undefined);
  series.add(2, 5);
  series.add(2, 6);
  series.add(1, 9);
  series.add(3, undefined);
  series.add(4, 7);
  expect(series.line).toEqual({ x: [2, 3, 4], y: [6, null, 7] });
});

it("keeps the last minutes of a Mac, with gaps while it is not reached", () => {
  const trend = new Trend();
  for (let at = 1; at <= span; at++) trend.add(at, { used_bytes: at }, { package_power_watts: 20 });
  trend.add(span + 1, undefined, undefined);
  expect(trend.memory.line.x).toHaveLength(span);
  expect(trend.memory.line.y.slice(-2)).toEqual([span, null]);
  expect([trend.power.line.y[0], trend.gpu.line.y[0]]).toEqual([20, null]);
});
