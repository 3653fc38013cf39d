/** Judges of exercises about runs of the perceptron: ties, orders, the proof of the bound, and voting while training. */

import { visitingOrder } from "../engine/orders.js";
import { dot } from "../replay.js";
import { counted } from "../words.js";
import { fault, formulaFault, listed, norm, optionOf, words } from "./faults.js";

/** @import { Exercise, Fault } from "../types.d.ts" */
/** Points are multiples of 1/8, so floats hold the weights of their runs exactly. @typedef {[number, number, number][]} Points */
/** `ya` is the label times the activation of the weights before. @typedef {{row: number, before: number[], after: number[], ya: number}} Update */
/** @typedef {{clean: boolean, passes: number, visits: number, updates: Update[]}} Run */

const LEAST_UPDATES = 8; // what an order has to make, so that twice as many as in reverse means something

/**
 * Run algorithm 5, with the bias as the last weight, until a pass makes no update. `order` returns the order of a pass;
 * if `strict`, updates are made where y·a < 0.
 * @param {Points} points @param {number} passes
 * @param {{bias?: boolean, strict?: boolean, order?: (pass: number) => number[]}} [how] @returns {Run}
 */
export function trained(points, passes, { bias = true, strict = false, order } = {}) {
  const listedOrder = points.map((_, i) => i);
  /** @type {Run} */
  const run = { clean: false, passes: 0, visits: 0, updates: [] };
  let w = bias ? [0, 0, 0] : [0, 0];
  while (run.passes < passes && !run.clean) {
    run.clean = true;
    for (const row of order?.(run.passes) ?? listedOrder) {
      const [x1, x2, y] = points[row];
      const x = bias ? [x1, x2, 1] : [x1, x2];
      const ya = y * dot(w, x);
      if (strict ? ya < 0 : ya <= 0) {
        run.updates.push({ row, before: w, after: (w = plus(w, y, x)), ya });
        run.clean = false;
      }
      run.visits += 1;
    }
    run.passes += 1;
  }
  return run;
}

/** Return the updates of a rule that updates the current weights where the vote of all weights is wrong or tied. @param {Points} points @param {number} passes */
export function voteUpdates(points, passes) {
  /** @type {Update[]} */
  const updates = [];
  /** @type {number[]} */
  const survived = [];
  for (let visit = 0; visit < passes * points.length; visit++) {
    const row = visit % points.length;
    const [x1, x2, y] = points[row];
    const votes = updates.reduce((so, { after }, k) => so + survived[k] * Math.sign(dot(after, [x1, x2])), 0);
    if (y * votes > 0) {
      survived[survived.length - 1] += 1;
      continue;
    }
    const before = updates[updates.length - 1]?.after ?? [0, 0];
    updates.push({ row, before, after: plus(before, y, [x1, x2]), ya: y * dot(before, [x1, x2]) });
    survived.push(1);
  }
  return updates;
}

/** @param {number[]} w @param {number} y @param {number[]} x */
const plus = (w, y, x) => w.map((value, i) => value + y * x[i]);

/** Return R and γ for a separator of any length, about (x, 1) if it has a bias. @param {Points} points @param {number[]} separator @param {boolean} bias */
function radiusAndMargin(points, separator, bias) {
  const rows = points.map(([x1, x2, y]) => ({ x: bias ? [x1, x2, 1] : [x1, x2], y }));
  const least = Math.min(...rows.map(({ x, y }) => y * dot(separator, x)));
  return { R: Math.max(...rows.map(({ x }) => norm(x))), gamma: least / norm(separator) };
}

/** Return points as counterexamples have them: the features and the label. @param {Points} points */
const pairs = (points) => points.map(([x1, x2, y]) => [[x1, x2], y]);

// ties and orders

/** Judge what algorithm 5 does where it updates only if y·a < 0: nothing. @param {Record<string, any>} values @param {Exercise} exercise */
export function ties(values, exercise) {
  const { points, passes } = exercise.given;
  const rows = trained(points, passes, { strict: true }).updates.map(({ row }) => row);
  if (values.updates !== rows.length) {
    const text = `All activations are 0, from row 0 on, and 0 < 0 is false: expected ${rows.length} updates, got ${words(values.updates)}.`;
    return fault("updates", text, { row: 0, activation: 0 });
  }
  const claimed = optionOf(exercise, "because", values.because).rows;
  if (String(claimed) === String(rows)) return null;
  const row = claimed[0];
  const text = `Row ${row} is ${listed([points[row]])}. All weights are still 0 there, so y·a = 0, and 0 < 0 is false: it makes no update.`;
  return fault("because", text, { row, activation: 0 });
}

/** Judge points and a seed for which a fixed order needs fewer passes than a new one for each pass. @param {Record<string, any>} values @param {Exercise} exercise */
export function permute({ points, seed }, { given }) {
  const run = trained(points, given.passes);
  if (!run.clean) return neverClean(run, points, "in the order of the list");
  const permuted = trained(points, given.passes, { order: (pass) => visitingOrder(points.length, seed, pass) });
  if (!permuted.clean || permuted.passes > run.passes) return null;
  const text =
    `The order of the list takes ${run.passes} passes and new orders take ${permuted.passes}: ` +
    "expected fewer in the order of the list.";
  return fault("seed", text, { listed: run.passes, permuted: permuted.passes, points: pairs(points), seed });
}

