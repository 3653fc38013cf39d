/** Marks on the plane: rings, crosses and hulls. */

import { hull } from "./geometry.js";
import { colors } from "./theme.js";

/** @import { Frame, Look, Picture, XY } from "./types.d.ts" */

/**
 * Draw a ring around a point.
 * @param {Picture} picture @param {Frame} frame @param {{0: number, 1: number} | undefined} point @param {string} [stroke]
 */
export function drawRing(picture, frame, point, stroke = colors().ink) {
  if (!point) return;
  const [x, y] = frame.pixel([point[0], point[1]]);
  picture.circle(x, y, 12, { stroke, width: 2 });
}

/**
 * Draw a cross in the accent at a point, and words beside it.
 * @param {Picture} picture @param {Frame} frame @param {{0: number, 1: number}} point @param {string} words
 */
export function drawCross(picture, frame, point, words) {
  const [x, y] = frame.pixel([point[0], point[1]]);
  const { accent, surface } = colors();
  for (const look of [{ stroke: surface, width: 6 }, { stroke: accent, width: 3 }]) {
    picture.line(x - 7, y - 7, x + 7, y + 7, look);
    picture.line(x - 7, y + 7, x + 7, y - 7, look);
  }
  picture.label([x, y], words, { fill: accent });
}

/**
 * Draw the hull of points: a polygon, a segment or nothing.
 * @param {Picture} picture @param {Frame} frame @param {{0: number, 1: number}[]} points @param {Look} look
 */
export function drawHull(picture, frame, points, look) {
  const around = hull(points.map((point) => /** @type {XY} */ ([point[0], point[1]])));
  picture.path(around.map((point) => frame.pixel(point)), look, around.length > 2);
}

/**
 * Draw the hulls of two groups with a point in common: lines about both, and the cross.
 * @param {Picture} picture @param {Frame} frame @param {{0: number, 1: number}[][]} groups
 * @param {{0: number, 1: number}} common @param {string} words
 */
export function drawCrossing(picture, frame, groups, common, words) {
  for (const group of groups) {
    drawHull(picture, frame, group, { stroke: colors().ink, width: 2 });
    for (const point of group) drawRing(picture, frame, point);
  }
  drawCross(picture, frame, common, words);
}
