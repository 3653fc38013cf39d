/** A run, moment by moment. Nothing is decided here: which visits were mistakes comes with the run. */

/** @typedef {import("./types.d.ts").Run} Run */
/** @typedef {import("./types.d.ts").Moment} Moment */
/** @typedef {import("./types.d.ts").Weights} Weights */

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
    for (const visit of run.updates) this.#add(visit);
  }

  /** @param {number} visit */
  #add(visit) {
    const place = this.run.visits[visit];
    const [x, y] = [this.run.features[place], this.run.signs[place]];
    const last = this.weights[this.weights.length - 1];
    const cache = this.cached[this.cached.length - 1];
    const bias = this.bias ? y : 0;
    this.weights.push({ w: last.w.map((value, i) => value + y * x[i]), b: last.b + bias });
    this.cached.push({ w: cache.w.map((value, i) => value + y * visit * x[i]), b: cache.b + visit * bias });
  }

  /** Whether the weights at the end are those of the library, bit for bit. */
  get agrees() {
    const { w, b } = this.weights[this.weights.length - 1];
    if (this.run.kind === "kernel") return true;
    return w.every((value, i) => value === this.run.w[i]) && b === this.run.b;
  }

  /**
   * Return how many updates have been made after t visits.
   * @param {number} t
   */
  updatesAfter(t) {
    let [low, high] = [0, this.updates.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.updates[middle] <= t) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /**
   * Return the moment after t visits.
   * @param {number} t
   * @returns {Moment}
   */
  at(t) {
    const { run } = this;
    const k = this.updatesAfter(t);
    const mistake = k > 0 && this.updates[k - 1] === t;
    const now = this.weights[k];
    const before = mistake ? this.weights[k - 1] : now;
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
      mistake,
      activation: place < 0 ? 0 : sign * this.score(place, mistake ? k - 1 : k),
      ...now,
      before,
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
