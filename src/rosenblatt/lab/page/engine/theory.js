/** The verdict on whether the points can be separated in the space that is trained in, and the bound on the updates. */

import { dyadic, nearest, squareRoot, sum, times } from "./exact.js";
import { featureNames } from "./learners.js";
import { Points, dot, least, nearestOfSigned, nearestOfTwo, shares } from "./polytope.js";
import { FEATURE_NAMES, counted, number } from "../words.js";

/** @import { Bound, State, Verdict } from "../types.d.ts" */
/** @import { Made } from "./learners.js" */
/** @import { Nearest } from "./polytope.js" */

const MOST_MILLISECONDS = 4000; // for points whose coordinates have exponents far apart; a thousand others take some 50
const NO_VERDICT = { support: [], weights: [], w: null, b: null, margin: null, common: null };
const NO_BOUND = { R: null, gamma: null, bound: null, w: null, b: null };

/** Return what a separator is called in the space of the features. @param {string[]} names */
export function separatorWords(names) {
  if (names.length === 2 && names.includes("x") && names.includes("y")) return "line";
  if (names.length === 1) return `threshold on ${FEATURE_NAMES[names[0]]}`;
  const kind = names.length === 2 ? "line" : names.length === 3 ? "plane" : "hyperplane";
  return `${kind} in the space of (${names.map((name) => FEATURE_NAMES[name]).join(", ")})`;
}

/**
 * Return the verdict and the bound of a run.
 * @param {State} state @param {Made} made @returns {{verdict: Verdict, bound: Bound}}
 */
export function theory(state, made) {
  if (state.learner === "kernel") return kernelTheory(state, made);
  const [{ X, y, rows }, what] = [made, separatorWords(featureNames(state))];
  const long = new Points(state.bias ? X.map((x) => [...x, 1]) : X, rows);
  const end = performance.now() + MOST_MILLISECONDS;
  const found = nearestOfSigned(long, y, end);
  const where = `${what}${state.bias ? "" : " through the origin"}`;
  const points = `the ${counted(y.length, "point")}`;
  if (!found) {
    const text = `Undecided: whether any ${where} separates ${points} was not settled in ${MOST_MILLISECONDS / 1000} s.`;
    const why = `No finite bound is known: whether any ${what} separates these points was not settled.`;
    return { verdict: { ...NO_VERDICT, kind: "undecided", text }, bound: { ...NO_BOUND, why } };
  }
  const apart = found.p.some(Boolean);
  const verdict = apart ? separable(state, made, found, long, where, end) : inseparable(state, made, found, where);
  return { verdict, bound: apart ? boundOf(state, made, found, long.e) : { ...NO_BOUND, why: unbounded(state) || whyNot(state, what) } };
}

/** Return the shares of some points as floats with the sum 1. @param {Nearest} found */
function named(found) {
  const all = [...shares(found)].sort(([a], [b]) => a - b);
  const total = all.reduce((sum, [, weight]) => sum + weight, 0n);
  return { support: all.map(([number]) => number), weights: all.map(([, weight]) => nearest(weight, total)) };
}

/** Return integers as floats, divided by their length. @param {bigint[]} p */
function unit(p) {
  const length = lengthOf(p);
  return p.map((n) => nearest(n << length.shift, length.root));
}

/** Return the length of a vector of integers, times 2^shift. @param {bigint[]} p */
function lengthOf(p) {
  const shift = 128n;
  return { root: squareRoot(dot(p, p) << (2n * shift)), shift };
}

/** Return the distance of a nearest point from the origin. @param {Nearest} found @param {number} e */
function distance({ p, total }, e) {
  const { root, shift } = lengthOf(p);
  return nearest(root, total << shift, e);
}

/**
 * @param {State} state @param {Made} made @param {Nearest} found @param {Points} long @param {string} where
 * @param {number} end @returns {Verdict}
 */
