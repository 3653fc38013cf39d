/** The VC game: which subsets of a few points a family of shapes cuts, a shape that cuts one, or why none does. */

import { absolute, aligned, dyadic, nearest, sideOf, sign, sum, times } from "./exact.js";
import { Points, dot, least, nearestOfSigned, nearestOfTwo, shares } from "./polytope.js";
import { counted } from "../words.js";

/** @import { Family } from "../types.d.ts" */
/** @typedef {[number, number][]} Plane */

const MOST_POINTS = 7;
const WIDER = 0.05; // how far a box reaches beyond its points, of their extent, where nothing is in the way
const KNOWN_DIMENSION = { halfspaces: 3, discs: 3, rectangles: 4 };
const NAMES = { halfspaces: "half-plane", discs: "disc", rectangles: "rectangle" };

/**
 * Return the subsets that the family cuts, and for one subset a shape or the reason why there is none.
 * @param {{points: Plane, family: Family, subset: number[]}} question
 */
export function vc({ points, family, subset }) {
  const game = new Game(points, family);
  const cut = game.cut();
  const inside = [...subset].sort((a, b) => a - b);
  const n = points.length;
  return {
    count: cut.length,
    of: 2 ** n,
    cut: cut.map(membersOf).sort((a, b) => a.length - b.length || compare(a, b)),
    shattered: cut.length === 2 ** n,
    dimension: dimension(cut, n, KNOWN_DIMENSION[family]),
    sauer: sauer(n, KNOWN_DIMENSION[family]),
    answer: cut.includes(inside.reduce((mask, i) => mask | (1 << i), 0)) ? game.shape(inside) : game.reason(inside),
  };
}

/** @param {number[]} a @param {number[]} b */
function compare(a, b) {
  const i = a.findIndex((value, k) => value !== b[k]);
  return i < 0 ? 0 : a[i] - b[i];
}

/** Return the numbers of a set. @param {number} mask */
const membersOf = (mask) => Array.from({ length: MOST_POINTS }, (_, i) => i).filter((i) => mask & (1 << i));

/** Return the size of the largest set of points of which every subset is cut. @param {number[]} cut @param {number} n @param {number} most */
function dimension(cut, n, most) {
  let best = 0;
  for (let mask = 0; mask < 2 ** n; mask++) {
    const size = membersOf(mask).length;
    if (size > best && size <= most && new Set(cut.map((one) => one & mask)).size === 2 ** size) best = size;
  }
  return best;
}

/** Return the most subsets of n points that a family of this dimension cuts. @param {number} n @param {number} dimension */
function sauer(n, dimension) {
  let [total, term] = [0, 1];
  for (let i = 0; i <= Math.min(n, dimension); i++) {
    total += term;
    term = (term * (n - i)) / (i + 1);
  }
  return total;
}

class Game {
  /** @param {Plane} points @param {Family} family */
  constructor(points, family) {
    this.points = points;
    this.family = family;
    const { ns, e } = aligned(points.flat().map(dyadic));
    this.e = e;
    const columns = [0, 1].map((j) => points.map((_, i) => ns[2 * i + j]));
    this.middle = columns.map((column) => (least(column) - least(column.map((n) => -n))) / 2n);
    const moved = points.map((_, i) => columns.map((column, j) => column[i] - this.middle[j]));
    this.size = moved.flat().reduce((top, n) => (absolute(n) > top ? absolute(n) : top), 1n);
    const S = this.size;
    // (x, y, 1), and for discs (x, y, x^2 + y^2, 1), where a disc is what lies below a plane: points are moved to the
    // middle and divided by their size, and then all is times size^2
    this.rows = moved.map(([x, y]) => (family === "discs" ? [S * x, S * y, x * x + y * y, S * S] : [S * x, S * y, S * S]));
    /** One more row for discs: their plane must look down. @type {bigint[][]} */
    this.more = family === "discs" ? [[0n, 0n, -S * S, 0n]] : [];
  }

  /** Return every subset that the family cuts, as a set of bits. */
  cut() {
    return Array.from({ length: 2 ** this.points.length }, (_, mask) => mask).filter((mask) => this.#isCut(membersOf(mask)));
  }

  /** @param {number[]} inside */
  #isCut(inside) {
    if (!inside.length || inside.length === this.points.length) return true;
    if (this.family === "rectangles") return !this.#caught(inside).length;
    return this.#nearest(inside).p.some(Boolean);
  }

