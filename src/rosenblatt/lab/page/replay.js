/** A run, moment by moment. Nothing is decided or added up here: what the visits did comes with the run. */

/** @import { Moment, Run, Weights } from "./types.d.ts" */

/** Return the product of two vectors. @param {number[]} u @param {number[]} v */
export function dot(u, v) {
  let sum = 0;
  for (let i = 0; i < u.length; i++) sum += u[i] * v[i];
  return sum;
}

/** Return how many of some visits, in order, are at most t. @param {number[]} visits @param {number} t */
function countUntil(visits, t) {
  let [low, high] = [0, visits.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (visits[middle] <= t) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A run in which one can go back and forth: `at(t)` is the moment after t visits. */
export class Replay {
  /** @param {Run} run @param {{bias: boolean, kernel: string, degree: number, gamma: number, coef0: number}} options */
  constructor(run, options) {
    this.run = run;
    this.options = options;
    this.bias = options.bias && run.kind === "linear";
    this.visits = run.visits.length;
    /** The visits after which an update has been made, counted from 1. */
    this.updates = run.updates.map((visit) => visit + 1);
    this.weights = run.weights;
    /** The visits that were mistakes, counted from 1. */
    this.mistakes = run.rule ? run.rule.mistakes.map((visit) => visit + 1) : this.updates;
  }

  /** Return how many updates have been made after t visits. @param {number} t */
  updatesAfter(t) {
    return countUntil(this.updates, t);
  }

  /** Return the moment after t visits. @param {number} t @returns {Moment} */
  at(t) {
    const { run } = this;
    const k = this.updatesAfter(t);
    const updated = k > 0 && this.updates[k - 1] === t;
    const mistakes = countUntil(this.mistakes, t);
    const now = this.weights[k];
    const last = updated ? k - 1 : k;
    const place = t > 0 ? run.visits[t - 1] : -1;
    const x = place < 0 ? [] : run.features[place];
    const sign = place < 0 ? 0 : run.signs[place];
    const cache = run.cached[k];
    const visits = Math.max(t, 1);
    return {
      t,
      k,
      pass: this.passAt(t),
      place,
      number: place < 0 ? -1 : run.rows[place],
      sign,
      x,
      updated,
      step: updated ? run.rule?.steps[k - 1] ?? 1 : 0,
      mistake: mistakes > 0 && this.mistakes[mistakes - 1] === t,
      mistakes,
      activation: place < 0 ? 0 : sign * this.score(place, last),
      ...now,
      before: this.weights[last],
      variance: run.variances?.[k] ?? null,
      varianceBefore: run.variances?.[last] ?? null,
      average: { w: now.w.map((value, i) => value - cache.w[i] / visits), b: now.b - cache.b / visits },
      survived: t - (k ? this.updates[k - 1] - 1 : 0),
    };
  }

  /** Return the activation of a training point by the weights after k updates. @param {number} place @param {number} k */
  score(place, k) {
    const x = this.run.features[place];
    if (this.run.kind === "linear") return dot(this.weights[k].w, x) + this.weights[k].b;
    let sum = 0;
    for (let j = 0; j < k; j++) {
      const i = this.run.visits[this.run.updates[j]];
      sum += this.run.signs[i] * this.kernel(this.run.features[i], x[0], x[1]);
    }
    return sum;
  }

  /**
   * Return the kernel's value for a training point and a point of the plane.
   * @param {number[]} z @param {number} x @param {number} y
   */
  kernel(z, x, y) {
    const { kernel, gamma, degree, coef0 } = this.options;
    if (kernel === "poly") return (gamma * (z[0] * x + z[1] * y) + coef0) ** degree;
    const [dx, dy] = [z[0] - x, z[1] - y];
    return Math.exp(-gamma * (dx * dx + dy * dy));
  }

  /** Return the pass, from 1, that visit t is part of. @param {number} t */
  passAt(t) {
    const done = this.run.passes.findIndex((end) => t <= end);
    return done < 0 ? Math.max(1, this.run.passes.length) : done + 1;
  }

  /** Return where a step from t leads. @param {number} t @param {"update" | "example" | "pass"} by @param {1 | -1} direction */
  step(t, by, direction) {
    if (by === "example") return Math.max(0, Math.min(this.visits, t + direction));
    const stops = by === "update" ? this.updates : this.run.passes;
    if (direction > 0) return stops.find((stop) => stop > t) ?? this.visits;
    return stops.findLast((stop) => stop < t) ?? 0;
  }

  /** Return how many of the first k updates each training point has made. @param {number} k */
  counts(k) {
    const counts = new Array(this.run.rows.length).fill(0);
    for (let j = 0; j < k; j++) counts[this.run.visits[this.run.updates[j]]] += 1;
    return counts;
  }

  /** The pocket after t visits: that of the last pass that has ended, or null. @param {number} t */
  pocket(t) {
    const ended = this.run.passes.filter((end) => end <= t).length;
    return ended && this.run.pocket ? this.run.pocket[ended - 1] : null;
  }
}
