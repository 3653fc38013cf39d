/** Training: every learner of the lab, visit by visit, with the library's decisions and its rounding. */

import { exactDot, isCertain, nearest, sideOf, sign, sum, dyadic, times } from "./exact.js";
import { Kernel, Sum } from "./kernels.js";
import { visitingOrder } from "./orders.js";

/** @import { State, Weights } from "../types.d.ts" */
/** What a visit does: whether the point was a mistake, and the size of the step, null without an update. @typedef {{mistake: boolean, step: number | null}} Visit */

export const MOST_VISITS = 50_000;
/** Learners that also update where a point is right by too little. */
export const BY_MARGIN = ["margin", "pa", "arow"];

/** @param {State} state */
export function featureNames({ learner, features }) {
  return learner === "circle" ? ["x", "y", "r2"] : learner === "kernel" ? ["x", "y"] : features;
}

/** @type {Record<string, (x: number, y: number) => number>} */
const FEATURES = {
  x: (x) => x,
  y: (x, y) => y,
  xy: (x, y) => x * y,
  x2: (x) => x * x,
  y2: (x, y) => y * y,
  r2: (x, y) => x * x + y * y,
};

/**
 * Return the points of a state that are trained on, or those held out: their numbers, features and labels.
 * @param {State} state @param {boolean} [heldOut]
 */
export function examplesOf(state, heldOut = false) {
  const names = featureNames(state);
  const rows = state.points.flatMap((point, i) => (Boolean(point[3]) === heldOut ? [i] : []));
  const X = rows.map((i) => names.map((name) => FEATURES[name](state.points[i][0], state.points[i][1])));
  return { rows, X, y: rows.map((i) => state.points[i][2]) };
}

/** Return what people have to do before anything can be learned, or "". @param {State} state */
export function waiting(state) {
  const labels = new Set(examplesOf(state).y);
  if (!labels.size) {
    return state.points.length
      ? "All points are held out: train on some of them."
      : "Place a point: click on the plane, or focus it and press Enter.";
  }
  if (!featureNames(state).length) return "Tick at least one feature: without any, all points look the same.";
  if (state.order === "pick") {
    if (state.learner === "restart" || state.learner === "pocket") return "This learner looks at all points: choose another order.";
    return state.picks.some((i) => !state.points[i][3]) ? "" : "Pick the point to visit next: click on it.";
  }
  if (labels.size > 1) return "";
  return `All points are of one class: place ${labels.has(1) ? "an orange triangle" : "a blue disc"}.`;
}

/** Return a sum of products, rounded once. @param {{n: bigint, e: number}} exact */
const rounded = ({ n, e }) => nearest(n, 1n, e);

class Linear {
  /** @param {number[][]} X @param {number[]} y @param {State} state */
  constructor(X, y, state) {
    this.X = X;
    this.y = y;
    this.state = state;
    this.one = state.bias ? 1 : 0;
    const filled = (/** @type {number} */ value) => ({ w: X[0].map(() => value), b: value });
    /** @type {Weights[]} The weights at the start and after each update. */
    this.weights = [filled(0)];
    /** @type {Weights[]} What CIML's algorithm 7 caches for the average, likewise. */
    this.cached = [filled(0)];
    /** @type {Weights[]} The variances of the weights, likewise; without AROW they stay 1. */
    this.variances = [filled(1)];
    this.rowVariance = 0; // of the point visited last, where AROW asked for it
    this.visits = 0;
  }

  /** @returns {Weights} */
  get last() {
    return this.weights[this.weights.length - 1];
  }

  /** The average of the weights after each visit. @param {number} [visits] @param {number} [k] updates made until then */
  average(visits = this.visits, k = this.weights.length - 1) {
    const [{ w, b }, cached] = [this.weights[k], this.cached[k]];
    return { w: w.map((value, j) => value - cached.w[j] / visits), b: b - cached.b / visits };
  }

  /** @param {number} i @returns {Visit} */
  visit(i) {
    const { learner, margin } = this.state;
    const threshold = learner === "margin" ? margin : 1;
    let /** @type {Visit} */ visit;
    if (!BY_MARGIN.includes(learner)) {
      const mistake = this.y[i] * sideOf(this.last.w, this.X[i], this.last.b) <= 0;
      visit = { mistake, step: mistake ? 1 : null };
    } else {
      const a = this.y[i] * this.#activation(i, threshold);
      visit = { mistake: a <= 0, step: a > threshold ? null : this.#step(i, a) };
    }
    if (visit.step !== null) this.move(i, this.y[i] * visit.step);
    this.visits += 1;
    return visit;
  }

  /** Return the activation, rounded once unless it is certainly above the threshold. @param {number} i @param {number} threshold */
  #activation(i, threshold) {
    const [{ w, b }, x] = [this.last, this.X[i]];
    let [a, size] = [b, Math.abs(b) + threshold];
    x.forEach((value, j) => {
      a += w[j] * value;
      size += Math.abs(w[j] * value);
    });
    if (this.y[i] * a > threshold && isCertain(this.y[i] * a - threshold, size)) return a;
    const exact = exactDot(w, x, b);
    return rounded(exact) || sign(exact.n) * Number.MIN_VALUE;
  }

