/** The weight space, seen on a slice of two weights: each training point allows half of it. */

import { clip, corners } from "../geometry.js";

/** @import { Replay, Weights, XY } from "../types.d.ts" */
/** @typedef {[number, number, number]} HalfPlane u1 w1 + u2 w2 + c > 0, as [u1, u2, c] */

/** Return the names of all weights, the bias last. @param {Replay} replay */
export function weightNames(replay) {
  return [...replay.run.names, ...(replay.bias ? ["b"] : [])];
}

/** Return all weights as one list, the bias last. @param {Replay} replay @param {Weights} weights */
export function weightList(replay, { w, b }) {
  return replay.bias ? [...w, b] : w;
}

/**
 * Return what each training point asks of the first two weights where the others stay as they are.
 * @param {Replay} replay @param {Weights} weights @returns {HalfPlane[]}
 */
export function constraints(replay, weights) {
  const list = weightList(replay, weights);
  return replay.run.features.map((features, place) => {
    const x = replay.bias ? [...features, 1] : features;
    const y = replay.run.signs[place];
    let rest = 0;
    for (let j = 2; j < x.length; j++) rest += list[j] * x[j];
    return [y * x[0], y * x[1], y * rest];
  });
}

/**
 * Return the part of a box in which all constraints hold, or on whose rim they just fail; [] where there is none.
 * @param {HalfPlane[]} halfPlanes @param {[number, number, number, number]} box @returns {XY[]}
 */
export function solutions(halfPlanes, box) {
  let polygon = corners(box);
  for (const [u1, u2, c] of halfPlanes) {
    if (u1 === 0 && u2 === 0 && c <= 0) return [];
    polygon = clip(polygon, u1, u2, c);
    if (polygon.length < 3) return [];
  }
  return area(polygon) > 1e-9 * (box[2] - box[0]) ** 2 ? polygon : [];
}

/** @param {XY[]} polygon */
function area(polygon) {
  let twice = 0;
  polygon.forEach(([x, y], i) => {
    const [u, v] = polygon[(i + 1) % polygon.length];
    twice += x * v - u * y;
  });
  return Math.abs(twice) / 2;
}

/**
 * Return the middle and half the height of the view that has the whole walk of two weights in sight, and 0.
 * @param {XY[]} walk @returns {{middle: XY, half: number}}
 */
export function viewOf(walk) {
  let [left, bottom, right, top] = [0, 0, 0, 0];
  for (const [x, y] of walk) {
    [left, right] = [Math.min(left, x), Math.max(right, x)];
    [bottom, top] = [Math.min(bottom, y), Math.max(top, y)];
  }
  return { middle: [(left + right) / 2, (bottom + top) / 2], half: 0.62 * Math.max(right - left, top - bottom) || 1 };
}
