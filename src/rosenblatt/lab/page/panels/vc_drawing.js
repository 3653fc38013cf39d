/** What the VC game draws on the plane: the shape that cuts the blue points, or why none does. */

import { drawEdge } from "../boundary.js";
import { clip, corners } from "../geometry.js";
import { drawCrossing, drawRing } from "../marks.js";
import { colors } from "../theme.js";

/** @import { Frame, Look, Picture, XY } from "../types.d.ts" */
/** @typedef {{0: number, 1: number}} Place */
/**
 * @typedef {{cut: boolean, shape?: any, text?: string, inside?: number[], outside?: number[], point?: XY | null,
 *   heights?: [number, number]}} Answer
 */

/**
 * Draw the answer about a labelling of these places.
 * @param {Picture} picture @param {Frame} frame @param {Answer} answer @param {Place[]} places
 */
export function drawAnswer(picture, frame, answer, places) {
  if (answer.cut) {
    drawShape(picture, frame, answer.shape);
    return;
  }
  /** @param {number[] | undefined} numbers */
  const of = (numbers) => (numbers ?? []).map((i) => places[i]).filter((place) => place !== undefined);
  const [inside, outside] = [of(answer.inside), of(answer.outside)];
  if (answer.point) {
    drawCrossing(picture, frame, [inside, outside], answer.point, answer.heights ? "a mix of both" : "in both hulls");
    return;
  }
  const [xs, ys] = [inside.map((place) => place[0]), inside.map((place) => place[1])];
  const low = [Math.min(...xs), Math.min(...ys)];
  drawBox(picture, frame, low, [Math.max(...xs), Math.max(...ys)], { stroke: colors().ink, width: 2, dash: [4, 4] });
  for (const place of outside) drawRing(picture, frame, place, colors().accent);
}

/** @param {Picture} picture @param {Frame} frame @param {any} shape */
function drawShape(picture, frame, shape) {
  const { accent } = colors();
  const edge = { stroke: accent, width: 2 };
  if (shape.kind === "line") {
    const [w1, w2] = shape.w;
    const side = clip(corners(frame.box), w1, w2, shape.b);
    picture.path(side.map((point) => frame.pixel(point)), { fill: accent, alpha: 0.08 }, true);
    drawEdge(picture, frame, w1, w2, shape.b, edge);
  } else if (shape.kind === "disc") {
    const [x, y] = frame.pixel(shape.center);
    picture.circle(x, y, shape.radius * frame.scale, { fill: accent, alpha: 0.08 });
    picture.circle(x, y, shape.radius * frame.scale, edge);
  } else if (shape.kind === "box") {
    drawBox(picture, frame, shape.low, shape.high, { fill: accent, alpha: 0.08 });
    drawBox(picture, frame, shape.low, shape.high, edge);
  }
}

/** @param {Picture} picture @param {Frame} frame @param {number[]} low @param {number[]} high @param {Look} look */
function drawBox(picture, frame, low, high, look) {
  picture.path(corners([low[0], low[1], high[0], high[1]]).map((corner) => frame.pixel(corner)), look, true);
}