function separable(state, { X, y, rows }, found, long, where, end) {
  if (state.bias && new Set(y).size < 2) {
    const text = "All points are of one class, so any line with all of them on one side will do: the bias is enough.";
    return { ...NO_VERDICT, kind: "separable", text };
  }
  const points = state.bias ? new Points(X, rows) : long;
  const widest = state.bias ? nearestOfTwo(points, y, end) : found;
  const text = `A ${where} has each of the ${counted(y.length, "point")} on its side.`;
  if (!widest) return { ...NO_VERDICT, kind: "separable", text };
  const { p } = widest;
  const scores = points.exact.map((x) => dot(p, x));
  const lowest = least(scores.filter((_, i) => y[i] > 0));
  const highest = least(scores.filter((_, i) => y[i] < 0).map((n) => -n));
  const shift = state.bias ? highest - lowest : 0n; // twice b, where w is p
  const twice = scores.map((n, i) => (2n * n + shift) * BigInt(y[i]));
  const close = least(twice);
  const { support, weights } = named(widest);
  rows.forEach((number, i) => {
    if ((twice[i] - close) * 1_000_000n > close || support.includes(number)) return; // on the margin, or as good as on it
    support.push(number);
    weights.push(0);
  });
  const length = lengthOf(p);
  const margin = distance(widest, points.e) / (state.bias ? 2 : 1);
  return {
    ...NO_VERDICT,
    kind: "separable",
    text: `${text} The largest margin is ${number(margin)}.`,
    support,
    weights,
    w: unit(p),
    b: nearest(shift << length.shift, 2n * length.root, points.e),
    margin,
  };
}

/** @param {State} state @param {Made} made @param {Nearest} found @param {string} where @returns {Verdict} */
function inseparable({ bias }, { X, y, rows }, found, where) {
  const { support, weights } = named(found);
  const points = `each of the ${counted(y.length, "point")} on its side`;
  if (!bias) {
    const text =
      `No ${where} has ${points}, and without a bias no other is learned. ${counted(support.length, "point")} ` +
      `prove${support.length === 1 ? "s" : ""} it: with the orange ones mirrored in the origin, a mean of them is the origin itself.`;
    return { ...NO_VERDICT, kind: "inseparable", text, support, weights };
  }
  const text =
    `No ${where} has ${points}: the hulls of the two classes cross. ${counted(support.length, "point")} prove it: a mean of ` +
    "those of one class is a mean of those of the other.";
  const blue = [...shares(found)].map(([number, weight]) => ({ place: rows.indexOf(number), weight })).filter(({ place }) => y[place] > 0);
  const total = blue.reduce((all, { weight }) => all + weight, 0n);
  const common = X[0].map((_, j) => {
    const { n, e } = sum(blue.map(({ place, weight }) => times({ n: weight, e: 0 }, dyadic(X[place][j]))));
    return nearest(n, total, e);
  });
  return { ...NO_VERDICT, kind: "inseparable", text, support, weights, common };
}

/** Return why the theorem has no bound for a learner, or "". @param {State} state */
function unbounded({ learner }) {
  if (learner === "pa") {
    return (
      "No bound on the updates: the theorem counts steps of one size, and here each update has a size of its own. " +
      "Points that are right by less than 1 make updates too, so a run may go on by ever smaller ones."
    );
  }
  if (learner !== "arow") return "";
  return (
    "No bound on the updates: the theorem counts steps of one size along the points, and here each weight moves by its " +
    "own variance. Points that are right by less than 1 make updates too, so a run seldom ends by itself."
  );
}

/** @param {State} state @param {string} what */
function whyNot({ bias }, what) {
  return bias
    ? `No finite bound: the hulls cross, so no ${what} separates these points, and a perceptron never stops by itself.`
    : `No finite bound: no ${what} through the origin separates these points, and without a bias a perceptron never stops by itself.`;
}

/**
 * Return the bound (R^2 + 2 margin) / gamma^2, with R and gamma of the points with their bias coordinate.
 * @param {State} state @param {Made} made @param {Nearest} found @param {number} e @returns {Bound}
 */
