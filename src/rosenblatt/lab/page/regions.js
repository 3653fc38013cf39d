/** Scores over the square in sight, for what no straight line bounds: votes, kernels, curved features. */

import { dot, featuresOf } from "./replay.js";

/** @typedef {import("./replay.js").Replay} Replay */
/** @typedef {import("./types.d.ts").Moment} Moment */
/** @typedef {import("./types.d.ts").Weights} Weights */
/** @typedef {[number, number, number]} Square */

/**
 * Return the points of a grid over a square, row by row from the top.
 * @param {Square} view
 * @param {number} size
 */
export function gridPoints([x, y, half], size) {
  const step = (2 * half) / (size - 1);
  const points = new Float64Array(2 * size * size);
  for (let j = 0, at = 0; j < size; j++) {
    for (let i = 0; i < size; i++, at += 2) {
      points[at] = x - half + i * step;
      points[at + 1] = y + half - j * step;
    }
  }
  return points;
}

/**
 * Return the scores of linear weights at points.
 * @param {string[]} names
 * @param {Weights} weights
 * @param {Float64Array} points
 */
export function linearScores(names, { w, b }, points) {
  const out = new Float64Array(points.length / 2);
  for (let i = 0; i < out.length; i++) out[i] = dot(w, featuresOf(names, points[2 * i], points[2 * i + 1])) + b;
  return out;
}

/** The sums of a vote or a kernel on a grid, which go from one moment to the next by the updates between them. */
export class Sums {
  /** @type {Replay | null} */
  #replay = null;
  #key = "";
  #done = 0;
  #points = new Float64Array(0);
  #sums = new Float64Array(0);

  /**
   * Return the scores at a moment: votes for less votes against, or the kernel's sum.
   * @param {Replay} replay
   * @param {Moment} moment
   * @param {Square} view
   * @param {number} size
   */
  at(replay, moment, view, size) {
    const key = `${view} ${size}`;
    if (replay !== this.#replay || key !== this.#key) {
      if (key !== this.#key) this.#points = gridPoints(view, size);
      this.#sums = new Float64Array(size * size);
      [this.#replay, this.#key, this.#done] = [replay, key, 0];
    }
    const votes = replay.run.kind === "linear";
    const until = votes ? Math.max(0, moment.k - 1) : moment.k;
    for (; this.#done < until; this.#done++) this.#add(replay, this.#done, 1);
    for (; this.#done > until; this.#done--) this.#add(replay, this.#done - 1, -1);
    if (!votes) return this.#sums;
    const out = this.#sums.slice();
    if (moment.k) addVotes(out, this.#points, replay, moment.k, moment.survived);
    return out;
  }

  /** @param {Replay} replay @param {number} j @param {1 | -1} direction */
  #add(replay, j, direction) {
    if (replay.run.kind === "linear") {
      const visits = replay.updates[j + 1] - replay.updates[j];
      addVotes(this.#sums, this.#points, replay, j + 1, direction * visits);
      return;
    }
    const place = replay.run.visits[replay.run.updates[j]];
    const [z, sign] = [replay.run.features[place], direction * replay.run.signs[place]];
    const points = this.#points;
    for (let i = 0; i < this.#sums.length; i++) this.#sums[i] += sign * replay.kernel(z, points[2 * i], points[2 * i + 1]);
  }
}

/**
 * @param {Float64Array} sums
 * @param {Float64Array} points
 * @param {Replay} replay
 * @param {number} k
 * @param {number} visits
 */
function addVotes(sums, points, replay, k, visits) {
  const scores = linearScores(replay.run.names, replay.weights[k], points);
  for (let i = 0; i < sums.length; i++) sums[i] += visits * Math.sign(scores[i]);
}
