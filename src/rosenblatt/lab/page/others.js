/** Learners of other kinds on the same points, to compare with: the nearest neighbour and a decision tree. */

/** @import { Box, Point, XY } from "./types.d.ts" */
/** A leaf has a label; a branch sends x to `low` where x[axis] < at, else to `high`. @typedef {{label: number} | {axis: number, at: number, low: Tree, high: Tree}} Tree */

const DEEPEST = 10;

/**
 * Return at each place how much farther the nearest point of −1 is than the nearest of +1: the nearest neighbour predicts
 * the sign.
 * @param {Point[]} points @param {Float64Array} places coordinates in turn
 */
export function neighbourScores(points, places) {
  const scores = new Float64Array(places.length / 2);
  for (let i = 0; i < scores.length; i++) {
    const nearest = { "1": Infinity, "-1": Infinity };
    for (const [x, y, sign] of points) {
      const far = (x - places[2 * i]) ** 2 + (y - places[2 * i + 1]) ** 2;
      if (far < nearest[sign]) nearest[sign] = far;
    }
    scores[i] = nearest["-1"] === nearest["1"] ? 0 : Math.sqrt(nearest["-1"]) - Math.sqrt(nearest["1"]);
  }
  return scores;
}

/** Return how mixed labels are, times their number: Gini's impurity, 0 where there is one label. @param {number} positive @param {number} count */
const impurity = (positive, count) => (count ? (positive * (count - positive)) / count : 0);

/** @param {Point[]} points */
const positives = (points) => points.filter((point) => point[2] > 0).length;

/** Return the split half-way between two points after which labels are least mixed, null where all points are in one place. @param {Point[]} points */
function bestSplit(points) {
  let best = null;
  let least = Infinity;
  const all = positives(points);
  for (const axis of [0, 1]) {
    const sorted = points.toSorted((p, q) => Number(p[axis]) - Number(q[axis]));
    let below = 0; // points of +1 among the first i
    for (let i = 1; i < sorted.length; i++) {
      if (sorted[i - 1][2] > 0) below += 1;
      const [low, high] = [Number(sorted[i - 1][axis]), Number(sorted[i][axis])];
      const mixed = impurity(below, i) + impurity(all - below, sorted.length - i);
      if (low < high && mixed < least) [best, least] = [{ axis, at: (low + high) / 2, low: sorted.slice(0, i), high: sorted.slice(i) }, mixed];
    }
  }
  return best;
}

/** Grow a tree until each leaf has one label, or ten splits above it. @param {Point[]} points @param {number} [depth] @returns {Tree} */
export function grow(points, depth = 0) {
  const positive = positives(points);
  const label = 2 * positive > points.length ? 1 : -1;
  const split = depth < DEEPEST && impurity(positive, points.length) ? bestSplit(points) : null;
  if (!split) return { label };
  return { axis: split.axis, at: split.at, low: grow(split.low, depth + 1), high: grow(split.high, depth + 1) };
}

/** Return the leaves of a tree, each with its part of a box. @param {Tree} tree @param {Box} box @returns {{label: number, box: Box}[]} */
export function leaves(tree, box) {
  if ("label" in tree) return [{ label: tree.label, box }];
  const { axis, at, low, high } = tree;
  const below = /** @type {Box} */ (box.with(axis + 2, Math.min(at, box[axis + 2])));
  const above = /** @type {Box} */ (box.with(axis, Math.max(at, box[axis])));
  return [...(at > box[axis] ? leaves(low, below) : []), ...(at < box[axis + 2] ? leaves(high, above) : [])];
}

/** Return the boundary of a tree within a box: segments between leaves of different labels. @param {Tree} tree @param {Box} box @returns {[XY, XY][]} */
export function treeEdges(tree, box) {
  const parts = leaves(tree, box);
  return [0, 1].flatMap((axis) => {
    const other = 1 - axis;
    return parts.flatMap((low) => parts.flatMap((high) => {
      if (low.label === high.label || low.box[axis + 2] !== high.box[axis]) return [];
      const [from, to] = [Math.max(low.box[other], high.box[other]), Math.min(low.box[other + 2], high.box[other + 2])];
      const end = (/** @type {number} */ value) => /** @type {XY} */ (axis ? [value, high.box[axis]] : [high.box[axis], value]);
      return from < to ? [/** @type {[XY, XY]} */ ([end(from), end(to)])] : [];
    }));
  });
}
