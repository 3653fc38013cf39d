/**
 * The point of a polytope nearest to the origin, by Wolfe's algorithm (1976) in exact rationals. If it is the origin
 * itself, its weights prove that no hyperplane has all vertices on one side (Gordan 1873); if not, it is the normal of the
 * one that is farthest from them, which is the separator of largest margin.
 */

import { absolute, aligned, bits, dyadic, nearest } from "./exact.js";

/** A vertex, and the numbers of the points that it is made of. @typedef {{of: number[], v: bigint[]}} Vertex */
/** A vertex and its weight. @typedef {Vertex & {weight: bigint}} Corner */
/** A point: the sum of weights times vertices is p, and the weights add up to total. @typedef {{corners: Corner[], p: bigint[], total: bigint}} Nearest */

/** @param {bigint[]} u @param {bigint[]} v */
export function dot(u, v) {
  let total = 0n;
  for (let i = 0; i < u.length; i++) total += u[i] * v[i];
  return total;
}

/** Return the least of some integers, 0 if there are none. @param {bigint[]} values */
export const least = (values) => values.reduce((low, n) => (n < low ? n : low), values[0] ?? 0n);

/** Points as integers times a power of two, with floats beside them that tell which are worth an exact product. */
export class Points {
  /** @param {number[][]} rows @param {number[]} [numbers] */
  constructor(rows, numbers = rows.map((_, i) => i)) {
    const width = rows[0]?.length ?? 0;
    const { ns, e } = aligned(rows.flat().map(dyadic));
    this.e = e;
    this.numbers = numbers;
    this.floats = rows;
    this.exact = rows.map((_, i) => ns.slice(i * width, (i + 1) * width));
  }

  /** Return these points with integers of the caller's making. @param {bigint[][]} exact */
  static ofIntegers(exact) {
    const points = new Points([]);
    const most = exact.flat().reduce((top, n) => Math.max(top, bits(absolute(n))), 0);
    points.exact = exact;
    points.floats = exact.map((row) => row.map((n) => nearest(n, 1n, -most)));
    points.numbers = exact.map((_, i) => i);
    return points;
  }

  /** Return some of these points. @param {number[]} places */
  some(places) {
    const points = new Points([]);
    points.e = this.e;
    points.numbers = places.map((i) => this.numbers[i]);
    points.floats = places.map((i) => this.floats[i]);
    points.exact = places.map((i) => this.exact[i]);
    return points;
  }

  /** Return the place of a point with the least product with p, and that product. @param {bigint[]} p */
  least(p) {
    const most = p.reduce((top, n) => Math.max(top, bits(absolute(n))), 0);
    const q = p.map((n) => nearest(n, 1n, -most)); // below 1, so that nothing overflows
    let ceiling = Infinity;
    const lows = this.floats.map((row) => {
      let [product, size] = [0, 0];
      for (let i = 0; i < q.length; i++) {
        product += q[i] * row[i];
        size += Math.abs(q[i] * row[i]);
      }
      const error = 1e-13 * size + 1e-290;
      ceiling = Math.min(ceiling, product + error);
      return product - error;
    });
    let [place, value] = [-1, 0n];
    lows.forEach((low, i) => {
      if (low > ceiling) return;
      const product = dot(p, this.exact[i]);
      if (place < 0 || product < value) [place, value] = [i, product];
    });
    return { place, value };
  }
}

/**
 * Return the nearest point of the hull of some vertices.
 * @param {(p: bigint[]) => Vertex} least a vertex of least product with p
 * @param {bigint[]} anywhere where to begin
 * @param {number} [end] when to give up, in milliseconds of `performance.now`
 * @returns {Nearest | null} null where time has run out
 */
function nearestPoint(least, anywhere, end = Infinity) {
  let corners = [{ ...least(anywhere), weight: 1n }];
  for (;;) {
    const [p, total] = [combined(corners), corners.reduce((all, { weight }) => all + weight, 0n)];
    const here = { corners, p, total };
    const vertex = least(p);
    if (dot(p, vertex.v) * total >= dot(p, p)) return here;
    if (performance.now() > end) return null;
    corners = lowered([...corners, { ...vertex, weight: 0n }]);
  }
}

/** @param {Corner[]} corners */
function combined(corners) {
  return corners[0].v.map((_, i) => corners.reduce((all, { v, weight }) => all + weight * v[i], 0n));
}

