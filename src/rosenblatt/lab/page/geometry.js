/** Plane geometry: points are [x, y], a line is w1 x + w2 y + b = 0, a box is [left, bottom, right, top]. */

/** @import { Box, XY } from "./types.d.ts" */

/**
 * Return the part of a convex polygon where w1 x + w2 y + b >= 0.
 * @param {XY[]} polygon @param {number} w1 @param {number} w2 @param {number} b @returns {XY[]}
 */
export function clip(polygon, w1, w2, b) {
  /** @type {XY[]} */
  const out = [];
  polygon.forEach((p, i) => {
    const q = polygon[(i + 1) % polygon.length];
    const [u, v] = [w1 * p[0] + w2 * p[1] + b, w1 * q[0] + w2 * q[1] + b];
    if (u >= 0) out.push(p);
    if (u >= 0 !== v >= 0) {
      const s = u / (u - v);
      out.push([p[0] + s * (q[0] - p[0]), p[1] + s * (q[1] - p[1])]);
    }
  });
  return out;
}

/** Return the corners of a box, against the clock. @param {Box} box @returns {XY[]} */
export function corners([left, bottom, right, top]) {
  return [[left, bottom], [right, bottom], [right, top], [left, top]];
}

/**
 * Return the two ends of a line within a box, or null where it misses the box or all weights are zero.
 * @param {number} w1 @param {number} w2 @param {number} b @param {Box} box @returns {[XY, XY] | null}
 */
export function lineInBox(w1, w2, b, box) {
  if (w1 === 0 && w2 === 0) return null;
  const points = corners(box);
  /** @type {XY[]} */
  const ends = [];
  points.forEach((p, i) => {
    const q = points[(i + 1) % 4];
    const [u, v] = [w1 * p[0] + w2 * p[1] + b, w1 * q[0] + w2 * q[1] + b];
    if (u === 0) ends.push(p);
    else if (u < 0 !== v < 0 && v !== 0) {
      const s = u / (u - v);
      ends.push([p[0] + s * (q[0] - p[0]), p[1] + s * (q[1] - p[1])]);
    }
  });
  return ends.length >= 2 ? [ends[0], ends[ends.length - 1]] : null;
}

/** Return the convex hull of points, against the clock. @param {XY[]} points @returns {XY[]} */
export function hull(points) {
  const sorted = [...points].sort((p, q) => p[0] - q[0] || p[1] - q[1]);
  if (sorted.length < 3) return sorted;
  /** @param {XY[]} order */
  const chain = (order) => {
    /** @type {XY[]} */
    const out = [];
    for (const p of order) {
      while (out.length > 1 && turn(out[out.length - 2], out[out.length - 1], p) <= 0) out.pop();
      out.push(p);
    }
    return out.slice(0, -1);
  };
  return [...chain(sorted), ...chain(sorted.reverse())];
}

/** @param {XY} o @param {XY} p @param {XY} q */
function turn(o, p, q) {
  return (p[0] - o[0]) * (q[1] - o[1]) - (p[1] - o[1]) * (q[0] - o[0]);
}

/**
 * Return the circle below the plane w1 x + w2 y + w3 (x² + y²) + b = 0, or null where there is none.
 * @param {number[]} w @param {number} b @returns {{center: XY, radius: number, inside: boolean} | null}
 */
export function circleOfPlane([w1, w2, w3], b) {
  if (!w3) return null;
  /** @type {XY} */
  const center = [-w1 / (2 * w3), -w2 / (2 * w3)];
  const square = center[0] ** 2 + center[1] ** 2 - b / w3;
  return square > 0 ? { center, radius: Math.sqrt(square), inside: w3 < 0 } : null;
}

/**
 * Return the segments along which values on a square grid change their sign, in units of the grid.
 *
 * `values[j * size + i]` is the value at column i of row j; a zero counts as negative.
 * @param {ArrayLike<number>} values @param {number} size @returns {[XY, XY][]}
 */
export function contour(values, size) {
  /** @type {[XY, XY][]} */
  const out = [];
  for (let j = 0; j + 1 < size; j++) {
    for (let i = 0; i + 1 < size; i++) {
      const at = j * size + i;
      const a = values[at], b = values[at + 1], c = values[at + size + 1], d = values[at + size];
      const code = (a > 0 ? 1 : 0) | (b > 0 ? 2 : 0) | (c > 0 ? 4 : 0) | (d > 0 ? 8 : 0);
      if (code === 0 || code === 15) continue;
      /** @type {XY[]} */
      const ends = [];
      if (a > 0 !== b > 0) ends.push([i + share(a, b), j]);
      if (b > 0 !== c > 0) ends.push([i + 1, j + share(b, c)]);
      if (c > 0 !== d > 0) ends.push([i + 1 - share(c, d), j + 1]);
      if (d > 0 !== a > 0) ends.push([i, j + 1 - share(d, a)]);
      if (ends.length === 4) {
        const middle = (a * c - b * d) / (a + c - b - d); // the value where two branches come closest
        const largest = Math.max(Math.abs(a), Math.abs(b), Math.abs(c), Math.abs(d));
        if (Math.abs(middle) < 1e-3 * largest) ends.splice(1, 2, ends[2], ends[1]); // they cross
        else if (middle > 0 === a > 0) ends.push(/** @type {XY} */ (ends.shift()));
      }
      for (let e = 0; e + 1 < ends.length; e += 2) out.push([ends[e], ends[e + 1]]);
    }
  }
  return out;
}

/** @param {number} u @param {number} v */
function share(u, v) {
  const s = u / (u - v);
  return Number.isFinite(s) ? s : 0.5;
}

/**
 * Return round numbers for the marks of an axis, about `count` of them from low to high.
 * @param {number} low @param {number} high @param {number} count
 */
export function ticks(low, high, count) {
  const rough = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5].find((factor) => factor * power >= rough) ?? 10);
  const out = [];
  for (let i = Math.ceil(low / step); i * step <= high; i++) out.push(i * step);
  return out;
}
