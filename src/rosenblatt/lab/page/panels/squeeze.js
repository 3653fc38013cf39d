/**
 * The proof of the bound in numbers, after each update: k γ ≤ w·u ≤ ‖w‖ ≤ √k R, in the space that is trained in.
 *
 * Where points that are right by up to a margin make updates, Q takes the place of R: Q² = R² + 2 margin. Where steps
 * differ in size, only w·u ≤ ‖w‖ is left.
 */

import { dot } from "../replay.js";

/** @import { Replay } from "../types.d.ts" */
/**
 * @typedef {object} Squeeze
 * @property {number} K updates of the whole run
 * @property {number} R the length of the longest example as the learner sees it
 * @property {number} longest its place
 * @property {number | null} gamma
 * @property {number | null} least what an update adds to w·u at least: γ, null where steps differ
 * @property {number | null} most the root of what it adds to ‖w‖² at most: R or Q, null where steps differ
 * @property {string} root its name, R or Q
 * @property {number | null} bound
 * @property {number[]} length ‖w‖ after each update, the bias included
 * @property {number[] | null} along w·u, where u is known
 */

/** @type {WeakMap<Replay, Squeeze>} */
const known = new WeakMap();

/** Return the proof's numbers for a run; they are worked out once. @param {Replay} replay @returns {Squeeze} */
export function squeezeOf(replay) {
  let made = known.get(replay);
  if (!made) known.set(replay, (made = squeeze(replay)));
  return made;
}

/** @param {Replay} replay @returns {Squeeze} */
function squeeze(replay) {
  const { gamma, bound, w: u, b: ub, R: radius } = replay.run.theory.bound;
  const squares = replay.run.features.map((x) => squaredLength(replay, x));
  const longest = squares.reduce((best, square, i) => (square > squares[best] ? i : best), 0);
  const length = replay.run.kind === "kernel" ? kernelLengths(replay) : linearLengths(replay);
  const along = u ? replay.weights.map(({ w, b }) => dot(w, u) + b * (ub ?? 0)) : null;
  const R = radius ?? Math.sqrt(squares[longest]);
  const rule = replay.run.rule;
  const unit = !rule || rule.kind === "margin";
  const most = unit ? (rule ? Math.sqrt(R * R + 2 * rule.threshold) : R) : null;
  const [least, root] = [unit ? gamma : null, rule ? "Q" : "R"];
  return { K: replay.updates.length, R, longest, gamma, least, most, root, bound, length, along };
}

/** @param {Replay} replay @param {number[]} x */
function squaredLength(replay, x) {
  if (replay.run.kind === "kernel") return replay.kernel(x, x[0], x[1]);
  return dot(x, x) + (replay.bias ? 1 : 0);
}

/** @param {Replay} replay */
function linearLengths(replay) {
  return replay.weights.map(({ w, b }) => Math.sqrt(dot(w, w) + b * b));
}

/** Lengths in the kernel's space: ‖w + y φ‖² = ‖w‖² + 2 y a + K(x, x). @param {Replay} replay */
function kernelLengths(replay) {
  const { visits, updates, features, signs } = replay.run;
  /** @type {Map<number, number>} */
  const counts = new Map();
  let square = 0;
  const out = [0];
  for (const visit of updates) {
    const place = visits[visit];
    const x = features[place];
    let activation = 0;
    for (const [i, count] of counts) activation += count * signs[i] * replay.kernel(features[i], x[0], x[1]);
    square += 2 * signs[place] * activation + squaredLength(replay, x);
    counts.set(place, (counts.get(place) ?? 0) + 1);
    out.push(Math.sqrt(Math.max(0, square)));
  }
  return out;
}

/**
 * Return the links of the proof's chain after k updates, smallest first; links that are not known are left out.
 * @param {Squeeze} squeeze @param {number} k @returns {{name: string, value: number}[]}
 */
export function chain({ least, along, length, most, root }, k) {
  return [
    { name: "k γ", value: least === null ? null : k * least },
    { name: "**w** · **u**", value: along ? along[k] : null },
    { name: "‖**w**‖", value: length[k] },
    { name: `√k ${root}`, value: most === null ? null : Math.sqrt(k) * most },
  ].filter((link) => link.value !== null).map(({ name, value }) => ({ name, value: Number(value) }));
}

/** Return whether u ≤ v but for rounding. @param {number} u @param {number} v */
export function atMost(u, v) {
  return u <= v + 1e-9 * Math.max(1, Math.abs(u), Math.abs(v));
}