  /** Return the step of a rule for which y a is too small, null where no step helps. @param {number} i @param {number} a */
  #step(i, a) {
    const { learner, C, loss, r } = this.state;
    if (learner === "margin") return 1;
    let below = 0;
    if (learner === "pa") {
      below = rounded(exactDot(this.X[i], this.X[i])) + (loss === "squared_hinge" ? 0.5 / C : 0);
    } else {
      const { w, b } = this.variances[this.variances.length - 1];
      const v = rounded(sum([...this.X[i].map((x, j) => times(dyadic(w[j]), times(dyadic(x), dyadic(x)))), dyadic(b * this.one)]));
      this.rowVariance = v;
      below = v + r;
    }
    if (!(1 - a > 0 && below > 0)) return null;
    return Math.min(learner === "pa" && loss === "hinge" ? C : Infinity, (1 - a) / below);
  }

  /** Add a step along point i; AROW's goes along its variances, which shrink. @param {number} i @param {number} step */
  move(i, step) {
    const [x, { w, b }, cached, later] = [this.X[i], this.last, this.cached[this.cached.length - 1], step * this.visits];
    const { w: s, b: s0 } = this.variances[this.variances.length - 1];
    const arow = this.state.learner === "arow";
    const [along, one] = arow ? [x.map((value, j) => s[j] * value), s0 * this.one] : [x, this.one];
    this.weights.push({ w: w.map((value, j) => value + step * along[j]), b: b + step * one });
    this.cached.push({ w: cached.w.map((value, j) => value + later * along[j]), b: cached.b + later * one });
    if (![...this.last.w, this.last.b].every(Number.isFinite)) {
      throw new Error("The weights are too large for floats: choose a smaller C, or move points away from the origin.");
    }
    if (!arow) return;
    const [v, r] = [this.rowVariance, this.state.r];
    // s (v - t x + r) / (v + r), whose numerator is at least r: s - t^2 / (v + r) would cancel
    const shrunk = (/** @type {number} */ s, /** @type {number} */ t, /** @type {number} */ x) =>
      x === 0 ? s : s * Math.min((Math.max(v - t * x, 0) + r) * (1 / (v + r)), 1);
    this.variances.push({ w: s.map((value, j) => shrunk(value, along[j], x[j])), b: this.one ? shrunk(s0, s0, 1) : s0 });
  }

  /** Return whether the weights with which the learner predicts, or their vote, have point i on its side. @param {number} i */
  isRight(i) {
    const x = this.X[i];
    if (this.state.learner === "voted") return this.y[i] * this.vote(x) > 0;
    const { w, b } = this.state.learner === "averaged" ? this.average() : this.last;
    return this.y[i] * sideOf(w, x, b) > 0;
  }

  /** Visits at which the updates were made; `train` adds them. @type {number[]} */
  updates = [];

  /** Return the votes for 1 minus those for -1: one of each weights for every visit that they lived through. @param {number[]} x */
  vote(x) {
    return this.updates.reduce((votes, visit, k) => {
      const { w, b } = this.weights[k + 1];
      return votes + sideOf(w, x, b) * ((this.updates[k + 1] ?? this.visits) - visit);
    }, 0);
  }
}

class Dual {
  /** @param {number[][]} X @param {number[]} y @param {State} state */
  constructor(X, y, state) {
    this.y = y;
    this.kernel = new Kernel(state, X);
    /** @type {Map<number, number>} */
    this.coefficients = new Map();
    this.sums = X.map((_, i) => new Sum(this.kernel, i));
    /** A kernel perceptron has no weights but its coefficients. */
    this.last = { w: X[0].map(() => 0), b: 0 };
    this.weights = this.cached = [this.last];
    /** @type {number[]} */
    this.updates = [];
  }

  /** @param {number} i */
  isRight(i) {
    return this.y[i] * this.sums[i].side(() => this.coefficients) > 0;
  }

  /** @param {number} i @returns {Visit} */
  visit(i) {
    if (this.isRight(i)) return { mistake: false, step: null };
    this.coefficients.set(i, (this.coefficients.get(i) ?? 0) + this.y[i]);
    for (const sum of this.sums) sum.add(this.y[i], i);
    this.weights.push(this.last);
    return { mistake: true, step: 1 };
  }