/** Judge points that make at least twice as many updates as in reverse, and why the bound holds in both orders. @param {Record<string, any>} values @param {Exercise} exercise */
export function badOrder({ points, why }, exercise) {
  const { passes } = exercise.given;
  const [run, reverse] = [points, points.toReversed()].map((rows) => trained(rows, passes));
  if (!run.clean) return neverClean(run, points, "in the order of the list");
  if (!reverse.clean) return neverClean(reverse, points, "in the reverse order");
  const [k, other] = [run.updates.length, reverse.updates.length];
  if (k < Math.max(LEAST_UPDATES, 2 * other)) {
    const text =
      `The order of the list makes ${counted(k, "update")} and the reverse order ${other}: expected at least ${LEAST_UPDATES}, ` +
      "and at least twice as many as in the reverse order.";
    return fault("points", text, { listed: k, reverse: other, points: pairs(points) });
  }
  return why === "updates" ? null : falseReason(why, exercise);
}

/** @param {Run} run @param {Points} points @param {string} order */
function neverClean({ passes }, points, order) {
  const text = `There are mistakes left after ${passes} passes ${order}: expected points that a line separates well.`;
  return fault("points", text, { points: pairs(points), passes });
}

/** Return why a reason is false, with the numbers of the points of the table. @param {string} chosen @param {Exercise} exercise */
function falseReason(chosen, { given }) {
  const points = given.example;
  const [run, reverse] = [points, points.toReversed()].map((rows) => trained(rows, given.passes));
  const { R, gamma } = radiusAndMargin(points, [...given.w_star, given.b_star], true);
  const [k, other, bound] = [run.updates.length, reverse.updates.length, (R / gamma) ** 2];
  const why = {
    shuffled: `They are sorted, and the ${k} updates are not more than the bound.`,
    more: "Neither order makes more updates than the bound.",
    visits: `The ${run.visits} visits are more than the bound.`,
    margin: `The points are the same in both orders, and so is γ = ${words(gamma)}.`,
  }[chosen];
  const text =
    `On ${listed(points)} there are ${k} updates in ${run.visits} visits, and in reverse order ${other} in ${reverse.visits}; ` +
    `the bound is ${words(bound)}. ${why}`;
  return fault("why", text, { listed: k, reverse: other, visits: run.visits, bound, gamma, points: pairs(points) });
}

// the proof

/** What each field of the proof bounds, in words. @type {Record<string, string>} */
const BOUNDED = { growth: "‖w‖² grew by", norm: "‖w‖² is", dot: "w*·w is", bound: "the number of updates so far is" };

/** Judge the bounds of the proof at every update of the runs, and whether they are what it gives. @param {Record<string, any>} values @param {Exercise} exercise */
export function proofBounds(values, { fields, given }) {
  for (const field of fields) {
    const formula = values[field.name];
    for (const run of given.runs) {
      const broken = brokenBound(field.name, formula, run, given.tolerance);
      if (broken) return broken;
    }
    const weaker = formulaFault(field, formula);
    if (weaker) return { ...weaker, text: `It holds in the runs that were tried, but it is not what the proof gives. ${weaker.text}` };
  }
  return null;
}

/**
 * Return an update of a run at which a bound does not hold, or null.
 * @param {string} name @param {import("./formulas.js").Formula} formula
 * @param {{points: Points, w_star: number[]}} run @param {number} tolerance
 */
function brokenBound(name, formula, { points, w_star: separator }, tolerance) {
  const { R, gamma } = radiusAndMargin(points, separator, false);
  for (const [i, { before, after }] of trained(points, 1000, { bias: false }).updates.entries()) {
    const [k, squared] = [i + 1, dot(after, after)];
    const values = { growth: squared - dot(before, before), norm: squared, dot: dot(separator, after) / norm(separator), bound: k };
    const value = values[/** @type {keyof values} */ (name)];
    const bound = formula({ R, gamma, k });
    if ((name === "dot" ? value - bound : bound - value) >= -tolerance) continue;
    const where = `R = ${words(R)}, γ = ${words(gamma)}, k = ${k}`;
    const text = `On ${listed(points)} (${where}), ${BOUNDED[name]} ${words(value)}, and the bound is ${words(bound)}.`;
    return fault(name, text, { points: pairs(points), k, R, gamma, value, bound });
  }
  return null;
}

// voting while training

/** Judge points on which training by the vote updates where w is right, and the line of the proof that breaks. @param {Record<string, any>} values @param {Exercise} exercise */
export function votedUpdates({ points, breaks }, exercise) {
  const updates = voteUpdates(points, exercise.given.passes);
  if (updates.some(({ ya }) => ya > 0)) return breaks === "norm" ? null : lineThatHolds(breaks, exercise);
  const text =
    `This rule makes ${counted(updates.length, "update")} here, and at each w has y·(w·x) ≤ 0: ` +
    "expected one update at least where w has the example right.";
  return fault("points", text, { updates: updates.length, points: pairs(points) });
}

/** Return that another line of the proof holds where that about the norm breaks, on the points of the table. @param {string} chosen @param {Exercise} exercise */
function lineThatHolds(chosen, { given }) {
  const points = given.example;
  const { R, gamma } = radiusAndMargin(points, given.w_star, false);
  const { row, before, after } = /** @type {Update} */ (voteUpdates(points, given.passes).find(({ ya }) => ya > 0));
  const [from, to] = [before, after].map((w) => dot(given.w_star, w) / norm(given.w_star));
  const growth = dot(after, after) - dot(before, before);
  const says = {
    dot: `w*·w grows by ${words(to - from)}, and γ = ${words(gamma)}`,
    cauchy: `w*·w = ${words(to)}, and ‖w‖ = ${words(norm(after))}`,
    radius: `‖x‖ = ${words(norm(points[row].slice(0, 2)))}, and R = ${words(R)}`,
  }[chosen];
  const text =
    `This line holds. On ${listed(points)}, the rule updates on row ${row} although w has it right: ${says}. ` +
    `But ‖w‖² grows by ${words(growth)}, more than R² = ${words(R * R)}.`;
  return fault("breaks", text, { points: pairs(points), row, before, after, growth, R, gamma });
}
