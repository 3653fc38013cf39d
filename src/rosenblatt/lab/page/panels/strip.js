/** Training points on a line: their places along w, the threshold, and who is wrong. */

import { dot } from "../replay.js";

/** @import { Moment, Replay } from "../types.d.ts" */
/**
 * @typedef {object} Strip
 * @property {number[]} places along w, in units of distance; for a kernel, activations
 * @property {number} threshold
 * @property {boolean[]} wrong on the wrong side of the threshold, or on it
 * @property {number} middle of the axis
 * @property {number} half its width; the same for all directions of w
 */

/**
 * Return the training points projected on w, or null where w is 0.
 * @param {Replay} replay @param {Moment} moment @returns {Strip | null}
 */
export function stripOf(replay, { w, b, k }) {
  const { features, signs, kind } = replay.run;
  const activations = kind === "kernel" ? kernelActivations(replay, k) : features.map((_, i) => replay.score(i, k));
  const wrong = activations.map((a, i) => signs[i] * a <= 0);
  if (kind === "kernel") {
    if (!k) return null;
    const half = Math.max(...activations.map(Math.abs)) || 1;
    return { places: activations, threshold: 0, wrong, middle: 0, half };
  }
  const length = Math.sqrt(dot(w, w));
  if (!length) return null;
  const places = features.map((x) => dot(w, x) / length);
  const mean = w.map((_, j) => features.reduce((sum, x) => sum + x[j], 0) / features.length);
  const half = Math.max(...features.map((x) => Math.hypot(...x.map((value, j) => value - mean[j])))) || 1;
  return { places, threshold: -b / length, wrong, middle: dot(w, mean) / length, half };
}

/** Return the kernel's sum at each training point after k updates. @param {Replay} replay @param {number} k */
export function kernelActivations(replay, k) {
  const { features, signs } = replay.run;
  const counts = replay.counts(k);
  const support = features.map((_, i) => i).filter((i) => counts[i]);
  return features.map(([x, y]) => {
    let sum = 0;
    for (const i of support) sum += counts[i] * signs[i] * replay.kernel(features[i], x, y);
    return sum;
  });
}

/**
 * Return which points are wrong with the threshold at another place; a point on it is.
 * @param {number[]} places @param {number[]} signs @param {number} threshold
 */
export function wrongAt(places, signs, threshold) {
  return places.map((place, i) => signs[i] * (place - threshold) <= 0);
}

/**
 * Return the level of each of some marks, from 0, so that marks of one level are a gap apart.
 * @param {number[]} places @param {number} gap
 */
export function levels(places, gap) {
  const order = places.map((_, i) => i).sort((i, j) => places[i] - places[j]);
  /** @type {number[]} The last place of each level. */
  const last = [];
  const out = new Array(places.length).fill(0);
  for (const i of order) {
    let level = last.findIndex((place) => places[i] - place >= gap);
    if (level < 0) level = last.length;
    last[level] = places[i];
    out[i] = level;
  }
  return out;
}