  /** Return y a of point i, less what rounding may have added to it. @param {number} i */
  least(i) {
    const { value, off } = this.sums[i].value(true);
    return this.y[i] * value - off;
  }
}

/** Gallant's pocket with ratchet; mistakes are counted once a pass. */
class Pocket {
  /** @param {Linear} model */
  constructor(model) {
    this.model = model;
    this.best = { ...model.last, mistakes: Infinity };
    this.candidate = model.last;
    this.longest = this.changed = 0;
  }

  /** Keep the weights before an update if none have survived as many visits of this pass. */
  beforeUpdate() {
    const { visits, weights } = this.model;
    if (visits - 1 - this.changed > this.longest) {
      this.longest = visits - 1 - this.changed;
      this.candidate = weights[weights.length - 2];
    }
    this.changed = visits;
  }

  endPass() {
    const { X, y, last, visits } = this.model;
    for (const { w, b } of [this.candidate, last]) {
      const mistakes = X.filter((x, i) => y[i] * sideOf(w, x, b) <= 0).length;
      if (mistakes < this.best.mistakes) this.best = { w, b, mistakes };
    }
    this.longest = 0;
    this.changed = visits;
    return this.best;
  }
}

/** Train on a state and return the record of the run; `waiting` is "" for the state. @param {State} state */
export function train(state) {
  const { rows, X, y } = examplesOf(state);
  const record = {
    rows, X, y,
    /** @type {number[]} The place visited, for each visit. */
    visits: [],
    /** @type {number[]} The visits that made an update. */
    updates: [],
    /** @type {number[]} The visits that were mistakes. */
    mistakes: [],
    /** @type {number[]} The size of the step of each update. */
    steps: [],
    /** @type {number[]} Visits made by the end of each pass. */
    passes: [],
    /** @type {(Weights & {mistakes: number})[]} The pocket after each pass. */
    pocket: [],
    converged: false,
  };
  if (state.learner === "restart") return restart(state, record);
  const model = state.learner === "kernel" ? new Dual(X, y, state) : new Linear(X, y, state);
  model.updates = record.updates;
  const pocket = state.learner === "pocket" ? new Pocket(/** @type {Linear} */ (model)) : null;
  const isFull = () => record.updates.length >= state.updates;
  for (let pass = 0; pass < (state.order === "pick" ? 1 : mostPasses(state, rows)) && !record.converged && !isFull(); pass++) {
    record.converged = true;
    for (const i of orderOf(state, rows, pass)) {
      const { mistake, step } = model.visit(i);
      if (mistake) record.mistakes.push(record.visits.length);
      if (step !== null) {
        record.updates.push(record.visits.length);
        record.steps.push(step);
        pocket?.beforeUpdate();
      }
      record.visits.push(i);
      record.converged &&= !mistake && step === null;
      if (step !== null && isFull()) break;
    }
    record.passes.push(record.visits.length);
    if (pocket) record.pocket.push(pocket.endPass());
  }
  if (state.order === "pick") record.converged = X.every((_, i) => model.isRight(i));
  return { ...record, model, w: model.last.w, b: model.last.b };
}

/** @typedef {ReturnType<typeof train>} Made */

/** Return the most passes that a run makes. @param {State} state @param {number[]} rows */
export function mostPasses(state, rows) {
  return Math.max(1, Math.min(state.passes, Math.floor(MOST_VISITS / rows.length)));
}

/** @param {State} state @param {number[]} rows @param {number} pass @returns {number[]} */
function orderOf({ order, seed, picks }, rows, pass) {
  if (order === "pick") return picks.map((i) => rows.indexOf(i)).filter((place) => place >= 0);
  if (order === "fixed") return rows.map((_, place) => place);
  return visitingOrder(rows.length, seed, order === "once" ? 0 : pass);
}

/**
 * Start again from the first point after each update (algorithm 1 of the notes), in plain floats as the textbook's twin.
 * @template {{X: number[][], y: number[], visits: number[], updates: number[], mistakes: number[], converged: boolean}} R
 * @param {State} state @param {R} record
 */
function restart(state, record) {
  const { X, y, visits, updates } = record;
  const model = new Linear(X, y, state);
  let place = 0;
  for (; place < X.length && visits.length < MOST_VISITS && updates.length < state.updates; model.visits += 1) {
    const { w, b } = model.last;
    visits.push(place);
    if (y[place] * X[place].reduce((total, x, j) => total + w[j] * x, b) > 0) {
      place += 1;
      continue;
    }
    updates.push(model.visits);
    model.move(place, y[place]);
    place = 0;
  }
  return { ...record, mistakes: updates, converged: place === X.length, model, ...model.last };
}
