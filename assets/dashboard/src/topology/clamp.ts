/**
 * Where a card stands beside what it is about, wholly in the window.
 *
 * @module
 */

import type { Point, Size } from "./geometry";

/** The air between a card and the window's rim, and between a card and what it is about. */
export const cardRim = 8;
const away = 14;

/**
 * The top left corner of a card of a size, below a point or, where there is more
 * room, above it. A card larger than the window begins at its corner: it has to
 * scroll inside.
 */
export function cardAt(about: Point, card: Size, window: Size): Point {
  const hold = (at: number, length: number, room: number): number =>
    Math.max(cardRim, Math.min(at, room - length - cardRim));
  const below = window.height - about.y - away - cardRim;
  const above = about.y - away - cardRim;
  const y = card.height <= below || below >= above ? about.y + away : about.y - away - card.height;
  return {
    x: hold(about.x - card.width / 2, card.width, window.width),
    y: hold(y, card.height, window.height),
  };
}