  /** @param {number[]} inside */
  #labels(inside) {
    return this.points.map((_, i) => (inside.includes(i) ? 1 : -1));
  }

  /** Return the nearest point of the rows times their labels; it is 0 if no shape cuts. @param {number[]} inside */
  #nearest(inside) {
    const rows = Points.ofIntegers([...this.rows, ...this.more]);
    return /** @type {import("./polytope.js").Nearest} */ (nearestOfSigned(rows, [...this.#labels(inside), ...this.more.map(() => 1)]));
  }

  /** Return the other points in the smallest box around some. @param {number[]} inside */
  #caught(inside) {
    const box = boxAround(inside.map((i) => this.points[i]));
    return this.points.flatMap((point, i) => (!inside.includes(i) && isWithin(point, box) ? [i] : []));
  }

  // shapes

  /** @param {number[]} inside */
  shape(inside) {
    if (!inside.length || inside.length === this.points.length) return { cut: true, shape: { kind: inside.length ? "all" : "none" } };
    const shape = this.family === "halfspaces" ? this.#line(inside) : this.family === "discs" ? this.#disc(inside) : this.#box(inside);
    if (shape) return { cut: true, shape };
    return { cut: true, shape: { kind: "none" }, text: `A ${NAMES[this.family]} cuts this subset, but none whose numbers floats can hold.` };
  }

  /** Return whether exactly the points inside have a positive side, and none is 0. @param {number[]} inside @param {(point: number[]) => number} side */
  #holds(inside, side) {
    const labels = this.#labels(inside);
    return this.points.every((point, i) => side(point) === labels[i]);
  }

  /** Return the line of largest margin. @param {number[]} inside */
  #line(inside) {
    const [points, labels] = [new Points(this.points), this.#labels(inside)];
    const { p } = /** @type {import("./polytope.js").Nearest} */ (nearestOfTwo(points, labels));
    const scores = points.exact.map((x) => dot(p, x));
    const [low, high] = [1, -1].map((label) => least(scores.filter((_, i) => labels[i] === label).map((n) => BigInt(label) * n)));
    const most = p.reduce((top, n) => (absolute(n) > top ? absolute(n) : top), 1n);
    const [w, b] = [p.map((n) => nearest(n, most)), nearest(high - low, 2n * most, points.e)];
    const length = Math.hypot(...w);
    const lines = [length, 1].map((by) => ({ kind: "line", w: w.map((value) => value / by), b: b / by }));
    return lines.find((line) => this.#holds(inside, (point) => sideOf(line.w, point, line.b))) ?? null;
  }

  /** Return a disc, its radius half-way between the last point inside and the first outside. @param {number[]} inside */
  #disc(inside) {
    const { p } = this.#nearest(inside);
    const center = this.middle.map((middle, j) => nearest(-2n * p[2] * middle + this.size * p[j], -2n * p[2], this.e));
    const far = this.points.map(([x, y]) => Math.hypot(x - center[0], y - center[1]));
    const most = Math.max(...inside.map((i) => far[i]));
    const radius = (most + Math.min(...far.filter((_, i) => !inside.includes(i)))) / 2;
    if (!(radius > 0 && [...center, radius].every(Number.isFinite))) return null;
    const square = (/** @type {number[]} */ values) => times(sum(values.map(dyadic)), sum(values.map(dyadic)));
    const side = (/** @type {number[]} */ point) => {
      const [x, y] = point.map((value, j) => square([value, -center[j]]));
      return sign(sum([square([radius]), { n: -x.n, e: x.e }, { n: -y.n, e: y.e }]).n);
    };
    return this.#holds(inside, side) ? { kind: "disc", center, radius } : null;
  }

  /** Return a box that is wider than its points, where there is room. @param {number[]} inside */
  #box(inside) {
    const tight = boxAround(inside.map((i) => this.points[i]));
    const all = boxAround(this.points);
    const extent = Math.max(all.high[0] - all.low[0], all.high[1] - all.low[1]) || 1;
    const room = (/** @type {number} */ axis, /** @type {number} */ bound, /** @type {number} */ sign) => {
      const gaps = this.points.filter((_, i) => !inside.includes(i)).map((point) => (point[axis] - bound) * sign);
      const gap = Math.min(...gaps.filter((value) => value > 0));
      return bound + sign * (Number.isFinite(gap) ? gap / 3 : extent * WIDER);
    };
    const wide = { low: tight.low.map((value, axis) => room(axis, value, -1)), high: tight.high.map((value, axis) => room(axis, value, 1)) };
    const box = [wide, tight].find((one) => this.#holds(inside, (point) => (isWithin(point, one) ? 1 : -1)));
    return box ? { kind: "box", ...box } : null;
  }

  // reasons

  /** @param {number[]} inside */
  reason(inside) {
    if (this.family === "rectangles") {
      const outside = this.#caught(inside);
      const text = `The smallest rectangle around the blue points also holds ${counted(outside.length, "point")} of the others: so does every other one.`;
      return { cut: false, text, inside, outside, point: null };
    }
    const weights = [...shares(this.#nearest(inside))].filter(([i]) => i < this.points.length).sort(([a], [b]) => a - b);
    const [blue, orange] = [true, false].map((held) => weights.filter(([i]) => inside.includes(i) === held));
    const mean = (/** @type {[number, bigint][]} */ side, /** @type {(point: number[]) => import("./exact.js").Dyadic} */ of) => {
      const { n, e } = sum(side.map(([i, weight]) => times({ n: weight, e: 0 }, of(this.points[i]))));
      return nearest(n, side.reduce((all, [, weight]) => all + weight, 0n), e);
    };
    const height = (/** @type {number[]} */ point) => sum(point.map((value) => times(dyadic(value), dyadic(value))));
    const answer = {
      cut: false,
      text: this.family === "halfspaces" ? NO_LINE : NO_DISC,
      inside: blue.map(([i]) => i),
      outside: orange.map(([i]) => i),
      point: [0, 1].map((j) => mean(blue, (point) => dyadic(point[j]))),
    };
    return this.family === "discs" ? { ...answer, heights: [mean(blue, height), mean(orange, height)] } : answer;
  }
}

const NO_LINE =
  "No half-plane holds the blue points and misses the others: a half-plane that holds some points holds all that lies " +
  "between them, their hull, and the marked point lies in the hulls of both.";
const NO_DISC =
  "No disc holds the blue points and misses the others: with every point lifted to the height x₁² + x₂², a disc is what " +
  "lies below a plane. But above the marked point, a mix of the blue points is as high as a mix of the others or " +
  "higher, so no plane has the blue ones below it and the others above.";

/** @param {number[][]} points */
function boxAround(points) {
  const of = (/** @type {(...values: number[]) => number} */ pick) => [0, 1].map((j) => pick(...points.map((point) => point[j])));
  return { low: of(Math.min), high: of(Math.max) };
}

/** @param {number[]} point @param {{low: number[], high: number[]}} box */
const isWithin = (point, { low, high }) => point.every((value, j) => low[j] <= value && value <= high[j]);
