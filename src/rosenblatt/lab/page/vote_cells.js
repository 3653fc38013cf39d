/** The cells into which the lines of the voters cut the plane: in each of them the vote is the same. */

import { clip, corners } from "./geometry.js";
import { weightOf } from "./regions.js";

/** @import { Box, Moment, Replay, XY } from "./types.d.ts" */
/** @typedef {{line: [number, number, number], count: number}} Voter */

const MOST = 4000; // more cells are no longer told apart
const MOST_VOTERS = 400; // the work grows with the cube of their number

/**
 * Return the cells with a majority for +1 as polygons, and the segments around them; null where votes are not by lines, or by very many.
 * @param {Replay} replay @param {Moment} moment @param {Box} box @returns {{cells: XY[][], edges: [XY, XY][]} | null}
 */
export function voteCells({ run, weights, updates }, { k, survived }, box) {
  if (k > MOST_VOTERS || run.kind !== "linear" || run.names.some((name) => name !== "x" && name !== "y")) return null;
  /** @type {Voter[]} */
  const voters = weights.slice(1, k + 1).map(({ w, b }, j) => ({
    line: [weightOf(run.names, w, "x"), weightOf(run.names, w, "y"), b],
    count: j + 1 === k ? survived : updates[j + 1] - updates[j],
  }));
  let cells = [{ polygon: corners(box), votes: 0 }];
  for (const { line, count } of voters) {
    const [w1, w2, b] = line;
    cells = cells.flatMap(({ polygon, votes }) => {
      const sides = polygon.map((p) => sideOf(line, p));
      if (!sides.includes(1)) return [{ polygon, votes: sides.includes(-1) ? votes - count : votes }];
      if (!sides.includes(-1)) return [{ polygon, votes: votes + count }];
      return [{ polygon: clip(polygon, w1, w2, b), votes: votes + count }, { polygon: clip(polygon, -w1, -w2, -b), votes: votes - count }];
    });
    if (cells.length > MOST) return null;
  }
  const [left, bottom, right, top] = box;
  const won = cells.filter(({ votes, polygon }) => votes > 0 && polygon.length > 2).map(({ polygon }) => polygon);
  const edges = won.flatMap((polygon) => polygon.flatMap((p, i) => {
    const q = polygon[(i + 1) % polygon.length];
    const [dx, dy] = [q[0] - p[0], q[1] - p[1]];
    const out = (1e-6 * (right - left)) / (Math.hypot(dx, dy) || 1);
    const [x, y] = [(p[0] + q[0]) / 2 + out * dy, (p[1] + q[1]) / 2 - out * dx]; // polygons go against the clock
    const inside = x > left && x < right && y > bottom && y < top;
    return inside && voters.reduce((sum, { line, count }) => sum + count * sideOf(line, [x, y]), 0) <= 0 ? [/** @type {[XY, XY]} */ ([p, q])] : [];
  }));
  return { cells: won, edges };
}

/** Return the side of a line on which a point is, 0 where it is as good as on it. @param {Voter["line"]} line @param {XY} point */
function sideOf([w1, w2, b], [x, y]) {
  const value = w1 * x + w2 * y + b;
  return Math.abs(value) <= 1e-12 * (Math.abs(w1 * x) + Math.abs(w2 * y) + Math.abs(b)) ? 0 : Math.sign(value);
}
