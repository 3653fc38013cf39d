/** The fewest points to remove so that a hyperplane separates the others: hitting sets of cores (Chandrasekaran et al. 2011). */

import { sideOf, sign } from "./exact.js";
import { examplesOf, featureNames } from "./learners.js";
import { randomBits } from "./orders.js";
import { Points, dot, nearestOfSigned, shares } from "./polytope.js";
import { separatorWords } from "./theory.js";
import { counted } from "../words.js";

/** @import { State } from "../types.d.ts" */

const MILLISECONDS = 2000;

/** Return the numbers of points to remove, and words that say whether fewer would do. @param {State} state */
export function fewest(state) {
  const { rows, X, y } = examplesOf(state);
  if (!rows.length || !featureNames(state).length) return { rows: [], text: "There is nothing to separate yet." };
  const { removed, low } = new Search(X, y).run();
  const [what, bias] = [`a ${separatorWords(featureNames(state))}`, state.bias ? "" : " That may take a bias."];
  if (!removed.length) return { rows: [], text: `No point has to go: ${what} has each of the ${counted(rows.length, "point")} on its side.${bias}` };
  const high = removed.length;
  let proof = "No fewer will do.";
  if (low < high) {
    const unknown = low ? `At least ${low} must go; whether fewer than ${high} will do` : "Whether fewer will do";
    proof = `${unknown} was not settled.`;
  }
  const these = high === 1 ? "this point" : `these ${counted(high, "point")}`;
  return { rows: removed.map((place) => rows[place]), text: `Without ${these}, ${what} has each of the others on its side. ${proof}${bias}` };
}

class Search {
  /** @param {number[][]} X @param {number[]} y */
  constructor(X, y) {
    this.X = X.map((x) => [...x, 1]);
    this.y = y;
    this.points = new Points(this.X);
    this.end = performance.now() + MILLISECONDS;
    /** @type {number[][]} Sets of points that no hyperplane separates: one of each must go. */
    this.cores = [];
    /** @type {number[]} The fewest points known to be enough. */
    this.removed = y.map((_, i) => i).filter((i) => y[i] !== this.#commonest());
  }

  #commonest() {
    return this.y.reduce((all, label) => all + label, 0) < 0 ? -1 : 1;
  }

  get isOver() {
    return performance.now() > this.end;
  }

  run() {
    this.#improve();
    const packed = this.#coresOutside([]);
    let low = packed;
    for (let greedy = true; low < this.removed.length && !this.isOver; ) {
      const hit = greedy ? this.#greedyHit() : smallestHit(this.cores, this.end);
      if (!hit) break;
      const found = this.#coresOutside(hit);
      if (!greedy) low = Math.max(low, hit.length);
      if (!found && !greedy) break; // the others are separable
      greedy = greedy && found > 0;
    }
    return { removed: this.removed, low: Math.min(low, this.removed.length) };
  }

