/** The certificate of a verdict, drawn on the plane. */

import { drawEdge } from "../boundary.js";
import { circleOfPlane, clip, corners } from "../geometry.js";
import { drawCross, drawCrossing, drawHull, drawRing } from "../marks.js";
import { colors } from "../theme.js";

/** @import { Frame, Picture, Point, Run } from "../types.d.ts" */

/**
 * Draw what proves the verdict: the line or circle of largest margin, or the two hulls with their common point.
 * @param {Picture} picture @param {Frame} frame @param {Run} run @param {Point[]} points
 */
export function drawVerdict(picture, frame, { names, rows, theory: { verdict } }, points) {
  const flat = names.join() === "x,y";
  const support = verdict.support.map((i) => points[i]).filter((point) => point !== undefined);
  const groups = [1, -1].map((sign) => support.filter((point) => point[2] === sign));
  if (verdict.kind === "inseparable" && flat && verdict.common) {
    const trained = rows.map((i) => points[i]).filter((point) => point !== undefined);
    for (const sign of [1, -1]) drawClassHull(picture, frame, trained.filter((point) => point[2] === sign));
    drawCrossing(picture, frame, groups, [verdict.common[0], verdict.common[1]], "in both hulls");
    return;
  }
  if (verdict.kind === "inseparable" && flat) drawMirrored(picture, frame, support);
  const { kind, w, b, margin } = verdict;
  if (kind === "separable" && w && flat) drawBand(picture, frame, w, b ?? 0, margin ?? 0);
  const circle = kind === "separable" && w && names.join() === "x,y,r2" ? circleOfPlane(w, b ?? 0) : null;
  if (circle) {
    const [x, y] = frame.pixel(circle.center);
    picture.circle(x, y, circle.radius * frame.scale, { stroke: colors().ink, width: 1.5, dash: [8, 4] });
  }
  for (const point of support) drawRing(picture, frame, point);
}

/** @param {Picture} picture @param {Frame} frame @param {Point[]} points */
function drawClassHull(picture, frame, points) {
  drawHull(picture, frame, points, { fill: colors().quiet, alpha: 0.12 });
  drawHull(picture, frame, points, { stroke: colors().quiet, width: 1 });
}

/**
 * Draw points of support with the orange ones mirrored in the origin: their hull holds the origin.
 * @param {Picture} picture @param {Frame} frame @param {Point[]} support
 */
function drawMirrored(picture, frame, support) {
  const mirrored = support.map((point) => ({ 0: point[2] * point[0], 1: point[2] * point[1] }));
  drawClassHull(picture, frame, /** @type {any} */ (mirrored));
  support.forEach((point, i) => {
    if (point[2] > 0) return;
    const [x, y] = frame.pixel([mirrored[i][0], mirrored[i][1]]);
    picture.path([frame.pixel([point[0], point[1]]), [x, y]], { stroke: colors().quiet, width: 1, dash: [2, 3] });
    picture.mark(x, y, -1, 5, true);
  });
  drawCross(picture, frame, [0, 0], "the origin");
}

/**
 * Draw a line and the band of its margin.
 * @param {Picture} picture @param {Frame} frame @param {number[]} w @param {number} b @param {number} margin
 */
function drawBand(picture, frame, [w1, w2], b, margin) {
  const { ink, quiet } = colors();
  const length = Math.hypot(w1, w2);
  const shift = margin * length;
  const band = clip(clip(corners(frame.box), w1, w2, b + shift), -w1, -w2, shift - b);
  picture.path(band.map((point) => frame.pixel(point)), { fill: quiet, alpha: 0.12 }, true);
  const lines = [{ by: 0, look: { stroke: ink, width: 1.5, dash: [8, 4] } }];
  for (const by of [shift, -shift]) lines.push({ by, look: { stroke: quiet, width: 1, dash: [4, 4] } });
  for (const { by, look } of lines) drawEdge(picture, frame, w1, w2, b + by, look);
}
