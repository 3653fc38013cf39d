/** Training and test errors by pass: of the last weights, of their average and, for perceptrons, of their vote. */

import { sideOf } from "./exact.js";
import { Kernel, Sum } from "./kernels.js";
import { BY_MARGIN, examplesOf, train, waiting } from "./learners.js";

/** @import { State, Weights } from "../types.d.ts" */
/** @import { Made } from "./learners.js" */
/** The sides of the points, after each scored pass, by hypothesis. @typedef {Record<string, number[][]>} Sides */

const MOST_PASSES = 60; // that are scored; the first and the last are always among them

/** Return the share of points that are wrong after each pass. A point on the boundary is. @param {State} state */
export function errors(state) {
  const hypotheses = BY_MARGIN.includes(state.learner) ? ["last", "average"] : ["last", "average", "vote"];
  const series = (/** @type {(hypothesis: string) => number[]} */ of) => Object.fromEntries(hypotheses.map((name) => [name, of(name)]));
  const why = whyNot(state);
  if (why) return { passes: [], train: series(() => []), test: null, why };
  const made = train(state);
  const [seen, held] = [examplesOf(state), examplesOf(state, true)];
  const [X, y, n] = [[...seen.X, ...held.X], [...seen.y, ...held.y], seen.y.length];
  const passes = thinned(made.passes.length);
  const ends = passes.map((pass) => made.passes[pass - 1]);
  const sides = X.map((_, i) => (state.learner === "kernel" ? dualSides : linearSides)(state, made, X, i, ends));
  const share = (/** @type {string} */ name, /** @type {number} */ from, /** @type {number} */ to) =>
    ends.map((_, p) => {
      let wrong = 0;
      for (let i = from; i < to; i++) if (y[i] * sides[i][name][p] <= 0) wrong += 1;
      return wrong / (to - from);
    });
  const test = held.y.length ? series((name) => share(name, n, y.length)) : null;
  return { passes, train: series((name) => share(name, 0, n)), test, why: "" };
}

/** @param {State} state */
function whyNot(state) {
  if (state.learner === "restart") return "This learner starts again after each update, so it makes no passes to compare.";
  if (state.order === "pick") return "Points that are picked make no passes to compare: choose another order.";
  return waiting(state);
}

/** Return the numbers of the passes that are scored. @param {number} passes */
function thinned(passes) {
  const most = Math.min(passes, MOST_PASSES);
  const spread = Array.from({ length: most }, (_, i) => (i === most - 1 ? passes : Math.round(1 + i * ((passes - 1) / (most - 1)))));
  return [...new Set(spread)];
}

/**
 * Walk through the updates, and return what each hypothesis says at the end of each scored pass.
 * @param {Made} made
 * @param {number[]} ends visits made by then
 * @param {(k: number) => number} voter the side that the weights after k updates choose
 * @param {(k: number, visits: number) => number} average the side that the average chooses
 */
function walk({ updates }, ends, voter, average) {
  /** @type {Record<string, number[]>} */
  const sides = { last: [], average: [], vote: [] };
  let [k, votes, side] = [0, 0, 0];
  for (const end of ends) {
    while (k < updates.length && updates[k] < end) {
      if (k) votes += side * (updates[k] - updates[k - 1]);
      side = voter(++k);
    }
    sides.last.push(side);
    sides.average.push(average(k, end));
    sides.vote.push(votes + (k ? side * (end - updates[k - 1]) : 0));
  }
  return sides;
}

/** @param {State} state @param {Made} made @param {number[][]} X @param {number} i @param {number[]} ends */
function linearSides(state, made, X, i, ends) {
  const model = /** @type {any} */ (made.model);
  const side = (/** @type {Weights} */ { w, b }) => sideOf(w, X[i], b);
  return walk(made, ends, (k) => side(model.weights[k]), (k, visits) => side(model.average(visits, k)));
}

/** Kernels of runs whose errors were asked for last, so that their values are computed once. @type {WeakMap<number[][], Kernel>} */
const kernels = new WeakMap();

/** @param {State} state @param {Made} made @param {number[][]} X @param {number} i @param {number[]} ends */
function dualSides(state, made, X, i, ends) {
  const kernel = kernels.get(X) ?? new Kernel(state, X);
  kernels.set(X, kernel);
  const { visits, updates, y } = made;
  // The average after T visits is the sum of (T - t) y K over the updates, at visits t: T times one sum, less another.
  const [now, later] = [new Sum(kernel, i), new Sum(kernel, i)];
  /** Coefficients after k updates, each update counted by the weight that it has. @param {number} k @param {(visit: number) => number} weight */
  const coefficients = (k, weight) => {
    /** @type {Map<number, number>} */
    const all = new Map();
    for (const visit of updates.slice(0, k)) all.set(visits[visit], (all.get(visits[visit]) ?? 0) + y[visits[visit]] * weight(visit));
    return all;
  };
  const voter = (/** @type {number} */ k) => {
    const [visit, place] = [updates[k - 1], visits[updates[k - 1]]];
    now.add(y[place], place);
    later.add(visit * y[place], place);
    return now.side(() => coefficients(k, () => 1));
  };
  const average = (/** @type {number} */ k, /** @type {number} */ end) => now.minus(end, later).side(() => coefficients(k, (visit) => end - visit));
  return walk(made, ends, voter, average);
}
