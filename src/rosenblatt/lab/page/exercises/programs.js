/** Algorithms 5, 6 and 7 as completed by choices, compared with the textbook's on small data sets in order of size. */

import { dot } from "../replay.js";
import { fault, listed, words } from "./faults.js";

/** @import { Exercise } from "../types.d.ts" */
/** @typedef {Record<string, string>} Chosen */
/** @typedef {[number[], number][]} Examples */
/** @typedef {[number[], number]} Weights */

const CLOSE = 1e-9; // averages are divided, and compared up to a rounding error

/** Return all lists of n of some values, the first values first. @template T @param {T[]} values @param {number} n @returns {T[][]} */
function lists(values, n) {
  return n ? values.flatMap((first) => lists(values, n - 1).map((rest) => [first, ...rest])) : [[]];
}

/** Return all data sets of n of some points, with both labels. @param {number} n @param {number[][]} points @returns {Examples[]} */
function allSets(n, points) {
  return lists(points.flatMap((x) => [1, -1].map((y) => /** @type {[number[], number]} */ ([x, y]))), n);
}

/** Return data sets with numbers of passes: fewest points first, then fewest features, passes, small numbers. @returns {[Examples, number][]} */
function dataSets() {
  const line = [[0], [1], [-1], [2], [-2]];
  const plane = lists([0, 1, -1], 2);
  const small = [...allSets(1, line), ...allSets(2, line), ...allSets(3, line.slice(0, 3)), ...allSets(1, plane), ...allSets(2, plane)];
  const size = (/** @type {[Examples, number]} */ [D, passes]) => [D.length, D[0][0].length, passes, D.flatMap(([x]) => x).reduce((so, value) => so + Math.abs(value), 0)];
  return small
    .flatMap((D) => [1, 2, 3].map((passes) => /** @type {[Examples, number]} */ ([D, passes])))
    .map((set) => ({ set, key: size(set) }))
    .sort((a, b) => a.key.map((value, i) => value - b.key[i]).find(Boolean) ?? 0)
    .map(({ set }) => set);
}

/** Return weights, biases and points of small numbers for algorithm 6. @returns {[number[], number, number[]][]} */
function tests() {
  const numbers = [0, 1, -1, 2];
  return numbers.flatMap((w) => numbers.flatMap((b) => numbers.map((x) => /** @type {[number[], number, number[]]} */ ([[w], b, [x]]))));
}

/** @type {Record<string, (y: number, a: number) => boolean>} */
const MISTAKES = {
  "ya<0": (y, a) => y * a < 0,
  "a<=0": (_, a) => a <= 0,
  "ya<=0": (y, a) => y * a <= 0,
  "not ya>0": (y, a) => !(y * a > 0),
  "sign(a)!=y": (y, a) => Math.sign(a) !== y,
};
/** @type {Record<string, (y: number, a: number) => number>} */
const STEPS = { "w-yx": (y) => -y, "w+x": () => 1, "w+yx": (y) => y, "w+px": (_, a) => Math.sign(a) };
/** @type {Record<string, (a: number) => number>} */
const PREDICTIONS = {
  "a>=0": (a) => (a >= 0 ? 1 : -1),
  "a>0": (a) => (a > 0 ? 1 : -1),
  "sign(a)": Math.sign,
  "a<0": (a) => (a < 0 ? 1 : -1),
};

/** @param {number[]} w @param {number} step @param {number[]} x */
const plus = (w, step, x) => w.map((value, i) => value + step * x[i]);

/** Run algorithm 5 as completed by choices. @param {Chosen} chosen @param {Examples} D @param {number} passes @returns {Weights} */
function train(chosen, D, passes) {
  let [w, b] = [D[0][0].map(() => 0), 0];
  for (let pass = chosen.passes === "all-but-one" ? 1 : 0; pass < passes; pass++) {
    let updated = false;
    for (const [x, y] of D) {
      const a = dot(w, x) + b;
      if (!MISTAKES[chosen.test](y, a)) continue;
      updated = true;
      w = plus(w, STEPS[chosen.weights](y, a), x);
      b += { b: 0, "b+y": y, "b+1": 1 }[chosen.bias] ?? 0;
      if (chosen.then === "break") break;
    }
    if (chosen.passes === "until-clean" && !updated) break;
  }
  return [w, b];
}

/** Run algorithm 7 as completed by choices; the bias is the weight of a feature that is 1. @param {Chosen} chosen @param {Examples} D @param {number} passes @returns {Weights} */
function average(chosen, D, passes) {
  let w = [...D[0][0].map(() => 0), 0];
  let [u, c, updates] = [w, Number(chosen.start), 0];
  for (let pass = 0; pass < passes; pass++) {
    for (const [features, y] of D) {
      const x = [...features, 1];
      const wrong = y * dot(w, x) <= 0;
      if (wrong) [w, updates] = [plus(w, y, x), updates + 1];
      if (chosen.cached === "u+w") u = plus(u, 1, w);
      else if (wrong) u = plus(u, { "u+yx": y, "u+ycx": y * c, "u+cx": c }[chosen.cached] ?? 0, x);
      if (wrong || chosen.count === "every") c += 1;
    }
  }
  const result = {
    "w-u/k": plus(w, -1 / updates, u),
    "w-u/c": plus(w, -1 / c, u),
    "u/c": u.map((value) => value / c),
    "(cw-u)/c": plus(w, -1 / c, u),
  }[chosen.result] ?? w;
  return [result.slice(0, -1), result[result.length - 1]];
}

const RIGHT = {
  "algorithm-5": { passes: "all", test: "ya<=0", weights: "w+yx", bias: "b+y", then: "next", predict: "a>0" },
  "algorithm-7": { start: "1", cached: "u+ycx", count: "every", result: "w-u/c" },
};

/** Return the smallest data set on which a completed program differs from the textbook's, or null. @param {Chosen} chosen @param {Exercise} exercise */
export function judgeProgram(chosen, { name }) {
  const program = name === "algorithm-7" ? average : train;
  const right = RIGHT[/** @type {keyof typeof RIGHT} */ (name)];
  for (const [D, passes] of dataSets()) {
    const [got, expected] = [program(chosen, D, passes), program(right, D, passes)];
    const pairs = got.flat().map((value, i) => [value, expected.flat()[i]]);
    if (pairs.every(([mine, theirs]) => Math.abs(mine - theirs) <= CLOSE * Math.max(1, Math.abs(theirs)))) continue;
    const rows = D.map(([x, y]) => [...x, y]);
    const [theirs, mine] = [expected, got].map(([w, b]) => `w = ${words(w)}, b = ${words(b)}`);
    const text = `On ${listed(rows)}, with MaxIter = ${passes}, it returns ${mine}; expected ${theirs}.`;
    return fault(name, text, { D, max_iter: passes, expected, got });
  }
  return name === "algorithm-5" ? judgePredictions(chosen) : null;
}

/** Return the smallest weights and point for which algorithm 6, as completed, differs from the textbook's, or null. @param {Chosen} chosen */
function judgePredictions(chosen) {
  for (const [w, b, x] of tests()) {
    const a = dot(w, x) + b;
    const [got, expected] = [PREDICTIONS[chosen.predict](a), PREDICTIONS["a>0"](a)];
    if (got === expected || (got === 0 && a === 0)) continue;
    const text = `For w = ${words(w)}, b = ${words(b)} and x = ${words(x)} it predicts ${words(got)}; expected ${words(expected)}.`;
    return fault("algorithm-6", text, { w, b, x, expected, got });
  }
  return null;
}