function boundOf(state, { X }, found, e) {
  const squares = X.map((x) => sum([...x, state.bias ? 1 : 0].map((value) => times(dyadic(value), dyadic(value)))));
  const R2 = Math.max(...squares.map(({ n, e }) => nearest(n, 1n, e)));
  const gamma = distance(found, e);
  const extra = state.learner === "margin" ? 2 * state.margin : 0; // what an update adds to |w|^2 beyond R^2: 2 y a
  const exact = (R2 + extra) / gamma / gamma;
  // The weights are rounded, too: so many updates cannot be exceeded (see `novikoff` in the library).
  const allowed = exact * (1 + 3 * 2 ** -53 * (exact + 16));
  const bound = allowed < 2 ** 47 ? allowed : exact;
  const why = unbounded(state);
  if (!Number.isFinite(bound) && !why) {
    const text = `The bound is finite, but too large for floats: the longest example is ${number(Math.sqrt(R2))} long, and the margin is ${number(gamma)}.`;
    return { ...NO_BOUND, why: text };
  }
  const [w, b] = state.bias ? [unit(found.p).slice(0, -1), unit(found.p)[found.p.length - 1]] : [unit(found.p), 0];
  return { R: Math.sqrt(R2), gamma, bound: why ? null : bound, w, b, why };
}

// kernels

/** @param {State} state @param {Made} made */
function kernelTheory(state, made) {
  const { X, y, rows, model } = made;
  const dual = /** @type {any} */ (model);
  const R = Math.sqrt(Math.max(...X.map((_, i) => dual.kernel.square(i))));
  const least = y.map((_, i) => dual.least(i));
  const length = Math.sqrt(Math.max(0, [...dual.coefficients].reduce((all, [i, factor]) => all + factor * y[i] * least[i], 0)));
  const lowest = Math.min(...least);
  const low = made.converged && state.order !== "pick" && lowest > 0 && length > 0 ? lowest / length : 0;
  const high = made.updates.length && length > 0 ? length / made.updates.length : Infinity;
  return { verdict: kernelVerdict(state, made, low, high), bound: kernelBound(state, made, R, low) };

  /** @param {State} state @param {Made} made @param {number} low @param {number} high @returns {Verdict} */
  function kernelVerdict(state, made, low, high) {
    const first = new Map();
    for (const [i, x] of X.entries()) {
      const other = first.get(String(x)) ?? i;
      first.set(String(x), other);
      if (y[other] === y[i]) continue;
      const text = "No kernel separates these points: two of them lie at the same place and are of different classes.";
      return { ...NO_VERDICT, kind: "kernel", text, support: [rows[other], rows[i]], weights: [0.5, 0.5] };
    }
    let text = "The run has not separated the points in the kernel's space.";
    if (made.converged) {
      text = "The run separated the points in the kernel's space: every point is on its side.";
      if (low > 0) text += ` The margin there is from ${number(low)} to ${number(high)}.`;
    } else if (state.kernel === "rbf") {
      text += " Enough passes would: a gaussian kernel separates all points that lie at different places.";
    } else if (Number.isFinite(high)) {
      text += ` If anything does, the margin there is at most ${number(high)}.`;
    }
    const flat = nearestOfSigned(new Points(X.map((x) => [...x, 1])), y, performance.now() + MOST_MILLISECONDS);
    if (!flat) return { ...NO_VERDICT, kind: "kernel", text: `${text} Whether a line in the plane separates them was not settled.` };
    const line = flat.p.some(Boolean) ? "A line in the plane separates them too." : "No line in the plane separates them.";
    return { ...NO_VERDICT, kind: "kernel", text: `${text} ${line}` };
  }

  /** @param {State} state @param {Made} made @param {number} R @param {number} low @returns {Bound} */
  function kernelBound(state, made, R, low) {
    if (low > 0) return { ...NO_BOUND, R, gamma: low, bound: (R / low) ** 2, why: "" };
    const why =
      made.converged && state.order !== "pick"
        ? "No finite bound is known: the margin in the kernel's space is too small for floats."
        : "No finite bound is known: the margin in the kernel's space comes from a run that ends with a pass without a mistake.";
    return { ...NO_BOUND, R, why };
  }
}