  /** Find disjoint cores among the points outside a set until a hyperplane separates the rest. @param {number[]} hit */
  #coresOutside(hit) {
    const gone = new Set(hit);
    for (let found = 0; ; found++) {
      const left = this.y.map((_, i) => i).filter((i) => !gone.has(i));
      const nearest = left.length && !this.isOver ? nearestOfSigned(this.points.some(left), left.map((i) => this.y[i]), this.end) : null;
      if (!nearest) return found;
      if (nearest.p.some(Boolean)) {
        this.#keep(this.points.exact.flatMap((x, i) => (sign(dot(nearest.p, x)) === this.y[i] ? [] : [i])));
        return found;
      }
      const core = [...shares(nearest).keys()];
      this.cores.push(core);
      core.forEach((i) => gone.add(i));
    }
  }

  /** @param {number[]} wrong points that some hyperplane has not on their side */
  #keep(wrong) {
    if (wrong.length < this.removed.length) this.removed = wrong;
  }

  /** Improve a hyperplane along random directions, each time to where the fewest points are wrong. */
  #improve() {
    const draw = randomBits(0);
    const random = () => (draw() + 0.5) / 2 ** 32 - 0.5;
    const width = this.X[0].length;
    const spread = Array.from({ length: width }, (_, j) => Math.max(...this.X.map((x) => Math.abs(x[j]))) || 1);
    const until = performance.now() + MILLISECONDS / 5;
    for (let start = 0; start < 8; start++) {
      let [w, fewest] = [spread.map((size) => random() / size), Infinity];
      for (let tries = 0; tries < 40 && performance.now() < until; tries++) {
        const pivot = this.X[Math.floor((random() + 0.5) * this.X.length)];
        let u = spread.map((size) => random() / size);
        if (tries % 2) u = u.map((value, j) => value - (inner(u, pivot) / inner(pivot, pivot)) * pivot[j]);
        const { t, wrong } = this.#bestAlong(w, u);
        if (wrong > fewest) continue;
        if (wrong < fewest) tries = 0;
        fewest = wrong;
        w = w.map((value, j) => value + t * u[j]);
      }
      this.#keep(this.X.flatMap((x, i) => (this.y[i] * sideOf(w, x, 0) > 0 ? [] : [i])));
    }
  }

  /** Return the t for which w + t u has the fewest points wrong, and their number. @param {number[]} w @param {number[]} u */
  #bestAlong(w, u) {
    let wrong = 0; // at t = -infinity
    const turns = this.X.flatMap((x, i) => {
      const [a, slope] = [this.y[i] * inner(w, x), this.y[i] * inner(u, x)];
      if (slope > 0 || (!slope && a <= 0)) wrong += 1;
      return slope ? [{ t: -a / slope, by: slope > 0 ? -1 : 1 }] : [];
    });
    turns.sort((a, b) => a.t - b.t);
    let best = { t: (turns[0]?.t ?? 0) - 1, wrong };
    turns.forEach(({ t, by }, k) => {
      wrong += by;
      const next = turns[k + 1]?.t ?? t + 2;
      if (wrong < best.wrong && next > t) best = { t: (t + next) / 2, wrong };
    });
    return best;
  }

  #greedyHit() {
    const hit = [];
    for (let left = this.cores; left.length; ) {
      const counts = new Map();
      for (const i of left.flat()) counts.set(i, (counts.get(i) ?? 0) + 1);
      const [most] = [...counts].reduce((best, one) => (one[1] > best[1] ? one : best));
      hit.push(most);
      left = left.filter((core) => !core.includes(most));
    }
    return hit;
  }
}

/** @param {number[]} u @param {number[]} v */
const inner = (u, v) => u.reduce((total, value, j) => total + value * v[j], 0);

/**
 * Return a smallest set that has a point of each core, by branch and bound; null where time runs out.
 * @param {number[][]} cores @param {number} end
 */
function smallestHit(cores, end) {
  /** @type {number[] | null} */
  let best = null;
  let steps = 0;
  /** @param {number[]} hit @param {Set<number>} spared points decided to stay @returns {boolean} whether time is left */
  const search = (hit, spared) => {
    if (++steps % 256 === 0 && performance.now() > end) return false;
    const left = cores.filter((core) => !core.some((i) => hit.includes(i))).map((core) => core.filter((i) => !spared.has(i)));
    left.sort((a, b) => a.length - b.length);
    const packed = new Set(); // disjoint cores need a point each
    let bound = hit.length;
    for (const core of left) {
      if (core.some((i) => packed.has(i))) continue;
      core.forEach((i) => packed.add(i));
      bound += 1;
    }
    if (best && bound >= best.length) return true;
    if (!left.length) {
      best = hit;
      return true;
    }
    const tried = new Set(spared);
    for (const i of left[0]) {
      if (!search([...hit, i], tried)) return false;
      tried.add(i);
    }
    return true;
  };
  return search([], new Set()) ? best : null;
}
