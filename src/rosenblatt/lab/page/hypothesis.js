/** What predicts at a moment, and the training points that it has wrong. */

import { sideOf } from "./engine/exact.js";
import { kernelActivations } from "./panels/strip.js";

/** @import { Moment, Replay, Scene, Weights } from "./types.d.ts" */

/** Return a share of a way that begins and ends slowly. @param {number} share */
export const eased = (share) => share * share * (3 - 2 * share);

/**
 * Return what predicts at a moment: the weights, on their way while an update is drawn, or the sum of a vote or kernel.
 * @param {Scene} scene @returns {Weights | "sum"}
 */
export function predicting({ state, run, replay, moment, beat }) {
  if (!moment || !replay || run?.kind === "kernel" || state.learner === "voted") return "sum";
  if (state.learner === "averaged") return moment.average;
  if (state.learner === "pocket") return replay.pocket(moment.t) ?? moment;
  if (beat === null || !moment.updated) return moment;
  const share = eased(Math.max(0, beat - 2));
  const { before } = moment;
  return {
    w: moment.w.map((value, i) => before.w[i] + share * (value - before.w[i])),
    b: before.b + share * (moment.b - before.b),
  };
}

/** The places that were wrong at the moment asked for last, of each run. @type {WeakMap<Replay, {key: string, wrong: boolean[]}>} */
const known = new WeakMap();

/**
 * Return for each training point whether it is wrong: y a <= 0 by what predicts after the last visit, or by the line of
 * one's own.
 * @param {Scene} scene @param {boolean} [own]
 */
export function wrongPoints(scene, own = false) {
  const { state, replay, moment } = scene;
  if (!replay || !moment) return [];
  if (own) {
    const [w1, w2, b] = state.own;
    return replay.run.rows.map((row, place) => replay.run.signs[place] * sideOf([w1, w2], state.points[row].slice(0, 2).map(Number), b) <= 0);
  }
  const key = `${state.learner} ${moment.t}`;
  const found = known.get(replay);
  if (found?.key === key) return found.wrong;
  const sides = sidesOf(replay, moment, predicting({ ...scene, beat: null }));
  const wrong = sides.map((side, i) => replay.run.signs[i] * side <= 0);
  known.set(replay, { key, wrong });
  return wrong;
}

/** Return for each training point a number with the sign of its prediction. @param {Replay} replay @param {Moment} moment @param {Weights | "sum"} shown */
function sidesOf(replay, moment, shown) {
  const { features, kind } = replay.run;
  if (shown !== "sum") return features.map((x) => sideOf(shown.w, x, shown.b));
  return kind === "kernel" ? kernelActivations(replay, moment.k) : features.map((x) => votes(replay, moment, x));
}

/** Return the votes for 1 less those for -1: each weights have as many as the visits they survived. @param {Replay} replay @param {Moment} moment @param {number[]} x */
function votes({ weights, updates }, { k, survived }, x) {
  let sum = 0;
  for (let j = 1; j <= k; j++) {
    sum += (j === k ? survived : updates[j] - updates[j - 1]) * sideOf(weights[j].w, x, weights[j].b);
  }
  return sum;
}
