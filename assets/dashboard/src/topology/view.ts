/**
 * Which part of the drawing is seen: fitted, moved, or enlarged.
 *
 * @module
 */

import type { Point, Size } from "./geometry";

/** Maps the drawing to its window: a point p is shown at p * scale + (x, y). */
export interface View extends Point {
  scale: number;
}

/** How small and how large things get, against the fitted drawing. */
const smallest = 0.5;
const largest = 6;

/** The whole drawing, in the middle of its window. */
export function fitted(world: Size, window: Size): View {
  const scale = Math.min(window.width / Math.max(1, world.width), window.height / Math.max(1, world.height));
  return {
    scale,
    x: (window.width - world.width * scale) / 2,
    y: (window.height - world.height * scale) / 2,
  };
}

/** A view enlarged by a factor, so that what is at a point of the window stays there. */
export function zoomed(view: View, at: Point, factor: number, world: Size, window: Size): View {
  const fit = fitted(world, window).scale;
  const scale = Math.min(fit * largest, Math.max(fit * smallest, view.scale * factor));
  const by = scale / view.scale;
  return held({ scale, x: at.x - (at.x - view.x) * by, y: at.y - (at.y - view.y) * by }, world, window);
}

/** A view moved by some units of the window. */
export function moved(view: View, by: Point, world: Size, window: Size): View {
  return held({ ...view, x: view.x + by.x, y: view.y + by.y }, world, window);
}

/** A view from which the drawing is not lost: its middle stays in the window, and what fits stays whole. */
function held(view: View, world: Size, window: Size): View {
  const hold = (at: number, length: number, room: number): number => {
    const size = length * view.scale;
    return size <= room ? Math.min(room - size, Math.max(0, at)) : Math.min(room / 2, Math.max(room / 2 - size, at));
  };
  return {
    scale: view.scale,
    x: hold(view.x, world.width, window.width),
    y: hold(view.y, world.height, window.height),
  };
}

/** The point of the drawing that is shown at a point of the window. */
export function toWorld(view: View, at: Point): Point {
  return { x: (at.x - view.x) / view.scale, y: (at.y - view.y) / view.scale };
}