/**
 * Return the corners with the weights of the nearest point of a face of their hull: Wolfe's minor cycle.
 * @param {Corner[]} corners affinely independent
 * @returns {Corner[]}
 */
function lowered(corners) {
  for (;;) {
    const goal = affineWeights(corners.map(({ v }) => v));
    if (goal.every((weight) => weight > 0n)) return reduced(corners.map((corner, k) => ({ ...corner, weight: goal[k] })));
    // Go towards the goal until a weight reaches 0: at a share of w / (w - g), for weights w and g of the same sum.
    const [from, to] = [corners.map(({ weight }) => weight), goal].map((all) => all.reduce((total, weight) => total + weight, 0n));
    let [above, below] = [1n, 1n];
    corners.forEach(({ weight }, k) => {
      const [now, then] = [weight * to, goal[k] * from];
      if (then <= 0n && now * below <= above * (now - then)) [above, below] = [now, now - then];
    });
    corners = reduced(corners.map((corner, k) => ({ ...corner, weight: (below - above) * corner.weight * to + above * goal[k] * from })));
  }
}

/** Return the corners of positive weight, their weights without a common factor. @param {Corner[]} corners */
function reduced(corners) {
  const kept = corners.filter(({ weight }) => weight > 0n);
  const common = kept.reduce((all, { weight }) => divisor(all, weight), 0n);
  return kept.map((corner) => ({ ...corner, weight: corner.weight / common }));
}

/** @param {bigint} a @param {bigint} b */
function divisor(a, b) {
  while (b) [a, b] = [b, a % b];
  return a;
}

/**
 * Return weights of vectors, with a positive sum, for the point nearest to the origin of the flat through them.
 * @param {bigint[][]} vectors affinely independent
 */
function affineWeights([first, ...others]) {
  const apart = others.map((v) => v.map((value, i) => value - first[i]));
  const A = apart.map((u) => [...apart.map((v) => dot(u, v)), -dot(u, first)]);
  // Gauss and Jordan without fractions (Bareiss 1968): every entry is a minor, so every division is exact. Pivots are the
  // leading minors of a Gram matrix, which are positive.
  let last = 1n;
  A.forEach((pivotRow, k) => {
    const pivot = pivotRow[k];
    A.forEach((row, i) => {
      if (i === k) return;
      const factor = row[k];
      for (let j = 0; j < row.length; j++) row[j] = (pivot * row[j] - factor * pivotRow[j]) / last;
    });
    last = pivot;
  });
  const weights = A.map((row) => row[apart.length]);
  return [last - weights.reduce((all, weight) => all + weight, 0n), ...weights];
}

/**
 * Return the point nearest to the origin of the hull of the points times their signs.
 * @param {Points} points @param {number[]} y @param {number} [end]
 */
export function nearestOfSigned(points, y, end) {
  const signed = points.some(y.map((_, i) => i));
  signed.exact = points.exact.map((row, i) => (y[i] > 0 ? row : row.map((n) => -n)));
  signed.floats = points.floats.map((row, i) => row.map((value) => value * y[i]));
  return nearestPoint(vertexOf(signed), signed.exact[0], end);
}

/** @param {Points} points @returns {(p: bigint[]) => Vertex} */
function vertexOf(points) {
  return (p) => {
    const { place } = points.least(p);
    return { of: [points.numbers[place]], v: points.exact[place] };
  };
}

/**
 * Return the vector between the nearest points of the hulls of two classes, from the negative to the positive one.
 * @param {Points} points @param {number[]} y @param {number} [end]
 */
export function nearestOfTwo(points, y, end) {
  const [blue, orange] = [1, -1].map((label) => points.some(y.flatMap((one, i) => (one === label ? [i] : []))));
  const least = (/** @type {bigint[]} */ p) => {
    const [a, b] = [blue.least(p).place, orange.least(p.map((n) => -n)).place];
    return { of: [blue.numbers[a], orange.numbers[b]], v: blue.exact[a].map((n, i) => n - orange.exact[b][i]) };
  };
  return nearestPoint(least, blue.exact[0], end);
}

/** Return the share of each point in a nearest point, by its number. @param {Nearest} found */
export function shares({ corners }) {
  /** @type {Map<number, bigint>} */
  const weights = new Map();
  for (const { of, weight } of corners) for (const number of of) weights.set(number, (weights.get(number) ?? 0n) + weight);
  return weights;
}

