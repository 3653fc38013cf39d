/** Scores over the square in sight, for what no straight line bounds: votes, kernels, curved features. */

/** @import { Moment, Replay, Weights } from "./types.d.ts" */
/** @typedef {[number, number, number]} Square */

/** Return the points of a grid over a square, row by row from the top. @param {Square} view @param {number} size */
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
 * Return the weight of a feature, 0 where it is not among the names.
 * @param {string[]} names @param {number[]} w @param {string} name
 */
export function weightOf(names, w, name) {
  return names.includes(name) ? w[names.indexOf(name)] : 0;
}

/**
 * Return the scores of linear weights at points.
 * @param {string[]} names @param {Weights} weights @param {Float64Array} points
 */
export function linearScores(names, { w, b }, points) {
  const of = (/** @type {string} */ name) => weightOf(names, w, name);
  const [wx, wy, wxy, wr] = [of("x"), of("y"), of("xy"), of("r2")];
  const [wxx, wyy] = [of("x2") + wr, of("y2") + wr];
  const out = new Float64Array(points.length / 2);
  for (let i = 0; i < out.length; i++) {
    const x = points[2 * i], y = points[2 * i + 1];
    out[i] = x * (wx + wxx * x + wxy * y) + y * (wy + wyy * y) + b;
  }
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
   * @param {Replay} replay @param {Moment} moment @param {Square} view @param {number} size
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
    if (!votes && !this.#done && until > 1) this.#addAll(replay, until);
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
    this.#addBump(replay, place, direction * replay.run.signs[place]);
  }

  /** Add the bumps of the first k updates, those of a point at once. @param {Replay} replay @param {number} k */
  #addAll(replay, k) {
    replay.counts(k).forEach((count, place) => {
      if (count) this.#addBump(replay, place, count * replay.run.signs[place]);
    });
    this.#done = k;
  }

  /** @param {Replay} replay @param {number} place @param {number} weight */
  #addBump(replay, place, weight) {
    const [points, sums, z] = [this.#points, this.#sums, replay.run.features[place]];
    for (let i = 0; i < sums.length; i++) sums[i] += weight * replay.kernel(z, points[2 * i], points[2 * i + 1]);
  }
}

/** @param {Float64Array} sums @param {Float64Array} points @param {Replay} replay @param {number} k @param {number} visits */
function addVotes(sums, points, replay, k, visits) {
  const scores = linearScores(replay.run.names, replay.weights[k], points);
  for (let i = 0; i < sums.length; i++) sums[i] += visits * Math.sign(scores[i]);
}
