/** A run, moment by moment. Nothing is decided here: which visits made updates, and by what steps, comes with the run. */

/** @import { Moment, Run, Weights } from "./types.d.ts" */

/**
 * Return the product of two vectors.
 * @param {number[]} u
 * @param {number[]} v
 */
export function dot(u, v) {
  let sum = 0;
  for (let i = 0; i < u.length; i++) sum += u[i] * v[i];
  return sum;
}

/** @param {Weights | undefined} one @param {Weights} other */
function same(one, other) {
  return one !== undefined && one.b === other.b && one.w.every((value, i) => value === other.w[i]);
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

/** All weights of a run, made by adding up its updates; `at(t)` is the moment after t visits. */
export class Replay {
  /**
   * @param {Run} run
   * @param {{bias: boolean, kernel: string, degree: number, gamma: number, coef0: number}} options
   */
  constructor(run, options) {
    this.run = run;
    this.options = options;
    this.bias = options.bias && run.kind === "linear";
    this.visits = run.visits.length;
    /** The visits after which an update has been made, counted from 1. */
    this.updates = run.updates.map((visit) => visit + 1);
    const d = run.names.length;
    /** @type {Weights[]} Weights after each update; the first are zero. */
    this.weights = [{ w: new Array(d).fill(0), b: 0 }];
    /** @type {Weights[]} What CIML's Algorithm 7 caches for the average, after each update. */
    this.cached = [{ w: new Array(d).fill(0), b: 0 }];
    /** @type {Weights[] | null} Variances of the weights after each update, where a learner has them. */
    this.variances = run.rule?.kind === "arow" ? [{ w: new Array(d).fill(1), b: 1 }] : null;
    /** The visits that were mistakes, counted from 1. */
    this.mistakes = run.rule ? run.rule.mistakes.map((visit) => visit + 1) : this.updates;
    run.updates.forEach((visit, k) => this.#add(visit, this.sizeOf(k)));
  }

  /** Return the size of the step of an update, from 0. @param {number} k */
  sizeOf(k) {
    return this.run.rule ? this.run.rule.steps[k] : 1;
  }

  /** @param {number} visit @param {number} size */
  #add(visit, size) {
    const place = this.run.visits[visit];
    const step = this.run.signs[place] * size;
    const last = this.weights[this.weights.length - 1];
    const cache = this.cached[this.cached.length - 1];
    const { w: x, b: one } = this.#towards(this.run.features[place]);
    this.weights.push({ w: last.w.map((value, i) => value + step * x[i]), b: last.b + step * one });
    this.cached.push({ w: cache.w.map((value, i) => value + step * visit * x[i]), b: cache.b + step * visit * one });
  }

  /** Return what an update adds for each unit of its step: the point, or what the variances, which shrink, let through of it. @param {number[]} x @returns {Weights} */
  #towards(x) {
    const one = this.bias ? 1 : 0;
    if (!this.variances) return { w: x, b: one };
    const { w, b } = this.variances[this.variances.length - 1];
    const r = this.run.rule?.r ?? 1;
    const v = this.run.rule?.row_variances?.[this.variances.length - 1] ?? 1;
    const inverse = 1 / (v + r);
    const moved = { w: w.map((value, i) => value * x[i]), b: b * one };
    // as the library does it, rounding by rounding
    const shrunk = (/** @type {number} */ s, /** @type {number} */ t, /** @type {number} */ feature) =>
      feature === 0 ? s : s * Math.min((Math.max(v - t * feature, 0) + r) * inverse, 1);
    this.variances.push({ w: w.map((s, i) => shrunk(s, moved.w[i], x[i])), b: shrunk(b, moved.b, one) });
    return moved;
  }

  /** Whether the weights at the end are those of the library, bit for bit. */
  get agrees() {
    if (this.run.kind === "kernel") return true;
    const variance = this.run.rule?.variance;
    const known = !variance || same(this.variances?.at(-1), variance);
    return known && same(this.weights[this.weights.length - 1], this.run);
  }

  /**
   * Return how many updates have been made after t visits.
   * @param {number} t
   */
  updatesAfter(t) {
    return countUntil(this.updates, t);
  }

  /**
   * Return the moment after t visits.
   * @param {number} t
   * @returns {Moment}
   */
  at(t) {
    const { run } = this;
    const k = this.updatesAfter(t);
    const updated = k > 0 && this.updates[k - 1] === t;
    const mistakes = countUntil(this.mistakes, t);
    const [now, variance] = [this.weights[k], this.variances?.[k] ?? null];
    const last = updated ? k - 1 : k;
    const place = t > 0 ? run.visits[t - 1] : -1;
    const x = place < 0 ? [] : run.features[place];
    const sign = place < 0 ? 0 : run.signs[place];
    const cache = this.cached[k];
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
      step: updated ? this.sizeOf(k - 1) : 0,
      mistake: mistakes > 0 && this.mistakes[mistakes - 1] === t,
      mistakes,
      activation: place < 0 ? 0 : sign * this.score(place, last),
      ...now,
      before: this.weights[last],
      variance,
      varianceBefore: this.variances?.[last] ?? null,
      average: { w: now.w.map((value, i) => value - cache.w[i] / visits), b: now.b - cache.b / visits },
      survived: t - (k ? this.updates[k - 1] - 1 : 0),
    };
  }

  /**
   * Return the activation of a training point by the weights after k updates.
   * @param {number} place
   * @param {number} k
   */
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
   * @param {number[]} z
   * @param {number} x
   * @param {number} y
   */
  kernel(z, x, y) {
    const { kernel, gamma, degree, coef0 } = this.options;
    if (kernel === "poly") return (gamma * (z[0] * x + z[1] * y) + coef0) ** degree;
    const [dx, dy] = [z[0] - x, z[1] - y];
    return Math.exp(-gamma * (dx * dx + dy * dy));
  }

  /**
   * Return the pass, from 1, that visit t is part of.
   * @param {number} t
   */
  passAt(t) {
    const done = this.run.passes.findIndex((end) => t <= end);
    return done < 0 ? Math.max(1, this.run.passes.length) : done + 1;
  }

  /**
   * Return where a step from t leads.
   * @param {number} t
   * @param {"update" | "example" | "pass"} by
   * @param {1 | -1} direction
   */
  step(t, by, direction) {
    if (by === "example") return Math.max(0, Math.min(this.visits, t + direction));
    const stops = by === "update" ? this.updates : this.run.passes;
    if (direction > 0) return stops.find((stop) => stop > t) ?? this.visits;
    return stops.findLast((stop) => stop < t) ?? 0;
  }

  /**
   * Return how many of the first k updates each training point has made.
   * @param {number} k
   */
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
